"""`python -m bench.versus REV`: compares this working tree with another commit, measuring both in turns.

Each side runs its own `bench.one`, so only the command line and output of that module must be compatible. For
a commit without it, this tree's `bench.one` starts the commit's child processes. Both sides use this Python
and its packages.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.console import Console
from rich.table import Table

from bench.noise import Compared, Result, compare
from bench.one import Figure, RowName
from bench.report import figure
from bench.speed import machine_speed

_HERE = Path(__file__).resolve().parents[1]
_UNKNOWN_ROW = 2
_COLOURS = {Result.WORSE: "red", Result.BETTER: "green", Result.SAME: "dim"}


@dataclass(slots=True)
class Samples:
    """The values of one figure on both sides, one for each turn."""

    unit: str
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)


@contextmanager
def checked_out(repository: Path, rev: str) -> Iterator[Path]:
    """Check out a commit below `var/`; remove the checkout when the block ends."""
    (repository / "var").mkdir(exist_ok=True)
    with TemporaryDirectory(dir=repository / "var", prefix="versus-") as folder:
        tree = Path(folder) / "tree"
        _git(repository, "worktree", "add", "--quiet", "--detach", str(tree), rev)
        try:
            yield tree
        finally:
            _git(repository, "worktree", "remove", "--force", str(tree))


def _git(repository: Path, *arguments: str) -> None:
    subprocess.run(("git", *arguments), cwd=repository, check=True)  # noqa: S603, S607


def measure(ours: Path, theirs: Path, rows: Sequence[str], turns: int) -> dict[str, Samples]:
    """Measure rows of both checkouts in turns (A B B A …); leave out rows that one of them does not have."""
    samples: dict[str, Samples] = {}
    for turn in range(turns):
        for row in rows:
            sides = (ours, theirs) if turn % 2 == 0 else (theirs, ours)
            found = {side: ask(side, row) for side in sides}
            _add(samples, found[ours], found[theirs])
    return samples


def ask(tree: Path, row: str) -> list[Figure]:
    """Measure a row of a checkout with its own `bench.one`, if any; return [] if the row is unknown."""
    has_own = (tree / "bench" / "one.py").is_file()
    arguments = [row] if has_own else [row, "--tree", str(tree)]
    command = (sys.executable, "-m", "bench.one", *arguments)
    asked = subprocess.run(command, cwd=tree if has_own else _HERE, stdout=subprocess.PIPE, check=False)  # noqa: S603
    if asked.returncode == _UNKNOWN_ROW:
        return []
    asked.check_returncode()
    return [Figure(**each) for each in json.loads(asked.stdout.splitlines()[-1])]


def _add(samples: dict[str, Samples], ours: list[Figure], theirs: list[Figure]) -> None:
    known = {each.what: each.value for each in theirs}
    for each in ours:
        if each.what in known:
            both = samples.setdefault(each.what, Samples(each.unit))
            both.ours.append(each.value)
            both.theirs.append(known[each.what])


def print_compared(console: Console, rev: str, samples: dict[str, Samples]) -> list[str]:
    """Print a table of medians, ratios and margins; return the figures in which this tree is worse."""
    table = Table(title=f"this tree beside {rev}", title_justify="left", title_style="bold")
    table.add_column("what")
    for title in ("this tree", rev, "ratio", "noise", ""):
        table.add_column(title, justify="right")
    worse: list[str] = []
    for what, each in samples.items():
        found = compare(each.ours, each.theirs)
        table.add_row(what, *_cells(found, each.unit))
        worse += [what] if found.result is Result.WORSE else []
    console.print(table)
    return worse


def _cells(found: Compared, unit: str) -> tuple[str, ...]:
    colour = _COLOURS[found.result]
    medians = (f"{figure(each)} {unit}" for each in (found.ours, found.theirs))
    ratio, margin = f"{found.ratio:.2f}", f"± {found.margin:.2f}"
    return (*medians, ratio, margin, f"[{colour}]{found.result}[/{colour}]")


@click.command()
@click.argument("rev")
@click.option(
    "--only",
    type=click.Choice([row.value for row in RowName]),
    multiple=True,
    help="Only this row; may be repeated.",
)
@click.option(
    "--turns",
    type=click.IntRange(min=3),
    default=5,
    show_default=True,
    help="How often each side is measured.",
)
def main(rev: str, only: tuple[str, ...], turns: int) -> None:
    """Measure this working tree beside REV, a commit, branch or tag; exits with 1 when a figure is worse."""
    console = Console() if Console().is_terminal else Console(width=120)
    console.print(f"This machine now: {machine_speed()}", highlight=False)
    with checked_out(_HERE, rev) as theirs:
        for tree in (_HERE, theirs):  # a first run, so that both sides have compiled their modules
            ask(tree, RowName.START)
        samples = measure(_HERE, theirs, only or list(RowName), turns)
    worse = print_compared(console, rev, samples)
    console.print(f"This machine now: {machine_speed()}", highlight=False)
    console.print("No figure is worse beyond noise." if not worse else f"Worse: {'; '.join(worse)}")
    raise SystemExit(bool(worse))


if __name__ == "__main__":
    main()
