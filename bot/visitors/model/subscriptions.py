"""Subscriptions to the weekly digest, and weekly times."""

from __future__ import annotations

from calendar import day_name
from dataclasses import dataclass
from datetime import UTC, datetime, time
from enum import IntEnum, StrEnum
from zoneinfo import ZoneInfo

from bot.ids import ChannelId, ProjectId, SubscriptionId, UserId
from bot.ports import is_zone
from bot.visitors.model.periods import DAY, WEEK, Period, last_full_week


class Weekday(IntEnum):
    MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY, SUNDAY = range(7)


@dataclass(frozen=True, slots=True)
class WeeklyRequest:
    """A requested subscription."""

    weekday: int = Weekday.MONDAY
    time_of_day: time = time(9)
    zone: str | None = None
    """None for the zone of the requester."""
    section: str | None = None


class SubscriptionState(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    """By a person, or because Slack refused a post for good."""
    ENDED = "ended"


class SubscriptionChange(StrEnum):
    """A change of a subscription, by its word."""

    UNSUBSCRIBE = "unsubscribe"
    PAUSE = "pause"
    RESUME = "resume"


@dataclass(frozen=True, slots=True)
class Subscription:
    """A channel's weekly digest of the whole site or of a section."""

    id: SubscriptionId
    project: ProjectId
    channel: ChannelId
    section: str | None
    weekly: WeeklyTime
    owner: UserId
    state: SubscriptionState
    next_run_at: datetime | None
    last_result: str | None = None
    last_run_at: datetime | None = None
    posted_at: datetime | None = None
    """When Slack first took a post of it, since a person asked for it; None until then."""


@dataclass(frozen=True, slots=True)
class WeeklyTime:
    """A local time once a week. Raises ValueError for a zone that this machine lacks.

    A time that a clock change skips moves forward by the jump; of a repeated time the first one
    counts.
    """

    weekday: int
    """0 for Monday."""
    time_of_day: time
    zone: str

    def __post_init__(self) -> None:
        if not is_zone(self.zone):
            raise ValueError("no time zone of this machine")

    def next_after(self, moment: datetime) -> datetime:
        """Return the first occurrence after a moment, in UTC."""
        zone = ZoneInfo(self.zone)
        today = moment.astimezone(zone).date()
        day = today + (self.weekday - today.weekday()) % 7 * DAY
        # The week before as well: a skipped time may move to the next day.
        weeks = (
            datetime.combine(day + n * WEEK, self.time_of_day, zone).astimezone(UTC)
            for n in (-1, 0, 1, 2)
        )
        return next(at for at in weeks if at > moment)

    def week_before(self, run_at: datetime) -> Period:
        """Return the last week that is over in the zone at a time."""
        return last_full_week(run_at.astimezone(ZoneInfo(self.zone)).date())

    def __str__(self) -> str:
        """Return Monday at 09:00 (Berlin)."""
        city = self.zone.rpartition("/")[2].replace("_", " ")
        return f"{day_name[self.weekday]} at {self.time_of_day:%H:%M} ({city})"
