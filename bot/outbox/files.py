"""Share the CSV file of a delivery."""

from __future__ import annotations

import asyncio
import tempfile
from functools import partial
from pathlib import Path

import structlog

from bot.context import CsvFile, WorkerContext
from bot.ids import ChannelId, Refusal
from bot.outbox.model import Delivery
from bot.outbox.slack_calls import as_member, check_lease, find_earlier
from bot.ports import SlackRefused, SlackUnreachable
from bot.store import Transaction

log = structlog.get_logger(__name__)
_OUTSIDE = frozenset({Refusal.NOT_A_MEMBER, Refusal.NOT_VISIBLE})
"""The refusals of an upload to a channel that the bot is not in."""


async def share_file(context: WorkerContext, delivery: Delivery) -> None:
    """Upload the file of a delivery, unless an earlier attempt has shared it already."""
    file = await context.store.read(partial(_make, context, delivery))
    if file is None:
        raise SlackRefused.not_found("file")
    channel = (
        await context.messenger.conversation_with(delivery.what.user)
        if delivery.what.user
        else delivery.what.channel
    )
    if delivery.unconfirmed:
        find = partial(context.messenger.find_file, channel, file.name, since=delivery.created_at)
        # Only a member can search: join a public channel.
        if await as_member(context, channel, lambda: find_earlier(find())):
            return
    check_lease(context, delivery)
    try:
        with tempfile.TemporaryDirectory(prefix="docs-bot-") as folder:
            await _upload(context, delivery, file, channel, Path(folder) / file.name)
    except OSError as error:
        # The disk may be full. Nothing has been shared, so the delivery can be retried later.
        log.warning("file_not_written", delivery=delivery.id, reason=error.strerror)
        raise SlackUnreachable(type(error).__name__) from None


def _make(context: WorkerContext, delivery: Delivery, tx: Transaction) -> CsvFile | None:
    files = (hooks.make_file(tx, delivery) for hooks in context.post_hooks)
    return next((file for file in files if file is not None), None)


async def _upload(
    context: WorkerContext, delivery: Delivery, file: CsvFile, channel: ChannelId, path: Path
) -> None:
    await asyncio.to_thread(path.write_text, file.content, "utf-8", newline="")

    async def upload() -> None:
        # Writing a large file takes its time, and so does sending it before it is shared.
        confirm = partial(check_lease, context, delivery)
        confirm()
        await context.messenger.upload(channel, path, name=path.name, text=file.text, confirm=confirm)

    # A direct message cannot be joined.
    joinable = _OUTSIDE if channel == delivery.what.channel else frozenset()
    await as_member(context, channel, upload, joinable)
