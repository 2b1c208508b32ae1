"""The outbox: messages to send, the state of each delivery, and the paces that Slack allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Self, TypedDict

from pydantic import SecretStr

from bot.model.ids import (
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


class Method(StrEnum):
    """The methods of Slack's Web API that deliveries call."""

    POST = "chat.postMessage"
    EDIT = "chat.update"
    WHISPER = "chat.postEphemeral"
    REACT = "reactions.add"
    OPEN = "conversations.open"
    SEARCH_CHANNEL = "conversations.history"
    SEARCH_THREAD = "conversations.replies"
    BEGIN_UPLOAD = "files.getUploadURLExternal"
    END_UPLOAD = "files.completeUploadExternal"


@dataclass(frozen=True, slots=True)
class Pace:
    """A pace of calls: ``burst`` at once, then one every ``interval``.

    The calls so far are kept as one time, ``free_at``: each call moves it on by an interval. It may be ahead
    of the clock by ``burst`` intervals.
    """

    burst: int
    interval: timedelta

    def room(self, free_at: datetime, now: datetime) -> int:
        """Return how many calls may be made now."""
        begun = -((now - free_at) // self.interval) if free_at > now else 0
        return max(self.burst - begun, 0)

    def after_calls(self, free_at: datetime, now: datetime, calls: int) -> datetime:
        """Return ``free_at`` after that many calls."""
        return max(free_at, now) + calls * self.interval

    def next_at(self, free_at: datetime) -> datetime:
        """Return when the next call may be made."""
        return free_at - (self.burst - 1) * self.interval

    def held(self, until: datetime) -> datetime:
        """Return the ``free_at`` that allows one call at ``until``, and none before."""
        return until + (self.burst - 1) * self.interval


_TIER_3, _TIER_4 = (2, 48), (5, 95)
_BURSTS: Mapping[Method, tuple[int, int]] = {
    Method.POST: (12, 240),
    Method.EDIT: _TIER_3,
    Method.WHISPER: _TIER_4,
    Method.REACT: _TIER_3,
    Method.OPEN: _TIER_3,
    Method.SEARCH_CHANNEL: _TIER_3,
    Method.SEARCH_THREAD: _TIER_3,
    Method.BEGIN_UPLOAD: _TIER_4,
    Method.END_UPLOAD: _TIER_4,
}
"""The burst of each method, and its calls a minute after it. Their sum is the most in any minute.

A method of tier 3 takes 50, of tier 4 100: https://docs.slack.dev/reference/methods names the tier of each.
"""


def pace_of(method: Method, minute_seconds: float = 60.0) -> Pace:
    """Return the pace of a method. Tests shorten Slack's minute."""
    burst, calls_a_minute = _BURSTS[method]
    return Pace(burst, timedelta(seconds=minute_seconds / calls_a_minute))


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


def calls_of(kind: DeliveryKind, *, by_url: bool, unconfirmed: bool = False) -> tuple[Method, ...]:
    """Return the methods of Slack that a delivery calls; none through a response URL, which has no limit.

    ``unconfirmed``: of a file, which is looked for first. For posts see ``Place``.
    """
    if by_url:
        return ()
    is_sought = unconfirmed and kind is DeliveryKind.FILE
    return (*((Method.SEARCH_CHANNEL,) if is_sought else ()), *_CALLS[kind])


@dataclass(frozen=True, slots=True)
class Place:
    """A conversation in which posts of unclear outcome are searched for, all of them with one reading.

    ``thread``: the thread of the channel; None for its other messages. ``user``: whose direct messages it is
    in the place of a channel.
    """

    channel: ChannelId
    thread: MessageTs | None = None
    user: UserId | None = None

    @classmethod
    def direct(cls, user: UserId) -> Self:
        """Return the direct messages of somebody."""
        return cls(ChannelId(""), user=user)

    @property
    def calls(self) -> tuple[Method, ...]:
        """Return the methods of Slack that a reading calls."""
        if self.user is not None:
            return (Method.OPEN, Method.SEARCH_CHANNEL)
        return (Method.SEARCH_CHANNEL if self.thread is None else Method.SEARCH_THREAD,)


def place_of(
    kind: DeliveryKind,
    channel: ChannelId,
    user: UserId | None,
    root_ts: MessageTs | None,
    thread_ts: MessageTs | None,
) -> Place | None:
    """Return where a delivery's post is searched for; None if it is no post that can be found.

    ``root_ts`` and ``thread_ts`` are those of its job: the face, and the thread in which the face is a reply.
    """
    match kind:
        case DeliveryKind.ROOT:
            return Place(channel, thread_ts)
        case DeliveryKind.REPLY:
            return Place(channel, thread_ts or root_ts)
        case DeliveryKind.POST:
            return Place(channel)
        case DeliveryKind.PRIVATE if user is not None:
            return Place.direct(user)
        case _:
            return None


REPEATABLE = (
    DeliveryKind.REPLY,
    DeliveryKind.PRIVATE,
    DeliveryKind.WHISPER,
    DeliveryKind.POST,
    DeliveryKind.FILE,
)
"""Kinds that an operator may have tried again. The others show a state that may have changed."""
PACED = (DeliveryKind.ROOT, DeliveryKind.REPLY, DeliveryKind.POST, DeliveryKind.FILE)
"""Kinds that count against Slack's limit of one post a second in a channel."""
QUIET = (DeliveryKind.EDIT, DeliveryKind.REACTION)
"""Kinds that notify nobody."""
_JOINING = (DeliveryKind.ROOT, DeliveryKind.POST, DeliveryKind.FILE)


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

    ``key`` is unique, so that the same event is reported once. ``message_ts``: the message that gets a
    reaction, or the thread of a whisper, which is None outside of threads. ``edits``: the key of the post
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
    subscription: SubscriptionId | None = None
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
        ts, url = thread if kind is DeliveryKind.WHISPER else None, response_url
        return cls(key, kind, channel, job=job, user=user, message=message, message_ts=ts, response_url=url)

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
    def post(cls, key: str, channel: ChannelId, user: UserId | None, message: Message) -> Self:
        """Return a message in a channel, outside threads, that this person asked for."""
        return cls(key, DeliveryKind.POST, channel, user=user, message=message)


@dataclass(frozen=True, slots=True)
class NotPosted:
    """A post that Slack refused for good: what that means, where it should have stood, and when.

    ``job``: whose thread it was for. ``at`` is when the log has Slack's code.
    """

    meaning: Refusal
    channel: ChannelId
    at: datetime
    job: JobNumber | None = None


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
    def searched_in(self) -> Place | None:
        """Return where it is searched for, instead of being posted; None if it is to be carried out.

        What is not there is posted at its next claim.
        """
        what = self.what
        if not self.unconfirmed or what.response_url is not None:
            return None
        return place_of(what.kind, what.channel, what.user, self.root_ts, self.thread_ts)

    @property
    def joins(self) -> bool:
        """Whether a public channel may be joined for it: somebody has just asked for something there.

        Whoever removes the bot from a channel does not want it back for an end or for a scheduled digest.
        """
        is_scheduled = self.what.subscription is not None and self.what.question is not None
        return self.what.kind in _JOINING and not is_scheduled

    @property
    def calls(self) -> tuple[Method, ...]:
        """Return the methods of Slack that it calls."""
        if self.searched_in is not None:
            return self.searched_in.calls
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
