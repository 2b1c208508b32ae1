"""`python -m bench`: runs the benchmarks, prints a table for each and writes all results as JSON."""

from __future__ import annotations

import asyncio
import json
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from types import ModuleType

import click
from rich.console import Console

from bench import burst, command, idle, message, poll, recovery, stalls, visitors
from bench.report import Report, as_json, as_markdown, machine, missed, print_report


class Bench(StrEnum):
    """The benchmarks."""

    COMMAND = "command"
    MESSAGE = "message"
    VISITORS = "visitors"
    POLL = "poll"
    RECOVERY = "recovery"
    BURST = "burst"
    IDLE = "idle"
    STALLS = "stalls"


# Times in milliseconds are measured first, before the load can slow down a small machine.
MEASURES: dict[Bench, ModuleType] = {
    Bench.COMMAND: command,
    Bench.MESSAGE: message,
    Bench.VISITORS: visitors,
    Bench.IDLE: idle,
    Bench.POLL: poll,
    Bench.RECOVERY: recovery,
    Bench.BURST: burst,
    Bench.STALLS: stalls,
}
"""The module of each: ``measure(size, folder)`` takes ``QUICK`` or ``FULL``, and where its files go."""


async def measure_all(
    benches: list[Bench], quick: bool, folder: Path, console: Console
) -> list[Report]:
    """Run one benchmark after the other; print each report as soon as it is complete."""
    reports: list[Report] = []
    for bench in benches:
        own = folder / bench
        own.mkdir()
        module = MEASURES[bench]
        found: list[Report] = await module.measure(module.QUICK if quick else module.FULL, own)
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
    help="Where the numbers go; beside it, the rows with goals as a table in Markdown.",
)
def measure(only: tuple[str, ...], quick: bool, json_file: Path) -> None:
    """Measure the bot beside its alternatives."""
    console, began = _console(), monotonic()
    json_file.parent.mkdir(parents=True, exist_ok=True)
    console.print(
        ", ".join(f"{name} {value}" for name, value in machine().items()), highlight=False
    )
    # Beside the JSON file and not in /tmp, which is in memory on many machines: databases must be on disk.
    with TemporaryDirectory(dir=json_file.parent, prefix="bench-") as folder:
        benches = [bench for bench in MEASURES if not only or bench in only]
        reports = asyncio.run(measure_all(benches, quick, Path(folder).resolve(), console))
    json_file.with_suffix(".md").write_text(as_markdown(reports), encoding="utf-8")
    json_file.write_text(json.dumps(as_json(reports), indent=2) + "\n", encoding="utf-8")
    _conclude(console, reports, monotonic() - began, json_file)


def _console() -> Console:
    """Return a console that is wide enough for a row if the output is not a terminal."""
    console = Console()
    return console if console.is_terminal else Console(width=120)


def _conclude(console: Console, reports: list[Report], seconds: float, json_file: Path) -> None:
    goals = sum(row.goal is not None for report in reports for row in report.rows)
    late = missed(reports)
    console.print(
        f"{goals - len(late)} of {goals} goals met in {seconds:.0f} s; all numbers: {json_file}"
    )
    for line in late:
        console.print(f"missed: {line}", style="red", highlight=False)


if __name__ == "__main__":
    measure()
