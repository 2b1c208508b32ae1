"""Weekly digests: a channel's subscription, and each digest that is posted for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.model.ids import ChannelId, DigestId, ProjectId, SubscriptionId, UserId
from bot.model.period import Period
from bot.model.weekly_time import WeeklyTime


class SubscriptionState(StrEnum):
    """``new → proving → active``.

    ``paused`` after Slack refused a post for good; ``ended`` by a person.
    """

    NEW = "new"
    """Stored. If no time zone was named, the requester's zone is still to be looked up."""
    PROVING = "proving"
    """The first post is being sent. It proves that the bot can post in the channel."""
    ACTIVE = "active"
    PAUSED = "paused"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Subscription:
    """A weekly digest for a channel, about the whole site or one section.

    ``has_zone`` is false while the requester's time zone is unknown; ``weekly`` is in UTC until then.
    ``section`` is None for the whole site.
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
    """``gathering → told | missed``.

    ``gathering``: the numbers are being read. ``told``: the post is in the outbox.
    """

    GATHERING = "gathering"
    TOLD = "told"
    MISSED = "missed"


@dataclass(frozen=True, slots=True)
class Digest:
    """One digest about one week.

    It belongs to a subscription, or ``asked_by`` is the user who requested it once.
    """

    id: DigestId
    subscription: SubscriptionId | None
    project: ProjectId
    channel: ChannelId
    section: str | None
    week: Period
    begun_at: datetime
    asked_by: UserId | None
    attempts: int
