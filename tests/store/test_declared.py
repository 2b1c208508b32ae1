"""The types of columns declare their content, their retention and their queue."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import pytest
from sqlalchemy import BigInteger, Boolean, Date, Float, Integer

from bot.jobs.store.jobs import Jobs
from bot.jobs.store.tables import back_offs, jobs, limits
from bot.store import Store
from bot.store.queues import QUEUE_TABLES
from bot.store.retention import RULES
from bot.store.schema import (
    Choice,
    Due,
    Forgotten,
    Id,
    Json,
    Note,
    Owner,
    UtcDateTime,
    metadata,
    reader,
)
from bot.visitors.store import READERS_TEXTS_RULE
from tests.builders import add_job, set_job

STAYS = (Id, Note, Choice, Json, Integer, BigInteger, Float, Boolean, Date, UtcDateTime)
TABLES = tuple(metadata.tables.values())
COLUMNS = [column for table in TABLES for column in table.columns]


def test_every_column_has_a_type_of_the_schema() -> None:
    untyped = [column for column in COLUMNS if not isinstance(column.type, (Forgotten, *STAYS))]
    assert untyped == [], "give them a type of bot/store/schema.py"


def test_times_and_booleans_are_named_as_such() -> None:
    for column in COLUMNS:
        is_time = column.name.endswith(("_at", "_until", "_since"))
        assert is_time == isinstance(column.type, UtcDateTime), column
        is_boolean = column.name.startswith(("is_", "has_", "can_"))
        assert is_boolean == isinstance(column.type, Boolean), column


def test_field_without_a_column_is_named_at_the_start() -> None:
    @dataclass
    class JobWithNote:
        number: int
        note: str | None = None

    with pytest.raises(TypeError, match="jobs has no column for fields of JobWithNote: note"):
        reader(JobWithNote, jobs)


def test_tables_with_forgotten_columns_have_a_retention_rule() -> None:
    forgotten = {column.table for column in COLUMNS if isinstance(column.type, Forgotten)}
    assert forgotten == {rule.table for rule in RULES}
    for rule in RULES:
        owners = sum(isinstance(column.type, Owner) for column in rule.table.columns)
        assert owners == (rule is not READERS_TEXTS_RULE), rule.name


def test_numbered_rows_get_no_number_twice_on_sqlite() -> None:
    """Without this SQLite gives the number of a deleted last row again, and a restore cannot raise it."""
    numbered = {table.name for table in TABLES if table.autoincrement_column is not None}
    counted = {table.name for table in TABLES if table.dialect_options["sqlite"]["autoincrement"]}
    assert {"jobs", "prompts", "deliveries"} <= numbered
    assert counted == numbered, "give the table sqlite_autoincrement=True"


def test_tables_with_leases_or_due_times_are_queues() -> None:
    leased = {table for table in TABLES if "claimed_by" in table.c}
    due = {column.table for column in COLUMNS if isinstance(column.type, Due)}
    assert leased | due == {line.table for line in QUEUE_TABLES} | {limits, back_offs}
    # Importing app declares all of them.
    listing = (
        "import bot.app; from bot.store import queues, retention, schema\n"
        "print(sorted(schema.metadata.tables), sorted({each.queue for each in queues.QUEUE_TABLES}), "
        "sorted(each.name for each in retention.RULES))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", listing], capture_output=True, text=True, check=True
    )
    queues, rules = (
        sorted({table.queue for table in QUEUE_TABLES}),
        sorted(rule.name for rule in RULES),
    )
    assert ran.stdout == f"{sorted(metadata.tables)} {queues} {rules}\n"


async def test_characters_that_databases_refuse_are_replaced(store: Store) -> None:
    number = await add_job(store)
    await store.write(lambda tx: set_job(tx, number, text="a\x00b\ud800c", project_label="d\x00"))
    job = await store.read(lambda tx: Jobs(tx).get_or_raise(number))
    assert (job.text, job.project_label) == ("a\ufffdb?c", "d\ufffd")
