"""Who reads the docs: unique visitors, which are approximate and never to be added."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from zoneinfo import ZoneInfo

from bot.model.ids import PageRowId, ProjectId, SnapshotId
from bot.model.period import Period

SETTLED = timedelta(hours=3)
"""After the end of its last day a window counts as over: late visits are in by then."""

_BACKGROUND_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Counts:
    """Unique visitors of one window. ``total`` is deduplicated: whoever came as both counts once in it."""

    human: int
    ai: int
    total: int

    @property
    def ai_share(self) -> float | None:
        """AI agents among all visitors, 0 to 1; None when there were none."""
        return self.ai / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class PageCounts:
    """One page in one window, and in the window compared with (``was``); ``None``: no row of it there."""

    row: PageRowId
    path: str
    now: Counts
    was: Counts | None = None


class SortBy(StrEnum):
    """By which number pages are ranked."""

    TOTAL = "total"
    HUMAN = "human"
    AI = "ai"


class Priority(IntEnum):
    """How urgent a window is: the smaller, the sooner."""

    ASKED = 0
    """Somebody waits for it."""
    COMPARED = 1
    CHART = 2
    DIGEST = 10
    DIGEST_COMPARED = 11
    HISTORY = 12
    AHEAD = 20
    """A digest will need it; from here down a share of the hourly budget is left to people."""


class ReadingProblem(StrEnum):
    """Why numbers of visitors could not be read, as rows say it. Those of older versions say a sentence."""

    UNWELL = "unwell"
    KEY = "key"
    FORBIDDEN = "forbidden"
    PROJECT = "project"
    REJECTED = "rejected"
    ENDLESS = "endless"
    LATE = "late"
    DOWN = "down"


class SnapshotState(StrEnum):
    """``wanted → done | failed``; ``resting``: begun, and left alone until somebody wants the rest."""

    REQUESTED = "wanted"
    DONE = "done"
    FAILED = "failed"
    RESTING = "resting"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A stored answer of the analytics API for one window.

    ``next_offset`` is where reading goes on; ``rows`` counts the pages stored; ``repeated`` how many rows
    came twice because they moved while pages were fetched: as many others were not seen.
    """

    id: SnapshotId
    project: ProjectId
    period: Period
    state: SnapshotState
    with_pages: bool
    totals: Counts | None
    rows: int
    repeated: int
    next_offset: int
    calls: int
    attempts: int
    complete: bool
    is_final: bool
    taken_at: datetime | None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """The hourly budget of analytics calls, as one look finds it."""

    limit: int
    used: int
    free_at: datetime | None
    """When the next call is possible, when none is now."""

    @property
    def free(self) -> int:
        """How many calls are possible now."""
        return 0 if self.free_at is not None else max(0, self.limit - self.used)


@dataclass(frozen=True, slots=True)
class Analytics:
    """The analytics API's hourly limit on calls, the zone in which its days begin, and the rows of a call."""

    calls_an_hour: int = 100
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    page_size: int = 250

    def background_room(self, budget: Budget) -> int:
        """How many calls digests may make now; the rest of the hour is for people who wait."""
        return min(max(1, int(self.calls_an_hour * _BACKGROUND_SHARE)) - budget.used, budget.free)

    def is_final(self, period: Period, now: datetime) -> bool:
        """Whether the numbers of a window do not change any more."""
        return period.is_over(now, self.zone, SETTLED)


def in_section(path: str, section: str) -> bool:
    """Whether a page belongs to a section: ``/api`` and all below it; ``/api*`` is a bare beginning."""
    if section.endswith("*"):
        return path.startswith(section[:-1])
    bare = section.rstrip("/")
    return path == bare or path.startswith(f"{bare}/")
