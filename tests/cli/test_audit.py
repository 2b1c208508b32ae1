"""The operator's audit, as CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.__main__ import cli
from bot.cli.audit import COLUMNS, write_audit
from bot.cli.ready_store import NotReady
from bot.model.audit import Act
from bot.model.ids import JobNumber, UserId
from bot.store import Store, Transaction
from bot.store.migrate import migrate
from tests.builders import ANA, BEN, NOW, add_job


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def stop(people: Sequence[tuple[UserId, timedelta]], tx: Transaction) -> None:
    """Let people stop watching the first job, each so long after the same time."""
    job = tx.jobs.known(JobNumber(1))
    for user, after in people:
        tx.audit.decided(Act.STOPPED, user, job, NOW + after)


@pytest.fixture
async def url(tmp_path: Path) -> str:
    """A database with what two people did on two days to one job."""
    address = f"sqlite:///{tmp_path / 'bot.db'}"
    store = Store.open(address)
    await migrate(store.database)
    await add_job(store)
    people = (ANA, BEN, UserId("=1+1\x1b]0;owned\x07"))
    await store.write(partial(stop, [(user, timedelta(days=day)) for day, user in enumerate(people)]))
    await store.close()
    return address


async def test_csv_has_a_line_for_each_act(url: str) -> None:
    out = io.StringIO()
    await write_audit(url, out, as_json=False, since=None, user=None)
    rows = list(csv.reader(io.StringIO(out.getvalue())))
    assert rows[0] == list(COLUMNS)
    assert rows[1] == ["2026-11-02T09:00:00Z", ANA, "stopped", "acme-docs", "C0DOCS", "1", "", ""]
    assert len(rows) == 4


async def test_json_has_the_same_fields(url: str) -> None:
    out = io.StringIO()
    await write_audit(url, out, as_json=True, since=None, user=None)
    rows = json.loads(out.getvalue())
    assert [row["user"] for row in rows][:2] == [ANA, BEN]
    assert set(rows[0]) == set(COLUMNS)
    assert rows[0]["end"] is None


async def test_one_person_and_a_first_day_limit_it(url: str) -> None:
    out = io.StringIO()
    await write_audit(url, out, as_json=True, since=NOW + timedelta(hours=1), user=BEN)
    assert [row["user"] for row in json.loads(out.getvalue())] == [BEN]
    nobody = io.StringIO()
    await write_audit(url, nobody, as_json=True, since=NOW + timedelta(hours=1), user=ANA)
    assert json.loads(nobody.getvalue()) == []


async def test_a_cell_is_no_formula_and_steers_no_terminal(url: str) -> None:
    out = Terminal()
    await write_audit(url, out, as_json=False, since=None, user=None)
    assert "'=1+1" in out.getvalue()
    assert "\x1b" not in out.getvalue()


async def test_more_rows_than_are_read_at_once_are_all_written(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'bot.db'}"
    store = Store.open(address)
    await migrate(store.database)
    await add_job(store)
    await store.write(partial(stop, [(ANA, timedelta(seconds=second)) for second in range(2_001)]))
    await store.close()
    out = io.StringIO()
    await write_audit(address, out, as_json=True, since=None, user=None)
    assert len({row["at"] for row in json.loads(out.getvalue())}) == 2_001


async def test_before_the_first_start_it_says_what_makes_the_tables(tmp_path: Path) -> None:
    with pytest.raises(NotReady, match="docs-bot migrate"):
        await write_audit(
            f"sqlite:///{tmp_path / 'bot.db'}", io.StringIO(), as_json=False, since=None, user=None
        )


@pytest.mark.parametrize(
    "words", [["audit"], ["audit", "--json", "--from", "2026-11-03", "--user", BEN], ["jobs"]]
)
def test_the_command_needs_only_the_settings_of_the_database(
    url: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner(env={"DATABASE_URL": url}).invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert "acme-docs" in done.output or ANA in done.output
