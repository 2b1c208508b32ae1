"""Requests on their way: answered privately, finished in the background, or left to be read again."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot import slack_text
from bot.model.access import Origin, time_of, ts_at
from bot.model.ids import ChannelId, Message, MessageTs, Refusal, UserId
from bot.slack import payloads
from bot.slack.client import translated
from bot.slack.messenger import SlackMessenger
from bot.slack.rooms import text_of
from bot.store.deadline import within
from bot.work.ports import (
    Changed,
    Mention,
    Said,
    SlackError,
    SlackRefused,
    SlackThrottled,
    SlackUnclear,
    ThreadReply,
)
from bot.work.writing import cancel, wait_for_ends

log = structlog.get_logger(__name__)
_TRIES = 4
"""Tries that fail without a refusal. A response URL accepts five posts, one of which Slack may refuse.

https://docs.slack.dev/interactivity/handling-user-interaction
"""
_MOST_WAIT_SECONDS = 30.0
"""The person does not expect an answer after a longer wait."""
_Say = Callable[[Message], Awaitable[None]]


async def say_privately(
    messenger: SlackMessenger,
    asker: Origin,
    message: Message,
    *,
    replaces: bool = False,
    pause_seconds: float = 0.5,
) -> None:
    """Post a private message in the asker's thread, or else through the response URL; retry a few times.

    A response URL shows a message outside of the thread, but it can replace one, and needs no membership.
    If Slack refuses one way, the next one is tried; the last is the channel, where a message replaces none.
    When Slack's response is lost, the message may appear twice. For a private message that is better than
    not at all. A refusal of all ways is logged and not raised.
    """
    ways = _ways(messenger, asker, replaces=replaces)
    failures = 0
    while True:
        way, say = ways[0]
        try:
            await say(message)
        except SlackRefused as refusal:
            is_about_blocks = refusal.meaning is Refusal.BLOCKS
            if is_about_blocks and message.blocks != message.plain_blocks:
                log.error("blocks_refused", reason=refusal.code, details=refusal.details)
                message = Message(message.text, message.plain_blocks, message.plain_blocks)
            elif is_about_blocks or len(ways) == 1:
                log.warning("answer_refused", way=way, reason=refusal.code)
                return
            else:
                log.info("way_refused", way=way, reason=refusal.code)
                del ways[0]
        except SlackError as error:
            failures += 1
            if failures == _TRIES:
                log.warning("answer_not_said", reason=str(error))
                return
            asked = error.retry_after_seconds if isinstance(error, SlackThrottled) else 0.0
            await asyncio.sleep(min(max(asked, pause_seconds * failures), _MOST_WAIT_SECONDS))
        else:
            return


def _ways(messenger: SlackMessenger, asker: Origin, *, replaces: bool) -> list[tuple[str, _Say]]:
    """Return the ways to say something, by name, in the order in which they are tried."""
    whisper = partial(messenger.whisper, asker.channel, asker.user)
    ways: list[tuple[str, _Say]] = []
    if asker.thread is not None and not replaces:
        ways.append(("thread", partial(whisper, thread=asker.thread)))
    if asker.response_url is not None:
        ways.append(("response_url", partial(messenger.answer, asker.response_url, replaces=replaces)))
    return [*ways, ("channel", partial(whisper, thread=None))]


class Background:
    """Runs tasks whose callers do not await them. Failures are logged, and ``drain`` waits for all tasks."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._repeated: list[asyncio.Task[None]] = []
        self._is_over = False

    def start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine as a task; not after ``drain``, when what it needs may be closed."""
        if self._is_over:
            work.close()
            log.warning("background_left", work=name)
            return
        task = asyncio.create_task(self._watched(name, work), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def repeat(self, name: str, run: Callable[[], Awaitable[None]], every_seconds: float) -> None:
        """Run a function every ``every_seconds`` until ``drain``, also after it has failed."""

        async def keep_running() -> None:
            while True:
                await asyncio.sleep(every_seconds)
                await self._watched(name, run())

        self._repeated.append(asyncio.create_task(keep_running(), name=name))

    async def _watched(self, name: str, work: Awaitable[None]) -> None:
        try:
            with within(None):  # Slack has been answered
                await work
        except Exception:
            # The coroutine itself tells the person about a failure; the log is for the operator.
            log.exception("background_failed", work=name)

    async def drain(self, grace_seconds: float) -> list[str]:
        """Wait for all tasks, including new ones, for at most ``grace_seconds``; then cancel the rest.

        What is repeated ends at once. Return the names of the tasks that were cancelled.
        """
        await cancel(self._repeated)
        late = await wait_for_ends(self._tasks, grace_seconds)
        self._is_over = True
        return await cancel(late)


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
