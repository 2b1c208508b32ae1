"""Where a request came from: what each carries from Slack's payload to its row."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import SecretStr

from bot.model.ids import ChannelId, MessageTs, RequestKey, UserId, is_direct_message
from bot.model.jobs import ThreadRef


def message_key(channel: ChannelId, ts: str = "") -> RequestKey:
    """Return the key of a message, or without ``ts`` the beginning of the keys of a channel's messages."""
    return RequestKey(f"message:{channel}:{ts}")


def is_of_message(key: str) -> bool:
    """Return whether the request with this key is a message, which people still see."""
    return key.startswith("message:")


@dataclass(frozen=True, slots=True)
class Origin:
    """Who asked for something, where, and how an answer reaches them.

    ``key`` recognises the request when Slack delivers it again. ``channel`` is empty for a button outside
    any channel and for a form that carries none. ``thread`` is set for a reply in a thread. ``message_ts`` is
    the message that the request came from: what somebody wrote, or the message whose button was pressed.
    ``response_url`` takes private answers for 30 minutes.
    """

    key: RequestKey
    user: UserId
    channel: ChannelId
    thread: MessageTs | None = None
    message_ts: MessageTs | None = None
    response_url: SecretStr | None = None

    @property
    def thread_ref(self) -> ThreadRef | None:
        """The thread in which it was said, if it was said in one."""
        return ThreadRef(self.channel, self.thread) if self.thread else None

    @property
    def thread_for_job(self) -> MessageTs | None:
        """The thread in which a job that is asked for here has its face; None if the face begins its thread.

        That is the thread of the message that asked, or the one under it. In direct messages, where only the
        bot and one person talk, a face that begins its thread is easier to see.
        """
        return self.thread or (None if self.is_direct else self.message_ts)

    @property
    def is_direct(self) -> bool:
        """Whether it comes from somebody's direct messages, outside of any thread."""
        return self.thread is None and is_direct_message(self.channel)


@dataclass(frozen=True, slots=True)
class Unread:
    """A conversation to be read again after an outage: a thread, or the direct messages of a channel.

    ``thread`` is None for direct messages. ``since``: the newest message that was heard. ``due_at`` changes
    when the conversation has to be read once more. ``attempts``: how often reading it has failed.
    """

    id: int
    channel: ChannelId
    thread: MessageTs | None
    since: MessageTs
    due_at: datetime
    attempts: int = 0


def ts_at(at: datetime) -> MessageTs:
    """Return the timestamp of a message that would be posted at this time."""
    return MessageTs(f"{at.timestamp():.6f}")


def time_of(ts: MessageTs) -> datetime:
    """Return the time at which a message was posted. Raises ValueError for what is no timestamp."""
    return datetime.fromtimestamp(float(ts), UTC)
