"""Requests on their way: answered privately, and finished in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

import structlog

from bot.engine import cancel, wait_for_ends
from bot.ids import Message, Refusal
from bot.ports import Origin, SlackError, SlackRefused, SlackThrottled
from bot.slack.messenger import SlackMessenger
from bot.store.deadline import within

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
    """Return the ways to send a private answer, by name, in the order of use."""
    whisper = partial(messenger.whisper, asker.channel, asker.user)
    ways: list[tuple[str, _Say]] = []
    if asker.thread is not None and not replaces:
        ways.append(("thread", partial(whisper, thread=asker.thread)))
    if asker.response_url is not None:
        ways.append(
            ("response_url", partial(messenger.answer, asker.response_url, replaces=replaces))
        )
    return [*ways, ("channel", partial(whisper, thread=None))]


class Background:
    """Runs tasks whose callers do not await them. Failures are logged, and ``drain`` waits for all tasks."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_over = False

    def start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine as a task; not after ``drain``, when its connections may be closed."""
        if self._is_over:
            work.close()
            log.warning("background_left", work=name)
            return
        task = asyncio.create_task(self._watched(name, work), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _watched(self, name: str, work: Awaitable[None]) -> None:
        try:
            with within(None):  # Slack has been answered
                await work
        except Exception:
            # The coroutine itself notifies the person of a failure; the log is for the operator.
            log.exception("background_failed", work=name)

    async def ended(self) -> None:
        """Wait for all tasks, including new ones."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def drain(self, grace_seconds: float) -> list[str]:
        """Wait for all tasks, including new ones, for at most ``grace_seconds``; then cancel the rest.

        Return the names of the tasks that were cancelled.
        """
        late = await wait_for_ends(self._tasks, grace_seconds)
        self._is_over = True
        return await cancel(late)
