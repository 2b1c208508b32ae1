"""Several processes on one database: each request and digest is handled once, without lock errors."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select, update

from bot.store import Store
from bot.visitors.store import subscriptions
from sandbox.world import World
from tests.bots import is_alive, lines, stop, wait_for, zygote
from tests.builders import execute, rows_of
from tests.command_line import as_anybody
from tests.databases import PostgresServer
from tests.limits import HANG_SECONDS
from tests.scenarios.conftest import DocsBot
from tests.scenarios.kills import requests
from tests.scenarios.story import Json, Story, environment
from tests.scenarios.timeouts import STEADY

CHANNELS = ("C01DOCS", "C02GENERAL", "C03PRODUCT")
_FAST = {
    "POLL_MIN_SECONDS": "0.1",
    "POLL_MAX_SECONDS": "0.2",
    "PORT": "0",
    "HEALTH_PORT": "0",
    "LOG_LEVEL": "WARNING",
}


@asynccontextmanager
async def running(
    world: World, folder: Path, processes: int, **settings: str
) -> AsyncIterator[list[Path]]:
    """Start bots in processes of their own at the same moment, and yield their logs."""
    outputs = [folder / f"{number}.log" for number in range(processes)]
    env = {**environment(world), **_FAST, **settings}
    async with zygote() as parent:
        pids = [
            await parent.fork(env, output, terse=True, lease_seconds=STEADY.lease_seconds)
            for output in outputs
        ]
        await wait_for(
            "every start", lambda: all({"ready": True} in lines(output) for output in outputs)
        )
        yield outputs
        for pid in pids:
            await stop(pid)
    assert all({"stopped": True} in lines(output) for output in outputs)


async def insist_on_one_end_each(story: Story) -> None:
    """Ask for many jobs at once, follow up in each channel, and insist on one end each time."""

    def roots() -> list[Json]:
        return [root for channel in CHANNELS for root in story.roots(channel)]

    def ends() -> list[int]:
        return [len(story.replies_in(root)) for root in roots()]

    commands = [
        story.command("/docs-agent", f"Add page {number} about {channel}", channel=channel)
        for number in range(2)
        for channel in CHANNELS
    ]
    assert all(answer["ok"] for answer in await asyncio.gather(*commands))
    jobs, follow_ups = len(commands), len(CHANNELS)
    await wait_for("every end", lambda: ends() == [1] * jobs)
    for channel in CHANNELS:
        # Slack sends two events, and may send each to another process.
        story.reply(story.roots(channel)[0], "@docs-agent Mention retries")
    await wait_for("every second end", lambda: sum(ends()) >= jobs + follow_ups)
    await asyncio.sleep(0.3)
    assert sorted(ends()) == [1] * (jobs - follow_ups) + [2] * follow_ups
    assert len({root["text"] for root in roots()}) == jobs
    assert story.private() == []
    calls = await requests(story.world)
    assert (calls["create"], calls["follow_up"]) == (jobs, follow_ups), calls


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[str]:
    server = PostgresServer(tmp_path)
    yield server.new_database()
    server.stop()


@pytest.mark.parametrize("processes", [2, 4])
async def test_processes_share_postgresql(
    world: World, tmp_path: Path, postgres: str, processes: int
) -> None:
    async with running(
        world, tmp_path, processes, DATABASE_URL=postgres.replace("+psycopg", "", 1)
    ) as outputs:
        await insist_on_one_end_each(Story(world))
    log = "".join(output.read_text() for output in outputs)
    assert [sign for sign in ("locked", "error", "Traceback") if sign in log] == [], log


async def test_processes_post_one_digest_a_week(
    world: World, tmp_path: Path, postgres: str
) -> None:
    story = Story(world)
    async with running(world, tmp_path, 2, DATABASE_URL=postgres.replace("+psycopg", "", 1)):
        await story.command("/docs-visitors", "subscribe monday 09:00 UTC")
        await story.post("comes here, set up by")
        store = Store.open(postgres)
        async with asyncio.timeout(HANG_SECONDS):
            # The bot stores the arrival of its first post a moment after it.
            while {row["state"] for row in await rows_of(store, select(subscriptions.c.state))} != {
                "active"
            }:
                await asyncio.sleep(0.02)
        for _ in range(3):
            await execute(store, update(subscriptions).values(next_run_at=datetime.now(UTC)))
            await story.post("Your docs,")
            await asyncio.sleep(0.3)
        await store.close()
    assert len(story.digests()) == 1


async def test_second_process_on_sqlite_file_is_refused(
    docs_bot: DocsBot, world: World, tmp_path: Path
) -> None:
    settings, logs = (
        {**environment(world), **_FAST},
        [tmp_path / "first.log", tmp_path / "second.log"],
    )
    async with zygote() as parent:
        first = await parent.fork(settings, logs[0], terse=True)
        await wait_for("the start", lambda: {"ready": True} in lines(logs[0]))
        code, output = await docs_bot("run", env=settings, folder=tmp_path)
        assert code == 69, output
        assert "Another process runs on this SQLite file, and only one may: stop it first" in output
        assert "Traceback" not in output
        copy = f"{tmp_path}/copy.db"
        for command in (["jobs"], ["audit"], ["backup", copy]):
            code, output = await docs_bot(*command, env=settings, folder=tmp_path)
            assert code == 0, output
        code, output = await docs_bot("restore", copy, env=settings, folder=tmp_path)
        assert (code, "only one may: stop every bot that uses it" in output) == (69, True), output
        os.kill(first, signal.SIGKILL)
        await wait_for("the end of the killed process", lambda: not is_alive(first))
        code, output = await docs_bot("restore", copy, env=settings, folder=tmp_path)
        assert code == 0, output
        again = await parent.fork(settings, logs[1], terse=True)
        await wait_for("the start after a kill", lambda: {"ready": True} in lines(logs[1]))
        await stop(again)


async def test_read_only_sqlite_file_stops_start_with_advice(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "read only"
    folder.mkdir(mode=0o555)
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path.cwd())}
    env |= environment(world) | {"DATABASE_URL": f"sqlite:///{folder}/bot.db"}
    bot = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "run"),
        env=env,
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        preexec_fn=as_anybody,
    )
    output = (await bot.communicate())[0].decode()
    assert bot.returncode == 69, output
    assert "read-only: let this user write both" in output
    assert "Traceback" not in output
