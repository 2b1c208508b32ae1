"""Channels whose id Slack has changed: they stay what they were, also to ``ALLOWED_CHANNELS``."""

from __future__ import annotations

import structlog

from bot.model import ChannelId
from bot.work.context import Context

log = structlog.get_logger(__name__)


async def rename_channel(context: Context, old: ChannelId, new: ChannelId) -> None:
    """Move everything of a channel to its new id, in one transaction. A repeated call is harmless."""
    present = await context.store.write(lambda tx: tx.channels.rename(old, new))
    log.info("channel_id_changed", old=old, new=present)
    context.wake()


async def allows_channel(context: Context, channel: ChannelId) -> bool:
    """Return whether the bot may be used in a channel: one of the ids that it has or had is allowed."""
    policy = context.access_policy
    if policy.allows_channel(channel):
        return True
    ids = await context.store.read(lambda tx: tx.channels.ids_of(channel))
    return any(map(policy.allows_channel, ids))
