"""Plain text for the agent: with names in the place of Slack's ids."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import structlog

from bot import slack_text
from bot.messages.plain_text import visible
from bot.model.ids import ChannelId, UserId
from bot.work.context import Context, WorkerContext
from bot.work.ports import SlackError, SlackRefused

log = structlog.get_logger(__name__)
Id = TypeVar("Id", bound=str)
_PRIVATE = "private-channel"
"""Stands for the name of a channel that not everybody may know of, as it does in Slack."""
_MOST_NAMES = 20
"""Maximum names that are looked up for a text. The others stay ids."""


async def plain_text(context: WorkerContext, raw: str, here: ChannelId | None) -> str:
    """Return the text for the agent, without hidden characters: it gets what its thread shows."""
    users, channels = await names_in(context, raw, here, context.timeouts.names_seconds)
    return visible(slack_text.to_plain(raw, users, channels))


async def names_in(
    context: Context, raw: str, here: ChannelId | None, seconds: float
) -> tuple[dict[UserId, str], dict[ChannelId, str]]:
    """Return the names in a text: the first 20, as far as Slack returns them in time.

    A private channel goes by its name only in itself (``here``).
    """
    needed = slack_text.unresolved_names(raw, _MOST_NAMES)
    users = dict[UserId, str]()
    channels = {each: str(each) for each in slack_text.channels_in(raw)}

    async def name_of(channel: ChannelId) -> str:
        if channel != here and not await _is_public(context, channel):
            return _PRIVATE
        return needed.channels[channel] or await context.messenger.channel_name(channel)

    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
            for user in needed.users:
                group.create_task(_look_up(user, context.messenger.user_name, users))
            for channel in needed.channels:
                group.create_task(_look_up(channel, name_of, channels))
    return users, channels


async def _is_public(context: Context, channel: ChannelId) -> bool:
    """Return whether Slack says that a channel is public. It does not show the bot every private one."""
    try:
        return await context.messenger.is_public(channel)
    except SlackRefused as refusal:
        log.info("channel_not_told", id=channel, reason=refusal.code)
        return False


async def _look_up(each: Id, look_up: Callable[[Id], Awaitable[str]], known: dict[Id, str]) -> None:
    """Add a name to ``known``. An id without a name does not stop the job."""
    try:
        known[each] = await look_up(each)
    except SlackError as error:
        log.warning("name_not_told", reason=str(error))
