"""`python -m bench.story`: counts the files and functions of the bot that three requests pass through.

The whole bot runs in this process, with the sandbox as Slack and docs service; the sandbox is not counted.
Each request comes from a user whom the bot does not know yet. All calls in all threads count, from the moment
when the payload is sent (or the digest comes due) until the answer is posted and nothing more follows:
intake, workers, database, messages and posts. The start, imports and calls that an idle bot also makes do not
count.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import click
from rich.console import Console
from rich.table import Table

from bench.passed import Passage, functions
from bot.app import running_bot
from sandbox.world import World, WorldOptions, both_sides
from tests.scenarios.story import ANA, BEN, Story

_CHIKA = "U03CHIKA"
_REST_SECONDS = 6.0
"""Longer than the workers' regular check of all queues (5 s)."""
_QUIET_SECONDS = 1.0
_LIMIT_SECONDS = 60.0
_FAST = {"poll_min_seconds": 0.2, "poll_max_seconds": 0.4}


@dataclass(frozen=True, slots=True)
class Told:
    """One story and the functions that it passed through, by file."""

    name: str
    functions: dict[str, set[str]]

    @property
    def count(self) -> int:
        """Return how many functions those are."""
        return sum(map(len, self.functions.values()))


async def tell_all(folder: Path) -> list[Told]:
    """Run each story once."""
    passage = Passage()
    with passage.watching():
        async with _running(folder) as (story, database):
            await _subscribe(story, database)
            with passage.resting():
                await asyncio.sleep(_REST_SECONDS)
            return [
                await _told(passage, "job", lambda: _job(story)),
                await _told(passage, "visitors", lambda: _visitors(story)),
                await _told(passage, "digest", lambda: _digest(story, database)),
            ]


@asynccontextmanager
async def _running(folder: Path) -> AsyncIterator[tuple[Story, Path]]:
    options = WorldOptions(folder, work_seconds=0.5, pages=80, days=70)
    async with both_sides(options) as world, running_bot(world.settings.model_copy(update=_FAST)):
        yield Story(world), _database(world)


def _database(world: World) -> Path:
    return Path(world.settings.database_url.get_secret_value().removeprefix("sqlite:///"))


async def _told(passage: Passage, name: str, happens: Callable[[], Awaitable[None]]) -> Told:
    with passage.following() as stacks:
        async with asyncio.timeout(_LIMIT_SECONDS):
            await happens()
            # Not an event, because the profiler would have to set it from any thread.
            while (rest := passage.changed_at + _QUIET_SECONDS - monotonic()) > 0:  # noqa: ASYNC110
                await asyncio.sleep(rest)
    return Told(name, functions(stacks))


async def _job(story: Story) -> None:
    """Run the story from `/docs-agent` to the pull request in the thread."""
    root = await story.asked("Add a quickstart for the Python SDK", user=ANA)
    await story.until(
        lambda: any("/pull/" in str(one["blocks"]) for one in story.said(root)) or None, "the end"
    )


async def _visitors(story: Story) -> None:
    """Run the story from `/docs-visitors` to the answer that only the person sees."""
    await story.command("/docs-visitors", user=BEN)
    await story.until(
        lambda: any("People:" in one["text"] for one in story.private(BEN)) or None, "the answer"
    )


async def _digest(story: Story, database: Path) -> None:
    """Run the story from the moment when a digest is due to its post in the channel."""
    now = datetime.now(UTC).replace(tzinfo=None)
    # Written directly to the database, so that only the bot's own calls count.
    with closing(sqlite3.connect(database, timeout=10)) as connection, connection:
        connection.execute("UPDATE subscriptions SET next_run_at = ?", (now.isoformat(" ", "microseconds"),))
    await story.post("The docs in the week")


async def _subscribe(story: Story, database: Path) -> None:
    """Subscribe a channel to a digest that is due in three days."""
    day = datetime.now(UTC) + timedelta(days=3)
    await story.command("/docs-visitors", f"subscribe {day:%A} 09:00 UTC", user=_CHIKA)
    await story.until(lambda: _is_active(database), "the subscription")


def _is_active(database: Path) -> bool | None:
    with closing(sqlite3.connect(database, timeout=10)) as connection:
        return connection.execute("SELECT state FROM subscriptions").fetchone() == ("active",) or None


def shared(told: list[Told]) -> set[str]:
    """Return the files that every story passes: those of Slack, the database, the outbox and the like."""
    return set.intersection(*(set(each.functions) for each in told))


def print_told(console: Console, told: list[Told], *, files: bool) -> None:
    """Print the table, and the files with the number of their functions if wanted."""
    everywhere = shared(told)
    table = Table("story", title="what a request passes through", title_justify="left", title_style="bold")
    for title in ("files", "of its own", "functions"):
        table.add_column(title, justify="right")
    for each in told:
        own = len(each.functions) - len(everywhere)
        table.add_row(each.name, str(len(each.functions)), str(own), str(each.count))
    console.print(table)
    console.print(f"{len(everywhere)} files are passed by every story.", highlight=False)
    for each in told if files else ():
        console.print(f"\n[bold]{each.name}[/]")
        for file, names in sorted(each.functions.items()):
            mark = " (every story)" if file in everywhere else ""
            console.print(f"  {file}  {len(names)}{mark}", highlight=False, markup=False)


def too_long(told: list[Told], most: list[int]) -> list[str]:
    """Return the stories that pass through more files of their own than they may, a line each."""
    everywhere = len(shared(told))
    return [
        f"{each.name}: {len(each.functions) - everywhere} files of its own, at most {allowed}"
        for each, allowed in zip(told, most, strict=True)
        if len(each.functions) - everywhere > allowed
    ]


def _numbers(given: str) -> list[int]:
    numbers = given.split(",")
    if len(numbers) != 3 or not all(each.strip().isdecimal() for each in numbers):
        raise click.BadParameter(
            "three numbers are needed, for job, visitors and digest", param_hint="--most"
        )
    return [int(each) for each in numbers]


@click.command()
@click.option("--files", is_flag=True, help="List the files of each story.")
@click.option(
    "--most",
    default="",
    metavar="JOB,VISITORS,DIGEST",
    help="Fail when a story passes more files of its own.",
)
def main(files: bool, most: str) -> None:
    """Count the files and functions of the bot that three requests pass through."""
    allowed = _numbers(most) if most else None
    with TemporaryDirectory(prefix="story-") as folder:
        told = asyncio.run(tell_all(Path(folder)))
    print_told(Console(), told, files=files)
    late = too_long(told, allowed) if allowed else []
    for line in late:
        Console(stderr=True).print(line, style="red", highlight=False)
    raise SystemExit(bool(late))


if __name__ == "__main__":
    main()
