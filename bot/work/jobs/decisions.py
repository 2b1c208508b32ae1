"""What the buttons under a message do: run again, send again, forget, withdraw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from bot.messages import jobs as say
from bot.model import (
    JobNumber,
    Origin,
    Prompt,
    PromptId,
    PromptKind,
    PromptState,
    RequestKey,
    TrackedJob,
    UserId,
    lifecycle,
)
from bot.store import LeaseLost, Transaction
from bot.work.context import Context
from bot.work.jobs.ask import Asked, AskRequest, ask
from bot.work.jobs.follow_up import FollowedUp, FollowUpRequest, follow_up
from bot.work.jobs.thread_messages import redraw_face, reply
from bot.work.jobs.transitions import drop_follow_ups


async def run_again(context: Context, origin: Origin, number: JobNumber, occasion: str) -> Asked | None:
    """Start a new job with the text and in the channel of an old one; None when the old one is unknown.

    ``occasion`` makes presses of one button count once: a second press finds the first's job.
    """
    prompt, job = await context.store.read(lambda tx: (tx.prompts.starting(number), tx.jobs.get(number)))
    if prompt is None or job is None:
        return None
    key = RequestKey(f"again:{number}:{occasion}")
    return await ask(context, AskRequest(_for(origin, key, job), prompt.raw, allow_duplicate=True))


async def follow_up_anyway(
    context: Context, origin: Origin, number: PromptId, occasion: str
) -> FollowedUp | None:
    """Send the same follow-up once more, after the person was asked."""
    prompt, job = await context.store.read(lambda tx: _prompt_and_job(tx, number))
    if prompt is None or job is None:
        return None
    key = RequestKey(f"anyway:follow_up:{number}:{occasion}")
    request = FollowUpRequest(_for(origin, key, job), job.number, prompt.raw, allow_duplicate=True)
    return await follow_up(context, request)


def _for(origin: Origin, key: RequestKey, job: TrackedJob) -> Origin:
    """Return the origin of a prompt that a button sends; the pressed message is none of the person's."""
    return replace(origin, key=key, channel=job.channel, message_ts=None)


def _prompt_and_job(tx: Transaction, number: PromptId) -> tuple[Prompt | None, TrackedJob | None]:
    prompt = tx.prompts.get(number)
    return prompt, tx.jobs.get(prompt.job) if prompt else None


async def to_withdraw(context: Context, job: JobNumber, user: UserId) -> Prompt | None:
    """What *Withdraw* under a root message takes back: the job's own prompt, else one of its follow-ups.

    Of these the presser's own first; None when nothing of the job waits any more.
    """
    prompts = await context.store.read(lambda tx: tx.prompts.unsettled_of(job))
    waiting = [prompt for prompt in prompts if prompt.state is PromptState.WAITING]
    waiting.sort(key=lambda prompt: (prompt.kind is not PromptKind.START, prompt.asked_by != user, prompt.id))
    return waiting[0] if waiting else None


async def send_again(context: Context, number: PromptId) -> bool:
    """Send an unconfirmed prompt once more. Return False when it is not unconfirmed any more."""
    return await _decide(context, number, PromptState.UNCONFIRMED, _send_again)


async def forget(context: Context, number: PromptId) -> bool:
    """Leave an unconfirmed prompt alone. Return False when it is not unconfirmed any more."""
    return await _decide(context, number, PromptState.UNCONFIRMED, _take_back)


async def withdraw(context: Context, number: PromptId) -> bool:
    """Take back what has not been sent. Return False when it is too late."""
    return await _decide(context, number, PromptState.WAITING, _withdraw)


async def _decide(
    context: Context,
    number: PromptId,
    was: PromptState,
    decided: Callable[[Transaction, Prompt, TrackedJob, datetime], None],
) -> bool:
    def decide(tx: Transaction) -> bool:
        prompt = tx.prompts.get(number)
        if prompt is None or prompt.state is not was:
            return False
        job = tx.jobs.known(prompt.job)
        # Before any prompt, as by the worker that gives queue positions.
        tx.quota.lock(job.project)
        decided(tx, prompt, job, context.clock())
        return True

    try:
        done = await context.store.write(decide)
    except LeaseLost:
        return False
    if done:
        context.wake()
    return done


def _send_again(tx: Transaction, prompt: Prompt, job: TrackedJob, now: datetime) -> None:
    tx.prompts.apply(prompt.id, lifecycle.prompt_resent(prompt, now))
    if prompt.kind is PromptKind.START:
        tx.jobs.apply(job.number, lifecycle.resent(job))
        redraw_face(tx, job.number, now)


def _take_back(tx: Transaction, prompt: Prompt, job: TrackedJob, now: datetime) -> None:
    tx.prompts.apply(prompt.id, lifecycle.prompt_withdrawn(prompt, now))
    if prompt.kind is PromptKind.START:
        tx.jobs.apply(job.number, lifecycle.withdrawn(job, now))
        job = redraw_face(tx, job.number, now)
        drop_follow_ups(tx, job, now)


def _withdraw(tx: Transaction, prompt: Prompt, job: TrackedJob, now: datetime) -> None:
    """Its use is free for who waits; a follow-up's thread is told, and the job goes on as it was."""
    _take_back(tx, prompt, job, now)
    tx.prompts.move_up(job.project, now)
    if prompt.kind is PromptKind.FOLLOW_UP:
        tx.jobs.leave_queue(job.number)
        job = redraw_face(tx, job.number, now)
        reply(tx, job, f"withdrawn:{prompt.id}", say.follow_up_withdrawn(job, prompt), now)
