"""The worker that delivers the outbox: in order, at Slack's pace, searching before it posts again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from itertools import count
from typing import assert_never

import structlog

from bot.logs import about_request
from bot.model import lifecycle
from bot.model.ids import ChannelId, Message, MessageTs, Refusal
from bot.model.outbox import PACED, Delivery, DeliveryKind, Place, pace_of
from bot.store import Claimer, DatabaseTrouble, LeaseLost, Transaction
from bot.work.context import WorkerContext
from bot.work.jobs.thread import link_from_earlier
from bot.work.outbox.failures import MOST_TRIES, bury_broken, settle_error
from bot.work.outbox.safe_calls import Absent, Searches, as_member, check_lease, share_file
from bot.work.ports import SlackError, SlackRefused
from bot.work.visitors.question import is_stale
from bot.work.visitors.subscriptions import posted
from bot.work.writing import BatchWriter, run_as_claimed, unless_taken_over

log = structlog.get_logger(__name__)

Sent = tuple[Delivery, MessageTs | None, bool]
"""A delivery that Slack accepted, the timestamp of its message, and whether it went out late.

The timestamp is None if nothing was posted into a channel.
"""
_AT_ONCE = 50
_MOST_CLAIMS = 20
"""Maximum claims per run, so that a run ends under constant load."""
_SLOW_SECONDS = 0.5
"""Pause before the next claim while deliveries are under way, after a claim without rows."""
_LATE_SECONDS = 0.02
"""How long after its claim a post may go out. The channel's pace has this reserve over Slack's second."""


async def deliver_due(context: WorkerContext) -> int:
    """Carry out the deliveries that are due, also those that become due meanwhile. Return their number.

    A slow call to Slack does not delay other deliveries. A call that is cancelled may have reached Slack: its
    row stays *sending* and is searched for later.
    """
    sent, searches, claims = BatchWriter[Sent, None](), Searches(context), count()

    async def claim(running: int) -> Sequence[Delivery]:
        limit = min(_AT_ONCE, 2 * _AT_ONCE - running)
        return await _claim(context, limit) if next(claims) < _MOST_CLAIMS and limit > 0 else ()

    return await run_as_claimed(claim, partial(_deliver, context, sent, searches), slow_seconds=_SLOW_SECONDS)


async def _claim(context: WorkerContext, limit: int) -> Sequence[Delivery]:
    pace_seconds, minute_seconds = context.timeouts.channel_pace_seconds, context.timeouts.minute_seconds

    def claim(tx: Transaction) -> tuple[Claimer, Sequence[Delivery]]:
        claimer = context.claimer()
        return claimer, tx.outbox.claim(claimer, limit, pace_seconds, minute_seconds)

    claimer, due = await context.store.write(claim)
    # The channels and methods take the next call at these times. The regular poll may come seconds later.
    intervals = {pace_of(method, minute_seconds).interval for each in due for method in each.calls}
    if any(delivery.what.kind in PACED for delivery in due):
        intervals.add(timedelta(seconds=pace_seconds))
    for interval in intervals:
        context.wake_after(max((claimer.now + interval - context.clock()).total_seconds(), 0.0))
    return due


async def _deliver(
    context: WorkerContext, sent: BatchWriter[Sent, None], searches: Searches, delivery: Delivery
) -> None:
    """Deliver. What fails again and again, and as no port says, becomes a dead letter."""
    with about_request(delivery.request), unless_taken_over("delivery", delivery.id):
        try:
            await _deliver_known(context, sent, searches, delivery)
        except (LeaseLost, DatabaseTrouble):
            raise
        except Exception:
            if delivery.attempts < MOST_TRIES:
                raise  # the run fails, which is logged and told; the delivery is tried again
            log.error("delivery_broken", delivery=delivery.id, job=delivery.what.job, exc_info=True)
            await bury_broken(context, delivery)


async def _deliver_known(
    context: WorkerContext, sent: BatchWriter[Sent, None], searches: Searches, delivery: Delivery
) -> None:
    if is_stale(delivery, context.clock()):
        await context.settle(lambda tx: tx.outbox.remove(delivery, owner=context.owner))
        return
    is_late = _is_late(context, delivery)
    try:
        ts = await _carry_out(context, searches, delivery)
        what = delivery.what
        log.info("delivery_sent", delivery=delivery.id, kind=what.kind, job=what.job, ts=ts)
    except Absent:
        # It takes its turn in its thread and its channel.
        step = lifecycle.delivery_postponed(context.clock(), plain=delivery.plain)
        await context.settle(lambda tx: tx.outbox.settle(delivery, step, owner=context.owner))
    except SlackError as error:
        log.info("delivery_not_sent", delivery=delivery.id, job=delivery.what.job, reason=str(error))
        await context.retry(partial(settle_error, context, delivery, error))
    else:
        # The post of a subscription writes more rows, which must not fail other deliveries.
        writer = BatchWriter[Sent, None]() if delivery.what.subscription is not None else sent
        await context.retry(
            lambda: writer.put((delivery, ts, is_late), lambda some: _settle_sent(context, some))
        )
    if delivery.what.kind in PACED:
        context.wake()


def _is_late(context: WorkerContext, delivery: Delivery) -> bool:
    """Return whether a post goes out so late after its claim that its channel's pace must count from now."""
    if delivery.what.kind not in PACED or delivery.held_until is None or delivery.searched_in:
        return False
    claimed_at = delivery.held_until - timedelta(seconds=context.timeouts.lease_seconds)
    if (context.clock() - claimed_at).total_seconds() <= _LATE_SECONDS:
        return False
    context.wake_after(context.timeouts.channel_pace_seconds)
    return True


async def _carry_out(context: WorkerContext, searches: Searches, delivery: Delivery) -> MessageTs | None:
    """Carry out a delivery unless an earlier attempt has. Return the timestamp of its post, if it is one.

    Raises Absent for a post that was searched for and is not there.
    """
    if (place := delivery.searched_in) is not None:
        found = await searches.find(delivery, place)
        if found is None:
            raise Absent
        log.info("delivery_found", delivery=delivery.id)
        return None if delivery.what.kind is DeliveryKind.PRIVATE else found
    match delivery.what.kind:
        case DeliveryKind.ROOT | DeliveryKind.REPLY | DeliveryKind.POST:
            return await _post(context, delivery)
        case DeliveryKind.FILE:
            await share_file(context, delivery)
        case DeliveryKind.EDIT:
            await _edit(context, delivery)
        case DeliveryKind.PRIVATE:
            await _tell(context, searches, delivery)
        case DeliveryKind.WHISPER:
            await _whisper(context, searches, delivery)
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
    message, thread = message_of(delivery), delivery.thread_ts
    if delivery.what.kind is DeliveryKind.REPLY:
        if delivery.root_ts is None:
            raise SlackRefused.not_found("thread", Refusal.THREAD_GONE)
        thread = thread or delivery.root_ts

    async def post() -> MessageTs:
        check_lease(context, delivery)
        return await context.messenger.post(
            delivery.what.channel, message, delivery=delivery.id, thread=thread
        )

    return await (as_member(context, delivery.what.channel, post) if delivery.joins else post())


def message_of(delivery: Delivery) -> Message:
    """Return the message of a delivery; its plain form if Slack has refused the blocks."""
    message = delivery.what.message
    if message is None:
        raise ValueError(f"delivery {delivery.id} has nothing to say")
    return Message(message.text, message.plain_blocks) if delivery.plain else message


async def _edit(context: WorkerContext, delivery: Delivery) -> None:
    if delivery.edited_ts is None:
        if delivery.what.edits is not None:
            return  # the reply has become a dead letter, so it has no buttons to lose
        raise SlackRefused.not_found("message")
    # Otherwise a process that was suspended could overwrite a newer state with an old one.
    check_lease(context, delivery)
    await context.messenger.edit(delivery.what.channel, delivery.edited_ts, message_of(delivery))


async def _tell(context: WorkerContext, searches: Searches, delivery: Delivery) -> None:
    """Send a private message through the response URL, or as a direct message if Slack refuses the URL."""
    if delivery.what.response_url is not None:
        try:
            await context.messenger.answer(delivery.what.response_url, message_of(delivery))
        except SlackRefused as refusal:
            if refusal.meaning is Refusal.BLOCKS and not delivery.plain:
                raise
            log.info("response_url_refused", delivery=delivery.id, reason=refusal.code)
        else:
            return
    if delivery.what.user is None:
        raise SlackRefused.not_found("user")
    if delivery.unconfirmed and await searches.find(delivery, Place.direct(delivery.what.user)):
        return
    check_lease(context, delivery)
    await context.messenger.tell(delivery.what.user, message_of(delivery), delivery=delivery.id)


async def _whisper(context: WorkerContext, searches: Searches, delivery: Delivery) -> None:
    """Show a message to one person where they wrote or pressed; if Slack refuses that, as ``_tell`` does.

    Nobody can look for such a message, so after an unclear outcome it is shown again.
    """
    what = delivery.what
    if what.user is None:
        raise SlackRefused.not_found("user")
    check_lease(context, delivery)
    try:
        await context.messenger.whisper(what.channel, what.user, message_of(delivery), thread=what.message_ts)
    except SlackRefused as refusal:
        if refusal.meaning in (Refusal.BLOCKS, Refusal.PASSING, Refusal.TOKEN):
            raise
        log.info("whisper_refused", delivery=delivery.id, reason=refusal.code)
        await _tell(context, searches, delivery)


async def _settle_sent(context: WorkerContext, sent: Sequence[Sent]) -> list[None]:
    def settle(tx: Transaction) -> None:
        late: set[ChannelId] = set()
        # Before the deliveries, as everybody does who changes a job and says something of it.
        whats = [each.what for each, _, _ in sent]
        tx.jobs.lock([what.job for what in whats if what.job and what.kind is DeliveryKind.ROOT])
        for delivery, ts, is_late in sent:
            with unless_taken_over("delivery", delivery.id):
                _settle_one(context, tx, delivery, ts)
                if is_late:
                    late.add(delivery.what.channel)
        # By the clock as it is now: it may have been set back since the post.
        tx.paces.hold_channels(late, context.after(context.timeouts.channel_pace_seconds))

    await context.store.write(settle)
    for _ in sent:
        context.count("deliveries", "sent")
    return [None] * len(sent)


def _settle_one(context: WorkerContext, tx: Transaction, delivery: Delivery, ts: MessageTs | None) -> None:
    """Write that a delivery was sent, and what follows. Nothing is written when the lease is lost."""
    what = delivery.what
    if what.kind is DeliveryKind.EDIT:
        tx.outbox.remove(delivery, owner=context.owner)
        return
    tx.outbox.settle(delivery, lifecycle.delivered(context.clock(), ts), owner=context.owner)
    if what.kind is DeliveryKind.ROOT and what.job is not None:
        tx.jobs.update(what.job, root_ts=ts)
        if delivery.unconfirmed and delivery.thread_ts is None and ts is not None:
            # Slack has given up on replies of which the bot could not tell that they are for it.
            tx.conversations.read_thread(what.channel, ts, context.clock())
        link_from_earlier(context, tx, what.job)
    if what.subscription is not None:
        posted(context, tx, delivery)
