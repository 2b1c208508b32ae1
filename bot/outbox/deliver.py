"""The worker that delivers: in order, at Slack's pace, and never twice."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar, assert_never

import structlog

from bot.context import WorkerContext
from bot.engine import unless_taken_over
from bot.ids import ChannelId, Message, MessageTs, Refusal, UserId
from bot.logs import log_reference
from bot.outbox.delivery_errors import MAX_TRIES, give_up, hold_pace, settle_failed_delivery
from bot.outbox.hooks import OutboxHooks
from bot.outbox.model import PACED_KINDS, CsvFile, Delivery, DeliveryKind, DeliveryState, delivered
from bot.outbox.store import Outbox
from bot.ports import (
    Messenger,
    Posted,
    SlackError,
    SlackRefused,
    SlackThrottled,
    SlackUnclear,
    SlackUnreachable,
)
from bot.store import DatabaseTrouble, LeaseLost, Transaction

log = structlog.get_logger(__name__)


async def claim_deliveries(
    context: WorkerContext, limit: int, full: Collection[str] = ()
) -> Sequence[Delivery]:
    """Claim the deliveries that may go out now.

    They are in order within a thread, and as Slack's paces allow.

    ``full``: the channels in which enough deliveries are under way.
    """
    now = context.clock()
    paces = context.paces
    busy = paces.busy_channels(now)
    ready = await context.store.read(lambda tx: Outbox(tx).ready(now, busy))
    chosen: list[int] = []
    for delivery in ready:
        may_go = len(chosen) < limit and delivery.channel not in full
        paced = delivery.channel if delivery.kind in PACED_KINDS else None
        if may_go and paces.take(paced, delivery.calls, now):
            chosen.append(delivery.seq)
    if busy or len(chosen) < len(ready):
        seconds = paces.seconds_to_next(now)
        if seconds is not None:
            context.wake_after(seconds)
    if not chosen:
        return []
    return await context.store.write(lambda tx: Outbox(tx).claim(context.claimer(), chosen))


async def deliver(context: WorkerContext, delivery: Delivery) -> None:
    """Carry out a delivery and write its outcome.

    A call that is cut off may have reached Slack: its row stays *sending*, and is searched later.
    """
    draft = delivery.content
    outcome: Callable[[Transaction], None]
    with log_reference(delivery.request), unless_taken_over("delivery", delivery.id):
        try:
            posted = await _carry_out(context, delivery)
        except SlackError as error:
            log.info("delivery_not_sent", delivery=delivery.id, job=draft.job, reason=str(error))
            if isinstance(error, SlackThrottled):
                hold_pace(context, delivery, error)
            outcome = partial(settle_failed_delivery, context, delivery=delivery, error=error)
        except (LeaseLost, DatabaseTrouble):
            raise
        except Exception:
            if delivery.attempts < MAX_TRIES:
                raise
            log.error("delivery_broken", delivery=delivery.id, job=draft.job, exc_info=True)
            outcome = partial(
                give_up,
                context,
                delivery=delivery,
                meaning=Refusal.PERMANENT,
                code="unexpected_error",
            )
        else:
            ts = posted and posted.ts
            log.info("delivery_sent", delivery=delivery.id, kind=draft.kind, job=draft.job, ts=ts)
            outcome = partial(_settle_sent, context, delivery=delivery, posted=posted)
        await context.settle(outcome)
        context.wake()


def _settle_sent(
    context: WorkerContext, tx: Transaction, delivery: Delivery, posted: Posted | None
) -> None:
    """Record a delivery as sent, and the consequences."""
    if delivery.content.kind is DeliveryKind.EDIT:
        Outbox(tx).remove(delivery, owner=context.owner)
        return
    ts = posted and posted.ts
    Outbox(tx).save(delivery, delivered(delivery, context.clock(), ts), owner=context.owner)
    is_loose = posted is not None and posted.is_loose
    for hooks in context.hooks_of(OutboxHooks):
        hooks.on_posted(context, tx, replace(delivery, posted_ts=ts, is_loose=is_loose))


async def _carry_out(context: WorkerContext, delivery: Delivery) -> Posted | None:
    """Make the call to Slack, unless an earlier attempt succeeded. Return the posted message."""
    draft = delivery.content
    messenger = context.messenger
    direct = _DirectMessages(messenger, draft.user)
    if delivery.state is DeliveryState.UNCLEAR:
        found = await _find(context, delivery, direct)
        if found is not None:
            log.info("delivery_found", delivery=delivery.id)
            return found if draft.kind not in _PRIVATE_KINDS else None
    # A suspended process must neither repeat nor overwrite another process's posts.
    check_lease(context, delivery)
    match draft.kind:
        case DeliveryKind.STATUS | DeliveryKind.REPLY | DeliveryKind.POST:
            return await _post(context, delivery)
        case DeliveryKind.FILE:
            await share_file(context, delivery)
        case DeliveryKind.EDIT:
            if delivery.edited_ts is not None:
                await messenger.edit(draft.channel, delivery.edited_ts, message_of(delivery))
            elif draft.edited_key is None:
                raise SlackRefused.not_found("message")
        case DeliveryKind.PRIVATE:
            await _send_privately(context, delivery, direct)
        case DeliveryKind.WHISPER:
            await _whisper(context, delivery, direct)
        case DeliveryKind.REACTION:
            await messenger.react(
                draft.channel, draft.message_ts or MessageTs(""), draft.reaction or "eyes"
            )
        case _:
            assert_never(draft.kind)
    return None


_PRIVATE_KINDS = frozenset({DeliveryKind.PRIVATE, DeliveryKind.WHISPER})
"""Messages to one person, which become direct messages if Slack refuses the first way."""


_SEARCHED_KINDS = frozenset({DeliveryKind.STATUS, DeliveryKind.REPLY, DeliveryKind.POST})


@dataclass(slots=True)
class _DirectMessages:
    """The direct messages with the person of a delivery.

    They are opened once for an attempt, which may search them and then post there: Slack limits how
    often that is done.
    """

    messenger: Messenger
    user: UserId | None
    _channel: ChannelId | None = None

    async def open(self) -> ChannelId:
        """Return their channel. Raises SlackRefused for a delivery to nobody."""
        if self.user is None:
            raise SlackRefused.not_found("user")
        if self._channel is None:
            self._channel = await self.messenger.conversation_with(self.user)
        return self._channel


async def _find(
    context: WorkerContext, delivery: Delivery, direct: _DirectMessages
) -> Posted | None:
    """Search Slack for the message of an earlier attempt.

    Returns None if it is missing or cannot be searched.
    """
    kind = delivery.content.kind
    if kind in _SEARCHED_KINDS:
        return await _find_in_thread(context, delivery)
    if kind not in _PRIVATE_KINDS or direct.user is None:
        return None
    try:
        # Of a private answer only its direct message can be searched.
        ts = await _search(context, delivery, None, direct)
        return None if ts is None else Posted(ts)
    except SlackRefused as refusal:
        if refusal.meaning in (Refusal.PASSING, Refusal.TOKEN):
            raise
        return None  # there is no direct message with this person


async def _find_in_thread(context: WorkerContext, delivery: Delivery) -> Posted | None:
    """Search the thread of a delivery, or the channel if it has none, or a deleted one."""
    thread = _find_thread(delivery)
    try:
        ts = await _search(context, delivery, thread)
        return None if ts is None else Posted(ts)
    except SlackRefused as refusal:
        if thread is None or refusal.meaning is not Refusal.THREAD_GONE:
            raise
    ts = await _search(context, delivery, None)
    return None if ts is None else Posted(ts, is_loose=True)


def _find_thread(delivery: Delivery) -> MessageTs | None:
    """Return the thread in which a delivery is posted; None for the channel."""
    match delivery.content.kind:
        case DeliveryKind.STATUS:
            return delivery.thread_ts
        case DeliveryKind.REPLY:
            return delivery.thread_ts or delivery.status_ts
        case DeliveryKind.POST:
            return delivery.content.message_ts
        case _:
            return None


async def _search(
    context: WorkerContext,
    delivery: Delivery,
    thread: MessageTs | None,
    direct: _DirectMessages | None = None,
) -> MessageTs | None:
    """Return the message of a delivery in a thread, in its channel, or in direct messages."""
    draft = delivery.content

    async def find() -> MessageTs | None:
        channel = draft.channel if direct is None else await direct.open()
        since = delivery.created_at
        posted = await context.messenger.find_posted(
            channel, deliveries=[delivery.id], thread=thread, since=since
        )
        return posted.get(delivery.id)

    search = as_member(context, draft.channel, find) if delivery.joins else find()
    return await find_earlier(search)


async def _post(context: WorkerContext, delivery: Delivery) -> Posted:
    """Post a message.

    The bot joins the channel for it if it is not in it and a request came from there.
    """
    messenger = context.messenger
    channel = delivery.content.channel
    if delivery.content.kind is DeliveryKind.REPLY and delivery.status_ts is None:
        raise SlackRefused.not_found("thread", Refusal.THREAD_GONE)
    thread = _find_thread(delivery)
    message = message_of(delivery)
    try:
        return await messenger.post(channel, message, delivery=delivery.id, thread=thread)
    except SlackRefused as refusal:
        if refusal.meaning not in _JOINABLE_REFUSALS or not delivery.joins:
            raise
        await _join(context, channel, refusal)
    check_lease(context, delivery)
    return await messenger.post(channel, message, delivery=delivery.id, thread=thread)


def message_of(delivery: Delivery) -> Message:
    """Return the message of a delivery, plain if Slack refused its blocks."""
    message = delivery.content.message
    if message is None:
        raise ValueError(f"delivery {delivery.id} has nothing to say")
    return Message(message.text, message.plain_blocks) if delivery.is_plain else message


async def _send_privately(
    context: WorkerContext, delivery: Delivery, direct: _DirectMessages
) -> None:
    """Send a private message through its response URL or directly.

    It is a direct message if Slack refuses the URL.
    """
    draft = delivery.content
    if draft.response_url is not None:
        try:
            await context.messenger.answer(draft.response_url, message_of(delivery))
        except SlackRefused as refusal:
            if refusal.meaning is Refusal.BLOCKS and not delivery.is_plain:
                raise
            log.info("response_url_refused", delivery=delivery.id, reason=refusal.code)
        else:
            return
    channel = await direct.open()
    check_lease(context, delivery)
    message = message_of(delivery)
    await context.messenger.post(channel, message, delivery=delivery.id, thread=None)


async def _whisper(context: WorkerContext, delivery: Delivery, direct: _DirectMessages) -> None:
    """Show a message to one person where they wrote or pressed.

    If Slack refuses that, the message is sent as ``_send_privately`` does.

    It cannot be searched, so after an unclear outcome it is shown again. The direct message can be.
    """
    draft = delivery.content
    if draft.user is None:
        raise SlackRefused.not_found("user")
    message = message_of(delivery)
    try:
        await context.messenger.whisper(draft.channel, draft.user, message, thread=draft.message_ts)
    except SlackRefused as refusal:
        if refusal.meaning in (Refusal.BLOCKS, Refusal.PASSING, Refusal.TOKEN):
            raise
        log.info("whisper_refused", delivery=delivery.id, reason=refusal.code)
        await _send_privately(context, delivery, direct)


Result = TypeVar("Result")
_CALL_SHARE = 1 / 3
"""The share of a lease that the slowest call to Slack may take."""
_JOINABLE_REFUSALS = frozenset({Refusal.NOT_A_MEMBER})


def check_lease(context: WorkerContext, delivery: Delivery) -> None:
    """Raise LeaseLost if less than a third of the lease is left.

    A process that was suspended (a paused machine, a sleeping laptop) must not repeat another
    process's post. The delivery is claimed again when its lease has run out.
    """
    needed = timedelta(seconds=context.timeouts.lease_seconds * _CALL_SHARE)
    if delivery.claimed_until is not None and context.clock() + needed > delivery.claimed_until:
        raise LeaseLost(f"delivery {delivery.id}")


async def as_member(
    context: WorkerContext,
    channel: ChannelId,
    call: Callable[[], Awaitable[Result]],
    joinable: frozenset[Refusal] = _JOINABLE_REFUSALS,
) -> Result:
    """Make a call, and join the channel for it if necessary.

    If Slack refuses the call with a meaning in ``joinable``, the bot joins and calls again once.
    """
    try:
        return await call()
    except SlackRefused as refusal:
        if refusal.meaning not in joinable:
            raise
        await _join(context, channel, refusal)
    return await call()


async def _join(context: WorkerContext, channel: ChannelId, refusal: SlackRefused) -> None:
    """Join a public channel after the refusal of a call.

    If joining is refused, raise the refusal of the call, which has the better code.
    """
    try:
        await context.messenger.join(channel)
    except SlackRefused as second:
        log.warning("join_refused", channel=channel, reason=second.code)
        raise refusal from None


async def find_earlier(search: Awaitable[Result]) -> Result:
    """Return the result of a search for an earlier attempt.

    Raises `SlackUnclear` if the search is refused with BLOCKS. That refusal concerns the search and
    not the blocks of the delivery, which may have been posted: it is posted again only after a
    search.
    """
    try:
        return await search
    except SlackRefused as refusal:
        if refusal.meaning is Refusal.BLOCKS:
            raise SlackUnclear(f"the look was refused: {refusal.code}") from None
        raise


_OUTSIDE_REFUSALS = frozenset({Refusal.NOT_A_MEMBER, Refusal.NOT_VISIBLE})
"""The refusals of an upload to a channel that the bot is not in."""


async def share_file(context: WorkerContext, delivery: Delivery) -> None:
    """Upload the file of a delivery, unless an earlier attempt has."""
    file = await context.store.read(partial(_make_file, context, delivery))
    if file is None:
        raise SlackRefused.not_found("file")
    channel = delivery.content.channel
    if delivery.content.user:
        channel = await context.messenger.conversation_with(delivery.content.user)
    if delivery.state is DeliveryState.UNCLEAR:

        async def find() -> bool:
            search = context.messenger.has_file(channel, file.name, since=delivery.created_at)
            return await find_earlier(search)

        # Only a member can search: join a public channel.
        if await as_member(context, channel, find):
            return
    check_lease(context, delivery)
    try:
        with tempfile.TemporaryDirectory(prefix="docs-bot-") as folder:
            await _upload(context, delivery, file, channel, Path(folder) / file.name)
    except OSError as error:
        # The disk may be full. Nothing has been shared, so the delivery can be retried later.
        log.warning("file_not_written", delivery=delivery.id, reason=error.strerror)
        raise SlackUnreachable(type(error).__name__) from None


def _make_file(context: WorkerContext, delivery: Delivery, tx: Transaction) -> CsvFile | None:
    """Return the file of a delivery; None if nothing makes it."""
    for hooks in context.hooks_of(OutboxHooks):
        file = hooks.make_file(context, tx, delivery)
        if file is not None:
            return file
    return None


async def _upload(
    context: WorkerContext, delivery: Delivery, file: CsvFile, channel: ChannelId, path: Path
) -> None:
    await asyncio.to_thread(path.write_text, file.content, "utf-8", newline="")

    async def upload() -> None:
        # Writing a large file takes its time, and so does sending it before it is shared.
        confirm = partial(check_lease, context, delivery)
        confirm()
        await context.messenger.upload(
            channel, path, name=path.name, text=file.text, confirm=confirm
        )

    # A direct message cannot be joined.
    joinable = _OUTSIDE_REFUSALS if channel == delivery.content.channel else frozenset()
    await as_member(context, channel, upload, joinable)
