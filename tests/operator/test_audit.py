"""The operator's audit, as CSV and JSON."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bot.__main__ import cli
from bot.ids import JobNumber, UserId
from bot.jobs.model.prompts import Act
from bot.jobs.store.audit import Audit
from bot.jobs.store.jobs import Jobs
from bot.operator.rows import COLUMNS, write_audit
from bot.store import Store, Transaction
from bot.store.migrate import migrate
from tests.builders import ANA, BEN, NOW, add_job


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def stop(people: Sequence[tuple[UserId, timedelta]], tx: Transaction) -> None:
    """Let people stop watching the first job, each so long after the same time."""
    job = Jobs(tx).get_or_raise(JobNumber(1))
    for user, after in people:
        Audit(tx).decided(Act.STOPPED, user, job, NOW + after)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """A database with what two people did on two days to one job."""
    store = Store.open(f"sqlite:///{tmp_path / 'bot.db'}")
    await migrate(store.database)
    await add_job(store)
    people = (ANA, BEN, UserId("=1+1\x1b]0;owned\x07"))
    await store.write(partial(stop, [(user, timedelta(days=day)) for day, user in enumerate(people)]))
    yield store
    await store.close()


async def rows_in_json(store: Store, since: datetime | None = None, user: UserId | None = None) -> list[Any]:
    """Return the audit as JSON."""
    out = io.StringIO()
    await write_audit(store, out, as_json=True, since=since, user=user)
    rows: list[Any] = json.loads(out.getvalue())
    return rows


async def test_csv_has_a_line_for_each_act(store: Store) -> None:
    out = io.StringIO()
    await write_audit(store, out, as_json=False, since=None, user=None)
    rows = list(csv.reader(io.StringIO(out.getvalue())))
    assert rows[0] == list(COLUMNS)
    assert rows[1] == ["2026-11-02T09:00:00Z", ANA, "stopped", "acme-docs", "C0DOCS", "1", "", ""]
    assert len(rows) == 4


async def test_json_has_the_same_fields(store: Store) -> None:
    rows = await rows_in_json(store)
    assert [row["user"] for row in rows][:2] == [ANA, BEN]
    assert set(rows[0]) == set(COLUMNS)
    assert rows[0]["end"] is None


async def test_one_person_and_a_first_day_limit_it(store: Store) -> None:
    since = NOW + timedelta(hours=1)
    assert [row["user"] for row in await rows_in_json(store, since, BEN)] == [BEN]
    assert await rows_in_json(store, since, ANA) == []


async def test_a_cell_is_no_formula_and_steers_no_terminal(store: Store) -> None:
    out = Terminal()
    await write_audit(store, out, as_json=False, since=None, user=None)
    assert "'=1+1" in out.getvalue()
    assert "\x1b" not in out.getvalue()


async def test_more_rows_than_are_read_at_once_are_all_written(store: Store) -> None:
    await store.write(partial(stop, [(BEN, timedelta(days=2, seconds=second)) for second in range(2_001)]))
    assert len({row["at"] for row in await rows_in_json(store, user=BEN)}) == 2_002


@pytest.mark.parametrize(
    "words", [["audit"], ["audit", "--json", "--from", "2026-11-03", "--user", BEN], ["jobs"]]
)
async def test_the_command_needs_only_the_settings_of_the_database(
    store: Store, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{store.database.file}")
    done = await asyncio.to_thread(CliRunner().invoke, cli, words)
    assert done.exit_code == 0, done.output
    assert "acme-docs" in done.output or ANA in done.output
