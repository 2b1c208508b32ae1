"""The outbox: messages to send, and the states of their deliveries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Self

from pydantic import SecretStr

from bot.ids import (
    ChannelId,
    DeliveryId,
    JobNumber,
    Message,
    MessageTs,
    QuestionId,
    Refusal,
    SubscriptionId,
    UserId,
    is_direct_message,
)
from bot.ports import Method


class DeliveryKind(StrEnum):
    """The kind of Slack call that a delivery makes."""

    STATUS = "status"
    """A job's status message: it begins its thread, or is a reply in one.

    The job keeps its timestamp.
    """
    EDIT = "edit"
    """An edit of the job's status message, or of a post in its thread (``NewDelivery.edits``).

    Silent; a newer edit of the same message replaces one that is still pending.
    """
    REPLY = "reply"
    """A reply in the job's thread."""
    PRIVATE = "private"
    """A message for one person: through the response URL while that is valid, else as a direct
    message.
    """
    WHISPER = "whisper"
    """A message where one person wrote, which only they see; if Slack refuses it, a direct
    message.
    """
    REACTION = "reaction"
    """An emoji on a person's message. Optional, so it is given up after the first refusal."""
    POST = "post"
    """A message in a channel, outside every job's thread."""
    FILE = "file"
    """A CSV file with all rows of an answer: in a channel, or in the direct messages of
    ``user``.
    """


CALLS_OF_KIND: Mapping[DeliveryKind, tuple[Method, ...]] = {
    DeliveryKind.STATUS: (Method.POST,),
    DeliveryKind.EDIT: (Method.EDIT,),
    DeliveryKind.REPLY: (Method.POST,),
    DeliveryKind.PRIVATE: (Method.OPEN, Method.POST),
    DeliveryKind.WHISPER: (Method.WHISPER,),
    DeliveryKind.REACTION: (Method.REACT,),
    DeliveryKind.POST: (Method.POST,),
    DeliveryKind.FILE: (Method.BEGIN_UPLOAD, Method.END_UPLOAD),
}
"""The methods that each kind of delivery calls."""
SEARCH_OF_KIND: Mapping[DeliveryKind, tuple[Method, ...]] = {
    DeliveryKind.REPLY: (Method.SEARCH_THREAD,),
    DeliveryKind.STATUS: (Method.SEARCH_THREAD,),
    DeliveryKind.WHISPER: (Method.OPEN, Method.SEARCH_CHANNEL),
}
"""How a delivery of unclear outcome is searched for, if not in its channel.

The direct messages with a person are opened once, to search them and to post there.
"""
REPEATABLE_KINDS = (
    DeliveryKind.REPLY,
    DeliveryKind.PRIVATE,
    DeliveryKind.WHISPER,
    DeliveryKind.POST,
    DeliveryKind.FILE,
)
"""Kinds that an operator may have tried again. The others show a state that may have changed."""
PACED_KINDS = (DeliveryKind.STATUS, DeliveryKind.REPLY, DeliveryKind.POST, DeliveryKind.FILE)
"""Kinds that count against Slack's limit of one post a second in a channel."""
QUIET_KINDS = (DeliveryKind.EDIT, DeliveryKind.REACTION)
"""Kinds without a notification."""
_JOINING_KINDS = (DeliveryKind.STATUS, DeliveryKind.POST, DeliveryKind.FILE)


class DeliveryState(StrEnum):
    """The state of a delivery: ``pending → sending → sent | dead``.

    A delivery whose sender lost its lease is unclear, too.

    An operator makes a dead one unclear again.
    """

    PENDING = "pending"
    SENDING = "sending"
    UNCLEAR = "unclear"
    """It may have been sent, so Slack is searched before it is sent again."""
    SENT = "sent"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """A delivery to add to the outbox."""

    key: str
    """Unique, so that the same event is reported once."""
    kind: DeliveryKind
    channel: ChannelId
    job: JobNumber | None = None
    user: UserId | None = None
    message: Message | None = None
    message_ts: MessageTs | None = None
    """The message that gets a reaction, or the thread of a whisper or a post;

    None outside of threads.
    """
    reaction: str | None = None
    response_url: SecretStr | None = None
    subscription: SubscriptionId | None = None
    question: QuestionId | None = None
    edited_key: str | None = None
    """The key of the post that an edit changes; None for the job's status message."""
    can_join: bool = False
    """Whether the bot may join the channel for a scheduled digest.

    It may until its subscription's first post.
    """

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
        thread: MessageTs | None = None,
    ) -> Self:
        """Return a message for one person, about something in this channel.

        ``thread``: where the pressed button stands, since a response URL shows a message outside of
        threads.
        """
        kind = DeliveryKind.PRIVATE
        if is_direct_message(channel):
            thread = None
        if thread:
            kind = DeliveryKind.WHISPER
        return cls(
            key,
            kind,
            channel,
            job=job,
            user=user,
            message=message,
            message_ts=thread,
            response_url=response_url,
        )

    @classmethod
    def whisper(
        cls,
        key: str,
        channel: ChannelId,
        user: UserId,
        message: Message,
        *,
        thread: MessageTs | None,
        question: QuestionId | None = None,
    ) -> Self:
        """Return a message for one person where they wrote.

        ``thread``: where that is; None outside of threads.

        In direct messages it is an ordinary message.
        """
        kind = DeliveryKind.WHISPER
        if is_direct_message(channel):
            kind = DeliveryKind.PRIVATE
            thread = None
        return cls(
            key, kind, channel, user=user, message=message, message_ts=thread, question=question
        )

    @classmethod
    def post(cls, key: str, channel: ChannelId, user: UserId | None, message: Message) -> Self:
        """Return a message in a channel that a person asked for."""
        return cls(key, DeliveryKind.POST, channel, user=user, message=message)


@dataclass(frozen=True, slots=True)
class NotPosted:
    """A post that Slack refused for good."""

    meaning: Refusal
    channel: ChannelId
    at: datetime
    """The time at which the log has Slack's code."""
    job: JobNumber | None = None
    """The job in whose thread it belonged."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """An outbox row that a worker has claimed."""

    id: DeliveryId
    content: NewDelivery
    """The delivery as it was added."""
    created_at: datetime
    attempts: int
    status_ts: MessageTs | None = None
    """The job's status message at the claim, once it is posted."""
    thread_ts: MessageTs | None = None
    """The thread in which the status message is a reply; None if it begins its thread."""
    edited_ts: MessageTs | None = None
    """The message that an edit changes; None if it was never posted."""
    state: DeliveryState = DeliveryState.SENDING
    is_plain: bool = False
    """Whether Slack refused the blocks, so that it is sent without them."""
    claimed_until: datetime | None = None
    """When the lease ends."""
    request: str | None = None
    """The key of the request that began the job."""
    due_at: datetime | None = None
    """When it is tried next, as written by a step."""
    posted_ts: MessageTs | None = None
    is_loose: bool = False
    """Whether it stands outside of its thread, which was deleted."""
    settled_at: datetime | None = None
    error: str | None = None

    @property
    def joins(self) -> bool:
        """Whether a public channel may be joined for it.

        A request has just come from there, or its digest was asked for and nothing has been posted
        since.

        People who remove the bot from a channel do not want it back for an end or for a scheduled
        digest.
        """
        is_scheduled = self.content.subscription is not None and self.content.question is not None
        return self.content.kind in _JOINING_KINDS and (self.content.can_join or not is_scheduled)


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A delivery that Slack refused for good."""

    number: int
    """Its number for operators."""
    job: JobNumber | None
    kind: DeliveryKind
    channel: ChannelId
    reason: str
    """Slack's error code."""
    can_go: bool
    """Whether it may be tried again."""


def delivered(delivery: Delivery, at: datetime, posted_ts: MessageTs | None) -> Delivery:
    """Settle a delivery that Slack accepted. Its message is not kept.

    ``posted_ts`` is the message's timestamp, or None if the delivery is not a post.
    """
    draft = replace(delivery.content, response_url=None, message=None)
    return replace(
        delivery, state=DeliveryState.SENT, content=draft, settled_at=at, posted_ts=posted_ts
    )


def mark_delivery_dead(delivery: Delivery, at: datetime, error: str) -> Delivery:
    """Give up a delivery that Slack refuses for good.

    ``error`` is Slack's code.

    Its message is kept only if an operator may have it tried again.
    """
    draft = replace(delivery.content, response_url=None)
    if draft.kind not in REPEATABLE_KINDS or draft.subscription is not None:
        draft = replace(draft, message=None)
    return replace(delivery, state=DeliveryState.DEAD, content=draft, settled_at=at, error=error)


def postpone_delivery(delivery: Delivery, due_at: datetime, *, plain: bool) -> Delivery:
    """Try a delivery again that certainly failed. ``plain``: without the blocks."""
    return replace(delivery, state=DeliveryState.PENDING, due_at=due_at, is_plain=plain)


def delivery_unclear(delivery: Delivery, look_at: datetime) -> Delivery:
    """Look at ``look_at`` for a delivery that may have succeeded."""
    return replace(delivery, state=DeliveryState.UNCLEAR, due_at=look_at)


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A file to upload."""

    name: str
    content: str
    text: str
    """The message that accompanies it."""
