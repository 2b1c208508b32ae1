"""The worker that checks access for new prompts, resolves the names in them and opens their threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import structlog

from bot.logs import about_request
from bot.messages import job_answers
from bot.messages.jobs import follow_up_by_command
from bot.model import lifecycle
from bot.model.access import Access
from bot.model.jobs import JobState, TrackedJob
from bot.model.outbox import DeliveryKind, NewDelivery
from bot.model.prompts import Prompt, PromptKind, PromptState
from bot.store import Transaction
from bot.work.access.check import AskSlack, Decision, decide
from bot.work.access.denied import refuse_named, refuse_prompt, tell_named
from bot.work.context import WorkerContext
from bot.work.jobs.along import Along, what_goes_along
from bot.work.jobs.names import plain_text
from bot.work.jobs.service_health import FIRST_SECONDS
from bot.work.jobs.settle_prompt import drop_follow_ups, tell_behind_unconfirmed
from bot.work.jobs.thread import open_thread, redraw_face, say
from bot.work.retry import retry_on_db_error, unless_taken_over
from bot.work.tasks import run_as_claimed

log = structlog.get_logger(__name__)
_AT_ONCE = 20
_MOST_RUNNING = 200
"""Maximum prompts that wait for Slack at the same moment."""
_UNDECIDED_FOR = timedelta(minutes=10)
"""How long a process asks Slack about access while it cannot tell. Then it is denied."""
_RETRY_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What a prompt became: its text for the agent, and what goes along."""

    text: str
    along: Along = field(default_factory=Along)


async def prepare_prompts(context: WorkerContext) -> int:
    """Turn stored requests into prompts that wait to be sent, and add their faces to the outbox.

    A prompt whose look-ups in Slack are slow delays no other prompt. Return how many were claimed.
    """

    async def claim(running: int) -> Sequence[Prompt]:
        limit = min(_AT_ONCE, _MOST_RUNNING - running)
        if limit <= 0:
            return ()
        return await context.store.write(lambda tx: tx.prompts.claim_new(context.claimer(), limit))

    return await run_as_claimed(claim, partial(_prepare, context))


async def _prepare(context: WorkerContext, prompt: Prompt) -> None:
    with about_request(prompt.key):
        await retry_on_db_error(partial(_prepare_known, context, prompt))


async def _prepare_known(context: WorkerContext, prompt: Prompt) -> None:
    decision = await _decide(context, prompt)
    prepared = await _read_in_slack(context, prompt) if decision.may else _Prepared("")

    def settle(tx: Transaction) -> None:
        if decision.may:
            # Though others are refused: perhaps this one is not.
            tx.back_offs.hasten(prompt.job, context.after(FIRST_SECONDS))
        if decision.may is None:
            _decide_later(context, tx, prompt)
        elif decision.denied is not None:
            _refuse(context, tx, prompt, decision.denied)
        elif not decision.may:
            refuse_named(context, tx, prompt, job_answers.no_such_job(prompt.named or ""))
        elif prompt.named is not None:
            _write_named(context, tx, prompt, prepared)
        else:
            _write(context, tx, prompt, prepared)

    with unless_taken_over("prompt", prompt.id):
        await context.settle(settle)
        context.wake()


async def _read_in_slack(context: WorkerContext, prompt: Prompt) -> _Prepared:
    text = await plain_text(context, prompt.raw, prompt.channel)
    return _Prepared(text, await what_goes_along(context, prompt))


async def _decide(context: WorkerContext, prompt: Prompt) -> Decision:
    """Decide about the sender of a prompt. The decision stays open for ten minutes if Slack cannot tell.

    Naming a job does not prove access: a sender who named one may be outside its channel.
    """
    # Not from when it was asked: it may have been said in an outage, and been read after it.
    now = context.clock()
    is_late = now - context.undecided.setdefault(prompt.id, now) > _UNDECIDED_FOR
    ask = AskSlack.FINAL if is_late else AskSlack.TRY
    is_named = prompt.named is not None
    job = await context.store.read(lambda tx: tx.jobs.known(prompt.job)) if is_named else None
    decision = await decide(context, prompt.asked_by, channel=prompt.channel, job=job, ask=ask)
    if decision.may is not None:
        context.undecided.pop(prompt.id, None)
    return decision


def _refuse(context: WorkerContext, tx: Transaction, prompt: Prompt, access: Access) -> None:
    """Refuse a prompt. No thread shows a refused job, so its requester's follow-ups fall without a word."""
    refuse_prompt(context, tx, prompt, access)
    if prompt.kind is PromptKind.START:
        drop_follow_ups(tx, tx.jobs.known(prompt.job), context.clock(), is_told=False)


def _decide_later(context: WorkerContext, tx: Transaction, prompt: Prompt) -> None:
    due_at = context.after(_RETRY_SECONDS)
    tx.prompts.put_back(prompt.id, context.owner, was=PromptState.NEW, due_at=due_at)


def _write_named(context: WorkerContext, tx: Transaction, prompt: Prompt, prepared: _Prepared) -> None:
    """Write a follow-up whose sender turned out to have access, unless the job has been given up."""
    # The job is locked before the prompt, in the same order as in ``drop_follow_ups``.
    job = tx.jobs.get_locked(prompt.job)
    if job is not None and job.state in (JobState.REFUSED, JobState.WITHDRAWN):
        refuse_named(context, tx, prompt, job_answers.cannot_follow_up(job))
        return
    _write(context, tx, prompt, prepared)
    taken = job_answers.follow_up_taken(tx.jobs.known(prompt.job), guessed=False)
    tell_named(context, tx, prompt, taken)


def _write(context: WorkerContext, tx: Transaction, prompt: Prompt, prepared: _Prepared) -> None:
    step = lifecycle.prompt_prepared(prompt, prepared.text, prepared.along.text)
    tx.prompts.apply(prompt.id, step, owner=context.owner)
    if prompt.text is None:  # otherwise its message was edited
        tx.audit.asked(prompt, tx.jobs.known(prompt.job))
    now = context.clock()
    if prompt.kind is PromptKind.START:
        tx.jobs.update(prompt.job, text=prepared.text)
    if prepared.along.earlier is not None:
        tx.jobs.update(prompt.job, earlier=prepared.along.earlier)
    job = tx.jobs.known(prompt.job)
    if prompt.kind is PromptKind.START:
        open_thread(tx, job, now)
    else:
        _show_follow_up(tx, job, prompt, prepared.text, now)
        tell_behind_unconfirmed(tx, job, prompt, now)
        if prepared.along.earlier is not None:
            redraw_face(tx, job.number, now)
    if prepared.along.not_sent is not None:
        say(tx, job, f"files:{prompt.id}", prepared.along.not_sent, now)


def _show_follow_up(tx: Transaction, job: TrackedJob, prompt: Prompt, text: str, now: datetime) -> None:
    if prompt.message_ts is None:
        message = follow_up_by_command(job, text, prompt.asked_by)
        say(tx, job, f"follow_up:{prompt.id}", message, now)
        return
    key, kind, ts = f"prompt:{prompt.id}:seen", DeliveryKind.REACTION, prompt.message_ts
    seen = NewDelivery(key, kind, job.channel, job=job.number, message_ts=ts, reaction="eyes")
    tx.outbox.add(seen, now)
