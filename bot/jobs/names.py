"""The names of users, channels and user groups in texts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

import structlog

from bot.context import Context
from bot.ids import ChannelId, UserId
from bot.messages import slack_text
from bot.messages.plain_text import one_line, visible
from bot.ports import SlackError, SlackRefused

log = structlog.get_logger(__name__)
Id = TypeVar("Id", bound=str)
_PRIVATE = "private-channel"
"""Stands for the name of a private channel, as it does in Slack."""
_NAME_LENGTH = 80
_MAX_NAMES = 20
"""Maximum names that are looked up for a text. The others stay ids."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the users, channels and user groups in a text, as far as Slack returns them."""

    users: dict[UserId, str] = field(default_factory=dict)
    channels: dict[ChannelId, str] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    """The handles of user groups by their ids."""

    def resolve(self, raw: str) -> str:
        """Return a text with these names in the place of ids."""
        return visible(slack_text.to_plain(raw, self.users, self.channels, self.groups))


async def names_in(context: Context, raw: str, place: ChannelId | None, seconds: float) -> Names:
    """Return the first 20 names in a text that Slack returns in time.

    A private channel goes by its name only in itself (``place``).
    """
    names = Names()
    if "<" not in raw:
        # It begins every entity.
        return names
    needed = slack_text.unresolved_names(raw, _MAX_NAMES)
    names.channels.update({ref: str(ref) for ref in slack_text.channels_in(raw)})

    async def name_of(channel: ChannelId) -> str:
        try:
            if channel != place and not await context.messenger.is_public(channel):
                return _PRIVATE
        except SlackRefused as refusal:
            # Slack does not show the bot every private channel.
            log.info("channel_not_read", id=channel, reason=refusal.code)
            return _PRIVATE
        return needed.channels[channel] or await context.messenger.channel_name(channel)

    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
            for user in needed.users:
                group.create_task(_look_up(user, context.messenger.user_name, names.users))
            for channel in needed.channels:
                group.create_task(_look_up(channel, name_of, names.channels))
            if needed.has_groups:
                group.create_task(_look_up_groups(context, names))
    return names


async def _look_up(key: Id, look_up: Callable[[Id], Awaitable[str]], names: dict[Id, str]) -> None:
    """Add a name to ``names``. An id without a name does not stop the job."""
    try:
        names[key] = one_line(await look_up(key), _NAME_LENGTH)
    except SlackError as error:
        log.warning("name_not_read", reason=str(error))


async def _look_up_groups(context: Context, names: Names) -> None:
    try:
        handles = await context.messenger.group_handles()
        names.groups.update({of: one_line(name, _NAME_LENGTH) for of, name in handles.items()})
    except SlackError as error:
        log.warning("name_not_read", reason=str(error))
