"""Whether a request that has waited may still be carried out: its author, and its channel."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import structlog

from bot.access.admit import NotAllowed, Untold, admit
from bot.consequences import Event
from bot.context import Context
from bot.ids import Message, Refusal, is_direct_message
from bot.messages import blocks as b
from bot.ports import Origin, SlackError, SlackUnclear

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A reason not to carry out a request."""

    event: Event
    note: Message
    """The reason for its author, without any words of the channel."""
    refusal: Refusal = Refusal.PERMANENT
    """Why the bot cannot post in the channel, if that is gone."""


async def find_obstacle(
    context: Context, origin: Origin, *, is_private: bool = False
) -> Obstacle | None:
    """Return the reason not to carry out a request that has waited; None if there is none.

    Its author may no longer use the bot, or has left the channel; or the channel is archived,
    deleted, or without the bot. Raises a SlackError or TimeoutError while Slack does not answer.
    ``is_private``: only its author gets an answer, wherever the bot can post.
    """
    try:
        await admit(context, origin, channel=origin.channel or None)
    except Untold:
        raise SlackUnclear("an author whom Slack does not describe") from None
    except NotAllowed as error:
        return Obstacle(Event.AUTHOR_EXCLUDED, error.message)
    if is_private or _needs_no_membership(context, origin):
        return None
    async with asyncio.timeout(context.timeouts.names_seconds):
        refusal = await context.messenger.find_refusal(origin.channel)
        if refusal is not None:
            return Obstacle(Event.CHANNEL_GONE, _explain_missing_channel(origin), refusal)
        return await _find_departure(context, origin)


async def find_exclusion(
    context: Context, origin: Origin, *, is_private: bool = False
) -> Obstacle | None:
    """Return why the author of a request may no longer ask; None while Slack does not answer.

    Slack's last answers count for as long as the bot remembers them, so that no request costs a
    call of its own. ``is_private``: membership of the channel does not matter.
    """
    try:
        await admit(context, origin, channel=origin.channel or None)
        if is_private or _needs_no_membership(context, origin):
            return None
        async with asyncio.timeout(context.timeouts.names_seconds):
            return await _find_departure(context, origin)
    except Untold:
        return None
    except NotAllowed as error:
        return Obstacle(Event.AUTHOR_EXCLUDED, error.message)
    except (SlackError, TimeoutError) as error:
        log.info("author_not_verified", reason=str(error) or type(error).__name__)
        return None


def _needs_no_membership(context: Context, origin: Origin) -> bool:
    """Return whether the author may ask without being in the channel."""
    if not origin.channel or is_direct_message(origin.channel):
        return True
    return origin.user in context.settings.allowed_bots


async def _find_departure(context: Context, origin: Origin) -> Obstacle | None:
    """Return the obstacle if an author has left a private channel. Raises a SlackError."""
    messenger = context.messenger
    if await messenger.is_public(origin.channel):
        return None
    if await messenger.is_member(origin.channel, origin.user):
        return None
    return Obstacle(Event.AUTHOR_EXCLUDED, _explain_departure(origin))


def _explain_departure(origin: Origin) -> Message:
    where = b.channel(origin.channel)
    return b.words(
        f":no_entry: You aren't in {where} any more, so what you asked there wasn't carried out."
    )


def _explain_missing_channel(origin: Origin) -> Message:
    where = b.channel(origin.channel)
    return b.words(
        f":no_entry: I can't report in {where} any more, "
        "so what you asked there wasn't carried out."
    )
