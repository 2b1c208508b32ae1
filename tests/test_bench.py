"""The benches work and leave no row out; how fast things are is not a test."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import subprocess
from contextlib import closing
from io import StringIO
from pathlib import Path
from threading import Thread

import pytest
from rich.console import Console

from bench import ack, burst, digests, idle, pages, poll, recovery, versus, wait
from bench.ack_client import Typist
from bench.ack_sides import Way, bolt_side
from bench.ack_slack import played_slack
from bench.measure import percentile, spread
from bench.noise import Result, compare
from bench.one import RowName
from bench.passed import Passage, functions
from bench.report import Goal, Report, Row, as_json, at_most, below, missed, print_report
from bench.speed import MachineSpeed, machine_speed, work
from bench.story import Told, print_told, tell_all, too_long
from bot.setting_types import sqlalchemy_url
from bot.settings import Settings
from sandbox.ports import free_port


def _rows(report: Report) -> list[str]:
    return [row.what for row in report.rows]


def _of(what: str, name: str, *, most: str) -> list[str]:
    return [what, f"polls a second, {name} (wanted: 20)", f"the latest poll, {name}", most]


async def test_acknowledging_is_measured_both_ways_in(tmp_path: Path) -> None:
    reports = await ack.measure(ack.Size({1: 2, 10: 10}, turns=1, warm=2), tmp_path)
    kinds = ("median", "99th percentile", "processor time a command")
    rows = [f"{what}, {n} at once" for n in (1, 10) for what in kinds]
    rows.append("commands not acknowledged within 3 s")
    assert [_rows(report) for report in reports] == [rows] * 4
    assert [report.theirs for report in reports] == ["bare Bolt app", "Bolt app + SQLAlchemy"] * 2
    assert all(row.ours > 0 and row.theirs for report in reports for row in report.rows[:-1] if row.goal)
    assert [sum(row.goal is not None for row in report.rows) for report in reports] == [5, 3, 5, 3]


async def _failing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer as Bolt does when a listener did not acknowledge in time."""
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(int(head.partition(b"Content-Length: ")[2].split()[0]))
    writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}")
    writer.close()


async def test_a_command_that_is_not_acknowledged_takes_as_long_as_slack_waits() -> None:
    server = await asyncio.start_server(_failing, "127.0.0.1", 0)
    async with server:
        taken = await Typist(server.sockets[0].getsockname()[1], "secret").type(1, 1)
    assert taken == [3.0]
    assert ack.Taken([3_000.0, 2.0], [1.0]).unanswered == 1


async def test_the_storing_app_has_stored_what_it_acknowledged(tmp_path: Path) -> None:
    async with (
        played_slack(free_port()) as slack,
        bolt_side("bench.ack_stored", Way.HTTP, slack, tmp_path) as side,
    ):
        await side.burst(6, 3)
    with closing(sqlite3.connect(tmp_path / "bench.ack_stored-http.db")) as connection:
        assert connection.execute("SELECT count(*) FROM commands").fetchone() == (6,)


async def test_what_people_wait_for_is_measured_both_ways_in(tmp_path: Path) -> None:
    reports = await wait.measure(wait.Size(turns=1, pause_seconds=0.0), tmp_path)
    assert [report.name.partition(", ")[2] for report in reports] == ["over HTTP", "through Socket Mode"]
    for report in reports:
        assert [row.what for row in report.rows if row.goal] == [
            "from /docs-agent to the job's face: median",
            "from /docs-visitors of known numbers to the answer: median",
        ]
        assert len(report.rows) == 6
        assert all(row.ours > 0 and row.theirs for row in report.rows)


async def test_reading_and_ranking_pages_is_measured_beside_a_script(tmp_path: Path) -> None:
    (report,) = await pages.measure(pages.Size(pages=600, days=1), tmp_path)
    assert _rows(report) == [
        "from the question to the answer",
        "processor time",
        "memory at most, beyond that at rest",
    ]
    assert report.rows[0].ours > 0
    assert report.rows[0].theirs


async def test_a_week_of_digests_takes_few_calls_and_posts_each_once(tmp_path: Path) -> None:
    (report,) = await digests.measure(digests.Size(subscriptions=6, times=3, pages=300), tmp_path)
    calls, late, wrong, cpu = report.rows
    assert (calls.theirs, wrong.ours) == (6 * 2 * 2, 0)
    assert calls.ours < digests.FULL.subscriptions
    assert 0 <= late.ours < 60
    assert cpu.ours > 0


async def test_after_a_kill_each_end_is_told_once(tmp_path: Path) -> None:
    (report,) = await recovery.measure(recovery.Size(jobs=10, held=10, lease_seconds=1.0), tmp_path)
    until_told, twice = report.rows
    assert (until_told.theirs, twice.ours) == (1.0, 0)
    assert until_told.ours > 0


async def test_polling_is_measured_with_both_databases(tmp_path: Path) -> None:
    size = poll.Size((10,), every_seconds=0.5, warm_seconds=0.1, window_seconds=0.6, turns=1)
    (report,) = await poll.measure(size, tmp_path)
    rows = _of("processor time a poll, SQLite", "SQLite", most="memory at most, SQLite")
    rows += _of("processor time a poll, PostgreSQL", "PostgreSQL", most="memory at most, PostgreSQL")
    assert _rows(report) == rows
    assert all(row.ours > 0 for row in report.rows if row.what.startswith("polls a second"))


async def test_a_burst_is_told_once_each_and_never_too_fast(tmp_path: Path) -> None:
    (report,) = await burst.measure(burst.Size(4, 4), tmp_path)
    assert {row.what: row.ours for row in report.rows[1:] if row.goal} == {
        "posts that Slack refused as too fast": 0,
        "edits that Slack refused as too fast": 0,
        "threads told twice": 0,
    }
    assert report.rows[0].ours > 0


async def test_the_bot_at_rest_is_measured(tmp_path: Path) -> None:
    (report,) = await idle.measure(idle.Size(starts=1, seconds=0.2, counted_seconds=1.2), tmp_path)
    assert _rows(report) == [
        "ready after",
        "ready after, processor time",
        "memory",
        "memory, its libraries alone",
        "processor, share of a core",
        "statements to the database",
    ]
    assert report.rows[0].ours > 0
    assert report.rows[1].ours > 0
    assert report.rows[2].ours > 0


def test_the_calibration_does_the_same_work_each_time() -> None:
    assert work(1_000) == work(1_000) != work(1_001)
    speed = machine_speed()
    assert speed.clock > 0
    assert speed.processor > 0


def test_what_turns_agree_on_is_no_noise() -> None:
    slower = compare([2.0, 2.1, 1.9, 4.0], [1.0, 1.05, 0.95, 2.0])
    assert (slower.ratio, slower.result) == (2.0, Result.WORSE)
    assert compare([1.0, 1.1, 1.0], [2.0, 2.2, 2.0]).result is Result.BETTER
    assert compare([1.04, 1.04, 1.04], [1.0, 1.0, 1.0]).result is Result.SAME
    assert compare([1.0, 3.0, 1.3], [1.0, 1.0, 1.0]).result is Result.SAME
    assert compare([9.0], [1.0]).result is Result.SAME
    assert compare([0.1, 0.1, 0.1], [0.0, 0.0, 0.0]).result is Result.WORSE


_ONE = """
import json, sys
if sys.argv[1] != "start":
    sys.exit(2)
print(json.dumps([{"what": "ready after", "unit": "s", "value": VALUE}]))
"""


def _git(repository: Path, *arguments: str) -> None:
    name = ("-c", "user.name=Ana", "-c", "user.email=ana@docs.example", "-c", "commit.gpgsign=false")
    subprocess.run(("git", *name, *arguments), cwd=repository, check=True, stdout=subprocess.DEVNULL)


@pytest.mark.skipif(shutil.which("git") is None, reason="commits are checked out with git")
def test_a_commit_is_measured_by_its_own_bench(tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    _git(tmp_path, "init", "--quiet")
    for value in ("2.0", "1.0"):
        (tmp_path / "bench" / "one.py").write_text(_ONE.replace("VALUE", value))
        _git(tmp_path, "add", "bench")
        _git(tmp_path, "commit", "--quiet", "--message", value)
    with versus.checked_out(tmp_path, "HEAD~1") as before:
        samples = versus.measure(tmp_path, before, ["start", "rest"], turns=3)
    assert samples == {"ready after": versus.Samples("s", [1.0] * 3, [2.0] * 3)}
    assert not before.exists()
    page = StringIO()
    assert versus.print_compared(Console(file=page, width=120), "HEAD~1", samples) == []
    assert "better" in page.getvalue()


def test_a_commit_without_such_a_bench_is_measured_by_ours(tmp_path: Path) -> None:
    (tmp_path / "bot").symlink_to(Path(__file__).resolve().parents[1] / "bot")
    found = {each.what: each.value for each in versus.ask(tmp_path, RowName.START)}
    assert found.keys() == {"ready after", "ready after: processor time"}
    assert all(value > 0 for value in found.values())


_SETTINGS = {
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_SIGNING_SECRET": "secret",
    "DATABASE_URL": "sqlite:///x.db",
    "DOCS_API_URL": "https://docs.example",
    "DOCS_API_KEY": "key",
    "DOCS_PROJECT_ID": "acme",
}


def test_what_is_called_in_the_same_way_at_rest_is_not_counted() -> None:
    def look() -> None:
        sqlalchemy_url("sqlite:///x.db")

    passage = Passage()
    with passage.watching():
        with passage.resting():
            look()
        with passage.following() as idle_calls:
            look()
        with passage.following() as calls:
            thread = Thread(target=Settings.load, args=(_SETTINGS, None))
            thread.start()
            thread.join()
    assert functions(idle_calls) == {}
    assert "LoadedSettings.load" in functions(calls)["settings.py"]
    assert {"sqlalchemy_url", "database"} <= functions(calls)["setting_types.py"]


async def test_three_stories_are_followed_through_the_bot(tmp_path: Path) -> None:
    told = await tell_all(tmp_path)
    assert [each.name for each in told] == ["job", "visitors", "digest"]
    # Six more than usual: on a slow machine a regular check of the queues falls into a story.
    assert too_long(told, [36, 31, 28]) == []
    for each in told:
        folders = {file.partition("/")[0] for file in each.functions}
        assert {"docs_api", "messages", "slack", "work"} <= folders
        assert "sandbox" not in folders
        assert each.count > len(each.functions)
    page = StringIO()
    print_told(Console(file=page, width=120), told, files=True)
    assert "docs_api/client.py" in page.getvalue()


def test_a_story_through_too_many_files_is_told() -> None:
    told = [
        Told(name, {"app.py": {"a"}, f"{name}.py": {"b"}, f"{name}s.py": {"c"}})
        for name in ("job", "visitors", "digest")
    ]
    assert too_long(told, [2, 1, 2]) == ["visitors: 2 files of its own, at most 1"]


def test_percentiles_are_samples() -> None:
    samples = list(range(1, 101))
    assert (percentile(samples, 0.99), percentile(samples, 1.0), percentile([7.0], 0.99)) == (99, 100, 7.0)
    assert spread([1.0, 2.0, 9.0]).median == 2.0


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


def test_the_numbers_are_written_with_their_machine() -> None:
    report = Report("speed", "the bot", "another", [Row("median", "ms", 1.0, 4.0, Goal("less", True))])
    written = json.loads(json.dumps(as_json([report], {"before": MachineSpeed(1.0, 0.5)})))
    assert written["benches"][0]["rows"][0]["ratio"] == 0.25
    assert written["machine"]["cores"]
    assert written["speed"] == {"before": {"clock": 1.0, "processor": 0.5}}
