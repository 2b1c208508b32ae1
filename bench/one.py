"""Measures one row of one checkout: `python -m bench.one ROW` prints its figures as one line of JSON.

``bench.versus`` runs it in both checkouts that it compares, so its command line and output must stay
compatible. It measures the bot of the checkout in which it runs, and exits with 2 for an unknown row. The
line is a list of objects with ``what``, ``unit`` and ``value``; less is better in each.

`--tree FOLDER` measures an older checkout, which lacks this module, with that checkout's child processes.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from bench import ack, idle, poll
from bench.ack_sides import Way, bot_side
from bench.ack_slack import played_slack
from bench.bot_process import environment, running_bot
from bench.docs_server import docs_service
from sandbox.ports import free_port

_ACK = ack.Size({1: 100, 10: 300, 50: 500}, turns=2)
_POLL = poll.Size((), every_seconds=20.0, warm_seconds=3.0, window_seconds=6.0, turns=1)
_REST_SECONDS = 10.0
_SQLITE = "sqlite"
_OLDER_SQLITE = "sqlite+aiosqlite"
"""The SQLite driver of checkouts that are older than this module."""
_TOKEN = "xapp-one"  # noqa: S105


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number; less is better."""

    what: str
    unit: str
    value: float


class RowName(StrEnum):
    """The rows that can be measured."""

    ACK_HTTP = "ack-http"
    ACK_SOCKET = "ack-socket"
    POLL_1000 = "poll-1000"
    POLL_10000 = "poll-10000"
    START = "start"
    REST = "rest"
    STATEMENTS = "statements"


Measure = Callable[[Path, Path | None], Awaitable[list[Figure]]]
"""Takes a folder for databases and logs, and the checkout (None: this one)."""


async def _ack(way: Way, folder: Path, tree: Path | None) -> list[Figure]:
    async with played_slack(free_port()) as slack, bot_side(way, slack, folder, tree) as bot:
        taken = await ack.in_turns((bot,), _ACK)
    found = [
        Figure(f"command over {way}, {at_once} at once: {what}", "ms", value)
        for at_once, (own,) in taken.items()
        for what, value in own.figures().items()
    ]
    unanswered = sum(own.unanswered for (own,) in taken.values())
    return [*found, Figure(f"commands over {way} not acknowledged within 3 s", "", unanswered)]


async def _poll(jobs: int, folder: Path, tree: Path | None) -> list[Figure]:
    database_url = f"{_OLDER_SQLITE if tree else _SQLITE}:///{folder}/poll.db"
    async with docs_service() as url:
        found = await poll.ours(url, database_url, jobs, _POLL, folder, tree)
    return [
        Figure(f"poll of {jobs:,} jobs: processor time", "ms", found.cpu_ms),
        Figure(f"poll of {jobs:,} jobs: memory at most", "MB", found.memory_mb),
    ]


async def _start(folder: Path, tree: Path | None) -> list[Figure]:
    async with played_slack(free_port()) as slack:
        found = await idle.start(_environment(slack.url, folder), folder, tree)
    return [
        Figure("ready after", "s", found.seconds),
        Figure("ready after: processor time", "s", found.cpu_seconds),
    ]


async def _rest(folder: Path, tree: Path | None) -> list[Figure]:
    async with played_slack(free_port()) as slack:
        env = _environment(slack.url, folder)
        async with running_bot("run", env, log=folder / "rest.log", tree=tree) as (bot, _, _):
            (found,) = await idle.resting((bot,), _REST_SECONDS)
    return [
        Figure("memory at rest", "MB", found.memory_mb),
        Figure("processor at rest, share of a core", "%", found.cpu_percent),
    ]


async def _statements(folder: Path, tree: Path | None) -> list[Figure]:
    async with played_slack(free_port()) as slack:
        counted = await idle.statements(_environment(slack.url, folder), _REST_SECONDS, folder, tree)
    return [Figure("statements at rest", "/s", counted)]


def _environment(slack_url: str, folder: Path) -> dict[str, str]:
    return environment(slack_url, f"sqlite:///{folder}/one.db", app_token=_TOKEN)


_MEASURES: dict[RowName, Measure] = {
    RowName.ACK_HTTP: partial(_ack, Way.HTTP),
    RowName.ACK_SOCKET: partial(_ack, Way.SOCKET),
    RowName.POLL_1000: partial(_poll, 1_000),
    RowName.POLL_10000: partial(_poll, 10_000),
    RowName.START: _start,
    RowName.REST: _rest,
    RowName.STATEMENTS: _statements,
}


def figures(row: RowName, tree: Path | None = None) -> list[Figure]:
    """Measure a row of a checkout; on an error, print the logs of its processes and raise it again."""
    var = Path("var")
    var.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=var, prefix="one-") as name:
        folder = Path(name).resolve()
        try:
            return asyncio.run(_measured(row, folder, tree))
        except Exception:
            for log in folder.glob("*.log"):
                print(log.name, log.read_text(encoding="utf-8")[-2_000:], file=sys.stderr)
            raise


async def _measured(row: RowName, folder: Path, tree: Path | None) -> list[Figure]:
    return await _MEASURES[row](folder, tree)


@click.command()
@click.argument("row", type=click.Choice([row.value for row in RowName]))
@click.option("--tree", type=click.Path(path_type=Path), help="Another checkout, an older one.")
def main(row: str, tree: Path | None) -> None:
    """Measure one row and print its figures."""
    found = figures(RowName(row), tree.resolve() if tree else None)
    print(json.dumps([asdict(figure) for figure in found]), flush=True)


if __name__ == "__main__":
    main()
