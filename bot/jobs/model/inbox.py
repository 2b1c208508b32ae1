"""Messages that people write to the bot, from the event to the request that they become.

``new → held → taken``, or ``new → asked`` for a question, or ``new → settled`` for the rest. An edit makes a
message new again while nothing has come of it. After that `FOLLOWS` has what follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.ids import ChannelId, MessageTs, RequestKey, UserId
from bot.jobs.model.prompts import Prompt, PromptState
from bot.ports import Origin, SharedFile


class Door(StrEnum):
    """The way by which a text came. A plain reply where only mentions steer has none: it is left alone."""

    FIRST = "first"
    """By command, form, mention or direct message, to start a job."""
    ADDRESSED = "addressed"
    """By ``/docs-followup``, its form, or a mention in the job's thread."""
    REPLY = "reply"
    """A reply without a mention in the job's own thread."""


class HeardState(StrEnum):
    """How far a message has come."""

    NEW = "new"
    """Stored as Slack sent it; nobody has read it yet."""
    HELD = "held"
    """Files without words, which wait for those."""
    TAKEN = "taken"
    """A part of a prompt."""
    ASKED = "asked"
    """A question to the docs."""
    SETTLED = "settled"
    """Answered, talk, or deleted."""
    UNREAD = "unread"
    """No message: a conversation to be read again after an outage, from ``ts`` on."""


class Correction(StrEnum):
    """A change of a message by its author."""

    EDITED = "edited"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class InboxMessage:
    """A message of a person, as it was written last."""

    id: int
    key: RequestKey
    channel: ChannelId
    place: str
    """Its thread, or the one that may begin under it; empty for the messages of a direct conversation."""
    ts: MessageTs
    user: UserId
    state: HeardState
    said_at: datetime
    """When it was written, or changed last."""
    thread: MessageTs | None = None
    parent: UserId | None = None
    """The author of the thread's first message, if Slack names one."""
    is_mention: bool = False
    """Whether it mentions the bot outside of threads, or is a direct message."""
    text: str | None = None
    """Slack's wire text, as it is part of a request. Empty once nothing needs it."""
    files: tuple[SharedFile, ...] = ()
    omitted: tuple[str, ...] = ()
    """The names of its parts that cannot be read as text."""
    change: Correction | None = None
    """What its author has done to it since it was taken, until that is carried out."""
    edited: str | None = None
    """Its new text."""
    due_at: datetime | None = None
    door: Door = Door.FIRST
    """The way by which it came, as it was read first."""
    request: RequestKey | None = None
    """The key of the prompt or the inquiry that it is part of."""
    readings: int = 0
    """How many requests were made of it before its author edited it."""
    attempts: int = 0
    app: str | None = None
    """The app that posted it with its author's own token."""

    @property
    def request_key(self) -> RequestKey:
        """The key of a request that is made of it now."""
        return RequestKey(f"{self.key}:{self.readings}") if self.readings else self.key

    @property
    def origin(self) -> Origin:
        return Origin(self.request_key, self.user, self.channel, self.thread, self.ts, app=self.app)


@dataclass(frozen=True, slots=True)
class UnreadConversation:
    """A conversation to be read again after an outage: a thread, or the direct messages of a channel."""

    id: int
    channel: ChannelId
    thread: MessageTs | None
    """None for direct messages."""
    since: MessageTs
    due_at: datetime
    """Changes when the conversation has to be read once more."""
    attempts: int = 0
    """How often reading it has failed."""


class Part(StrEnum):
    """What a message has become."""

    UNSENT = "unsent"
    """Part of a prompt that waits."""
    SENDING = "sending"
    UNCONFIRMED = "unconfirmed"
    SENT = "sent"
    OVER = "over"
    """Part of a prompt that was refused or withdrawn."""
    QUESTION = "question"


class Follows(StrEnum):
    """What follows from a change."""

    REBUILD = "rebuild"
    """The prompt is made anew of its messages; without any it is withdrawn."""
    WAIT = "wait"
    TELL = "tell"
    """Its author is told once that the agent has the text as it was."""
    ASK_ANEW = "ask anew"
    """The question is taken back, and the message is read as a new one."""
    TAKE_BACK = "take back"
    """The question is in no list any more."""
    NOTHING = "nothing"


FOLLOWS: Mapping[Part, Mapping[Correction, Follows]] = {
    Part.UNSENT: {Correction.EDITED: Follows.REBUILD, Correction.DELETED: Follows.REBUILD},
    Part.SENDING: {Correction.EDITED: Follows.WAIT, Correction.DELETED: Follows.WAIT},
    Part.UNCONFIRMED: {Correction.EDITED: Follows.REBUILD, Correction.DELETED: Follows.REBUILD},
    Part.SENT: {Correction.EDITED: Follows.TELL, Correction.DELETED: Follows.NOTHING},
    Part.OVER: {Correction.EDITED: Follows.NOTHING, Correction.DELETED: Follows.NOTHING},
    Part.QUESTION: {Correction.EDITED: Follows.ASK_ANEW, Correction.DELETED: Follows.TAKE_BACK},
}
"""The whole rule for messages of which something has come. A new or held one is read again, or dropped."""

_PARTS = {
    PromptState.NEW: Part.UNSENT,
    PromptState.WAITING: Part.UNSENT,
    PromptState.SENDING: Part.SENDING,
    PromptState.UNCONFIRMED: Part.UNCONFIRMED,
    PromptState.SENT: Part.SENT,
}


def part_of(prompt: Prompt) -> Part:
    """Return what the messages of a prompt have become."""
    return _PARTS.get(prompt.state, Part.OVER)
