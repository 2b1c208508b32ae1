"""Strangers at the bot's ports: how a signed command fares while they hold connections, and what they cost.

`python -m bench.strangers` prints the figures of each attack; `tests/ops/test_strangers.py` has their limits.
"""

from __future__ import annotations

import asyncio
import resource
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console

from bench.ack_client import Typist
from bench.ack_slack import played_slack
from bench.bot_process import SIGNING_SECRET, environment, running_bot
from bench.measure import memory_mb
from sandbox.ports import free_port

OPEN_FILES = 512
"""Half of what most systems allow, so that the attacks fit into the same limit."""
_LIMIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Figures:
    """Seconds of the slowest command before and in an attack, growth of memory in MB, lines in the log."""

    calm_seconds: float
    seconds: float
    growth_mb: float
    log_lines: int


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the bot listens: for Slack and for health."""

    slack: int
    health: int


Attack = Callable[[Ports, int], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def idle(ports: Ports, count: int) -> AsyncIterator[None]:
    """Hold connections without sending anything."""
    async with _held(ports.slack, count, b""):
        yield


@asynccontextmanager
async def slow_bodies(ports: Ports, count: int) -> AsyncIterator[None]:
    """Hold requests with headers like Slack's and a large body that never ends."""
    head = (
        "POST /slack/events HTTP/1.1\r\nHost: bot\r\nContent-Type: application/json\r\n"
        f"X-Slack-Request-Timestamp: {int(time.time())}\r\nX-Slack-Signature: v0={'a' * 64}\r\n"
        "Content-Length: 900000\r\n\r\n"
    )
    async with _held(ports.slack, count, head.encode() + b"x" * 20_000):
        yield


@asynccontextmanager
async def unsigned(ports: Ports, count: int) -> AsyncIterator[None]:
    """Send requests that are refused, of several kinds, one after the other on ten connections each."""
    head = b"POST /slack/events HTTP/1.1\r\nHost: bot\r\nContent-Length: 0\r\n"
    kinds = (
        head + b"\r\n",
        head + b"X-Slack-Signature: v0=\xff\r\n\r\n",
        b"this is not HTTP\r\n\r\n",
    )
    room = asyncio.Semaphore(10)

    async def one(number: int) -> None:
        async with room:
            await _ask(ports.slack, kinds[number % len(kinds)])

    async with _beside(*(one(number) for number in range(count))):
        yield


@asynccontextmanager
async def health(ports: Ports, count: int) -> AsyncIterator[None]:
    """Ask for the metrics and for readiness, all at once."""
    paths = ("/metrics", "/readyz")
    requests = [f"GET {paths[each % 2]} HTTP/1.1\r\nHost: bot\r\n\r\n".encode() for each in range(count)]
    async with _beside(*(_ask(ports.health, request) for request in requests)):
        yield


ATTACKS: dict[str, tuple[Attack, int]] = {
    "idle connections": (idle, 700),
    "slow bodies": (slow_bodies, 300),
    "refused requests": (unsigned, 2_000),
    "requests for health": (health, 400),
}


async def measure(attack: Attack, count: int, folder: Path, commands: int = 5) -> Figures:
    """Return what signed commands see while strangers attack a bot that may open 512 files."""
    log = folder / "bot.log"
    async with played_slack(free_port()) as slack:
        env = environment(slack.url, f"sqlite:///{folder}/bot.db") | {"HEALTH_PORT": str(free_port())}
        async with running_bot("serve", env, log=log, open_files=OPEN_FILES) as (bot, port, _):
            typist, ports = Typist(port, SIGNING_SECRET), Ports(port, int(env["HEALTH_PORT"]))
            await typist.type(50, 1)
            calm = max([await _timed(typist) for _ in range(commands)])
            before, lines = memory_mb(bot.pid), _lines(log)
            async with attack(ports, count):
                seconds = [await _timed(typist) for _ in range(commands)]
                growth = memory_mb(bot.pid) - before
    return Figures(calm, max(seconds), growth, _lines(log) - lines)


async def _timed(typist: Typist) -> float:
    """Return the seconds from a command's connection to its acknowledgement; the limit if there is none."""
    began = time.perf_counter()
    try:
        async with asyncio.timeout(_LIMIT_SECONDS):
            await typist.type(1, 1)
    except (TimeoutError, OSError, EOFError):
        return _LIMIT_SECONDS
    await asyncio.sleep(0.2)
    return time.perf_counter() - began - 0.2


def _lines(log: Path) -> int:
    return log.read_bytes().count(b"\n")


@asynccontextmanager
async def _held(port: int, count: int, sent: bytes) -> AsyncIterator[None]:
    """Open connections at once, send the same on each, and hold them until the block ends."""
    async with AsyncExitStack() as stack:

        async def one() -> None:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                return
            stack.callback(writer.close)
            writer.write(sent)

        await asyncio.gather(*(one() for _ in range(count)))
        yield


async def _ask(port: int, request: bytes) -> None:
    """Send a request and read until the connection closes or the response's head has come."""
    with suppress(OSError, EOFError):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(request)
            await reader.readuntil(b"\r\n\r\n")
        finally:
            writer.close()


@asynccontextmanager
async def _beside(*asked) -> AsyncIterator[None]:  # type: ignore[no-untyped-def]
    """Carry these out while the block runs."""
    asking = asyncio.gather(*asked)
    await asyncio.sleep(0)
    yield
    await asking


def allow_files() -> None:
    """Let this process open as many files as the attacks need."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4_096) if hard > 0 else 4_096, hard))


@click.command()
def main() -> None:
    """Measure every attack."""
    allow_files()
    console = Console(highlight=False)
    for name, (attack, count) in ATTACKS.items():
        with tempfile.TemporaryDirectory(prefix="docs-bot-") as folder:
            found = asyncio.run(measure(attack, count, Path(folder)))
        console.print(
            f"{count:,} {name}: slowest command {1000 * found.seconds:,.0f} ms "
            f"(before: {1000 * found.calm_seconds:,.0f} ms), "
            f"memory {found.growth_mb:+.1f} MB, {found.log_lines} log lines"
        )


if __name__ == "__main__":
    main()
