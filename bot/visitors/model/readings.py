"""Readings: the numbers of a period, as the docs service counted them. Unique visitors are never added up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.ids import ProjectId, ReadingId
from bot.visitors.model.gaps import GapRows, Source
from bot.visitors.model.periods import Period


@dataclass(frozen=True, slots=True)
class Counts:
    """Unique visitors. A visitor who is both a person and an AI agent counts once in ``total``."""

    human: int
    ai: int
    total: int


NO_VISITORS = Counts(0, 0, 0)


class ReadingProblem(StrEnum):
    """The reason why numbers could not be read, or a digest was not posted."""

    UNWELL = "unwell"
    KEY = "key"
    FORBIDDEN = "forbidden"
    PROJECT = "project"
    NOT_SERVED = "not_served"
    NOT_HERE = "not_here"
    REJECTED = "rejected"
    ENDLESS = "endless"
    LATE = "late"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Reading:
    """The numbers or rows of a period: one value, which is stored when reading ends.

    It is a part if the calls were used up or the service failed; then it is read on from ``next_offset``.
    """

    project: ProjectId
    source: Source
    period: Period
    began_at: datetime
    is_final: bool
    """Whether the period was settled then, so that its numbers stay."""
    id: ReadingId | None = None
    totals: Counts | None = None
    pages: Mapping[str, Counts] | None = None
    """None if only the totals were asked for."""
    complete: bool = False
    """Whether all pages were read, so that a page without counts had no visitors."""
    next_offset: int = 0
    gap_rows: GapRows | None = None
    """None for visitors."""
    taken_at: datetime | None = None
    attempts: int = 0
    """Failures in a row."""
    problem: str | None = None
    """The reason why it is not whole, if it will not be soon."""
    tried_at: datetime | None = None
    """The time of the last failure."""
    retry_at: datetime | None = None

    @property
    def rows(self) -> int:
        return len(self.pages or ())

    @property
    def is_read(self) -> bool:
        """Whether it has numbers or rows, perhaps not all of them."""
        return self.totals is not None or self.gap_rows is not None

    @property
    def is_whole(self) -> bool:
        """Whether there is nothing more to read."""
        if self.pages is None:
            return self.is_read
        return self.complete or self.problem == ReadingProblem.ENDLESS

    def is_awaited(self, *, to_the_end: bool) -> bool:
        """Return whether it may still be read. Numbers are also awaited ``to_the_end``, after a problem."""
        is_retried = to_the_end and self.source is Source.VISITORS
        return not self.is_whole and (self.problem is None or is_retried)
