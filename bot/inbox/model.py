"""Messages that people write to the bot, and the conversations that are read again after an outage.

A message is *new* until it is decided: it becomes part of a request (*taken*), or is *settled*.
Files without words are *held* until their author has said something. An edit or a deletion makes a
message new again; it names its request until that is made anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum
from typing import NamedTuple

from bot.ids import ChannelId, MessageTs, RequestKey, UserId
from bot.ports import Origin, SharedFile, message_key

BATCH_SIZE = 20
"""The most rows that a worker claims at once."""
SOON_SECONDS = 1.0
"""The shortest pause between two looks at something that waits."""
_MAX_WAIT_SECONDS = 300.0
"""The longest pause between two looks."""
_WAIT_SHARE = 0.25
"""Something waits for a quarter of the time that it has waited before the next look."""
DELETED = "deleted"
"""The version of a deleted message, which sorts after the versions of all edits."""


class Door(Enum):
    """The way of a message to the bot."""

    FIRST = "first"
    """It may only start a job."""
    ADDRESSED = "addressed"
    """It mentions the bot where a job stands, or names a job."""
    REPLY = "reply"
    """A reply in the thread of a job."""


class MessageState(StrEnum):
    """How far a message has come."""

    NEW = "new"
    """Stored as Slack sent it, and not decided. Without a text it was deleted."""
    HELD = "held"
    """Files without words, which wait for words."""
    TAKEN = "taken"
    """Part of a request: a prompt or a question."""
    SETTLED = "settled"
    """Nothing more comes of it. Only its place and its time are kept."""


@dataclass(frozen=True, slots=True)
class InboxMessage:
    """A message of a person, with its newest text."""

    id: int
    channel: ChannelId
    ts: MessageTs
    conversation_ts: str
    """Its thread, or its own timestamp if it has none. Empty for direct messages.
    """
    user: UserId
    """Empty once it is settled."""
    state: MessageState
    said_at: datetime
    """When it was written or edited last, by the bot's clock."""
    parent_user: UserId | None = None
    """The author of the thread's first message, if Slack names one."""
    text: str | None = None
    """The wire text: all of it while it is new, the part for the agent until that is sent."""
    files: tuple[SharedFile, ...] = ()
    omitted_parts: tuple[str, ...] = ()
    """The names of its parts that cannot be read as text."""
    app: str | None = None
    """The app that posted it with the own token of ``user``; None without one."""
    version: str = ""
    """The time of its last edit, by Slack's clock.

    Empty without an edit, and ``DELETED`` after its deletion.
    """
    due_at: datetime | None = None
    """When a worker looks at it; None if nothing waits."""
    request: RequestKey | None = None
    """The key of the prompt or the question that it is part of."""

    @property
    def thread(self) -> MessageTs | None:
        """The thread of the message; None outside of threads."""
        return None if self.conversation_ts in ("", self.ts) else MessageTs(self.conversation_ts)

    @property
    def key(self) -> RequestKey:
        """The key of the message, and of its request unless the message was edited before."""
        return message_key(self.channel, self.ts)

    @property
    def request_key(self) -> RequestKey:
        """The key of a request with the message's newest text."""
        return RequestKey(f"{self.key}:{self.version}") if self.version else self.key

    @property
    def origin(self) -> Origin:
        return Origin(self.request_key, self.user, self.channel, self.thread, self.ts, app=self.app)

    @property
    def is_deleted(self) -> bool:
        """Whether the message is deleted, and its request is not changed yet."""
        return self.version == DELETED


class Conversation(NamedTuple):
    """A conversation to read again: a thread, or the direct messages of a channel."""

    channel: ChannelId
    thread: MessageTs | None
    """None for direct messages."""


@dataclass(frozen=True, slots=True)
class MissedSpan:
    """Messages that may have been missed, until their conversations have been read again."""

    id: int
    since_ts: MessageTs
    due_at: datetime
    channel: ChannelId | None = None
    """The channel of a direct conversation, or of threads since then.

    None for all conversations in which messages may be for the bot.
    """
    is_invited: bool = False
    """The bot was invited to the channel: its newest mention there is offered to its author."""


def growing_pause_seconds(waited_seconds: float) -> float:
    """Return the pause before the next try: a share of the time that the work has waited."""
    return min(max(waited_seconds * _WAIT_SHARE, SOON_SECONDS), _MAX_WAIT_SECONDS)
