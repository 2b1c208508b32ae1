"""Reading a conversation: what people said in it after a message, or in a thread before one."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot import slack_text
from bot.model.ids import ChannelId, MessageTs, UserId
from bot.model.origin import time_of, ts_at
from bot.slack import payloads
from bot.slack.errors import translated
from bot.slack.written import text_of
from bot.work.ports import Changed, Mention, Said, SlackUnclear, ThreadReply

log = structlog.get_logger(__name__)
_PAGE = 200
_MOST_PAGES = 5
_TS = re.compile(r"\d{10}\.\d{6}")
_CHANGED_FOR = timedelta(hours=1)
"""Edits of older messages are not found, except of the first one of a thread, which Slack always returns."""


async def said_since(
    client: AsyncWebClient, bot: UserId, channel: ChannelId, thread: MessageTs | None, since: MessageTs
) -> Sequence[ThreadReply | Mention | Changed]:
    """Return the messages for which an event would have been handled, oldest first. Raises a SlackError.

    ``thread``: the thread to read; without one, the direct messages of the channel. Reads 1,000 messages at
    most. Messages that people edited have their newest text, and deleted ones are missing. What authors have
    edited after ``since``, or left as a thread that goes on, follows as changes: of older messages, and of
    these, because Slack may have delivered one with its old text meanwhile.
    https://docs.slack.dev/reference/methods/conversations.replies
    https://docs.slack.dev/reference/methods/conversations.history
    """
    call: Callable[..., Awaitable[Any]] = client.conversations_history
    options: dict[str, Any] = {"channel": channel, "oldest": ts_at(time_of(since) - _CHANGED_FOR)}
    if thread is not None:
        call, options["ts"] = client.conversations_replies, thread
    found, is_all = await _read(call, options)
    if not is_all:
        log.warning("too_much_missed", channel=channel, read=len(found))
    about = {"type": "message", "channel": channel, "channel_type": None if thread else "im"}
    # Slack returns the first message of a thread whatever its age.
    all_of_it = [found[ts] | about for ts in sorted(found) if _TS.fullmatch(ts)]
    # A mention that could not be taken is read as the beginning of the thread under it.
    for each in all_of_it:
        if each["ts"] == thread and slack_text.mentions(text_of(each), bot):
            each["type"] = "app_mention"
    said = (payloads.spoken(each, bot) for each in all_of_it if each["ts"] > since)
    changed = (payloads.changed_after(since, each) for each in all_of_it)
    return [each for each in (*said, *changed) if each is not None]


async def said_before(
    client: AsyncWebClient, channel: ChannelId, thread: MessageTs, before: MessageTs | None
) -> Sequence[Said]:
    """Return what people and bots said in a thread before a message, oldest first. Raises a SlackError.

    Slack returns the oldest messages first, so a thread with more than 1,000 is not read.
    https://docs.slack.dev/reference/methods/conversations.replies
    """
    options: dict[str, Any] = {"channel": channel, "ts": thread}
    if before is not None:
        options["latest"] = before
    found, is_all = await _read(client.conversations_replies, options)
    if not is_all:
        raise SlackUnclear("too many messages in the thread")
    # Slack returns the first message of a thread whatever its age.
    older = (found[ts] for ts in sorted(found) if _TS.fullmatch(ts) and (before is None or ts < before))
    said = (payloads.said(message) for message in older)
    return [each for each in said if each is not None]


async def _read(
    call: Callable[..., Awaitable[Any]], options: dict[str, Any]
) -> tuple[dict[str, dict[str, Any]], bool]:
    """Return up to 1,000 messages of a conversation by timestamp, and whether these are all."""
    found: dict[str, dict[str, Any]] = {}
    options = options | {"limit": _PAGE}
    for _ in range(_MOST_PAGES):
        async with translated():
            answer = await call(**options)
        found |= {str(each.get("ts")): each for each in answer.get("messages") or []}
        options["cursor"] = (answer.get("response_metadata") or {}).get("next_cursor")
        if not options["cursor"]:
            return found, True
    return found, False
