"""Reports of the benchmarks: the bot's figures beside an alternative's, as a table and as JSON."""

from __future__ import annotations

import os
import platform
import sqlite3
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal of a row, as text, and whether it was reached."""

    words: str
    met: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of the bot (``ours``) and of the alternative (``theirs``), if there is one."""

    what: str
    unit: str
    ours: float
    theirs: float | None = None
    goal: Goal | None = None

    @property
    def ratio(self) -> float | None:
        """Return ours divided by theirs; None without theirs."""
        return self.ours / self.theirs if self.theirs else None


@dataclass(frozen=True, slots=True)
class Report:
    """The rows of one benchmark, with the names of both sides."""

    name: str
    ours: str
    theirs: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def at_most(row: Row, share: float) -> Row:
    """Return the row with the goal of being at most this share of theirs."""
    goal = "no worse" if share == 1 else f"≤ {share:.2f} of theirs"
    met = row.theirs is not None and row.ours <= share * row.theirs
    return Row(row.what, row.unit, row.ours, row.theirs, Goal(goal, met))


def below(row: Row, limit: float) -> Row:
    """Return the row with the goal of staying below a limit, in the row's unit."""
    goal = f"< {limit:g} {row.unit}".rstrip()
    return Row(row.what, row.unit, row.ours, row.theirs, Goal(goal, row.ours < limit))


def print_report(console: Console, report: Report) -> None:
    """Print the table and the notes of one benchmark."""
    table = Table(title=report.name, title_justify="left", title_style="bold")
    table.add_column("what")
    for title in (report.ours, report.theirs or "—", "ratio"):
        table.add_column(title, justify="right")
    table.add_column("goal")
    for row in report.rows:
        table.add_row(row.what, *_numbers(row), _told(row.goal))
    console.print(table)
    for note in report.notes:
        console.print(f"  {note}", highlight=False, markup=False)


def as_json(reports: list[Report]) -> dict[str, Any]:
    """Return every report, with the machine."""
    rows = [{**asdict(report), "rows": [_row(row) for row in report.rows]} for report in reports]
    return {"machine": machine(), "benches": rows}


def as_markdown(reports: list[Report]) -> str:
    """Return the rows that have a goal as one table."""
    lines = ["| What | The bot | Instead | Ratio | Goal |", "|---|---|---|---|---|"]
    for report in reports:
        lines.append(f"| **{report.name}** | {report.ours} | {report.theirs} | | |")
        for row in report.rows:
            if row.goal:
                met = "" if row.goal.met else ": **missed**"
                lines.append(
                    f"| {row.what} | {' | '.join(_numbers(row))} | {row.goal.words}{met} |"
                )
    return "\n".join(lines) + "\n"


def machine() -> dict[str, Any]:
    """Return a description of the machine and its software."""
    return {
        "system": platform.system(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }


def missed(reports: list[Report]) -> list[str]:
    """Return the goals that were not met, a line each."""
    return [
        f"{report.name}: {row.what} ({row.goal.words})"
        for report in reports
        for row in report.rows
        if row.goal and not row.goal.met
    ]


def _row(row: Row) -> dict[str, Any]:
    return {**asdict(row), "ratio": row.ratio}


def _numbers(row: Row) -> tuple[str, str, str]:
    theirs = "" if row.theirs is None else f"{figure(row.theirs)} {row.unit}"
    return f"{figure(row.ours)} {row.unit}", theirs, "" if row.ratio is None else f"{row.ratio:.2f}"


def figure(number: float) -> str:
    """Return the number with three significant digits, or as an integer from 100 on."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def _told(goal: Goal | None) -> str:
    if goal is None:
        return ""
    sign, colour = ("met", "green") if goal.met else ("MISSED", "red")
    return f"{goal.words}  [{colour}]{sign}[/{colour}]"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if not info.is_file():
        return platform.processor() or platform.machine()
    lines = info.read_text(encoding="utf-8").splitlines()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), ""
    )
