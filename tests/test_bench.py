"""The benches work and leave no row out; how fast things are is not a test."""

from __future__ import annotations

import asyncio
from io import StringIO
from pathlib import Path

import pytest
from pydantic import SecretStr
from rich.console import Console

from bench import burst, command, idle, message, poll, recovery, stalls, trace, visitors
from bench.docs_server import docs_service
from bench.processes import DOCS_KEY
from bench.report import (
    Report,
    Row,
    at_most,
    below,
    missed,
    print_report,
)
from bench.running_jobs import PROJECT, answer_about
from bench.sides import Typist
from bot.docs_api import DocsClient
from tests.servers import serving

pytestmark = pytest.mark.slow


def _rows(report: Report) -> list[str]:
    return [row.what for row in report.rows]


def _of(what: str, name: str, *, most: str) -> list[str]:
    return [what, f"polls a second, {name} (wanted: 20)", f"the latest poll, {name}", most]


async def test_acknowledging_is_measured_both_ways_in(tmp_path: Path) -> None:
    reports = await command.measure(command.Size({1: 2, 10: 10}, turns=1, warm=2), tmp_path)
    kinds = ("median", "99th percentile", "processor time a command")
    rows = [f"{what}, {n} at once" for n in (1, 10) for what in kinds]
    rows.append("commands not acknowledged within 3 s")
    assert [_rows(report) for report in reports] == [rows] * 4
    assert [report.theirs for report in reports] == ["bare Bolt app", "Bolt app + SQLAlchemy"] * 2
    assert all(
        row.ours > 0 and row.theirs for report in reports for row in report.rows[:-1] if row.goal
    )
    assert [sum(row.goal is not None for row in report.rows) for report in reports] == [7, 5, 7, 5]


async def test_acknowledging_messages_is_measured(tmp_path: Path) -> None:
    reports = await message.measure(command.Size({1: 2, 10: 10}, turns=1, warm=2), tmp_path)
    assert [report.name for report in reports] == [
        "message: a mention over HTTP",
        "message: a message for nobody over HTTP",
        "message: the first sign, through Socket Mode",
    ]
    assert all(row.ours > 0 and row.theirs for report in reports[:2] for row in report.rows[:-1])
    assert [sum(row.goal is not None for row in report.rows) for report in reports] == [5, 3, 2]
    assert all(row.ours > 0 and row.theirs for row in reports[2].rows)


async def _failing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer as Bolt does when a listener did not acknowledge in time."""
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(int(head.partition(b"Content-Length: ")[2].split()[0]))
    writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}")
    writer.close()


async def test_a_command_that_is_not_acknowledged_takes_as_long_as_slack_waits() -> None:
    async with serving(_failing) as port:
        taken = await Typist(port, "secret").type(1, 1)
    assert taken == [3.0]
    assert command.Taken([3_000.0, 2.0], [1.0]).unanswered == 1


async def test_reading_and_ranking_pages_is_measured_beside_a_script(tmp_path: Path) -> None:
    (report,) = await visitors.measure(visitors.Size(pages=600, days=1), tmp_path)
    assert _rows(report) == [
        "from the question to the answer",
        "processor time",
        "memory at most, beyond that at rest",
    ]
    assert report.rows[0].ours > 0
    assert report.rows[0].theirs


async def test_after_a_kill_each_end_is_told_once(tmp_path: Path) -> None:
    (report,) = await recovery.measure(recovery.Size(jobs=10, held=10, lease_seconds=1.0), tmp_path)
    until_told, twice = report.rows
    assert (until_told.theirs, twice.ours) == (1.0, 0)
    assert until_told.ours > 0


async def test_polling_is_measured_with_both_databases(tmp_path: Path) -> None:
    size = poll.Size((10,), every_seconds=0.5, warm_seconds=0.1, window_seconds=0.6, turns=1)
    (report,) = await poll.measure(size, tmp_path)
    rows = _of("processor time a poll, SQLite", "SQLite", most="memory at most, SQLite")
    rows += _of(
        "processor time a poll, PostgreSQL", "PostgreSQL", most="memory at most, PostgreSQL"
    )
    assert _rows(report) == rows
    assert all(row.ours > 0 for row in report.rows if row.what.startswith("polls a second"))


async def test_jobs_under_way_are_as_the_docs_service_answers() -> None:
    async with (
        docs_service(jobs=2) as url,
        DocsClient(base_url=url, api_key=SecretStr(DOCS_KEY)) as docs,
    ):
        job = await docs.get_job(PROJECT, "job-1")
    found = {name: getattr(job, name) for name in ("id", "model", "created_at")}
    found |= {"repository": job.source.repository, "ref": job.source.ref}
    assert found == answer_about(url, 1)


async def test_a_burst_is_told_once_each_and_never_too_fast(tmp_path: Path) -> None:
    (report,) = await burst.measure(burst.Size(4, 4), tmp_path)
    assert {row.what: row.ours for row in report.rows[1:] if row.goal} == {
        "posts that Slack refused as too fast": 0,
        "edits that Slack refused as too fast": 0,
        "threads told twice": 0,
    }
    assert report.rows[0].ours > 0


async def test_the_bot_at_rest_is_measured(tmp_path: Path) -> None:
    (report,) = await idle.measure(idle.Size(starts=1, seconds=0.2), tmp_path)
    assert _rows(report) == [
        "ready after",
        "ready after, processor time",
        "memory",
        "processor, share of a core",
    ]
    assert report.rows[0].ours > 0
    assert report.rows[1].ours > 0
    assert report.rows[2].ours > 0


async def test_one_request_is_traced_to_its_end(tmp_path: Path) -> None:
    before, entered = await trace.measure(tmp_path, idle_seconds=0.2)
    assert 0 < before < len(entered)
    assert {"ask", "submit", "poll", "deliver"} <= {code.co_name for code in entered}


def test_goals_are_told_as_met_or_missed() -> None:
    report = Report("speed", "the bot", "another")
    report.rows.append(at_most(Row("median", "ms", 1.0, 4.0), 0.25))
    report.rows.append(below(Row("memory", "MB", 91.0), 90))
    report.rows.append(Row("queries", "/s", 3.0))
    assert missed([report]) == ["speed: memory (< 90 MB)"]
    page = StringIO()
    print_report(Console(file=page, width=120), report)
    shown = page.getvalue()
    assert "0.25" in shown
    assert "met" in shown
    assert "MISSED" in shown


async def test_longest_stall_is_measured_for_each_door(tmp_path: Path) -> None:
    [report] = await stalls.measure(stalls.Size(3_000, ("x",)), tmp_path)
    assert _rows(report) == list(stalls.DOORS)
    assert all(row.ours > 0 and row.goal for row in report.rows)
