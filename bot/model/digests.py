"""Subscriptions of channels to the weekly digest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import SecretStr

from bot.model.ids import ChannelId, ProjectId, SubscriptionId, UserId
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
    response_url: SecretStr | None = None
