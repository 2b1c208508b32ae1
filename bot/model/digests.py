"""A channel's weekly digest: the subscription, and each digest that comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.model.ids import ChannelId, DigestId, ProjectId, SubscriptionId, UserId
from bot.model.period import Period
from bot.model.weekly_time import WeeklyTime


class SubscriptionState(StrEnum):
    """``new → proving → active``; ``paused`` when the channel refuses; ``ended`` by a person."""

    NEW = "new"
    """Stored; the zone of who asked is looked up if they named none."""
    PROVING = "proving"
    """The first post, which proves that the channel can be posted to, is on its way."""
    ACTIVE = "active"
    PAUSED = "paused"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Subscription:
    """A weekly digest for a channel, of the whole site or of one section.

    While it is new and no zone was named, ``weekly`` is in UTC and ``has_zone`` is false.
    """

    id: SubscriptionId
    project: ProjectId
    channel: ChannelId
    section: str | None
    weekly: WeeklyTime
    owner: UserId
    state: SubscriptionState
    revision: int
    next_run_at: datetime | None
    last_result: str | None = None
    last_run_at: datetime | None = None
    has_zone: bool = True


class DigestState(StrEnum):
    """``gathering → told | missed``: numbers are being read, then the post is in the outbox."""

    GATHERING = "gathering"
    TOLD = "told"
    MISSED = "missed"


@dataclass(frozen=True, slots=True)
class Digest:
    """One digest: of a subscription and a week, or asked for once (``asked_by``)."""

    id: DigestId
    subscription: SubscriptionId | None
    project: ProjectId
    channel: ChannelId
    section: str | None
    week: Period
    begun_at: datetime
    asked_by: UserId | None
    attempts: int
