"""The end of a request: its private answer, and its work in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, NamedTuple

import structlog

from bot.engine import cancel, wait_for_ends
from bot.ids import Message, Refusal
from bot.ports import Origin, SlackError, SlackRefused, SlackThrottled
from bot.slack.messenger import SlackMessenger
from bot.store.deadline import within

log = structlog.get_logger(__name__)
_MAX_FAILURES = 4
"""Failures without a refusal. A response URL accepts five posts, one of which Slack may refuse.

https://docs.slack.dev/interactivity/handling-user-interaction
"""
_MAX_WAIT_SECONDS = 30.0
"""After a longer wait nobody expects an answer."""
_Say = Callable[[Message], Awaitable[None]]


async def say_privately(
    messenger: SlackMessenger,
    asker: Origin,
    message: Message,
    *,
    replaces: bool = False,
    pause_seconds: float = 0.5,
) -> None:
    """Show a message to one person: in the thread, through the response URL, or in the channel.

    A response URL shows a message outside of the thread, but it can replace one, and needs no
    membership. If Slack refuses one way, the next is tried; a refusal of all is logged.
    If Slack's response is lost, the message may appear twice, which is better than not at all.

    Args:
        replaces: Replace the message whose button was pressed, which only a response URL can.
        pause_seconds: The pause after the first failure. Later ones are longer.
    """
    ways = _ways(messenger, asker, replaces=replaces)
    failures = 0
    while True:
        way = ways[0]
        try:
            await way.say(message)
        except SlackRefused as refusal:
            is_about_blocks = refusal.meaning is Refusal.BLOCKS
            if is_about_blocks and message.blocks != message.plain_blocks:
                log.error("blocks_refused", reason=refusal.code, details=refusal.details)
                message = Message(message.text, message.plain_blocks, message.plain_blocks)
            elif is_about_blocks or len(ways) == 1:
                log.warning("answer_refused", way=way.name, reason=refusal.code)
                return
            else:
                log.info("answer_way_refused", way=way.name, reason=refusal.code)
                del ways[0]
        except SlackError as error:
            failures += 1
            if failures == _MAX_FAILURES:
                log.warning("answer_not_posted", reason=str(error))
                return
            wait_seconds = pause_seconds * failures
            if isinstance(error, SlackThrottled):
                wait_seconds = max(wait_seconds, error.retry_after_seconds)
            await asyncio.sleep(min(wait_seconds, _MAX_WAIT_SECONDS))
        else:
            return


class _Way(NamedTuple):
    """A way to show a message to one person."""

    name: str
    say: _Say


def _ways(messenger: SlackMessenger, asker: Origin, *, replaces: bool) -> list[_Way]:
    """Return the ways to send a private answer, in the order of use."""
    whisper = partial(messenger.whisper, asker.channel, asker.user)
    ways = []
    if asker.thread is not None and not replaces:
        ways.append(_Way("thread", partial(whisper, thread=asker.thread)))
    if asker.response_url is not None:
        answer = partial(messenger.answer, asker.response_url, replaces=replaces)
        ways.append(_Way("response_url", answer))
    return [*ways, _Way("channel", partial(whisper, thread=None))]


class Background:
    """Runs tasks whose callers do not await them, and logs their failures."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_over = False

    def start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine as a task, but not after ``drain``: its connections may be closed."""
        if self._is_over:
            work.close()
            log.warning("background_left", work=name)
            return
        task = asyncio.create_task(self._watched(name, work), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _watched(self, name: str, work: Awaitable[None]) -> None:
        try:
            # Slack has its response, so the deadline of the request is over.
            with within(None):
                await work
        except Exception:
            # The coroutine itself reports a failure to the person; the log is for the operator.
            log.exception("background_failed", work=name)

    async def ended(self) -> None:
        """Wait for all tasks, including new ones."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def drain(self, grace_seconds: float) -> list[str]:
        """Wait for all tasks, including new ones. Cancel tasks that take longer than the grace.

        Return the names of the cancelled tasks.
        """
        late = await wait_for_ends(self._tasks, grace_seconds)
        self._is_over = True
        return await cancel(late)
