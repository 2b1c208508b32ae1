"""The round that says what is in the outbox: in order, at Slack's pace, looking before it says it again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import assert_never

import structlog

from bot.model import (
    Delivery,
    DeliveryKind,
    Message,
    MessageTs,
    Refusal,
    back_off_seconds,
    lifecycle,
)
from bot.store import Claimer, LeaseLost, Transaction
from bot.work.batching import BatchWriter
from bot.work.context import WorkerContext
from bot.work.digests.post_outcome import posted
from bot.work.outbox.csv_upload import share_file
from bot.work.outbox.dead_letter import give_up
from bot.work.outbox.safe_calls import as_member, check_lease, find_earlier
from bot.work.ports import SlackError, SlackRefused, SlackThrottled, SlackUnclear, SlackUnreachable
from bot.work.retry import retry_on_db_error, run_all

log = structlog.get_logger(__name__)
Sent = tuple[Delivery, MessageTs | None, datetime | None]
"""What Slack took, where it stands when it is a post, and, if it went out late, when its channel is free."""
_AT_ONCE = 50
_MOST_LOOKS = 20
"""In one round; so many, and it comes to its end while there is always more to say."""
_BUSY_SECONDS, _SLOW_SECONDS = 0.05, 0.5
"""Until the next look for what is due, while some are under way."""
_LATE_SECONDS = 0.02
"""What the pace of a channel is longer than Slack asks for: so late a post may go out after its claim."""
_MOST_TRIES = 12
_TOKEN_PATIENCE = timedelta(hours=24)
_KEPT = (DeliveryKind.REPLY, DeliveryKind.EDIT, DeliveryKind.PRIVATE)
"""What waits so long for a token that Slack accepts; without its root or its post nothing has begun."""
_MOST_DOUBTS = 40
"""About an hour of looking; then somebody is told instead."""

_PACED = (DeliveryKind.ROOT, DeliveryKind.REPLY, DeliveryKind.POST, DeliveryKind.FILE)


async def deliver_due(context: WorkerContext) -> int:
    """Carry out the deliveries that are due, and what comes due while they are under way.

    One that takes its time at Slack keeps nobody else waiting.
    """
    sent = BatchWriter[Sent, None]()
    handled, running = 0, set[asyncio.Task[None]]()
    try:
        for _ in range(_MOST_LOOKS):
            due = await _claim(context, min(_AT_ONCE, 2 * _AT_ONCE - len(running)))
            handled += len(due)
            running |= {asyncio.create_task(_deliver(context, sent, delivery)) for delivery in due}
            if not running:
                return handled
            running = await _some_done(running, _BUSY_SECONDS if due else _SLOW_SECONDS)
        await run_all(*running)
    except BaseException as error:
        # One that fails does not cut off the others: what they say may stand there already.
        if isinstance(error, asyncio.CancelledError):
            # What is cut off here may have been said: its row stays *sending*, and is looked for later.
            for task in running:
                task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        raise
    return handled


async def _claim(context: WorkerContext, limit: int) -> Sequence[Delivery]:
    if limit <= 0:
        return ()
    pace_seconds = context.timeouts.channel_pace_seconds

    def claim(tx: Transaction) -> tuple[Claimer, Sequence[Delivery]]:
        claimer = context.claimer()
        return claimer, tx.outbox.claim(claimer, limit, pace_seconds)

    claimer, due = await context.store.write(claim)
    if any(delivery.what.kind in _PACED for delivery in due):
        # Their channels take the next post then; waiting for the tick would lose a part of a second.
        context.wake_after(max(pace_seconds - (context.clock() - claimer.now).total_seconds(), 0.0))
    return due


async def _some_done(running: set[asyncio.Task[None]], seconds: float) -> set[asyncio.Task[None]]:
    """Those still running when all are done or the time is over. Raises what one of them raised."""
    done, rest = await asyncio.wait(running, timeout=seconds)
    for task in done:
        task.result()
    return rest


async def _deliver(context: WorkerContext, sent: BatchWriter[Sent, None], delivery: Delivery) -> None:
    free_at = _late_channel(context, delivery)
    try:
        try:
            ts = await _carry_out(context, delivery)
        except SlackError as error:
            await retry_on_db_error(partial(_settle_error, context, delivery, error))
        else:
            # A subscription has more to write, which must not fail for others.
            alone = delivery.what.subscription is not None
            if alone:
                await retry_on_db_error(lambda: _settle_sent(context, [(delivery, ts, free_at)]))
            else:
                await retry_on_db_error(
                    lambda: sent.put((delivery, ts, free_at), lambda some: _settle_sent(context, some))
                )
    except LeaseLost:
        log.warning("delivery_taken_over", delivery=delivery.id)
        return
    if delivery.what.kind in _PACED:
        context.wake()


def _late_channel(context: WorkerContext, delivery: Delivery) -> datetime | None:
    """When the channel takes the next post, if this one is so late that the next would come too soon."""
    if delivery.what.kind not in _PACED or delivery.held_until is None:
        return None
    claimed_at = delivery.held_until - timedelta(seconds=context.timeouts.lease_seconds)
    if (context.clock() - claimed_at).total_seconds() <= _LATE_SECONDS:
        return None
    context.wake_after(context.timeouts.channel_pace_seconds)
    return context.after(context.timeouts.channel_pace_seconds)


async def _carry_out(context: WorkerContext, delivery: Delivery) -> MessageTs | None:
    """Do it, unless it turns out to have been done."""
    match delivery.what.kind:
        case DeliveryKind.ROOT | DeliveryKind.REPLY | DeliveryKind.POST:
            return await _post(context, delivery)
        case DeliveryKind.FILE:
            await share_file(context, delivery)
        case DeliveryKind.EDIT:
            await _edit(context, delivery)
        case DeliveryKind.PRIVATE:
            await _tell(context, delivery)
        case DeliveryKind.REACTION:
            await context.messenger.react(
                delivery.what.channel,
                delivery.what.message_ts or MessageTs(""),
                delivery.what.reaction or "eyes",
            )
        case _:
            assert_never(delivery.what.kind)
    return None


async def _post(context: WorkerContext, delivery: Delivery) -> MessageTs:
    message, thread = said(delivery), None
    if delivery.what.kind is DeliveryKind.REPLY:
        if delivery.root_ts is None:
            raise SlackRefused.not_found("thread")
        thread = delivery.root_ts
    if delivery.unconfirmed:
        found = await as_member(
            context,
            delivery.what.channel,
            lambda: find_earlier(
                context.messenger.find_posted(
                    delivery.what.channel, delivery=delivery.id, thread=thread, since=delivery.created_at
                )
            ),
        )
        if found is not None:
            log.info("delivery_found", delivery=delivery.id)
            return found

    async def post() -> MessageTs:
        check_lease(context, delivery)
        return await context.messenger.post(
            delivery.what.channel, message, delivery=delivery.id, thread=thread
        )

    return await as_member(context, delivery.what.channel, post)


def said(delivery: Delivery) -> Message:
    """The words of a delivery; the plain form when Slack has refused the other."""
    message = delivery.what.message
    if message is None:
        raise ValueError(f"delivery {delivery.id} has nothing to say")
    return Message(message.text, message.plain_blocks) if delivery.plain else message


async def _edit(context: WorkerContext, delivery: Delivery) -> None:
    if delivery.root_ts is None:
        raise SlackRefused.not_found("message")
    # Else a process that was stopped meanwhile would draw an old state over a newer one.
    check_lease(context, delivery)
    await context.messenger.edit(delivery.what.channel, delivery.root_ts, said(delivery))


async def _tell(context: WorkerContext, delivery: Delivery) -> None:
    """Privately: where the person asked, while Slack lets us; else as a direct message."""
    if delivery.what.response_url is not None:
        try:
            await context.messenger.answer(
                delivery.what.response_url, said(delivery), replaces=delivery.what.replaces
            )
        except SlackRefused as refusal:
            if refusal.meaning is Refusal.BLOCKS and not delivery.plain:
                raise
            log.info("response_url_refused", delivery=delivery.id, reason=refusal.code)
        else:
            return
    if delivery.what.user is None:
        raise SlackRefused.not_found("user")
    if delivery.unconfirmed and await find_earlier(
        context.messenger.find_told(delivery.what.user, delivery=delivery.id, since=delivery.created_at)
    ):
        return
    check_lease(context, delivery)
    await context.messenger.tell(delivery.what.user, said(delivery), delivery=delivery.id)


async def _settle_sent(context: WorkerContext, sent: Sequence[Sent]) -> list[None]:
    def settle(tx: Transaction) -> None:
        for delivery, ts, free_at in sent:
            try:
                step = lifecycle.delivered(context.clock(), ts)
                tx.outbox.settle(delivery.id, step, owner=context.owner)
            except LeaseLost:
                log.warning("delivery_taken_over", delivery=delivery.id)
                continue
            if delivery.what.kind is DeliveryKind.ROOT and delivery.what.job is not None:
                tx.jobs.update(delivery.what.job, root_ts=ts)
            if delivery.what.subscription is not None:
                posted(context, tx, delivery)
            if free_at is not None:
                tx.outbox.slow_down(delivery.what.channel, free_at)

    await context.store.write(settle)
    for _ in sent:
        context.count("deliveries", "sent")
    return [None] * len(sent)


async def _settle_error(context: WorkerContext, delivery: Delivery, error: SlackError) -> None:
    """By what the error means: later, look first, plainer, or never."""
    context.count("deliveries", type(error).__name__.removeprefix("Slack").lower())
    waits = _waits_for_token(context, delivery, error)
    if delivery.unconfirmed and (waits or _passes(error)):
        # Perhaps we could not even look, so it may still be there already: the doubt remains.
        await _in_doubt(context, delivery, getattr(error, "retry_after_seconds", 0.0))
        return
    match error:
        case SlackThrottled():
            await _again(context, delivery, error.retry_after_seconds, slow_channel=True)
        case SlackUnreachable():
            await _again(context, delivery, back_off_seconds(delivery.attempts, context.chance()))
        case SlackUnclear():
            await _in_doubt(context, delivery)
        case SlackRefused(meaning=Refusal.BLOCKS) if not delivery.plain:
            log.error("blocks_refused", delivery=delivery.id, reason=error.code, details=error.details)
            await _again(context, delivery, 0.0, plain=True)
        case SlackRefused() if waits or (_passes(error) and delivery.attempts < _MOST_TRIES):
            await _again(context, delivery, back_off_seconds(delivery.attempts, context.chance()))
        case SlackRefused():
            await give_up(context, delivery, error.meaning, error.code)
        case _:
            await give_up(context, delivery, Refusal.PERMANENT, "unknown")


def _waits_for_token(context: WorkerContext, delivery: Delivery, error: SlackError) -> bool:
    if not isinstance(error, SlackRefused) or error.meaning is not Refusal.TOKEN:
        return False
    if delivery.what.kind not in _KEPT:
        return False
    if context.log_once.first("token", error.code):
        log.error("token_refused", reason=error.code)
    return context.clock() - delivery.created_at < _TOKEN_PATIENCE


def _passes(error: SlackError) -> bool:
    """Whether the same may go well a little later."""
    if isinstance(error, SlackRefused):
        return error.meaning is Refusal.PASSING
    return isinstance(error, SlackThrottled | SlackUnreachable)


async def _again(
    context: WorkerContext,
    delivery: Delivery,
    seconds: float,
    *,
    slow_channel: bool = False,
    plain: bool = False,
) -> None:
    """Surely not done. A nicety is not worth a second try."""
    if delivery.what.kind is DeliveryKind.REACTION and not slow_channel:
        await give_up(context, delivery, Refusal.PERMANENT, "unreachable")
        return
    due_at = context.after(seconds)

    def put_back(tx: Transaction) -> None:
        step = lifecycle.delivery_postponed(due_at, plain=delivery.plain or plain)
        tx.outbox.settle(delivery.id, step, owner=context.owner)
        if slow_channel:
            tx.outbox.slow_down(delivery.what.channel, due_at)

    await context.store.write(put_back)


async def _in_doubt(context: WorkerContext, delivery: Delivery, at_least_seconds: float = 0.0) -> None:
    """Perhaps done: the row stays *sending* with a short lease, and is looked for when it runs out."""
    if delivery.attempts >= _MOST_DOUBTS:
        await give_up(context, delivery, Refusal.PERMANENT, "no_clear_answer")
        return
    wait_seconds = context.timeouts.doubt_seconds * min(2.0 ** min(delivery.attempts - 1, 10), 60.0)
    wait_seconds = max(wait_seconds, at_least_seconds)
    step = lifecycle.delivery_unconfirmed(context.after(wait_seconds))
    await context.store.write(lambda tx: tx.outbox.settle(delivery.id, step, owner=context.owner))
    log.warning("delivery_in_doubt", delivery=delivery.id, attempts=delivery.attempts)
