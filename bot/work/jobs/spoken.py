"""What people say to the bot in messages, as the listeners hand it over."""

from __future__ import annotations

from dataclasses import dataclass

from bot.model import ChannelId, MessageTs, RequestKey, UserId


@dataclass(frozen=True, slots=True)
class ThreadReply:
    """A person's reply in a thread.

    ``parent`` is who began the thread, when Slack says so. ``files`` counts what hangs on the reply;
    the agent cannot be given files.
    """

    key: RequestKey
    channel: ChannelId
    thread_ts: MessageTs
    ts: MessageTs
    user: UserId
    text: str
    files: int
    is_im: bool
    parent: UserId | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """A message outside any thread that is meant for the bot: it mentions it, or is a direct message."""

    key: RequestKey
    channel: ChannelId
    ts: MessageTs
    user: UserId
    text: str
    is_im: bool
