"""Child processes of the benchmarks: starting them, talking to them, measuring and ending them."""

from __future__ import annotations

import asyncio
import math
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import clock_gettime, perf_counter

import aiohttp

from bench.running_jobs import PROJECT
from sandbox.ports import free_port


async def answer_counts(counts: Callable[[], tuple[int, int]]) -> None:
    """Print the counts of done and failed calls for each line of standard input, until the input ends."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    try:
        while await reader.readline():
            done, failed = counts()
            print(f"{done} {failed}", flush=True)
    finally:
        transport.close()


@dataclass(frozen=True, slots=True)
class Spread:
    """The median and the 99th percentile of samples, in their unit."""

    median: float
    p99: float
    count: int


def spread(samples: Sequence[float]) -> Spread:
    """Return median and 99th percentile (nearest rank). Raises ValueError when there are no samples."""
    return Spread(median(samples), percentile(samples, 0.99), len(samples))


def percentile(samples: Sequence[float], share: float) -> float:
    """Return the smallest sample that is at least as large as this share of all samples (nearest rank)."""
    ranked = sorted(samples)
    return ranked[max(math.ceil(share * len(ranked)) - 1, 0)]


def cpu_seconds(pid: int) -> float:
    """Return the user and system time of a process with all its threads, exact to the nanosecond.

    The clock's number is that of clock_getcpuclockid(3), which Python does not offer: ``/proc/<pid>/stat``
    counts hundredths of a second, in which 20 commands are handled.
    """
    return clock_gettime((~pid << 3) | 2)


def memory_mb(pid: int) -> float:
    """Return the current resident memory of a process, in MB (10^6 bytes)."""
    return _status(pid, "VmRSS:")


def most_memory_mb(pid: int) -> float:
    """Return the peak resident memory of a process, in MB (10^6 bytes)."""
    return _status(pid, "VmHWM:")


def _status(pid: int, key: str) -> float:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024 / 1e6
    raise LookupError(f"{key} is not in the status of process {pid}")


READY = "ready"
"""The line that a child process prints once it is ready to be measured."""
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "XDG_RUNTIME_DIR", "VIRTUAL_ENV")


class Child:
    """A running process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self.process.pid

    def cpu_seconds(self) -> float:
        """Return the processor time used so far."""
        return cpu_seconds(self.pid)

    async def say(self, line: str) -> None:
        """Write a line to the standard input."""
        if self.process.stdin is None:
            raise RuntimeError("the process has no standard input")
        self.process.stdin.write(f"{line}\n".encode())
        await self.process.stdin.drain()

    async def hear(self, limit_seconds: float = 600.0) -> str:
        """Return the next line of the output. Raises RuntimeError when the process has ended."""
        if self.process.stdout is None:
            raise RuntimeError("the process has no standard output")
        async with asyncio.timeout(limit_seconds):
            line = await self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"process {self.pid} ended with {await self.process.wait()}")
        return line.decode().rstrip("\n")

    async def end(self) -> None:
        """Terminate the process; kill it after 60 seconds."""
        if self.process.returncode is not None:
            return
        self.process.terminate()
        try:
            async with asyncio.timeout(60):
                await self.process.wait()
        except TimeoutError:
            self.process.kill()
            await self.process.wait()


@asynccontextmanager
async def child(
    *arguments: str, env: Mapping[str, str] | None = None, log: Path | None = None
) -> AsyncIterator[Child]:
    """Run `python <arguments>` until the block ends; its standard error goes to ``log``.

    The environment has only ``env`` and a few basic variables.
    """
    errors = log.open("ab") if log else asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=errors,
        env={**{name: os.environ[name] for name in _KEPT if name in os.environ}, **(env or {})},
    )
    if log and not isinstance(errors, int):
        errors.close()
    running = Child(process)
    try:
        yield running
    finally:
        await running.end()
        transport = getattr(process, "_transport", None)
        if transport is not None:
            transport.close()


BOT_TOKEN = "xoxb-bench"  # noqa: S105
DOCS_KEY = "bench-key"
SIGNING_SECRET = "bench-signing-secret"  # noqa: S105
NO_DOCS = "http://127.0.0.1:9"
"""An address at which there is no docs service."""


def environment(
    slack_url: str, database_url: str, *, docs_url: str = NO_DOCS, app_token: str = ""
) -> dict[str, str]:
    """Return the settings of a bot, in HTTP mode unless there is an app token."""
    way = {"SLACK_APP_TOKEN": app_token} if app_token else {"SLACK_SIGNING_SECRET": SIGNING_SECRET}
    return way | {
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_API_URL": slack_url,
        "DATABASE_URL": database_url,
        "DOCS_API_URL": docs_url,
        "DOCS_API_KEY": DOCS_KEY,
        "DOCS_PROJECT_ID": PROJECT,
    }


# As where only requirements.txt is installed: httpx and structlog load both where they are, 7 MB.
_AS_IN_PRODUCTION = """
import sys

sys.modules.update(rich=None, pygments=None)
from bot.__main__ import main

main()
"""


DOCS_BOT_RUN = ("-c", _AS_IN_PRODUCTION, "run")


@asynccontextmanager
async def running_bot(
    env: dict[str, str], *, program: Sequence[str] = DOCS_BOT_RUN, log: Path | None = None
) -> AsyncIterator[tuple[Child, int, float]]:
    """Run `docs-bot run`; yield it when ready, with its port and the seconds of its start.

    The port for health is ``HEALTH_PORT`` in ``env`` or any that is free.
    """
    port = free_port()
    own_env = {"HEALTH_PORT": str(free_port()), **env, "PORT": str(port)}
    began = perf_counter()
    async with child(*program, env=own_env, log=log) as bot:
        async with aiohttp.ClientSession() as session:
            await _until(bot, partial(_has_started, session, own_env["HEALTH_PORT"]))
        seconds = perf_counter() - began
        if "SLACK_SIGNING_SECRET" in own_env:
            # The port for Slack opens after the one for health.
            await _until(bot, partial(_listens, port))
        yield bot, port, seconds


async def _until(bot: Child, condition: Callable[[], Awaitable[bool]]) -> None:
    """Wait for a condition. Raises RuntimeError if the bot ends before."""
    async with asyncio.timeout(300):
        while not await condition():
            if bot.process.returncode is not None:
                raise RuntimeError(f"the bot ended with {bot.process.returncode}")
            await asyncio.sleep(0.01)


async def _has_started(session: aiohttp.ClientSession, port: str) -> bool:
    try:
        async with session.get(f"http://127.0.0.1:{port}/livez") as answer:
            return answer.status == 200
    except aiohttp.ClientConnectionError:
        return False


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionRefusedError:
        return False
    writer.close()
    await writer.wait_closed()
    return True
