"""How much room a finished job takes in SQLite's file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import RowMapping, insert, select, text

from bot.pulls.store.tables import previews, pull_requests
from bot.store import Store, Transaction
from bot.store.database import Database
from bot.store.schema import AnyTable, metadata
from tests.builders import new_store, rows_of
from tests.talk import Talk
from tests.talk_database import DATABASE_URL

MOST_BYTES = 2_400
"""For each job, on pages without gaps, with ids as long as Slack's, and in the index of those that are
neither merged nor reviewed. 10,000 jobs may take 24 MB.
"""
JOBS = 2_000
PROMPT = (
    "Add a quickstart for the Python SDK, with the installation, a first request and its errors"
)


def copied(table: AnyTable, row: RowMapping, number: int) -> dict[str, Any]:
    """Return the row of another job: its numbers and keys are others, and as long."""
    fields = {column.key: row[column.name] for column in table.columns}
    for name in ("seq", "id"):
        if isinstance(fields.get(name), int):
            del fields[name]
    for name in {"number", "job", "prompt"} & fields.keys():
        fields[name] = fields[name] and number
    for name in {"id", "key", "status_ts", "posted_ts", "service_id"} & fields.keys():
        # Spread over the index, as ids that are drawn by chance are.
        fields[name] = fields[name] and f"{number * 2_654_435_761 % 2**32:08x}{fields[name][8:]}"
    return fields


async def test_a_finished_job_takes_about_two_kilobytes(talk: Talk, tmp_path: Path) -> None:
    person = talk.newcomer("012AB3CD4E")
    talk.opens_channel("012ab3cd4e")
    await person.asks(PROMPT, "012ab3cd4e")
    await talk.time.passes()
    await talk.ends()
    talk.everything()
    store = Store.open(DATABASE_URL)
    tables = [table for table in metadata.sorted_tables if {"number", "job"} & set(table.c.keys())]
    # Most jobs have no link to GitHub, no preview and no question behind them.
    others = [metadata.tables[name] for name in ("inquiries", "publications")]
    for table in (pull_requests, previews, *others):
        tables.remove(table)
    rows = {table: await rows_of(store, select(table)) for table in tables}
    assert {table.name: len(rows[table]) for table in tables} == {
        "jobs": 1,
        "prompts": 1,
        "deliveries": 2,
        "audit": 1,
    }
    await store.close()
    large = await new_store(Database.open(f"sqlite:///{tmp_path / 'bot.db'}"))

    def fill(tx: Transaction) -> None:
        for table in tables:
            copies = [
                copied(table, row, number) for number in range(1, JOBS + 1) for row in rows[table]
            ]
            tx.connection.execute(insert(table), copies)

    def size(tx: Transaction) -> int:
        pages = tx.connection.execute(text("PRAGMA page_count")).scalar_one()
        return int(pages) * int(tx.connection.execute(text("PRAGMA page_size")).scalar_one())

    empty = await large.read(size)
    await large.write(fill)
    used = await large.read(size) - empty
    await large.close()
    assert used / JOBS < MOST_BYTES
