"""The report on all runs: counts, and each failure with its seed, plan and logs."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from tests.torture.checks import Checks
from tests.torture.plan import Plan, described
from tests.torture.record import Record

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that failed."""

    seed: int
    plan: list[str]
    complaints: list[str]
    logs: Path

    def lines(self) -> list[str]:
        """Return the failure as lines of text."""
        return [
            f"FAILED seed {self.seed}; logs in {self.logs}",
            *(f"  - {complaint}" for complaint in self.complaints[:_SHOWN]),
            *(f"    {line}" for line in self.plan),
        ]


@dataclass
class Report:
    """Totals over all runs so far, and their failures."""

    planned: int
    show_plans: bool = False
    prints: bool = True
    counts: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    slowest_seconds: float = 0.0
    began: float = field(default_factory=monotonic)

    def add(self, record: Record, checks: Checks, folder: Path) -> None:
        """Add a finished run. Its folder is deleted unless it failed."""
        self._count(record, checks)
        if checks.complaints:
            failure = Failure(record.plan.seed, described(record.plan), checks.complaints, folder)
            self.failures.append(failure)
            if self.prints:
                print("\n".join(failure.lines()), flush=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
        if self.show_plans:
            print("\n".join(described(record.plan)))
        if self.prints:
            line = f"{self.counts['runs']} of {self.planned} runs, {len(self.failures)} failed, "
            line += f"{monotonic() - self.began:.0f} s"
            print(line, end="\r" if sys.stdout.isatty() else "\n", flush=True)

    def broke(self, plan: Plan, trace: str, folder: Path) -> None:
        """Add a run that raised an exception."""
        self.counts["runs"] += 1
        self.failures.append(Failure(plan.seed, described(plan), [f"broke off: {trace}"], folder))

    def _count(self, record: Record, checks: Checks) -> None:
        self.counts.update(
            {
                "runs": 1,
                "acts": sum(done.made for done in record.done),
                "requests": sum(done.acknowledged for done in record.done),
                "creates": len(record.service["jobs"]),
                "follow-ups": len(record.service["messages"]) - len(record.service["jobs"]),
                "rounds ended": sum(
                    bool(message["outcome"]) for message in record.service["messages"]
                ),
                "ends reported": checks.reported_ends,
                "pull requests ended": sum(bool(job["pull_end"]) for job in record.service["jobs"]),
                "reported": checks.reported_pulls,
                "previews built": len(record.service["builds"]),
                "weeks reported": sum(_is_weekly(row) for row in record.of("deliveries")),
                "questions answered": _with_key(record, "inquiry:", ":answer"),
                "askers told": _with_key(record, "inquiry:", ":written"),
                "gaps": sum(row["state"] == "gap" for row in record.of("inquiries")),
                "read again": record.log.count('"event": "conversation_read_again"'),
                "doubts": sum("unconfirmed:" in row["key"] for row in record.of("deliveries")),
                "deliveries": len(record.of("deliveries")),
                "kills": record.kills,
                "starts": record.starts,
                "failed starts": record.failed_starts,
                "checks": checks.made,
                "explained": checks.explained,
            }
        )
        self.faults.update(f"{side} {kind}" for side, kind in record.faults())
        self.faults["slack limits"] += sum(
            call.get("error") == "ratelimited" and not call.get("fault") for call in record.slack
        )
        for trouble in record.plan.troubles:
            if trouble.side in ("line", "database", "bot", "week"):
                self.faults[f"{trouble.side} {trouble.kind}"] += 1
        self.slowest_seconds = max(self.slowest_seconds, record.wall_seconds)

    def lines(self) -> list[str]:
        """Return the report as lines of text."""
        seconds = monotonic() - self.began
        return [
            "",
            *(line for failure in self.failures for line in failure.lines()),
            ", ".join(f"{name} {count}" for name, count in self.counts.items()),
            "faults: "
            + ", ".join(f"{name} {count}" for name, count in sorted(self.faults.items())),
            f"{seconds:.0f} s, the slowest run {self.slowest_seconds:.1f} s; {len(self.failures)} failed",
        ]


def _is_weekly(row: dict[str, object]) -> bool:
    """Return whether a delivery is the digest of a subscription."""
    return row["kind"] == "post" and bool(row["question"]) and not row["user"]


def _with_key(record: Record, begin: str, end: str) -> int:
    """Return how many deliveries have a key that begins and ends so."""
    keys = (str(row["key"]) for row in record.of("deliveries"))
    return sum(key.startswith(begin) and key.endswith(end) for key in keys)
