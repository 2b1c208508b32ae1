"""Channels that get another id, and channels to which the bot is invited."""

from __future__ import annotations

import structlog

from bot.answers.gaps import on_made_private
from bot.context import Context
from bot.ids import ChannelId
from bot.inbox.store import KNOWN_FOR, MissedMessages
from bot.ports import ts_at
from bot.store.channels import move_channel

log = structlog.get_logger(__name__)


async def follow_channel(context: Context, old: ChannelId, new: ChannelId) -> None:
    """Write a channel's new id into everything that belongs to it.

    A channel gets one when it becomes private or is shared, and keeps its messages with their
    times.
    """
    await context.write(lambda tx: move_channel(tx, old, new))
    log.warning("channel_id_changed", old=old, new=new)


async def keep_private(context: Context, channel: ChannelId) -> None:
    """Keep the words of a channel that was made private from everybody who is not in it."""
    await context.write(lambda tx: on_made_private(tx, channel))
    log.info("channel_made_private", channel=channel)


async def note_invitation(context: Context, channel: ChannelId) -> None:
    """Let the channel be read to which somebody has invited the bot."""
    now = context.clock()
    since = ts_at(now - KNOWN_FOR)
    await context.write(lambda tx: MissedMessages(tx).add(since, now, channel, is_invited=True))
