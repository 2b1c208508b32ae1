"""What there is to know about the analytics API: its hourly limit, its days, and when a window is over."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.model import Budget, Need, Period, ProjectId, Snapshot
from bot.store import Tables

SETTLED = timedelta(hours=3)
"""After the end of its last day a window counts as over: late visits are in by then."""

_BACKGROUND_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Analytics:
    """The limit on calls in an hour, the zone in which the service's days begin, and the rows of a call."""

    calls_an_hour: int = 100
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    page_size: int = 250

    def background_room(self, budget: Budget) -> int:
        """How many calls digests may make now; the rest of the hour is for people who wait."""
        return min(max(1, int(self.calls_an_hour * _BACKGROUND_SHARE)) - budget.used, budget.free)

    def is_final(self, period: Period, now: datetime) -> bool:
        """Whether the numbers of a window do not change any more."""
        return period.is_over(now, self.zone, SETTLED)

    async def want(
        self,
        tables: Tables,
        project: ProjectId,
        period: Period,
        need: Need,
        now: datetime,
        *,
        with_pages: bool = True,
    ) -> Snapshot:
        """The stored answer for a window; it is read by the rounds when it is not there yet."""
        return await tables.snapshots.want(
            project,
            period,
            with_pages=with_pages,
            need=need,
            is_final=self.is_final(period, now),
            now=now,
        )

    async def peek(
        self, tables: Tables, project: ProjectId, period: Period, now: datetime
    ) -> Snapshot | None:
        """The same, without wanting anything."""
        return await tables.snapshots.peek(project, period, is_final=self.is_final(period, now), now=now)
