"""Private answers to messages and buttons, in the same place."""

from __future__ import annotations

import structlog

from bot.context import Context
from bot.ids import Message
from bot.outbox.model import NewDelivery
from bot.outbox.store import Outbox
from bot.ports import Origin

log = structlog.get_logger(__name__)


async def answer_in_private(
    context: Context, origin: Origin, occasion: str, message: Message
) -> None:
    """Answer the author alone, in place, once for each of their messages and ``occasion``."""
    note = private_answer(context, origin, occasion, message)
    if note is not None:
        await context.write(lambda tx: Outbox(tx).add(note, context.clock()))


def private_answer(
    context: Context, origin: Origin, occasion: str, message: Message
) -> NewDelivery | None:
    """Return the private answer to an author; None for an app, which cannot get one.

    A log line names the app and the occasion, without any words.
    """
    if origin.user in context.settings.allowed_bots:
        log.info("app_not_answered", user=origin.user, occasion=occasion)
        return None
    key = f"{origin.key}:{occasion}"
    return NewDelivery.whisper(key, origin.channel, origin.user, message, thread=origin.thread)
