"""Reading a conversation: what people said in it after a message, or in a thread before one."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.model import ChannelId, MessageTs, UserId
from bot.slack import payloads
from bot.slack.errors import translated
from bot.work.ports import Mention, Said, SlackUnclear, ThreadReply

log = structlog.get_logger(__name__)
_PAGE = 200
_MOST_PAGES = 5
_TS = re.compile(r"\d{10}\.\d{6}")


async def said_since(
    client: AsyncWebClient, bot: UserId, channel: ChannelId, thread: MessageTs | None, since: MessageTs
) -> Sequence[ThreadReply | Mention]:
    """Return the messages for which an event would have been handled, oldest first. Raises a SlackError.

    ``thread``: the thread to read; without one, the direct messages of the channel. Reads 1,000 messages at
    most. Messages that people edited have their newest text, and deleted ones are missing.
    https://docs.slack.dev/reference/methods/conversations.replies
    https://docs.slack.dev/reference/methods/conversations.history
    """
    call: Callable[..., Awaitable[Any]] = client.conversations_history
    options: dict[str, Any] = {"channel": channel, "oldest": since}
    if thread is not None:
        call, options["ts"] = client.conversations_replies, thread
    found, is_all = await _read(call, options)
    if not is_all:
        log.warning("too_much_missed", channel=channel, read=len(found))
    # Slack returns the first message of a thread whatever its age.
    newer = [ts for ts in sorted(found) if _TS.fullmatch(ts) and ts > since]
    about = {"type": "message", "channel": channel, "channel_type": None if thread else "im"}
    heard = (payloads.spoken(found[ts] | about, bot) for ts in newer)
    return [each for each in heard if each is not None]


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
