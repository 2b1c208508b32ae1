"""Failed deliveries: a later try, a search, or a dead letter."""

from __future__ import annotations

from datetime import timedelta

import structlog

from bot.context import WorkerContext
from bot.engine import back_off_seconds
from bot.ids import Refusal, is_direct_message
from bot.outbox.hooks import OutboxHooks
from bot.outbox.model import (
    PACED,
    Delivery,
    DeliveryKind,
    DeliveryState,
    NotPosted,
    delivery_dead,
    delivery_postponed,
    delivery_unclear,
)
from bot.outbox.store import Outbox
from bot.ports import SlackError, SlackRefused, SlackThrottled, SlackUnclear, SlackUnreachable
from bot.store import Transaction

log = structlog.get_logger(__name__)


def give_up(
    context: WorkerContext, tx: Transaction, delivery: Delivery, meaning: Refusal, code: str
) -> None:
    """Make a delivery a dead letter, and notify its requester if possible.

    ``code`` is Slack's error code, or the bot's own if Slack gave none.
    """
    if delivery.what.kind is DeliveryKind.REACTION:
        # It matters little: one line for all of a reason.
        log.warning("reaction_refused", reason=code)
    else:
        log.warning(
            "delivery_dead",
            delivery=delivery.id,
            kind=delivery.what.kind,
            job=delivery.what.job,
            reason=code,
        )
    if meaning is Refusal.NOT_VISIBLE and is_direct_message(delivery.what.channel):
        meaning = Refusal.BETWEEN_PEOPLE
    now = context.clock()
    draft = delivery.what
    refusal = NotPosted(meaning, draft.channel, now, draft.job)
    Outbox(tx).save(delivery, delivery_dead(delivery, now, code), owner=context.owner)
    if draft.kind is DeliveryKind.STATUS and draft.job is not None:
        Outbox(tx).dead_letter_thread(draft.job, code, now)
    for hooks in context.hooks_of(OutboxHooks):
        hooks.on_refused(context, tx, delivery, refusal)


MAX_TRIES = 12
"""Maximum tries of a delivery that Slack refuses for the moment, about ten minutes."""
_PATIENCE = timedelta(hours=24)
"""How old a delivery gets while Slack refuses the token or gives no clear answer."""
_TOKEN_RETRIED = (DeliveryKind.REPLY, DeliveryKind.EDIT, DeliveryKind.PRIVATE, DeliveryKind.WHISPER)
"""Deliveries that wait for a new token. The others fail at once."""
_MIN_SEARCHES = 40
"""How often an unclear delivery is tried, also one as old as that.

An operator may have it tried again.
"""
_MAX_PAUSE_SECONDS = 60.0
"""The longest pause of a delivery while Slack cannot be reached or gives no clear answer."""
_CHANNEL_LIMIT_SECONDS = 1.0
"""The longest wait that Slack's limit for a channel can ask for.

A longer one is asked for the whole workspace.
"""


def settle_failed_delivery(
    context: WorkerContext, tx: Transaction, delivery: Delivery, error: SlackError
) -> None:
    """Write the consequence of an error.

    That is a later try, a search, a try without blocks, or a dead letter.
    """
    asked_seconds = error.retry_after_seconds if isinstance(error, SlackThrottled) else 0.0
    waits = _is_temporary(context, delivery, error)
    if isinstance(error, SlackUnclear) or (delivery.state is DeliveryState.UNCLEAR and waits):
        # The search itself may have failed, so an earlier attempt may still have been delivered.
        _look_later(context, tx, delivery, asked_seconds)
        return
    match error:
        case SlackThrottled():
            _retry(context, tx, delivery, asked_seconds)
        case _ if waits and delivery.what.kind is DeliveryKind.REACTION:
            give_up(context, tx, delivery, Refusal.PERMANENT, "unreachable")
        case SlackRefused(meaning=Refusal.BLOCKS) if not delivery.is_plain:
            log.error(
                "blocks_refused", delivery=delivery.id, reason=error.code, details=error.details
            )
            _retry(context, tx, delivery, 0.0, plain=True)
        case _ if waits:
            cap = _MAX_PAUSE_SECONDS if isinstance(error, SlackUnreachable) else 300.0
            seconds = back_off_seconds(delivery.attempts, context.chance(), cap=cap)
            _retry(context, tx, delivery, seconds)
        case SlackRefused():
            give_up(context, tx, delivery, error.meaning, error.code)
        case _:
            give_up(context, tx, delivery, Refusal.PERMANENT, "unknown")


def _is_temporary(context: WorkerContext, delivery: Delivery, error: SlackError) -> bool:
    match error:
        case SlackRefused(meaning=Refusal.TOKEN) if delivery.what.kind in _TOKEN_RETRIED:
            log.error("token_refused", reason=error.code)
            return context.clock() - delivery.created_at < _PATIENCE
        case SlackRefused(meaning=Refusal.PASSING):
            return delivery.attempts < MAX_TRIES
        case _:
            return isinstance(error, SlackThrottled | SlackUnreachable)


def hold_pace(context: WorkerContext, delivery: Delivery, error: SlackThrottled) -> None:
    """Hold the method that Slack has limited.

    Only the channel is held if the wait is as short as a channel's limit asks for.
    """
    seconds = error.retry_after_seconds
    now = context.clock()
    if delivery.what.kind in PACED and seconds <= _CHANNEL_LIMIT_SECONDS:
        context.paces.hold(delivery.what.channel, seconds, now)
    elif error.method is not None:
        context.paces.hold(error.method, seconds, now)


def _retry(
    context: WorkerContext,
    tx: Transaction,
    delivery: Delivery,
    seconds: float,
    *,
    plain: bool = False,
) -> None:
    """Try a delivery again later that certainly had no effect."""
    due_at = context.after(seconds)
    postponed = delivery_postponed(delivery, due_at, plain=delivery.is_plain or plain)
    Outbox(tx).save(delivery, postponed, owner=context.owner)
    if plain:
        for hooks in context.hooks_of(OutboxHooks):
            hooks.on_blocks_refused(context, tx, delivery)


def _look_later(
    context: WorkerContext, tx: Transaction, delivery: Delivery, asked_seconds: float
) -> None:
    """Search Slack for a delivery before the next try, for a day."""
    age = context.clock() - delivery.created_at
    if age >= _PATIENCE and delivery.attempts >= _MIN_SEARCHES:
        give_up(context, tx, delivery, Refusal.PERMANENT, "no_clear_answer")
        return
    pause_seconds = back_off_seconds(
        delivery.attempts, 1.0, first=context.timeouts.doubt_seconds, cap=_MAX_PAUSE_SECONDS
    )
    look_at = context.after(max(pause_seconds, asked_seconds))
    Outbox(tx).save(delivery, delivery_unclear(delivery, look_at), owner=context.owner)
    log.warning("delivery_unconfirmed", delivery=delivery.id, attempts=delivery.attempts)
