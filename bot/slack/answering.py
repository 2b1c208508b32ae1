"""Private messages to one person after the acknowledgement, retried when Slack fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import structlog

from bot.model.message import Message
from bot.model.origin import Origin
from bot.model.refusal import Refusal
from bot.slack.messenger import SlackMessenger
from bot.work.ports import SlackError, SlackRefused, SlackThrottled

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
