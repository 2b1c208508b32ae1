"""Private messages to one person after the acknowledgement, retried when Slack fails."""

from __future__ import annotations

import asyncio

import structlog

from bot.model import Message, Origin, Refusal
from bot.slack.messenger import SlackMessenger
from bot.work.ports import SlackError, SlackRefused, SlackThrottled

log = structlog.get_logger(__name__)
_TRIES = 4
"""A response URL accepts five posts (https://docs.slack.dev/interactivity/handling-user-interaction)."""
_MOST_WAIT_SECONDS = 30.0
"""The person does not expect an answer after a longer wait."""


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
    When Slack's response is lost, the message may appear twice. For a private message that is better than
    not at all. A refusal is logged and not raised.
    """
    thread = None if replaces else asker.thread
    for attempt in range(1, _TRIES + 1):
        try:
            if thread is not None:
                await messenger.whisper(asker.channel, asker.user, message, thread=thread)
            elif asker.response_url is not None:
                await messenger.answer(asker.response_url, message, replaces=replaces)
        except SlackRefused as refusal:
            if thread is not None and refusal.meaning is not Refusal.BLOCKS:
                log.info("thread_answer_refused", reason=refusal.code)
                thread = None
            elif refusal.meaning is not Refusal.BLOCKS or message.blocks == message.plain_blocks:
                log.warning("answer_refused", reason=refusal.code)
                return
            else:
                log.error("blocks_refused", reason=refusal.code, details=refusal.details)
                message = Message(message.text, message.plain_blocks, message.plain_blocks)
        except SlackError as error:
            if attempt == _TRIES:
                log.warning("answer_not_said", reason=str(error))
                return
            asked = error.retry_after_seconds if isinstance(error, SlackThrottled) else 0.0
            await asyncio.sleep(min(max(asked, pause_seconds * attempt), _MOST_WAIT_SECONDS))
        else:
            return
