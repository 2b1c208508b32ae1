"""The worker that releases held prompts after their messages were verified.

A prompt of messages is held for 8 seconds after its author's last word. A prompt that has waited
for more than a minute, for the hourly limit or in an outage, is verified again: its messages are
read in Slack, and its channel is checked. The access of the author is checked for every prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import structlog

from bot.access.obstacles import Obstacle, find_exclusion, find_obstacle
from bot.consequences import CONSEQUENCES, Consequence, Event
from bot.context import WorkerContext, make_claim
from bot.engine import unless_taken_over
from bot.ids import ChannelId, RequestKey
from bot.inbox.model import BATCH_SIZE, InboxMessage, MessageState, growing_pause_seconds
from bot.inbox.receive import Relevance, store_change
from bot.inbox.requests import hold_end, stage_of_prompt
from bot.inbox.store import Inbox
from bot.jobs.job_acts import refuse_waiting_prompt
from bot.jobs.model import lifecycle
from bot.jobs.model.jobs import JobProblem, WaitReason
from bot.jobs.model.prompts import Prompt
from bot.jobs.service_health import add_known_wait
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.limits import BackOffs
from bot.jobs.store.prompts import Prompts
from bot.jobs.store.sending import Sending
from bot.logs import log_reference
from bot.outbox.model import NewDelivery
from bot.outbox.store import Outbox
from bot.ports import Changed, SlackError, SlackThrottled
from bot.store import Transaction

log = structlog.get_logger(__name__)

claim_held = make_claim(
    lambda tx, claimer, limit: Prompts(tx).claim_held(claimer, min(limit, BATCH_SIZE))
)
"""Claims prompts whose hold is over, and prompts that have waited for long."""


async def release(context: WorkerContext, prompt: Prompt) -> None:
    """Let a prompt be sent, or hold it on while something is to be done about its messages."""
    with log_reference(prompt.key), unless_taken_over("prompt", prompt.id):
        messages = await context.store.read(
            lambda tx: Inbox(tx).messages_of(RequestKey(prompt.key))
        )
        if not _is_stale(context, prompt, messages):
            exclusion = await find_exclusion(context, prompt.origin)
            seconds = await context.settle(partial(_release_prompt, context, prompt, exclusion))
        else:
            seconds = await _verify(context, prompt, messages)
        if seconds:
            context.wake_after(seconds)
        else:
            context.wake()


def _is_stale(context: WorkerContext, prompt: Prompt, messages: Sequence[InboxMessage]) -> bool:
    """Return whether the check of a prompt's messages and author is too old."""
    verified_at = prompt.verified_at or prompt.asked_at
    times = [verified_at, _hold_end(context, prompt, messages)]
    return (context.clock() - max(times)).total_seconds() > context.timeouts.verified_seconds


def _hold_end(context: WorkerContext, prompt: Prompt, messages: Sequence[InboxMessage]) -> datetime:
    """Return the end of a prompt's hold; without a message the time of the request."""
    said_at = [message.said_at for message in messages if message.text is not None]
    return hold_end(context, prompt.asked_at, max(said_at)) if said_at else prompt.asked_at


def _release_prompt(
    context: WorkerContext, prompt: Prompt, exclusion: Obstacle | None, tx: Transaction
) -> float:
    """Let a prompt be sent after its hold, once its author's last words are carried out.

    Return the seconds for which it stays held. ``exclusion``: why its author may no longer ask.
    """
    messages = Inbox(tx).messages_of(RequestKey(prompt.key))
    now = context.clock()
    until = _hold_end(context, prompt, messages)
    if _has_changes(tx, messages):
        return _keep_hold(context, tx, prompt)
    # A clock that was set back since would hold it for longer.
    if now < until <= now + timedelta(seconds=context.timeouts.hold_most_seconds):
        Prompts(tx).keep_held(prompt, until, context.owner)
        return (until - now).total_seconds()
    if not _is_refused(context, prompt, exclusion, tx):
        _send(context, tx, prompt)
    return 0.0


def _is_refused(
    context: WorkerContext, prompt: Prompt, obstacle: Obstacle | None, tx: Transaction
) -> bool:
    """Refuse a prompt with an obstacle, if its stage allows it. Return whether it is refused."""
    if obstacle is None:
        return False
    consequence = CONSEQUENCES[stage_of_prompt(prompt)][obstacle.event]
    if consequence is not Consequence.REFUSE:
        return False
    _refuse(context, prompt, obstacle, tx)
    return True


def _has_changes(tx: Transaction, messages: Sequence[InboxMessage]) -> bool:
    """Return whether an edit, a deletion or an addition is stored and not carried out."""
    return any(
        message.state is MessageState.NEW or Inbox(tx).has_new_beside(message)
        for message in messages
    )


def _keep_hold(
    context: WorkerContext, tx: Transaction, prompt: Prompt, seconds: float | None = None
) -> float:
    """Hold a prompt on for some seconds, and return them.

    ``seconds``: the pause that Slack asks for; None for a pause that grows with the delay.
    """
    if seconds is None:
        now = context.clock()
        seconds = growing_pause_seconds((now - _find_delay(prompt, now)).total_seconds())
    Prompts(tx).keep_held(prompt, context.after(seconds), context.owner)
    return seconds


def _find_delay(prompt: Prompt, now: datetime) -> datetime:
    """Return since when the hold delays a prompt: before it was due, other things did."""
    verified_at = prompt.verified_at or prompt.asked_at
    if prompt.due_at is None or prompt.due_at > now:
        return verified_at
    return max(verified_at, prompt.due_at)


# ---- a prompt that has waited for long


@dataclass(frozen=True, slots=True)
class Verification:
    """The present state in Slack of a prompt that waits."""

    changes: Sequence[Changed] = ()
    """The edits and deletions of its messages."""
    obstacle: Obstacle | None = None
    """The reason not to send it."""


async def _verify(
    context: WorkerContext, prompt: Prompt, messages: Sequence[InboxMessage]
) -> float:
    """Read a prompt's messages in Slack, and check its author and its channel, before it is sent.

    Return the seconds for which it stays held.
    """
    try:
        changes = await _find_changes(context, messages)
        seen = Verification(changes)
        if not changes:
            seen = Verification(obstacle=await find_obstacle(context, prompt.origin))
    except (SlackError, TimeoutError) as error:
        log.info("prompt_not_verified", prompt=prompt.id, reason=str(error) or type(error).__name__)
        if messages:
            seconds = error.retry_after_seconds if isinstance(error, SlackThrottled) else None
            return await context.settle(lambda tx: _keep_hold(context, tx, prompt, seconds))
        # Typed words do not change, and Slack has let their author type.
        seen = Verification()
    return await context.settle(partial(_settle, context, prompt, seen))


async def must_wait(context: WorkerContext, request: RequestKey, asks_slack: bool) -> bool:
    """Return whether a message of a request was changed, and is to be decided again first.

    ``asks_slack``: the messages are read in Slack, too, and changes that were missed are stored.
    Raises a SlackError or TimeoutError.
    """
    messages = await context.store.read(lambda tx: Inbox(tx).messages_of(request))
    if any(message.state is MessageState.NEW for message in messages):
        return True
    changes = await _find_changes(context, messages) if asks_slack else ()

    def write(tx: Transaction) -> None:
        for change in changes:
            store_change(context, change, Relevance.ALL, tx)

    if changes:
        await context.write(write)
    return bool(changes)


async def _find_changes(
    context: WorkerContext, messages: Sequence[InboxMessage]
) -> Sequence[Changed]:
    """Return the edits and deletions of messages that the bot has missed. Raises a SlackError."""
    changes = list[Changed]()
    for message in messages:
        async with asyncio.timeout(context.timeouts.names_seconds):
            found = await context.messenger.find_message(
                message.channel, message.ts, thread=message.thread
            )
        if found is None:
            changes.append(Changed(message.origin, None, message.ts))
        elif found.version > message.version:
            changes.append(found)
    return changes


def _settle(context: WorkerContext, prompt: Prompt, seen: Verification, tx: Transaction) -> float:
    """Settle a prompt by its state in Slack: it is refused, waits for changes, or may be sent.

    Return the seconds for which it stays held.
    """
    for change in seen.changes:
        store_change(context, change, Relevance.ALL, tx)
    if seen.changes:
        Prompts(tx).keep_held(prompt, context.clock(), context.owner)
        return 0.0
    if _is_refused(context, prompt, seen.obstacle, tx):
        return 0.0
    messages = Inbox(tx).messages_of(RequestKey(prompt.key))
    if _has_changes(tx, messages):
        return _keep_hold(context, tx, prompt)
    _send(context, tx, prompt)
    return 0.0


def _send(context: WorkerContext, tx: Transaction, prompt: Prompt) -> None:
    """Let a prompt be sent.

    Where the service is away or sending is off, its status message offers no change any more.
    """
    now = context.clock()
    Prompts(tx).let_go(prompt, now, context.owner)
    job = Jobs(tx).get_or_raise(prompt.job)
    if job.wait_reason is not WaitReason.HELD:
        return
    back_off = BackOffs(tx).of(job.project)
    is_away = back_off is not None and back_off.lasts(now)
    if is_away or Sending(tx).stop() is not None:
        Jobs(tx).save(job, add_known_wait(tx, lifecycle.without_wait(job), now))


def _refuse(context: WorkerContext, prompt: Prompt, obstacle: Obstacle, tx: Transaction) -> None:
    """Refuse a prompt, and tell its author why, once and alone."""
    now = context.clock()
    is_gone = obstacle.event is Event.CHANNEL_GONE
    problem = JobProblem.SLACK_REFUSED if is_gone else JobProblem.NOT_ALLOWED
    # Raises LeaseLost if somebody else has the prompt by now.
    Prompts(tx).keep_held(prompt, now, context.owner)
    refuse_waiting_prompt(tx, prompt, now, problem)
    for message in Inbox(tx).messages_of(RequestKey(prompt.key)):
        Inbox(tx).settle(message)
    if prompt.asked_by not in context.settings.allowed_bots:
        key = f"prompt:{prompt.id}:refused"
        place = prompt.channel or ChannelId("")
        note = NewDelivery.private(key, place, prompt.asked_by, obstacle.note)
        Outbox(tx).add(note, now)
