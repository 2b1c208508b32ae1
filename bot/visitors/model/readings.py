"""Readings: the numbers of a period, as the docs service counted them.

Unique visitors are never added up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.ids import ProjectId, ReadingId
from bot.visitors.model.gaps import GapRows, Source
from bot.visitors.model.periods import Period

MAX_QUICK_TRIES = 4
"""Failures in a row after which a reading is given up for minutes."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Unique visitors, or views, of people, of AI agents and of both.

    A visitor who is both a person and an AI agent counts once in ``total``.
    """

    human: int
    ai: int
    total: int


NO_VISITORS = Counts(0, 0, 0)


class ReadingProblem(StrEnum):
    """The reason why numbers are missing, or why a digest was not posted."""

    # A call failed.
    UNWELL = "unwell"
    KEY = "key"
    FORBIDDEN = "forbidden"
    PROJECT = "project"
    NOT_SERVED = "not_served"
    NOT_HERE = "not_here"
    REJECTED = "rejected"
    ENDLESS = "endless"
    # A call could not be made yet.
    NO_CALLS = "no_calls"
    """The calls of this hour are used, as the bot counts them."""
    LIMITED = "limited"
    """The docs service has asked to wait."""
    SHARE = "share"
    """The question has used its share of the hour's calls."""
    KEPT = "kept"
    """The calls that are left in this hour are kept for people."""
    LATE = "late"
    """The time for reading was over."""
    TOO_LARGE = "too_large"
    """The site has so many pages that their views are not read."""
    # The bot's own.
    DOWN = "down"
    """The bot was not running when a digest was due."""


_PASSING = (
    ReadingProblem.NO_CALLS,
    ReadingProblem.LIMITED,
    ReadingProblem.SHARE,
    ReadingProblem.KEPT,
    ReadingProblem.LATE,
)


def is_passing(problem: str) -> bool:
    """Return whether reading goes on by itself, or when it is asked for again."""
    return problem in _PASSING


@dataclass(frozen=True, slots=True)
class Reading:
    """The numbers or rows of a period: one value, with the reason if it is not whole.

    A part is read on from ``next_offset``.
    """

    project: ProjectId
    source: Source
    period: Period
    began_at: datetime
    is_final: bool
    """Whether the period was settled then, so that its numbers stay."""
    id: ReadingId | None = None
    """None until it is stored."""
    totals: Counts | None = None
    pages: Mapping[str, Counts] | None = None
    """None if only the totals were asked for."""
    is_complete: bool = False
    """Whether all pages were read, so that a page without counts had no visitors."""
    next_offset: int = 0
    gap_rows: GapRows | None = None
    """None for visitors and views."""
    read_at: datetime | None = None
    attempts: int = 0
    """Failures in a row."""
    problem: str | None = None
    """The reason why it is not whole, a ReadingProblem; None if it is, or if nothing was tried."""
    failed_at: datetime | None = None
    """The time of the last failure."""
    retry_at: datetime | None = None
    """The time of the next try after a failure; None to try at once."""

    @property
    def is_of_gaps(self) -> bool:
        """Whether the reading is of content gaps."""
        return self.source not in (Source.VISITORS, Source.VIEWS)

    @property
    def rows(self) -> int:
        return len(self.pages or ())

    @property
    def is_read(self) -> bool:
        """Whether the reading has numbers or rows, perhaps not all."""
        return self.totals is not None or self.gap_rows is not None

    @property
    def is_whole(self) -> bool:
        """Whether there is nothing more to read."""
        if self.pages is None:
            return self.is_read
        return self.is_complete or self.problem in (
            ReadingProblem.ENDLESS,
            ReadingProblem.TOO_LARGE,
        )

    @property
    def is_waiting(self) -> bool:
        """Whether more numbers or rows may be read soon."""
        if self.is_whole:
            return False
        if self.problem is None or is_passing(self.problem):
            return True
        return self.problem == ReadingProblem.UNWELL and self.attempts < MAX_QUICK_TRIES
