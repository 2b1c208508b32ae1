"""What follows when Slack does not take a delivery: a later try, a search, or a dead letter."""

from __future__ import annotations

from datetime import timedelta

import structlog

from bot.model import lifecycle
from bot.model.outbox import PACED, Delivery, DeliveryKind
from bot.model.polling import back_off_seconds
from bot.model.refusal import Refusal
from bot.store import Transaction
from bot.work.context import WorkerContext
from bot.work.jobs.thread import redraw_face
from bot.work.outbox.dead_letter import give_up
from bot.work.ports import SlackError, SlackRefused, SlackThrottled, SlackUnclear, SlackUnreachable

log = structlog.get_logger(__name__)
MOST_TRIES = 12
"""Maximum tries of a delivery that Slack refuses for the moment, about ten minutes."""
_PATIENCE = timedelta(hours=24)
"""How old a delivery gets while Slack refuses the token or gives no clear answer."""
_TOKEN_RETRIED = (DeliveryKind.REPLY, DeliveryKind.EDIT, DeliveryKind.PRIVATE, DeliveryKind.WHISPER)
"""Deliveries that wait for a new token. The others fail at once."""
_LEAST_SEARCHES = 40
"""How often an unclear delivery is tried, also one as old as that. An operator may have it tried again."""
_MOST_PAUSE_SECONDS = 60.0
"""The longest pause of a delivery while Slack cannot be reached or gives no clear answer."""
_CHANNEL_LIMIT_SECONDS = 1.0
"""The longest wait that Slack's limit for a channel can ask for; more is asked for the whole workspace."""


async def settle_error(context: WorkerContext, delivery: Delivery, error: SlackError) -> None:
    """Write what follows from an error: retry, search first, retry without blocks, or give up."""
    context.count("deliveries", type(error).__name__.removeprefix("Slack").lower())
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
            pause_seconds = back_off_seconds(delivery.attempts, context.chance(), cap=_MOST_PAUSE_SECONDS)
            await _retry(context, delivery, pause_seconds)
        case SlackUnclear():
            await _search_later(context, delivery)
        case SlackRefused(meaning=Refusal.BLOCKS) if not delivery.plain:
            log.error("blocks_refused", delivery=delivery.id, reason=error.code, details=error.details)
            await _retry(context, delivery, 0.0, plain=True)
        case SlackRefused() if waits or passes:
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
    log.error("token_refused", reason=error.code)
    return context.clock() - delivery.created_at < _PATIENCE


def _is_temporary(delivery: Delivery, error: SlackError) -> bool:
    """Return whether the same call may succeed a little later."""
    if isinstance(error, SlackRefused):
        return error.meaning is Refusal.PASSING and delivery.attempts < MOST_TRIES
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
    if delivery.what.kind in PACED and throttled.retry_after_seconds <= _CHANNEL_LIMIT_SECONDS:
        tx.paces.hold_channels([delivery.what.channel], until)
    elif throttled.method is not None:
        tx.paces.hold_method(throttled.method, until, context.timeouts.minute_seconds)


async def _search_later(
    context: WorkerContext, delivery: Delivery, throttled: SlackThrottled | None = None
) -> None:
    """Keep a delivery *sending* with a short lease; it is searched for in Slack when the lease runs out."""
    age = context.clock() - delivery.created_at
    if age >= _PATIENCE and delivery.attempts >= _LEAST_SEARCHES:
        await give_up(context, delivery, Refusal.PERMANENT, "no_clear_answer")
        return
    doubt_seconds = context.timeouts.doubt_seconds
    asked_seconds = throttled.retry_after_seconds if throttled else 0.0
    wait_seconds = min(doubt_seconds * 2.0 ** min(delivery.attempts - 1, 10), _MOST_PAUSE_SECONDS)

    def keep(tx: Transaction) -> None:
        _hold(context, tx, delivery, throttled)
        check_at = context.after(max(wait_seconds, asked_seconds))
        with_others_at = context.after(max(doubt_seconds, asked_seconds))
        step = lifecycle.delivery_unconfirmed(check_at, with_others_at)
        tx.outbox.settle(delivery, step, owner=context.owner)

    await context.store.write(keep)
    log.warning("delivery_unconfirmed", delivery=delivery.id, attempts=delivery.attempts)
