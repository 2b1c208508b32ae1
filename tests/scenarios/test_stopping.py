"""A process that gets SIGTERM ends and loses nothing, also while its services hang.

``tests/health/test_stopping.py`` has the time limits.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from structlog.testing import capture_logs

from bot.app import running_bot, utc_now
from bot.health.stopping import WORK_SECONDS, Stopping
from bot.settings import Settings
from sandbox.world import World
from tests.bots import Zygote, lines, stop, wait_for
from tests.databases import PostgresServer
from tests.limits import HANG_SECONDS, STOPPED
from tests.scenarios.story import Json, Story, environment
from tests.scenarios.timeouts import STEADY
from tests.valve import Valve, valve

LEASE = timedelta(seconds=100)
"""Longer than the leases of a process that stopped without writing."""


@dataclass
class Bot:
    """``docs-bot run`` in a process of its own, and its log."""

    command_line: Zygote
    env: dict[str, str]
    folder: Path
    pid: int = 0

    async def start(self) -> None:
        """Start the process and wait for its first log line."""
        order = {"arguments": ["run"], "folder": str(self.folder)}
        self.pid = await self.command_line.fork(self.env, self.folder / "bot.log", **order)
        await self.until("starting")

    async def until(self, event: str) -> None:
        """Wait for an event in the log."""
        await wait_for(event, lambda: event in [line["event"] for line in self.log])

    async def stop(self) -> int:
        """Send SIGTERM and return the exit code."""
        await stop(self.pid)
        return int((self.folder / "bot.log").read_text().splitlines()[-1])

    @property
    def log(self) -> list[Json]:
        return lines(self.folder / "bot.log")


class Lock:
    """SQLite's write lock, as another process would hold it."""

    def __init__(self, file: str) -> None:
        self.connection = sqlite3.connect(file, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode=WAL")

    def shut(self) -> None:
        self.connection.execute("BEGIN IMMEDIATE")

    def open(self) -> None:
        self.connection.execute("ROLLBACK")


@asynccontextmanager
async def database(folder: Path, kind: str, env: dict[str, str]) -> AsyncIterator[Lock | Valve]:
    """Put a database into the environment, and yield the means to make it hang."""
    if kind == "sqlite":
        lock = Lock(env["DATABASE_URL"].removeprefix("sqlite:///"))
        with closing(lock.connection):
            yield lock
        return
    server = PostgresServer(folder)
    try:
        address = urlsplit(server.new_database())
        door = f"{address.query.removeprefix('host=')}/.s.PGSQL.5432"
        async with valve(lambda: asyncio.open_unix_connection(door)) as line:
            env["DATABASE_URL"] = f"postgres://postgres:@127.0.0.1:{line.port}{address.path}"
            yield line
    finally:
        server.stop()


@asynccontextmanager
async def slack(world: World, env: dict[str, str]) -> AsyncIterator[Valve]:
    """Put a line to Slack and its socket into the environment."""
    port = urlsplit(world.workspace_url).port
    assert port is not None
    async with valve(lambda: asyncio.open_connection("127.0.0.1", port), port) as line:
        world.workspace.bot_connection.sockets.base_url = f"http://127.0.0.1:{line.port}"
        env["SLACK_API_URL"] = f"http://127.0.0.1:{line.port}/api/"
        yield line


@pytest.fixture
def env(world: World) -> dict[str, str]:
    fast = {"HEALTH_PORT": "0", "POLL_MIN_SECONDS": "0.1", "POLL_MAX_SECONDS": "0.2"}
    return environment(world) | fast | {"LOG_LEVEL": "INFO"}


async def test_bot_stops_while_everything_hangs_and_next_one_continues(
    command_line: Zygote, world: World, tmp_path: Path, env: dict[str, str]
) -> None:
    story = Story(world)
    async with database(tmp_path, "sqlite", env) as stored, slack(world, env) as line:
        bot = Bot(command_line, env, tmp_path)
        await bot.start()
        await bot.until("ready")
        root = await story.asked("Take your time and add a page about webhooks")
        stored.shut()
        asking = asyncio.create_task(story.command("/docs-agent", "Add another page"))
        line.shut()
        assert await bot.stop() == STOPPED[1]
        asking.cancel()
        stored.open()
        line.open()
        settings = Settings.load(env, env_file=None)
        async with running_bot(settings, timeouts=STEADY, clock=lambda: utc_now() + LEASE):
            await story.until(lambda: story.replies_in(root) or None, "the end")
    assert len(story.replies_in(root)) == 1


@pytest.mark.parametrize("http_mode", [True])
async def test_parts_that_hang_are_left_after_their_time(
    world: World, tmp_path: Path, env: dict[str, str]
) -> None:
    # The time to finish is over as soon as the stop has begun.
    story, stopping = Story(world), Stopping(partial(next, count(step=WORK_SECONDS)))
    async with (
        asyncio.timeout(HANG_SECONDS),
        database(tmp_path, "postgresql", env) as stored,
        slack(world, env) as line,
        AsyncExitStack() as bot,
    ):
        await bot.enter_async_context(
            running_bot(Settings.load(env, env_file=None), stopping=stopping)
        )
        await story.asked("Take your time and add a page about webhooks")
        stored.shut()
        line.shut()
        await bot.aclose()
    with capture_logs() as logged:
        assert stopping.finish() == STOPPED[1]
    assert "leases" in logged[-1]["left"]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_start_on_hanging_database_stops_at_once(
    command_line: Zygote, tmp_path: Path, env: dict[str, str], kind: str
) -> None:
    env["DATABASE_URL"] = (
        f"sqlite:///{tmp_path / 'empty.db'}"  # it hangs while it creates the tables
    )
    async with database(tmp_path, kind, env) as stored:
        stored.shut()
        await stops_at_once(Bot(command_line, env, tmp_path))


@pytest.mark.parametrize("http_mode", [False, True])
async def test_start_on_hanging_slack_stops_at_once(
    command_line: Zygote, world: World, tmp_path: Path, env: dict[str, str]
) -> None:
    async with slack(world, env) as line:
        line.shut()
        await stops_at_once(Bot(command_line, env, tmp_path))


async def stops_at_once(bot: Bot) -> None:
    """Start a bot that hangs, stop it, and insist that its work is whole."""
    await bot.start()
    await asyncio.sleep(1.0)  # until it hangs
    assert await bot.stop() == 0
    assert [line["event"] for line in bot.log][-2:] == ["stopping", "stopped"]
    assert "left" not in bot.log[-1]


async def test_idle_bot_leaves_nothing(
    command_line: Zygote, tmp_path: Path, env: dict[str, str]
) -> None:
    bot = Bot(command_line, env, tmp_path)
    await bot.start()
    await bot.until("ready")
    assert await bot.stop() == 0
    assert "left" not in bot.log[-1]


async def test_free_health_port_is_in_the_log(
    command_line: Zygote, tmp_path: Path, env: dict[str, str]
) -> None:
    bot = Bot(command_line, env, tmp_path)
    await bot.start()
    await bot.until("ready")
    [ready] = [line for line in bot.log if line["event"] == "ready"]
    url = f"http://127.0.0.1:{ready['health_port']}/livez"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        assert answer.status == 200
    assert await bot.stop() == 0


async def test_slow_call_ends_before_the_process(
    command_line: Zygote, world: World, tmp_path: Path, env: dict[str, str]
) -> None:
    story, service, bot = Story(world), world.docs_service, Bot(command_line, env, tmp_path)
    service.faults.order([{"match": "create", "fault": "slow", "seconds": 2}])
    await bot.start()
    await bot.until("ready")
    await story.asked("Add a page about webhooks")
    await wait_for("the call", lambda: not service.faults.waiting())
    assert await bot.stop() == 0
    assert "left" not in bot.log[-1]
    assert len([line for line in bot.log if line["event"] == "prompt_sent"]) == 1
