"""Local times: a weekly one, with weekday, time of day and time zone, and working hours."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import IntEnum
from zoneinfo import ZoneInfo


class Weekday(IntEnum):
    """Days of the week, numbered as ``date.weekday`` does."""

    MONDAY = 0
    TUESDAY = 1
    WEDNESDAY = 2
    THURSDAY = 3
    FRIDAY = 4
    SATURDAY = 5
    SUNDAY = 6


_WORK_BEGINS, _WORK_ENDS = time(9), time(17)


def working_time(moment: datetime, zone: str) -> datetime:
    """Return the first moment from this one on, in UTC, at which people of a zone work.

    They work from Monday to Friday, from nine to five.
    """
    local = moment.astimezone(ZoneInfo(zone))
    works = local.weekday() <= Weekday.FRIDAY
    if works and _WORK_BEGINS <= local.time() < _WORK_ENDS:
        return moment
    day = local.date()
    if not works or local.time() >= _WORK_ENDS:
        day += timedelta(days=1)
    while day.weekday() > Weekday.FRIDAY:
        day += timedelta(days=1)
    return datetime.combine(day, _WORK_BEGINS, ZoneInfo(zone)).astimezone(UTC)


def is_zone(name: str) -> bool:
    """Return whether this machine knows a time zone. Machines differ: zones are added and renamed."""
    try:
        ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class WeeklyTime:
    """A local time that occurs exactly once a week.

    If a clock change skips the time, it moves forward by the length of the jump. If the time occurs twice,
    the first one counts. Raises ValueError for a zone that this machine does not know.
    """

    weekday: Weekday
    at: time
    zone: str

    def __post_init__(self) -> None:
        if not is_zone(self.zone):
            raise ValueError("no time zone of this machine")

    def next_after(self, moment: datetime) -> datetime:
        """Return the first occurrence after a moment, in UTC."""
        zone = ZoneInfo(self.zone)
        day = moment.astimezone(zone).date()
        day += timedelta(days=(self.weekday - day.weekday()) % 7)
        # Also try the week before: a skipped time may move to the next day.
        for candidate in (day - timedelta(days=7), day, day + timedelta(days=7), day + timedelta(days=14)):
            if (instant := self._on(candidate, zone)) > moment:
                return instant
        raise AssertionError("two weeks always hold a weekly time")

    def next_few(self, moment: datetime, count: int) -> tuple[datetime, ...]:
        """Return the next ``count`` occurrences, in UTC."""
        found: list[datetime] = []
        for _ in range(count):
            moment = self.next_after(moment)
            found.append(moment)
        return tuple(found)

    def _on(self, day: date, zone: ZoneInfo) -> datetime:
        # In a gap, fold=0 uses the offset before the change, which moves the time forward by the jump.
        # In a repeated hour, it selects the first occurrence. https://peps.python.org/pep-0495/
        return datetime.combine(day, self.at, zone).replace(fold=0).astimezone(UTC)
