"""Follow a channel whose id Slack has changed: it stays what it was, also to ``ALLOWED_CHANNELS``."""

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
