"""Share the file with all rows of an answer about visitors."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import structlog

from bot.context import WorkerContext
from bot.ids import ChannelId, Refusal
from bot.messages import misses
from bot.messages import visitors_answers as say
from bot.messages.plain_text import BOM, HEADER, csv_line
from bot.model.questions import Question
from bot.model.visitors import PageCounts, Snapshot
from bot.outbox.model import Delivery
from bot.outbox.slack_calls import as_member, check_lease, find_earlier
from bot.ports import SlackRefused, SlackUnreachable
from bot.store import Transaction
from bot.store.questions import Questions
from bot.store.snapshots import Pages, Snapshots
from bot.work.visitors.question import numbers_of
from bot.work.visitors.report import misses_report

log = structlog.get_logger(__name__)
_OUTSIDE = frozenset({Refusal.NOT_A_MEMBER, Refusal.NOT_VISIBLE})
"""The refusals of an upload to a channel that the bot is not in."""


async def share_file(context: WorkerContext, delivery: Delivery) -> None:
    """Upload the file of a delivery, unless an earlier attempt has shared it already."""
    number = delivery.what.question
    if number is None:
        raise ValueError(f"delivery {delivery.id} belongs to no question")
    question = await context.store.read(lambda tx: Questions(tx).get(number))
    if question is None:
        raise SlackRefused.not_found("file")
    channel = (
        await context.messenger.conversation_with(delivery.what.user)
        if delivery.what.user
        else delivery.what.channel
    )
    name = file_name(question, delivery)
    if delivery.unconfirmed:
        find = partial(context.messenger.find_file, channel, name, since=delivery.created_at)
        # Only a member can search: join a public channel.
        if await as_member(context, channel, lambda: find_earlier(find())):
            return
    check_lease(context, delivery)
    try:
        with tempfile.TemporaryDirectory(prefix="docs-bot-") as folder:
            await _upload(context, delivery, question, channel, Path(folder) / name)
    except OSError as error:
        # The disk may be full. Nothing has been shared, so the delivery can be retried later.
        log.warning("file_not_written", delivery=delivery.id, reason=error.strerror)
        raise SlackUnreachable(type(error).__name__) from None


def file_name(question: Question, delivery: Delivery) -> str:
    """Return the file name. It is unique to the delivery, so that an earlier attempt can be found by it."""
    period, topic = question.query.period, question.query.topic
    return f"docs-{topic}-{period.first}-to-{period.last}-{delivery.id[:8]}.csv"


async def _upload(
    context: WorkerContext, delivery: Delivery, question: Question, channel: ChannelId, path: Path
) -> None:
    if question.query.topic.is_missed:
        answer = await context.store.read(
            lambda tx: misses_report(context, question, numbers_of(context, tx, question))
        )
        await asyncio.to_thread(path.write_text, BOM + "".join(misses.csv_lines(answer)), "utf-8", newline="")
        words = misses.file_words(answer)
    else:
        rows, is_complete = await _write_csv(context, question, path)
        words = say.file_words(question, rows, complete=is_complete)

    async def upload() -> None:
        # Writing a large file takes its time, and so does sending it before it is shared.
        confirm = partial(check_lease, context, delivery)
        confirm()
        await context.messenger.upload(channel, path, name=path.name, words=words, confirm=confirm)

    # A direct message cannot be joined.
    joinable = _OUTSIDE if channel == question.channel else frozenset()
    await as_member(context, channel, upload, joinable)


async def _write_csv(context: WorkerContext, question: Question, path: Path) -> tuple[int, bool]:
    """Write the file a chunk of rows at a time, to save memory. Return the row count and completeness."""
    count, after = 0, 0
    await asyncio.to_thread(path.write_text, BOM + csv_line(HEADER), "utf-8", newline="")
    while True:
        snapshot, pages, after = await context.store.read(partial(_pages_after, question, after))
        if not pages:
            return count, snapshot.complete
        lines = [csv_line((page.path, page.now.human, page.now.ai, page.now.total)) for page in pages]
        await asyncio.to_thread(_append, path, "".join(lines))
        count += len(pages)


def _pages_after(
    question: Question, after: int, tx: Transaction
) -> tuple[Snapshot, Sequence[PageCounts], int]:
    pages, last = Pages(tx).following(question.now, question.query.section, after)
    return Snapshots(tx).get([question.now])[question.now], pages, last


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(text)
