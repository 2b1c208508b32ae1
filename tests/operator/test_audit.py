"""`docs-bot audit`: the acts of people, as CSV."""

from __future__ import annotations

import asyncio
import csv
import io
import sqlite3
from contextlib import closing
from pathlib import Path

from bot.app import open_store
from bot.operator.rows import write_audit
from tests.command_line import make_tables
from tests.talk import Talk

COLUMNS = ["acted_at", "user", "act", "project", "channel", "job", "subscription", "outcome", "app"]


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


async def rows_of_audit(talk: Talk, *arguments: str) -> list[dict[str, str]]:
    """Return the rows that `docs-bot audit` writes."""
    return list(csv.DictReader(io.StringIO(await talk.operator("audit", *arguments))))


async def test_csv_has_a_line_for_each_act(talk: Talk) -> None:
    await talk.finished()
    heading, asked = csv.reader(io.StringIO(await talk.operator("audit")))
    assert heading == COLUMNS
    place = ["acme-docs", "C01DOCS", "1", ""]
    assert asked == ["2026-11-02T09:00:00Z", talk.ana.id, "asked", *place, "pull_request", ""]


async def test_audit_of_one_person_or_from_a_day_on_has_fewer_rows(talk: Talk) -> None:
    await talk.finished()
    await talk.time.passes(days=1)
    await talk.ben.replies("Mention Python 3.11 too")
    await talk.time.passes(60)
    talk.everything()
    rows = await rows_of_audit(talk)
    assert [(row["user"], row["act"], row["outcome"]) for row in rows] == [
        (talk.ana.id, "asked", "pull_request"),
        (talk.ben.id, "steered", ""),
    ]
    assert await rows_of_audit(talk, "--user", talk.ben.id) == rows[1:]
    assert await rows_of_audit(talk, "--from", "2026-11-03") == rows[1:]
    assert await rows_of_audit(talk, "--from", "2026-11-03", "--user", talk.ana.id) == []


async def test_thousands_of_rows_have_no_formula_and_steer_no_terminal(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'bot.db'}"
    await asyncio.to_thread(make_tables, url)
    rows = [
        ("2026-11-02 09:00:00.000000", f"=1+1\x1b]0;owned\x07{number}") for number in range(2_001)
    ]
    with closing(sqlite3.connect(tmp_path / "bot.db")) as database, database:
        columns = "acted_at, user, act, project, channel"
        insert = f"INSERT INTO audit ({columns}) VALUES (?, ?, 'stopped', 'p', 'C1')"  # noqa: S608
        database.executemany(insert, rows)
    store, out = open_store(url), Terminal()
    await write_audit(store, out, since=None, user=None)
    await store.close()
    assert out.getvalue().count("\"'=1+1") == 2_001
    assert "\x1b" not in out.getvalue()
