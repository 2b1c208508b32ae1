"""The outbox: messages to send, and the state of each delivery."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
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
    is_direct_message,
)
from bot.model.jobs import TrackedJob
from bot.model.message import Message
from bot.model.pace import Method


class DeliveryKind(StrEnum):
    """The kind of Slack call that a delivery makes."""

    ROOT = "root"
    """A job's face: the root of its thread, or a reply in one. Its timestamp is then stored in the job."""
    EDIT = "edit"
    """An edit of the job's face, or of a post in its thread (``NewDelivery.edits``).

    Notifies nobody; a newer edit of the same message replaces one that is still pending.
    """
    REPLY = "reply"
    """A reply in the job's thread."""
    PRIVATE = "private"
    """A message for one person: through the response URL while that is valid, else as a direct message."""
    WHISPER = "whisper"
    """A message where one person wrote, which only they see; if Slack refuses it, a direct message."""
    REACTION = "reaction"
    """An emoji on somebody's message. Optional, so it is given up after the first refusal."""
    POST = "post"
    """A message in a channel, outside every job's thread."""
    FILE = "file"
    """A CSV file with all rows of an answer: in a channel, or in the direct messages of ``user``."""


_CALLS: Mapping[DeliveryKind, tuple[Method, ...]] = {
    DeliveryKind.ROOT: (Method.POST,),
    DeliveryKind.EDIT: (Method.EDIT,),
    DeliveryKind.REPLY: (Method.POST,),
    DeliveryKind.PRIVATE: (Method.OPEN, Method.POST),
    DeliveryKind.WHISPER: (Method.WHISPER,),
    DeliveryKind.REACTION: (Method.REACT,),
    DeliveryKind.POST: (Method.POST,),
    DeliveryKind.FILE: (Method.BEGIN_UPLOAD, Method.END_UPLOAD),
}
_SEARCHES: Mapping[DeliveryKind, tuple[Method, ...]] = {
    DeliveryKind.ROOT: (Method.SEARCH_CHANNEL, Method.SEARCH_THREAD),
    DeliveryKind.REPLY: (Method.SEARCH_THREAD,),
    DeliveryKind.PRIVATE: (Method.SEARCH_CHANNEL,),
    DeliveryKind.POST: (Method.SEARCH_CHANNEL,),
    DeliveryKind.FILE: (Method.SEARCH_CHANNEL,),
}


def calls_of(kind: DeliveryKind, *, by_url: bool, unconfirmed: bool) -> tuple[Method, ...]:
    """Return the methods of Slack that a delivery calls; none through a response URL, which has no limit."""
    if by_url:
        return ()
    return (*(_SEARCHES.get(kind, ()) if unconfirmed else ()), *_CALLS[kind])


REPEATABLE = (
    DeliveryKind.REPLY,
    DeliveryKind.PRIVATE,
    DeliveryKind.WHISPER,
    DeliveryKind.POST,
    DeliveryKind.FILE,
)
"""Kinds that an operator may have tried again. The others show a state that may have changed."""


class DeliveryState(StrEnum):
    """``pending → sending → sent | dead``. *sending* with an expired lease means unconfirmed.

    An operator makes a dead one unconfirmed again.
    """

    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    DEAD = "dead"


class DeliveryStepFields(TypedDict, total=False):
    """Columns of a delivery that change with a step of its lifecycle (``bot.model.lifecycle``)."""

    posted_ts: MessageTs | None
    settled_at: datetime | None
    response_url: None
    message: None
    error: str | None
    attempts: int
    due_at: datetime
    plain: bool


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """A delivery to add to the outbox.

    ``key`` is unique, so that the same event is reported once. ``replaces``: the message sent to the
    response URL replaces the message that contains the pressed button. ``message_ts``: the message that gets
    a reaction, or the thread of a whisper, which is None outside of threads. ``edits``: the key of the post
    that an edit changes; None for the job's face.
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
    edits: str | None = None

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

        ``thread``: where the pressed button stands, since a response URL shows a message outside of threads.
        """
        kind = DeliveryKind.WHISPER if thread and not is_direct_message(channel) else DeliveryKind.PRIVATE
        said = cls(key, kind, channel, job=job, user=user, message=message, response_url=response_url)
        return replace(said, message_ts=thread) if kind is DeliveryKind.WHISPER else said

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
        """Return a message for one person where they wrote: in this thread, or outside of threads.

        In direct messages it is an ordinary message.
        """
        kind, about = DeliveryKind.WHISPER, question
        if is_direct_message(channel):
            kind, thread = DeliveryKind.PRIVATE, None
        return cls(key, kind, channel, user=user, message=message, message_ts=thread, question=about)

    @classmethod
    def in_thread(cls, key: str, kind: DeliveryKind, job: TrackedJob, message: Message) -> Self:
        """Return a message for a job's thread: its root, an edit of it, or a reply."""
        return cls(key, kind, job.channel, job=job.number, message=message)

    @classmethod
    def react(
        cls,
        key: str,
        channel: ChannelId,
        message_ts: MessageTs | None,
        reaction: str,
        *,
        job: JobNumber | None = None,
    ) -> Self:
        """Return a reaction to a message; ``reaction`` is the emoji's name."""
        kind = DeliveryKind.REACTION
        return cls(key, kind, channel, job=job, message_ts=message_ts, reaction=reaction)

    @classmethod
    def post(cls, key: str, channel: ChannelId, user: UserId | None, message: Message) -> Self:
        """Return a message in a channel, outside threads, that this person asked for."""
        return cls(key, DeliveryKind.POST, channel, user=user, message=message)


@dataclass(frozen=True, slots=True)
class Delivery:
    """An outbox row that a worker has claimed.

    ``what`` is the delivery as it was added. ``root_ts``: the job's face at the claim, once it is posted.
    ``thread_ts``: the thread in which the face is a reply; None if it begins its thread.
    ``edited_ts``: the message that an edit changes; None if it was never posted.
    ``unconfirmed``: an earlier attempt may have succeeded, so search for its result first.
    ``plain``: Slack refused the blocks, so send without them. ``held_until``: when the lease ends.
    ``request``: the key of the request that began the job.
    """

    id: DeliveryId
    what: NewDelivery
    created_at: datetime
    attempts: int
    root_ts: MessageTs | None = None
    thread_ts: MessageTs | None = None
    edited_ts: MessageTs | None = None
    unconfirmed: bool = False
    plain: bool = False
    held_until: datetime | None = None
    request: str | None = None

    @property
    def calls(self) -> tuple[Method, ...]:
        """Return the methods of Slack that it calls."""
        by_url = self.what.response_url is not None
        return calls_of(self.what.kind, by_url=by_url, unconfirmed=self.unconfirmed)


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A delivery that Slack refused for good. ``number`` is for operators; ``reason`` is Slack's code.

    ``can_go``: it may be tried again.
    """

    number: int
    job: JobNumber | None
    kind: DeliveryKind
    channel: ChannelId
    reason: str
    can_go: bool
