"""What the audit tells: who did what to which job or subscription, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.model.ids import ChannelId, JobNumber, ProjectId, SubscriptionId, UserId


class Act(StrEnum):
    """What somebody did. Stored in the database."""

    ASKED = "asked"
    STEERED = "steered"
    """Sent a follow-up."""
    WITHDREW = "withdrew"
    SENT_AGAIN = "sent_again"
    """Decided to send an unconfirmed prompt again."""
    DISMISSED = "dismissed"
    """Decided not to."""
    STOPPED = "stopped"
    """Stopped watching a job."""
    SUBSCRIBED = "subscribed"
    UNSUBSCRIBED = "unsubscribed"
    CHOSE_PROJECT = "chose_project"
    """Chose the project of a channel."""


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One act. ``user`` is empty once the person is forgotten.

    ``end``: the state in which the prompt or its iteration ended; None while it is open, and for an act that
    is no request.
    """

    at: datetime
    user: UserId
    act: Act
    project: ProjectId
    channel: ChannelId
    job: JobNumber | None
    subscription: SubscriptionId | None
    end: str | None
