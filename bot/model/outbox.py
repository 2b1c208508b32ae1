"""The outbox: what must be said, where, and how far it got."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypedDict

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


@dataclass(frozen=True, slots=True)
class Delivery:
    """One row of the outbox as a round gets it. ``root_ts`` is the job's, at the time of the claim.

    ``in_doubt``: an earlier try may have been carried out, so it must be looked for first. ``held_until``:
    when the claim runs out, and another process may take it up.
    """

    id: DeliveryId
    key: str
    kind: DeliveryKind
    channel: ChannelId
    created_at: datetime
    attempts: int
    job: JobNumber | None = None
    root_ts: MessageTs | None = None
    user: UserId | None = None
    message: Message | None = None
    message_ts: MessageTs | None = None
    reaction: str | None = None
    response_url: SecretStr | None = None
    replaces: bool = False
    subscription: SubscriptionId | None = None
    digest: DigestId | None = None
    question: QuestionId | None = None
    unconfirmed: bool = False
    plain: bool = False
    held_until: datetime | None = None
