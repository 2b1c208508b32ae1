"""The messages of a conversation, read again from Slack."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.ids import ChannelId, MessageTs, Refusal, UserId
from bot.messages import slack_text
from bot.ports import (
    Changed,
    Mention,
    Said,
    SlackRefused,
    SlackUnclear,
    ThreadReply,
    time_of,
    ts_at,
)
from bot.slack.client import pages
from bot.slack.content import read_content
from bot.slack.message_events import read_change_after, read_current, read_message, read_said

log = structlog.get_logger(__name__)
_PAGE_SIZE = 200
_MAX_PAGES = 5
_MAX_PAGES_OF_THREAD = 25
_MAX_EARLIER = 1_000
_TS_PATTERN = re.compile(r"\d{10}\.\d{6}")
_EDITABLE_FOR = timedelta(hours=1)
"""Edits of older messages are not found, but for the first message of a thread."""


async def read_messages_since(
    client: AsyncWebClient,
    bot: UserId,
    bots: Collection[UserId],
    channel: ChannelId,
    thread: MessageTs | None,
    since: MessageTs,
) -> Sequence[ThreadReply | Mention | Changed]:
    """Return the messages whose events may have been missed, oldest first. Raises a SlackError.

    At most 1,000 messages are read. Edited ones have their newest text, and deleted ones are
    missing. Edits after ``since``, and deletions that left a thread behind, follow as changes, of
    the new messages too: Slack may have delivered one with its old text meanwhile.
    https://docs.slack.dev/reference/methods/conversations.replies
    https://docs.slack.dev/reference/methods/conversations.history

    Args:
        bot: The bot's own user, whose messages are left out.
        bots: The apps and bot users of ALLOWED_BOTS.
        thread: None for the direct messages of the channel.
    """
    messages, is_cut = await _read_pages(
        client, channel, thread, oldest=ts_at(time_of(since) - _EDITABLE_FOR)
    )
    if is_cut:
        log.warning("too_much_missed", channel=channel, read=len(messages))
    channel_type = None if thread else "im"
    event_fields = {"type": "message", "channel": channel, "channel_type": channel_type}
    events = [messages[ts] | event_fields for ts in sorted(messages) if _TS_PATTERN.fullmatch(ts)]
    # The first message of a thread, which Slack returns at any age, may be a missed mention.
    for event in events:
        if event["ts"] == thread and slack_text.mentions(read_content(event).text, bot):
            event["type"] = "app_mention"
    said_since = (read_message(event, bot, bots) for event in events if event["ts"] > since)
    changes = (read_change_after(since, event, bots) for event in events)
    return [message for message in (*said_since, *changes) if message is not None]


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
            one = read_said(message) if _TS_PATTERN.fullmatch(ts) else None
            if one is not None and (before is None or ts < before):
                read[ts] = one
    if is_cut:
        raise SlackUnclear("too many messages in the thread")
    first, *others = sorted(read) or [""]
    return [read[ts] for ts in (first, *others[-_MAX_EARLIER:]) if ts]


async def find_message(
    client: AsyncWebClient, channel: ChannelId, ts: MessageTs, thread: MessageTs | None
) -> Changed | None:
    """Return a message as it reads now; None if it was deleted. Raises a SlackError.

    https://docs.slack.dev/reference/methods/conversations.replies
    """
    moment = timedelta(microseconds=1)
    around = {"oldest": ts_at(time_of(ts) - moment), "latest": ts_at(time_of(ts) + moment)}
    try:
        messages, _ = await _read_pages(client, channel, thread or ts, **around)
    except SlackRefused as refusal:
        if refusal.meaning is Refusal.THREAD_GONE:
            return None
        raise
    found = messages.get(ts)
    if found is None or found.get("subtype") == "tombstone":
        return None
    return read_current({**found, "channel": channel})


async def read_mentions_since(
    client: AsyncWebClient, bot: UserId, channel: ChannelId, since: MessageTs
) -> Sequence[Mention]:
    """Return people's mentions of the bot in a channel after ``since``, newest first.

    Raises a SlackError. https://docs.slack.dev/reference/methods/conversations.history
    """
    messages, _ = await _read_pages(client, channel, None, oldest=since)
    mentions = list[Mention]()
    for ts in sorted(messages, reverse=True):
        message = {**messages[ts], "channel": channel, "thread_ts": None, "type": "app_mention"}
        is_mention = slack_text.mentions(read_content(message).text, bot)
        mention = read_message(message, bot) if is_mention and _TS_PATTERN.fullmatch(ts) else None
        if isinstance(mention, Mention):
            mentions.append(mention)
    return mentions


async def _read_pages(
    client: AsyncWebClient, channel: ChannelId, thread: MessageTs | None, **options: str | None
) -> tuple[dict[str, dict[str, Any]], bool]:
    """Return up to 1,000 messages of a conversation by timestamp, and whether there are more."""
    messages_by_ts: dict[str, dict[str, Any]] = {}
    is_cut = False
    async for messages, has_more in messages_of(client, channel, thread, _MAX_PAGES, **options):
        messages_by_ts |= {str(message.get("ts")): message for message in messages}
        is_cut = has_more
    return messages_by_ts, is_cut


async def messages_of(
    client: AsyncWebClient,
    channel: ChannelId,
    thread: MessageTs | None,
    max_pages: int,
    **options: Any,
) -> AsyncIterator[tuple[Sequence[dict[str, Any]], bool]]:
    """Yield the pages of a thread's messages, each with whether more follow.

    ``thread``: None for the messages of the channel outside of threads, the newest first.
    """
    method: Callable[..., Awaitable[Any]] = client.conversations_history
    if thread is not None:
        method = client.conversations_replies
        options["ts"] = thread
    async for page, has_more in pages(
        method, max_pages, channel=channel, limit=_PAGE_SIZE, **options
    ):
        yield page.get("messages") or [], has_more
