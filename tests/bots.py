"""Start bots as separate processes, forked from ``tests.scenarios.killing``, which has imported the bot."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from sandbox.world import World
from tests.limits import HANG_SECONDS
from tests.scenarios.story import environment

_FAST = {
    "POLL_MIN_SECONDS": "0.1",
    "POLL_MAX_SECONDS": "0.2",
    "HEALTH_PORT": "0",
    "LOG_LEVEL": "ERROR",
}


class Zygote:
    """The process from which bots are forked."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._turn = asyncio.Lock()

    async def fork(self, env: Mapping[str, str], output: Path, **order: Any) -> int:
        """Start a bot with these settings, with its output in a file, and return its process id.

        ``tests.scenarios.killing`` documents the other keys of an order.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps({"env": dict(env), "output": str(output), **order})
        async with self._turn:
            self._process.stdin.write(line.encode() + b"\n")
            await self._process.stdin.drain()
            return int(await self._process.stdout.readline())

    async def command(
        self, arguments: Sequence[str], env: Mapping[str, str], folder: Path
    ) -> tuple[int, str]:
        """Run ``docs-bot`` to its end, and return its exit code and output."""
        with TemporaryDirectory() as place:
            file = Path(place) / "output"
            pid = await self.fork(env, file, arguments=arguments, folder=str(folder))
            await wait_for(f"the end of {arguments}", lambda: not is_alive(pid))
            output, _, code = file.read_text().rstrip("\n").rpartition("\n")
        return int(code), output

    async def start(
        self,
        world: World,
        output: Path,
        kill_at: str | None = None,
        watched: Sequence[str] = (),
        *,
        lease_seconds: float | None = None,
        ahead: timedelta = timedelta(0),
        blind: bool = False,
        **settings: str,
    ) -> int:
        """Start a bot that is connected to this world, and return its process id.

        ``watched`` names the modules whose places are reported. Leases are short by default, to end soon
        after a kill. ``ahead`` is the lead of the bot's clock. A ``blind`` bot cannot poll pull requests.
        """
        env = environment(world) | _FAST | settings
        env |= {"GITHUB_API_URL": "https://api.github.com"} if blind else {}
        order = {"kill_at": kill_at, "watched": watched, "lease_seconds": lease_seconds}
        return await self.fork(env, output, **order, ahead=ahead.total_seconds())


@asynccontextmanager
async def zygote() -> AsyncIterator[Zygote]:
    """Start a zygote and stop it when the block ends."""
    pipe = asyncio.subprocess.PIPE
    command = (sys.executable, "-m", "tests.scenarios.killing")
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    try:
        yield Zygote(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


def lines(output: Path) -> list[dict[str, Any]]:
    """Return the JSON lines in a bot's output."""
    if not output.exists():
        return []
    return [json.loads(line) for line in output.read_text().splitlines() if line.startswith("{")]


def is_alive(pid: int) -> bool:
    """Return whether the process is running."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def wait_for(event: str, check: Callable[[], bool]) -> None:
    """Wait until the check is true. Fails after ``HANG_SECONDS``."""
    deadline = monotonic() + HANG_SECONDS
    while not check():
        assert monotonic() < deadline, f"{event} did not come about"
        await asyncio.sleep(0.02)


async def started(pid: int, output: Path) -> None:
    """Wait until the bot is ready for requests or has ended."""
    await wait_for("a start", lambda: {"ready": True} in lines(output) or not is_alive(pid))


async def stop(pid: int) -> None:
    """Stop a bot with SIGTERM and wait for its end."""
    if is_alive(pid):
        os.kill(pid, signal.SIGTERM)
        await wait_for("the end of the process", lambda: not is_alive(pid))
