"""The messages of a conversation, read again from Slack."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.ids import ChannelId, MessageTs, UserId
from bot.messages import slack_text
from bot.ports import Changed, Mention, Said, SlackUnclear, ThreadReply, time_of, ts_at
from bot.slack.client import pages
from bot.slack.content import read_content
from bot.slack.message_events import changed_after, said, spoken

log = structlog.get_logger(__name__)
_PAGE = 200
_MOST_PAGES = 5
_MAX_PAGES_OF_THREAD = 25
_MAX_EARLIER = 1_000
_TS = re.compile(r"\d{10}\.\d{6}")
_CHANGED_FOR = timedelta(hours=1)
"""Edits of older messages are not found, except of the first one of a thread, which Slack always returns."""


async def read_messages_since(
    client: AsyncWebClient,
    bot: UserId,
    bots: Collection[UserId],
    channel: ChannelId,
    thread: MessageTs | None,
    since: MessageTs,
) -> Sequence[ThreadReply | Mention | Changed]:
    """Return the messages for which an event would have been handled, oldest first. Raises a SlackError.

    ``thread``: the thread to read; without one, the direct messages of the channel. Reads 1,000 messages at
    most. Messages that people edited have their newest text, and deleted ones are missing. Edits after
    ``since``, and deletions that left a thread behind, follow as changes: of older messages, and of these,
    because Slack may have delivered one with its old text in between.
    https://docs.slack.dev/reference/methods/conversations.replies
    https://docs.slack.dev/reference/methods/conversations.history
    """
    messages, is_cut = await _read(
        client, channel, thread, oldest=ts_at(time_of(since) - _CHANGED_FOR)
    )
    if is_cut:
        log.warning("too_much_missed", channel=channel, read=len(messages))
    event_fields = {"type": "message", "channel": channel, "channel_type": None if thread else "im"}
    # Slack returns the first message of a thread at any age.
    all_of_it = [messages[ts] | event_fields for ts in sorted(messages) if _TS.fullmatch(ts)]
    # A mention that could not be taken is read as the beginning of the thread under it.
    for message in all_of_it:
        if message["ts"] == thread and slack_text.mentions(read_content(message).text, bot):
            message["type"] = "app_mention"
    replies = (spoken(message, bot, bots) for message in all_of_it if message["ts"] > since)
    changed = (changed_after(since, message, bots) for message in all_of_it)
    return [message for message in (*replies, *changed) if message is not None]


async def read_earlier(
    client: AsyncWebClient,
    channel: ChannelId,
    thread: MessageTs,
    *,
    before: MessageTs | None,
    since: MessageTs | None,
) -> Sequence[Said]:
    """Return the first message of a thread and its newest 1,000, oldest first. Raises a SlackError.

    Slack returns the oldest messages first, and the first message of a thread at any age. A thread
    with more than 5,000 is not read.
    https://docs.slack.dev/reference/methods/conversations.replies
    """
    read: dict[str, Said] = {}
    is_cut = False
    window = {"latest": before, "oldest": since}
    async for messages, has_more in messages_of(
        client, channel, thread, _MAX_PAGES_OF_THREAD, **window
    ):
        is_cut = has_more
        for message in messages:
            ts = str(message.get("ts"))
            one = said(message) if _TS.fullmatch(ts) else None
            if one is not None and (before is None or ts < before):
                read[ts] = one
    if is_cut:
        raise SlackUnclear("too many messages in the thread")
    first, *others = sorted(read) or [""]
    return [read[ts] for ts in (first, *others[-_MAX_EARLIER:]) if ts]


async def _read(
    client: AsyncWebClient, channel: ChannelId, thread: MessageTs | None, **options: str | None
) -> tuple[dict[str, dict[str, Any]], bool]:
    """Return up to 1,000 messages of a conversation by timestamp, and whether there are more."""
    messages_by_ts: dict[str, dict[str, Any]] = {}
    is_cut = False
    async for messages, has_more in messages_of(client, channel, thread, _MOST_PAGES, **options):
        messages_by_ts |= {str(message.get("ts")): message for message in messages}
        is_cut = has_more
    return messages_by_ts, is_cut


async def messages_of(
    client: AsyncWebClient,
    channel: ChannelId,
    thread: MessageTs | None,
    most_pages: int,
    **options: Any,
) -> AsyncIterator[tuple[Sequence[dict[str, Any]], bool]]:
    """Yield pages of a thread's messages, or of the channel's for None, each with whether more follow."""
    method: Callable[..., Awaitable[Any]] = client.conversations_history
    if thread is not None:
        method, options["ts"] = client.conversations_replies, thread
    async for page, has_more in pages(method, most_pages, channel=channel, limit=_PAGE, **options):
        yield page.get("messages") or [], has_more
