"""The worker that delivers the outbox: in order, at Slack's pace, searching before it posts again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import assert_never

import structlog

from bot.logs import about_request
from bot.model import (
    ChannelId,
    Delivery,
    DeliveryKind,
    Message,
    MessageTs,
    Refusal,
    back_off_seconds,
    lifecycle,
    pace_of,
)
from bot.store import Claimer, LeaseLost, Transaction
from bot.work.batching import BatchWriter
from bot.work.context import WorkerContext
from bot.work.digests.post_outcome import posted
from bot.work.jobs.thread_messages import link_from_earlier, redraw_face
from bot.work.outbox.csv_upload import share_file
from bot.work.outbox.dead_letter import give_up
from bot.work.outbox.safe_calls import as_member, check_lease, find_earlier, follow_channel
from bot.work.ports import SlackError, SlackRefused, SlackThrottled, SlackUnclear, SlackUnreachable
from bot.work.retry import retry_on_db_error
from bot.work.tasks import run_as_claimed

log = structlog.get_logger(__name__)
Sent = tuple[Delivery, MessageTs | None, datetime | None]
"""A delivery that Slack accepted, the timestamp of its message, and when its channel takes the next post.

The timestamp is None if nothing was posted into a channel. The time is None unless the post went out late.
"""
_AT_ONCE = 50
_MOST_CLAIMS = 20
"""Maximum claims per run, so that a run ends under constant load."""
_SLOW_SECONDS = 0.5
"""Pause before the next claim while deliveries are under way, after a claim without rows."""
_LATE_SECONDS = 0.02
"""How long after its claim a post may go out. The channel's pace has this reserve over Slack's second."""
_MOST_TRIES = 12
"""Maximum tries of a delivery that Slack refuses for the moment, about ten minutes."""
_SEEN = (DeliveryKind.REPLY, DeliveryKind.EDIT)
"""Deliveries into a channel that the bot has seen. One that it does not see any more may have a new id, of
which Slack tells at once, after a minute or after five: https://docs.slack.dev/apis/events-api#retries"""
_TOKEN_RETRY = timedelta(hours=24)
_TOKEN_RETRIED = (DeliveryKind.REPLY, DeliveryKind.EDIT, DeliveryKind.PRIVATE, DeliveryKind.WHISPER)
"""Deliveries retried for 24 h after a revoked token. The others fail at once."""
_MOST_SEARCHES = 40
"""Maximum searches for an unconfirmed delivery, about an hour. Then it becomes a dead letter."""
_PACED = (DeliveryKind.ROOT, DeliveryKind.REPLY, DeliveryKind.POST, DeliveryKind.FILE)
"""Kinds that count against Slack's limit of one post a second in a channel."""
_CHANNEL_LIMIT_SECONDS = 1.0
"""The longest wait that Slack's limit for a channel can ask for; more is asked for the whole workspace."""


async def deliver_due(context: WorkerContext) -> int:
    """Carry out the deliveries that are due, also those that become due meanwhile. Return their number.

    A slow call to Slack does not delay other deliveries. A call that is cancelled may have reached Slack: its
    row stays *sending* and is searched for later.
    """
    sent, claims = BatchWriter[Sent, None](), count()

    async def claim(running: int) -> Sequence[Delivery]:
        if next(claims) >= _MOST_CLAIMS:
            return ()
        return await _claim(context, min(_AT_ONCE, 2 * _AT_ONCE - running))

    return await run_as_claimed(claim, partial(_deliver, context, sent), slow_seconds=_SLOW_SECONDS)


async def _claim(context: WorkerContext, limit: int) -> Sequence[Delivery]:
    if limit <= 0:
        return ()
    pace_seconds, minute_seconds = context.timeouts.channel_pace_seconds, context.timeouts.minute_seconds

    def claim(tx: Transaction) -> tuple[Claimer, Sequence[Delivery]]:
        claimer = context.claimer()
        return claimer, tx.outbox.claim(claimer, limit, pace_seconds, minute_seconds)

    claimer, due = await context.store.write(claim)
    # The channels and methods take the next call at these times. The regular poll may come seconds later.
    intervals = {pace_of(method, minute_seconds).interval for each in due for method in each.calls}
    if any(delivery.what.kind in _PACED for delivery in due):
        intervals.add(timedelta(seconds=pace_seconds))
    for interval in intervals:
        context.wake_after(max((claimer.now + interval - context.clock()).total_seconds(), 0.0))
    return due


async def _deliver(context: WorkerContext, sent: BatchWriter[Sent, None], delivery: Delivery) -> None:
    with about_request(delivery.request):
        await _deliver_known(context, sent, delivery)


async def _deliver_known(context: WorkerContext, sent: BatchWriter[Sent, None], delivery: Delivery) -> None:
    free_at = _late_channel(context, delivery)
    try:
        try:
            ts = await _carry_out(context, delivery)
            what = delivery.what
            log.info("delivery_sent", delivery=delivery.id, kind=what.kind, job=what.job, ts=ts)
        except SlackError as error:
            log.info("delivery_not_sent", delivery=delivery.id, job=delivery.what.job, reason=str(error))
            await retry_on_db_error(partial(_settle_error, context, delivery, error))
        else:
            # The post of a subscription writes more rows, which must not fail other deliveries.
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
    """Return when the channel takes the next post if this one goes out late; None if it is on time."""
    if delivery.what.kind not in _PACED or delivery.held_until is None:
        return None
    claimed_at = delivery.held_until - timedelta(seconds=context.timeouts.lease_seconds)
    if (context.clock() - claimed_at).total_seconds() <= _LATE_SECONDS:
        return None
    context.wake_after(context.timeouts.channel_pace_seconds)
    return context.after(context.timeouts.channel_pace_seconds)


async def _carry_out(context: WorkerContext, delivery: Delivery) -> MessageTs | None:
    """Carry out a delivery unless an earlier attempt has. Return the timestamp of its post, if it is one."""
    match delivery.what.kind:
        case DeliveryKind.ROOT | DeliveryKind.REPLY | DeliveryKind.POST:
            return await _post(context, delivery)
        case DeliveryKind.FILE:
            await share_file(context, delivery)
        case DeliveryKind.EDIT:
            await _edit(context, delivery)
        case DeliveryKind.PRIVATE:
            await _tell(context, delivery)
        case DeliveryKind.WHISPER:
            await _whisper(context, delivery)
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
            raise SlackRefused.not_found("thread")
        thread = thread or delivery.root_ts
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


async def _tell(context: WorkerContext, delivery: Delivery) -> None:
    """Send a private message through the response URL, or as a direct message if Slack refuses the URL."""
    if delivery.what.response_url is not None:
        try:
            await context.messenger.answer(
                delivery.what.response_url, message_of(delivery), replaces=delivery.what.replaces
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
    await context.messenger.tell(delivery.what.user, message_of(delivery), delivery=delivery.id)


async def _whisper(context: WorkerContext, delivery: Delivery) -> None:
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
        await _tell(context, delivery)


async def _settle_sent(context: WorkerContext, sent: Sequence[Sent]) -> list[None]:
    def settle(tx: Transaction) -> None:
        late: dict[ChannelId, datetime] = {}
        for delivery, ts, free_at in sent:
            try:
                if delivery.what.kind is DeliveryKind.EDIT:
                    tx.outbox.remove_edit(delivery, owner=context.owner)
                    continue
                step = lifecycle.delivered(context.clock(), ts)
                tx.outbox.settle(delivery, step, owner=context.owner)
            except LeaseLost:
                log.warning("delivery_taken_over", delivery=delivery.id)
                continue
            if delivery.what.kind is DeliveryKind.ROOT and delivery.what.job is not None:
                tx.jobs.update(delivery.what.job, root_ts=ts)
                link_from_earlier(context, tx, delivery.what.job)
            if delivery.what.subscription is not None:
                posted(context, tx, delivery)
            if free_at is not None:
                late[delivery.what.channel] = free_at
        for channel, free_at in sorted(late.items()):
            tx.paces.hold_channels([channel], free_at)

    await context.store.write(settle)
    for _ in sent:
        context.count("deliveries", "sent")
    return [None] * len(sent)


async def _settle_error(context: WorkerContext, delivery: Delivery, error: SlackError) -> None:
    """Write what follows from an error: retry, search first, retry without blocks, or give up."""
    context.count("deliveries", type(error).__name__.removeprefix("Slack").lower())
    if (
        isinstance(error, SlackRefused)
        and error.meaning is Refusal.NOT_VISIBLE
        and await follow_channel(context, delivery)
    ):
        return
    waits = _waits_for_token(context, delivery, error)
    throttled = error if isinstance(error, SlackThrottled) else None
    passes = _is_temporary(delivery, error)
    if delivery.unconfirmed and (waits or passes):
        # The search itself may have failed, so an earlier attempt may still have been delivered.
        await _search_later(context, delivery, throttled)
        return
    match error:
        case SlackThrottled():
            await _retry(context, delivery, error.retry_after_seconds, throttled=error)
        case SlackUnreachable():
            await _retry(context, delivery, back_off_seconds(delivery.attempts, context.chance()))
        case SlackUnclear():
            await _search_later(context, delivery)
        case SlackRefused(meaning=Refusal.BLOCKS) if not delivery.plain:
            log.error("blocks_refused", delivery=delivery.id, reason=error.code, details=error.details)
            await _retry(context, delivery, 0.0, plain=True)
        case SlackRefused() if waits or (passes and delivery.attempts < _MOST_TRIES):
            await _retry(context, delivery, back_off_seconds(delivery.attempts, context.chance()))
        case SlackRefused():
            await give_up(context, delivery, error.meaning, error.code)
        case _:
            await give_up(context, delivery, Refusal.PERMANENT, "unknown")


def _waits_for_token(context: WorkerContext, delivery: Delivery, error: SlackError) -> bool:
    if not isinstance(error, SlackRefused) or error.meaning is not Refusal.TOKEN:
        return False
    if delivery.what.kind not in _TOKEN_RETRIED:
        return False
    if context.log_once.first("token", error.code):
        log.error("token_refused", reason=error.code)
    return context.clock() - delivery.created_at < _TOKEN_RETRY


def _is_temporary(delivery: Delivery, error: SlackError) -> bool:
    """Return whether the same call may succeed a little later."""
    if isinstance(error, SlackRefused):
        may_have_moved = error.meaning is Refusal.NOT_VISIBLE and delivery.what.kind in _SEEN
        return may_have_moved or error.meaning is Refusal.PASSING
    return isinstance(error, SlackThrottled | SlackUnreachable)


async def _retry(
    context: WorkerContext,
    delivery: Delivery,
    seconds: float,
    *,
    throttled: SlackThrottled | None = None,
    plain: bool = False,
) -> None:
    """Retry a delivery that certainly had no effect. A reaction is retried only after a rate limit."""
    if delivery.what.kind is DeliveryKind.REACTION and throttled is None:
        await give_up(context, delivery, Refusal.PERMANENT, "unreachable")
        return

    def put_back(tx: Transaction) -> None:
        # Held first: a delivery that comes due before its pace is free waits for the workers' regular check.
        _hold(context, tx, delivery, throttled)
        step = lifecycle.delivery_postponed(context.after(seconds), plain=delivery.plain or plain)
        tx.outbox.settle(delivery, step, owner=context.owner)
        if plain and delivery.what.kind is DeliveryKind.ROOT and delivery.what.job is not None:
            # An edit that waits for the face was drawn with rich text, which the plain face does not have.
            redraw_face(tx, delivery.what.job, context.clock())

    await context.store.write(put_back)


def _hold(
    context: WorkerContext, tx: Transaction, delivery: Delivery, throttled: SlackThrottled | None
) -> None:
    """Hold the method that Slack limited; only the channel if the wait is as short as its limit asks for."""
    if throttled is None:
        return
    until = context.after(throttled.retry_after_seconds)
    if delivery.what.kind in _PACED and throttled.retry_after_seconds <= _CHANNEL_LIMIT_SECONDS:
        tx.paces.hold_channels([delivery.what.channel], until)
    elif throttled.method is not None:
        tx.paces.hold_method(throttled.method, until, context.timeouts.minute_seconds)


async def _search_later(
    context: WorkerContext, delivery: Delivery, throttled: SlackThrottled | None = None
) -> None:
    """Keep a delivery *sending* with a short lease; it is searched for in Slack when the lease runs out."""
    if delivery.attempts >= _MOST_SEARCHES:
        await give_up(context, delivery, Refusal.PERMANENT, "no_clear_answer")
        return
    wait_seconds = context.timeouts.doubt_seconds * min(2.0 ** min(delivery.attempts - 1, 10), 60.0)
    wait_seconds = max(wait_seconds, throttled.retry_after_seconds if throttled else 0.0)

    def keep(tx: Transaction) -> None:
        _hold(context, tx, delivery, throttled)
        step = lifecycle.delivery_unconfirmed(context.after(wait_seconds))
        tx.outbox.settle(delivery, step, owner=context.owner)

    await context.store.write(keep)
    log.warning("delivery_in_doubt", delivery=delivery.id, attempts=delivery.attempts)
