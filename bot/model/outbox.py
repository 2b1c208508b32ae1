"""The outbox: what must be said, where, and how far it got."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Self, TypedDict

from pydantic import SecretStr

from bot.model.ids import (
    ChannelId,
    DeliveryId,
    DigestId,
    JobNumber,
    MessageTs,
    QuestionId,
    SubscriptionId,
    UserId,
)
from bot.model.jobs import TrackedJob
from bot.model.message import Message


class DeliveryKind(StrEnum):
    """How a delivery reaches people."""

    ROOT = "root"
    """Posts the root message of a job's thread; the job learns its ts when it is settled."""
    EDIT = "edit"
    """Changes the root in place. Notifies nobody; the newest one replaces those still pending."""
    REPLY = "reply"
    """A reply in the job's thread."""
    PRIVATE = "private"
    """For one person: through the response URL while it lives, else as a direct message."""
    REACTION = "reaction"
    """An emoji on somebody's message: a nicety, given up on the first refusal."""
    POST = "post"
    """A message of its own in a channel, outside any job's thread."""
    FILE = "file"
    """All rows of an answer as a file: in a channel, or in the conversation with ``user``."""


class DeliveryState(StrEnum):
    """``pending → sending → sent | dead``; *sending* with a lease that ran out is in doubt."""

    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    DEAD = "dead"


class DeliveryStepFields(TypedDict, total=False):
    """Columns of a delivery that change with a step of its lifecycle (``bot.model.lifecycle``)."""

    posted_ts: MessageTs | None
    settled_at: datetime
    response_url: None
    error: str
    due_at: datetime
    plain: bool


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """A delivery about to be written. ``key`` is unique: the same occasion is never told twice.

    ``replaces``: what goes to the response URL takes the place of the message that its button stood in.
    """

    key: str
    kind: DeliveryKind
    channel: ChannelId
    job: JobNumber | None = None
    user: UserId | None = None
    message: Message | None = None
    message_ts: MessageTs | None = None
    reaction: str | None = None
    response_url: SecretStr | None = None
    replaces: bool = False
    subscription: SubscriptionId | None = None
    digest: DigestId | None = None
    question: QuestionId | None = None

    @classmethod
    def private(
        cls,
        key: str,
        channel: ChannelId,
        user: UserId | None,
        message: Message,
        *,
        job: JobNumber | None = None,
        response_url: SecretStr | None = None,
    ) -> Self:
        """Return words for one person alone, about something in this channel."""
        url = response_url
        return cls(key, DeliveryKind.PRIVATE, channel, job=job, user=user, message=message, response_url=url)

    @classmethod
    def in_thread(cls, key: str, kind: DeliveryKind, job: TrackedJob, message: Message) -> Self:
        """Return words for a job's thread: its root, an edit of the root, or a reply."""
        return cls(key, kind, job.channel, job=job.number, message=message)

    @classmethod
    def post(cls, key: str, channel: ChannelId, user: UserId | None, message: Message) -> Self:
        """Return a message of its own in a channel, which this person asked for."""
        return cls(key, DeliveryKind.POST, channel, user=user, message=message)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One row of the outbox as a worker claimed it.

    ``what`` is the delivery as it was written. ``root_ts`` is that of the job's thread, when it was claimed.
    ``unconfirmed``: an earlier try may have been carried out, so it must be looked for first. ``plain``: its
    blocks were refused, so it is said without them. ``held_until``: when the lease runs out.
    """

    id: DeliveryId
    what: NewDelivery
    created_at: datetime
    attempts: int
    root_ts: MessageTs | None = None
    unconfirmed: bool = False
    plain: bool = False
    held_until: datetime | None = None
