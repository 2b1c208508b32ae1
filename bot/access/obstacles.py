"""Whether a request that has waited may still be carried out: its author, and its channel."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from bot.access.admit import NotAllowed, Untold, admit
from bot.consequences import Event
from bot.context import Context
from bot.ids import Message, Refusal, is_direct_message
from bot.messages import blocks as b
from bot.ports import Origin, SlackUnclear


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
    deleted, or without the bot. Raises a SlackError or TimeoutError while Slack does not say.
    ``is_private``: only its author gets an answer, wherever the bot can post.
    """
    user = origin.user
    channel = origin.channel
    try:
        await admit(context, origin, channel=channel)
    except Untold:
        raise SlackUnclear("an author whom Slack does not describe") from None
    except NotAllowed as error:
        return Obstacle(Event.AUTHOR_EXCLUDED, error.message)
    if is_private or is_direct_message(channel) or user in context.settings.allowed_bots:
        return None
    async with asyncio.timeout(context.timeouts.names_seconds):
        refusal = await context.messenger.find_closed(channel)
        if refusal is not None:
            return Obstacle(Event.CHANNEL_GONE, _channel_gone(origin), refusal)
        is_public = await context.messenger.is_public(channel)
        is_reader = is_public or await context.messenger.is_member(channel, user)
    if is_reader or user in context.settings.admins:
        return None
    return Obstacle(Event.AUTHOR_EXCLUDED, _left_channel(origin))


def _left_channel(origin: Origin) -> Message:
    where = b.channel(origin.channel)
    return b.words(
        f":no_entry: You aren't in {where} any more, so what you asked there wasn't carried out."
    )


def _channel_gone(origin: Origin) -> Message:
    where = b.channel(origin.channel)
    return b.words(
        f":no_entry: I can't report in {where} any more, "
        "so what you asked there wasn't carried out."
    )
