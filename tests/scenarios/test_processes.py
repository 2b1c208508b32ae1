"""Several processes on one database: each request is handled once, and nobody reads of a locked database."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sandbox.world import World
from tests.bots import lines, stop, wait_for, zygote
from tests.command_line import as_anybody
from tests.databases import PostgresServer
from tests.scenarios.conftest import DocsBot
from tests.scenarios.kills import requests
from tests.scenarios.story import Json, Story, environment
from tests.torture.bots import LEASE_SECONDS

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
    world: World, folder: Path, roles: Sequence[str], **settings: str
) -> AsyncIterator[list[Path]]:
    """Bots in processes of their own, started at the same moment; answers where each writes its log."""
    outputs = [folder / f"{number}-{role}.log" for number, role in enumerate(roles)]
    env = {**environment(world), **_FAST, **settings}
    async with zygote() as parent:
        pids = [
            await parent.fork(env, output, role=role, terse=True, lease_seconds=LEASE_SECONDS)
            for role, output in zip(roles, outputs, strict=True)
        ]
        await wait_for("every start", lambda: all({"ready": True} in lines(output) for output in outputs))
        yield outputs
        for pid in pids:
            await stop(pid)
    assert all({"stopped": True} in lines(output) for output in outputs)


async def told(story: Story, steered: Sequence[str] = ()) -> None:
    """Many ask at once, then one steers in each of these channels: one thread, one job, one end each time."""

    def roots() -> list[Json]:
        return [root for channel in CHANNELS for root in story.roots(channel)]

    def ends() -> list[int]:
        return [len(story.said(root)) for root in roots()]

    asking = [
        story.command("/docs-agent", f"Add page {number} about {channel}", channel=channel)
        for number in range(2)
        for channel in CHANNELS
    ]
    assert all(answer["ok"] for answer in await asyncio.gather(*asking))
    await wait_for("every end", lambda: ends() == [1] * len(asking))
    for root in (story.roots(channel)[0] for channel in steered):
        # It comes as two events, one to each process that takes in.
        story.reply(root, "@docs-agent Mention retries")
    in_all = len(asking) + len(steered)
    await wait_for("every second end", lambda: sum(ends()) >= in_all)
    await asyncio.sleep(0.3)
    assert sorted(ends()) == [1] * (len(asking) - len(steered)) + [2] * len(steered)
    assert len({root["text"] for root in roots()}) == len(asking)
    assert story.private() == []
    asked = await requests(story.world)
    assert (asked["create"], asked["follow_up"]) == (len(asking), len(steered)), asked


def troubles(outputs: Sequence[Path]) -> list[str]:
    """What the processes logged as an error, or said of locks."""
    text = [line for output in outputs for line in output.read_text().splitlines()]
    return [line for line in text if "locked" in line or "error" in line.lower() or "Traceback" in line]


@pytest.mark.parametrize("roles", [["run", "run"], ["serve", "work", "work", "work"]], ids="-".join)
async def test_processes_share_a_postgresql(world: World, tmp_path: Path, roles: list[str]) -> None:
    server = PostgresServer(tmp_path)
    try:
        url = server.new_database().replace("postgresql+psycopg://", "postgres://", 1)
        async with running(world, tmp_path, roles, DATABASE_URL=url) as outputs:
            await told(Story(world), steered=CHANNELS)
        assert troubles(outputs) == []
    finally:
        server.stop()


async def test_a_second_process_on_a_sqlite_file_is_refused_while_the_first_one_runs(
    docs_bot: DocsBot, world: World, tmp_path: Path
) -> None:
    settings, logs = {**environment(world), **_FAST}, [tmp_path / "first.log", tmp_path / "second.log"]
    async with zygote() as parent:
        first = await parent.fork(settings, logs[0], role="run", terse=True)
        await wait_for("the start", lambda: {"ready": True} in lines(logs[0]))
        for second in ("run", "serve", "work"):
            code, said = await docs_bot(second, env=settings, folder=tmp_path)
            assert code == 69, said
            assert "Another process runs on this SQLite file, and only one may: stop it first" in said
            assert "Traceback" not in said
        for command in (["jobs"], ["migrate"], ["audit"], ["backup", f"{tmp_path}/copy.db"]):
            code, said = await docs_bot(*command, env=settings, folder=tmp_path)
            assert code == 0, said
        os.kill(first, signal.SIGKILL)
        again = await parent.fork(settings, logs[1], role="run", terse=True)
        await wait_for("the start after a kill", lambda: {"ready": True} in lines(logs[1]))
        await stop(again)


async def test_a_sqlite_file_that_cannot_be_written_stops_the_start_with_what_to_do(
    world: World, tmp_path: Path
) -> None:
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
    said = (await bot.communicate())[0].decode()
    assert bot.returncode == 69, said
    assert "read-only: let this user write both" in said
    assert "Traceback" not in said
