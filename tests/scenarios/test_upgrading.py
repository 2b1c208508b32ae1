"""Two versions, as processes: an upgrade that is killed, one that succeeds, and the way back."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from sandbox.world import World
from tests.limits import HANG_SECONDS
from tests.papers import ROOT
from tests.scenarios.story import Story, environment
from tests.store.test_upgrade import add_next_revision

pytestmark = pytest.mark.slow
_FAST = {
    "POLL_MIN_SECONDS": "0.1",
    "POLL_MAX_SECONDS": "0.2",
    "HEALTH_PORT": "0",
    "LOG_LEVEL": "INFO",
}


def later_version(folder: Path) -> Path:
    """Return a folder with a later version of the bot, whose tables have one revision more."""
    shutil.copytree(ROOT / "bot", folder / "bot", ignore=shutil.ignore_patterns("__pycache__"))
    add_next_revision(folder / "bot/store/revisions")
    return folder


class Version:
    """One version of the bot, started as a process of its own."""

    def __init__(self, world: World, code: Path, log: Path) -> None:
        self._environment = {**os.environ, **environment(world), **_FAST, "PYTHONPATH": str(code)}
        self._log = log
        self._code = code

    async def start(self, **settings: str) -> asyncio.subprocess.Process:
        """Start the bot, and wait until it is ready or has ended."""
        self._log.write_bytes(b"")
        with self._log.open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "bot", "run"),
                cwd=self._code,
                env={**self._environment, **settings},
                stdout=log,
                stderr=log,
            )
        async with asyncio.timeout(HANG_SECONDS):
            while process.returncode is None and '"event": "ready"' not in self.log:
                await asyncio.sleep(0.05)
        return process

    @property
    def log(self) -> str:
        return self._log.read_text()


async def kill(process: asyncio.subprocess.Process) -> None:
    process.send_signal(signal.SIGKILL)
    await process.wait()


async def test_upgrade_and_the_way_back_lose_and_repeat_nothing(
    world: World, tmp_path: Path
) -> None:
    story = Story(world)
    before = Version(world, ROOT, tmp_path / "before.log")
    later = Version(world, later_version(tmp_path / "later"), tmp_path / "later.log")

    running = await before.start()
    first = await story.asked("Add a page on keys")
    await kill(running)

    killed = await later.start(KILL_THE_UPGRADE="yes")
    assert killed.returncode == -signal.SIGKILL

    running = await later.start()
    assert "database_upgraded" in later.log
    await story.replies(first, 1)
    second = await story.asked("Add a page on tokens")
    await kill(running)

    running = await before.start()
    assert "database_of_later_version" in before.log
    await story.replies(second, 1)
    third = await story.finished("Add a page on webhooks")
    await story.replies(third, 1)
    await kill(running)

    running = await later.start()
    assert "database_upgraded" not in later.log, "it is upgraded already"
    fourth = await story.finished("Add a page on limits")
    roots = [first, second, third, fourth]
    assert [len(await story.replies(root, 1)) for root in roots] == [1] * 4
    assert len(story.roots()) == 4
    running.terminate()
    assert await running.wait() == 0
