"""What a table says of itself: each column has a type that says what it is and whether it is forgotten."""

from __future__ import annotations

import subprocess
import sys

from sqlalchemy import BigInteger, Boolean, Date, Integer

from bot.jobs.store.jobs import Jobs
from bot.jobs.store.tables import back_offs, limits
from bot.store import Store
from bot.store.queues import QUEUE_TABLES
from bot.store.retention import RULES
from bot.store.schema import Choice, Due, Forgotten, Id, Json, Note, Owner, UtcDateTime, metadata
from bot.visitors.tables import READERS_TEXTS
from tests.builders import add_job, set_job

STAYS = (Id, Note, Choice, Json, Integer, BigInteger, Boolean, Date, UtcDateTime)
TABLES = tuple(metadata.tables.values())
COLUMNS = [column for table in TABLES for column in table.columns]


def test_each_column_says_what_it_is_and_whether_it_is_forgotten() -> None:
    unsaid = [each for each in COLUMNS if not isinstance(each.type, (Forgotten, *STAYS))]
    assert unsaid == [], "give them a type of bot/store/schema.py"


def test_what_is_to_be_forgotten_is() -> None:
    assert {each.table for each in COLUMNS if isinstance(each.type, Forgotten)} == {
        kept.table for kept in RULES
    }
    for kept in RULES:
        owners = sum(isinstance(each.type, Owner) for each in kept.table.columns)
        assert owners == (kept is not READERS_TEXTS), kept.name


def test_what_is_leased_or_due_waits_in_a_line() -> None:
    leased = {table for table in TABLES if "claimed_by" in table.c}
    due = {each.table for each in COLUMNS if isinstance(each.type, Due)}
    assert leased | due == {line.table for line in QUEUE_TABLES} | {limits, back_offs}
    # A process that imports app has all of them.
    listing = (
        "import bot.app; from bot.store import queues, retention, schema\n"
        "print(sorted(schema.metadata.tables), sorted({each.queue for each in queues.QUEUE_TABLES}), "
        "sorted(each.name for each in retention.RULES))"
    )
    ran = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    queues, rules = sorted({each.queue for each in QUEUE_TABLES}), sorted(each.name for each in RULES)
    assert ran.stdout == f"{sorted(metadata.tables)} {queues} {rules}\n"


async def test_text_that_databases_refuse_is_cleaned_by_its_type(store: Store) -> None:
    number = await add_job(store)
    await store.write(lambda tx: set_job(tx, number, text="a\x00b\ud800c", project_label="d\x00"))
    job = await store.read(lambda tx: Jobs(tx).get_or_raise(number))
    assert (job.text, job.project_label) == ("a\ufffdb?c", "d\ufffd")
