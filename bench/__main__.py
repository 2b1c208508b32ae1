"""`python -m bench`: runs the benchmarks, prints a table for each and writes all results as JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import click
from rich.console import Console

from bench import ack, burst, digests, idle, pages, poll, recovery, wait
from bench.report import Report, as_json, machine, missed, print_report
from bench.speed import machine_speed


class Bench(StrEnum):
    """What can be measured."""

    ACK = "ack"
    WAIT = "wait"
    PAGES = "pages"
    DIGESTS = "digests"
    POLL = "poll"
    RECOVERY = "recovery"
    BURST = "burst"
    IDLE = "idle"


Measure = Callable[[bool, Path], Awaitable[list[Report]]]
"""Takes whether to measure quickly, and a folder for databases and logs."""


# Times in milliseconds are measured first, before the load can slow down a small machine.
MEASURES: dict[Bench, Measure] = {
    Bench.ACK: lambda quick, folder: ack.measure(ack.QUICK if quick else ack.FULL, folder),
    Bench.WAIT: lambda quick, folder: wait.measure(wait.QUICK if quick else wait.FULL, folder),
    Bench.PAGES: lambda quick, folder: pages.measure(pages.QUICK if quick else pages.FULL, folder),
    Bench.DIGESTS: lambda quick, folder: digests.measure(digests.QUICK if quick else digests.FULL, folder),
    Bench.IDLE: lambda quick, folder: idle.measure(idle.QUICK if quick else idle.FULL, folder),
    Bench.POLL: lambda quick, folder: poll.measure(poll.QUICK if quick else poll.FULL, folder),
    Bench.RECOVERY: lambda quick, folder: recovery.measure(
        recovery.QUICK if quick else recovery.FULL, folder
    ),
    Bench.BURST: lambda quick, folder: burst.measure(burst.QUICK if quick else burst.FULL, folder),
}


async def measure_all(wanted: list[Bench], quick: bool, folder: Path, console: Console) -> list[Report]:
    """Run one benchmark after the other; print each report as soon as it is complete."""
    reports: list[Report] = []
    for bench in wanted:
        own = folder / bench
        own.mkdir()
        found = await MEASURES[bench](quick, own)
        for report in found:
            print_report(console, report)
        reports += found
    return reports


@click.command()
@click.option(
    "--only",
    type=click.Choice([bench.value for bench in Bench]),
    multiple=True,
    help="Only this bench; may be repeated.",
)
@click.option("--quick", is_flag=True, help="Tiny sizes: only whether it works.")
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path),
    default=Path("var/bench.json"),
    show_default=True,
    help="Where the numbers go.",
)
def measure(only: tuple[str, ...], quick: bool, json_file: Path) -> None:
    """Measure the bot beside what a person would use instead."""
    console, began = _console(), monotonic()
    json_file.parent.mkdir(parents=True, exist_ok=True)
    console.print(", ".join(f"{name} {value}" for name, value in machine().items()), highlight=False)
    before = machine_speed()
    console.print(f"This machine now: {before}", highlight=False)
    # Beside the JSON file and not in /tmp, which is in memory on many machines: databases must be on disk.
    with TemporaryDirectory(dir=json_file.parent, prefix="bench-") as folder:
        wanted = [bench for bench in MEASURES if not only or bench in only]
        reports = asyncio.run(measure_all(wanted, quick, Path(folder).resolve(), console))
    after = machine_speed()
    console.print(f"This machine now: {after}", highlight=False)
    written = as_json(reports, {"before": before, "after": after})
    json_file.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    _conclude(console, reports, monotonic() - began, json_file)


def _console() -> Console:
    """Return a console that is wide enough for a row if the output is not a terminal."""
    console = Console()
    return console if console.is_terminal else Console(width=120)


def _conclude(console: Console, reports: list[Report], seconds: float, json_file: Path) -> None:
    goals = sum(row.goal is not None for report in reports for row in report.rows)
    late = missed(reports)
    console.print(f"{goals - len(late)} of {goals} goals met in {seconds:.0f} s; all numbers: {json_file}")
    for line in late:
        console.print(f"missed: {line}", style="red", highlight=False)


if __name__ == "__main__":
    measure()
