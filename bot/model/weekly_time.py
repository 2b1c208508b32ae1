"""Weekly wall times: a weekday and an hour as the clock on the wall shows them, in one zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import IntEnum
from zoneinfo import ZoneInfo


class Weekday(IntEnum):
    """As ``date.weekday`` counts them."""

    MONDAY = 0
    TUESDAY = 1
    WEDNESDAY = 2
    THURSDAY = 3
    FRIDAY = 4
    SATURDAY = 5
    SUNDAY = 6


@dataclass(frozen=True, slots=True)
class WeeklyTime:
    """Once a week, when the clocks of a zone show this time.

    Where a clock change leaves the time out, it is as much later as the clocks jumped; where the time comes
    twice, the first counts: so there is exactly one each week.
    """

    weekday: Weekday
    at: time
    zone: str

    def next_after(self, moment: datetime) -> datetime:
        """The first such time later than a moment, in UTC."""
        zone = ZoneInfo(self.zone)
        day = moment.astimezone(zone).date()
        day += timedelta(days=(self.weekday - day.weekday()) % 7)
        # The day before belongs to it too: a skipped hour may end on the next day.
        for candidate in (day - timedelta(days=7), day, day + timedelta(days=7), day + timedelta(days=14)):
            if (instant := self._on(candidate, zone)) > moment:
                return instant
        raise AssertionError("two weeks always hold a weekly time")

    def next_few(self, moment: datetime, count: int) -> tuple[datetime, ...]:
        """The next so many, in UTC."""
        found: list[datetime] = []
        for _ in range(count):
            moment = self.next_after(moment)
            found.append(moment)
        return tuple(found)

    def _on(self, day: date, zone: ZoneInfo) -> datetime:
        # In a gap, fold=0 takes the offset from before the change, which moves the time forward by the jump;
        # in a repeated hour it is the first. https://peps.python.org/pep-0495/
        return datetime.combine(day, self.at, zone).replace(fold=0).astimezone(UTC)
