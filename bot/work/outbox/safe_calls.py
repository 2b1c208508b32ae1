"""Call Slack within the lease, as a member of the channel, and after a search if it is repeated."""

from __future__ import annotations

import asyncio
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

import structlog

from bot.messages import misses
from bot.messages import visitors_answers as say
from bot.messages.plain_text import BOM, HEADER, csv_line
from bot.model.ids import ChannelId, DeliveryId, MessageTs, Refusal
from bot.model.outbox import Delivery, Place
from bot.model.questions import Question
from bot.model.visitors import PageCounts, Snapshot
from bot.store import LeaseLost, Transaction
from bot.work.context import WorkerContext
from bot.work.ports import SlackRefused, SlackUnclear, SlackUnreachable
from bot.work.visitors.question import numbers_of
from bot.work.visitors.report import misses_report
from bot.work.writing import BatchWriter

log = structlog.get_logger(__name__)
Result = TypeVar("Result")
_CALL_SHARE = 1 / 3
"""The share of a lease that the slowest call to Slack may take."""
_MOST_SOUGHT = 1_000
"""As many as are claimed at once."""
_Readers = defaultdict[Place, BatchWriter[Delivery, MessageTs | None]]
_JOINABLE = frozenset({Refusal.NOT_A_MEMBER})


def check_lease(context: WorkerContext, delivery: Delivery) -> None:
    """Raise LeaseLost when less than a third of the lease is left for the call.

    A process that was suspended (a paused machine, a sleeping laptop) must not post what another process
    has posted meanwhile. The delivery is claimed again when its lease has run out.
    """
    needed = timedelta(seconds=context.timeouts.lease_seconds * _CALL_SHARE)
    if delivery.held_until is not None and context.clock() + needed > delivery.held_until:
        raise LeaseLost(f"delivery {delivery.id}")


async def as_member(
    context: WorkerContext,
    channel: ChannelId,
    call: Callable[[], Awaitable[Result]],
    joinable: frozenset[Refusal] = _JOINABLE,
) -> Result:
    """Make a call. If Slack refuses it with a meaning in ``joinable``, join the channel and retry once.

    Only public channels can be joined. If joining is refused, raise the refusal of the call, which says
    more.
    """
    try:
        return await call()
    except SlackRefused as refusal:
        if refusal.meaning not in joinable:
            raise
        try:
            await context.messenger.join(channel)
        except SlackRefused as second:
            log.warning("join_refused", channel=channel, reason=second.code)
            raise refusal from None
        return await call()


async def find_earlier(search: Awaitable[Result]) -> Result:
    """Return what a search for an earlier attempt found.

    Raises `SlackUnclear` if the search is refused with BLOCKS. That refusal concerns the search and not the
    blocks of the delivery, which may have been posted: nothing is posted again without a search.
    """
    try:
        return await search
    except SlackRefused as refusal:
        if refusal.meaning is Refusal.BLOCKS:
            raise SlackUnclear(f"the look was refused: {refusal.code}") from None
        raise


class Absent(Exception):
    """A post of unclear outcome is not there."""


class Searches:
    """The searches of one run. A reading that has begun says nothing about what is claimed after it."""

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._readers = _Readers(partial(BatchWriter, _MOST_SOUGHT))

    async def find(self, delivery: Delivery, place: Place) -> MessageTs | None:
        """Return the timestamp of the message of an earlier attempt; None if there is none."""
        return await self._readers[place].put(delivery, partial(self._read, place))

    async def _read(self, place: Place, some: Sequence[Delivery]) -> Sequence[MessageTs | None]:
        found = await find_earlier(self._found(place, some))
        return [found.get(each.id) for each in some]

    async def _found(self, place: Place, some: Sequence[Delivery]) -> Mapping[DeliveryId, MessageTs]:
        messenger = self._context.messenger
        channel = await messenger.conversation_with(place.user) if place.user else place.channel
        search = partial(
            messenger.find_posted,
            channel,
            deliveries=[each.id for each in some],
            thread=place.thread,
            since=min(each.created_at for each in some),
        )
        if not any(each.joins for each in some):
            return await search()
        return await as_member(self._context, channel, search)


_OUTSIDE = frozenset({Refusal.NOT_A_MEMBER, Refusal.NOT_VISIBLE})
"""The refusals of an upload to a channel that the bot is not in."""


async def share_file(context: WorkerContext, delivery: Delivery) -> None:
    """Upload the file of a delivery, unless an earlier attempt has shared it already."""
    number = delivery.what.question
    if number is None:
        raise ValueError(f"delivery {delivery.id} belongs to no question")
    question = await context.store.read(lambda tx: tx.questions.get(number))
    if question is None:
        raise SlackRefused.not_found("file")
    channel = (
        await context.messenger.conversation_with(delivery.what.user)
        if delivery.what.user
        else delivery.what.channel
    )
    name = file_name(question, delivery)
    if delivery.unconfirmed and await _is_shared(context, delivery, channel, name):
        return
    check_lease(context, delivery)
    try:
        with tempfile.TemporaryDirectory(prefix="docs-bot-") as folder:
            await _upload(context, delivery, question, channel, Path(folder) / name)
    except OSError as error:
        # The disk may be full. Nothing has been shared, so the delivery can be retried later.
        log.warning("file_not_written", delivery=delivery.id, reason=error.strerror)
        raise SlackUnreachable(type(error).__name__) from None


async def _is_shared(context: WorkerContext, delivery: Delivery, channel: ChannelId, name: str) -> bool:
    """Return whether an earlier attempt shared the file. Only a member can search: join a public channel."""
    return await as_member(
        context,
        channel,
        lambda: find_earlier(context.messenger.find_file(channel, name, since=delivery.created_at)),
    )


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
    pages, last = tx.pages.following(question.now, question.query.section, after)
    return tx.snapshots.get([question.now])[question.now], pages, last


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(text)
