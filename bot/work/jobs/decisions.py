"""What the buttons under a job's messages do: run again, stop watching, send again, dismiss, withdraw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial

from bot.messages import jobs as say
from bot.model import lifecycle
from bot.model.audit import Act
from bot.model.ids import JobNumber, PromptId, RequestKey, UserId
from bot.model.jobs import JobState, Review, TrackedJob
from bot.model.lifecycle import JobStep
from bot.model.origin import Origin
from bot.model.prompts import Prompt, PromptKind, PromptState
from bot.store import LeaseLost, Transaction
from bot.work.context import Context
from bot.work.jobs.ask import Asked, AskRequest, ask
from bot.work.jobs.follow_up import FollowedUp, FollowUpRequest, follow_up
from bot.work.jobs.thread_messages import edit_reply, outdate_reminder, redraw_face, reply, tells_new
from bot.work.jobs.transitions import drop_follow_ups, show_decision


async def run_again(
    context: Context, origin: Origin, number: JobNumber, occasion: str, raw: str | None = None
) -> Asked | None:
    """Start a new job in the channel of an old one; None if the old one is unknown.

    ``raw``: the new prompt; None for that of the old job. ``occasion`` identifies the button or the form, so
    that a second use of it returns the job of the first.
    """
    prompt, job = await context.store.read(lambda tx: (tx.prompts.starting(number), tx.jobs.get(number)))
    if prompt is None or job is None or job.is_forgotten:
        return None
    key = RequestKey(f"again:{number}:{occasion}")
    again = AskRequest(
        _origin_for(origin, key, job),
        prompt.raw if raw is None else raw,
        allow_duplicate=True,
        take_thread=prompt.take_thread,
        files=prompt.files,
        again_of=number,
        project=None if context.projects.serves_former else job.project,
    )
    return await ask(context, again)


async def follow_up_anyway(
    context: Context, origin: Origin, number: PromptId, occasion: str
) -> FollowedUp | None:
    """Send an equal follow-up again, as the person has confirmed. Return None if the prompt is unknown."""
    prompt, job = await context.store.read(lambda tx: _prompt_and_job(tx, number))
    if prompt is None or job is None or not prompt.asked_by:
        return None
    key = RequestKey(f"anyway:follow_up:{number}:{occasion}")
    request = FollowUpRequest(_origin_for(origin, key, job), job.number, prompt.raw, allow_duplicate=True)
    return await follow_up(context, request)


def _origin_for(origin: Origin, key: RequestKey, job: TrackedJob) -> Origin:
    """Return the origin of a prompt that a button sends. It has no message: the person pressed the bot's.

    A new job goes into the thread in which people asked for the old one.
    """
    return replace(origin, key=key, channel=job.channel, thread=job.thread_ts, message_ts=None)


def _prompt_and_job(tx: Transaction, number: PromptId) -> tuple[Prompt | None, TrackedJob | None]:
    prompt = tx.prompts.get(number)
    return prompt, tx.jobs.get(prompt.job) if prompt else None


async def to_withdraw(context: Context, job: JobNumber, user: UserId) -> Prompt | None:
    """Return the prompt that *Withdraw* on a job's face takes back; None if none of the job's prompts waits.

    The prompt that starts the job comes first, then the follow-ups of ``user``, then those of others.
    """
    prompts = await context.store.read(lambda tx: tx.prompts.unsettled_of(job))
    waiting = [prompt for prompt in prompts if prompt.state is PromptState.WAITING]
    waiting.sort(key=lambda prompt: (prompt.kind is not PromptKind.START, prompt.asked_by != user, prompt.id))
    return waiting[0] if waiting else None


async def send_again(context: Context, number: PromptId, by: UserId) -> bool:
    """Send an unconfirmed prompt again. Return False if it is not unconfirmed any more."""
    return await _decide(context, number, by, PromptState.UNCONFIRMED, _send_again)


async def forget(context: Context, number: PromptId, by: UserId) -> bool:
    """Dismiss an unconfirmed prompt. Return False if it is not unconfirmed any more."""
    return await _decide(context, number, by, PromptState.UNCONFIRMED, _dismiss)


async def stop_watching(context: Context, number: JobNumber, by: UserId) -> bool:
    """Poll a running job no more, and say so in its thread. Return False if it is not running."""
    now = context.clock()

    def stop(tx: Transaction) -> bool:
        job = tx.jobs.get_locked(number)
        if job is None or job.state is not JobState.WORKING:
            return False
        tx.jobs.apply(number, lifecycle.unwatched(job, now))
        tx.audit.decided(Act.STOPPED, by, job, now)
        job = redraw_face(tx, number, now)
        occasion = f"iteration:{job.iteration}:stopped:{now.isoformat()}"
        reply(tx, job, occasion, say.stopped_watching(job, by), now)
        return True

    stopped = await context.store.write(stop)
    if stopped:
        context.wake()
    return stopped


async def review(context: Context, number: JobNumber, said: Review, by: UserId) -> bool:
    """Note what became of a job's pull request. Return False if it is known, or if the job has gone on."""
    noted = await context.store.write(lambda tx: note_review(tx, number, said, by, context.clock()))
    if noted:
        context.wake()
    return noted


def note_review(tx: Transaction, number: JobNumber, said: Review, by: UserId, now: datetime) -> bool:
    """Do what ``review`` does, within a transaction."""
    job = tx.jobs.get_locked(number)
    if job is None or job.is_forgotten or not job.awaits_review:
        return False
    tx.jobs.update(number, review=said, reviewed_by=by, reviewed_at=now, remind_at=None)
    job = redraw_face(tx, number, now)
    end = tx.outbox.newest_end(number, job.iteration)
    if end is not None:
        edit_reply(tx, job, end, say.reviewed_end(job, is_new=tells_new(job, end)), now)
    outdate_reminder(tx, job, now)
    return True


async def withdraw(context: Context, number: PromptId, by: UserId) -> bool:
    """Take back a prompt that has not been sent. Return False if it is too late."""
    return await _decide(context, number, by, PromptState.WAITING, take_back_waiting)


async def _decide(
    context: Context,
    number: PromptId,
    by: UserId,
    was: PromptState,
    change: Callable[[Transaction, Prompt, TrackedJob, UserId, datetime], None],
) -> bool:
    def decide(tx: Transaction) -> bool:
        prompt = tx.prompts.get(number)
        if prompt is None or prompt.state is not was:
            return False
        job = tx.jobs.known(prompt.job)
        # Locked before any prompt, in the same order as in the worker that sets the times of the queue.
        tx.quota.lock(job.project)
        change(tx, prompt, job, by, context.clock())
        return True

    try:
        done = await context.store.write(decide)
    except LeaseLost:
        return False
    if done:
        context.wake()
    return done


def _send_again(tx: Transaction, prompt: Prompt, job: TrackedJob, by: UserId, now: datetime) -> None:
    tx.prompts.apply(prompt.id, lifecycle.prompt_resent(prompt, now))
    tx.audit.decided(Act.SENT_AGAIN, by, job, now, prompt.id)
    if prompt.kind is PromptKind.START:
        tx.jobs.apply(job.number, lifecycle.resent(job))
        redraw_face(tx, job.number, now)
    show_decision(tx, job, prompt, say.SEND_AGAIN, by, now)


def _dismiss(tx: Transaction, prompt: Prompt, job: TrackedJob, by: UserId, now: datetime) -> None:
    _take_back(tx, prompt, job, now, partial(lifecycle.dismissed, by=by))
    tx.audit.decided(Act.DISMISSED, by, job, now)
    show_decision(tx, job, prompt, say.DISMISS, by, now)


def _take_back(
    tx: Transaction,
    prompt: Prompt,
    job: TrackedJob,
    now: datetime,
    over: Callable[[TrackedJob, datetime], JobStep],
) -> None:
    """Give up a prompt, and move the queue up; with the first one its job is ``over``, and its follow-ups."""
    tx.prompts.lock_of(job.number)
    tx.prompts.apply(prompt.id, lifecycle.prompt_withdrawn(prompt, now))
    tx.prompts.move_up(job.project, now)
    if prompt.kind is PromptKind.START:
        tx.jobs.apply(job.number, over(job, now))
        job = redraw_face(tx, job.number, now)
        drop_follow_ups(tx, job, now)


def take_back_waiting(tx: Transaction, prompt: Prompt, job: TrackedJob, by: UserId, now: datetime) -> None:
    """Take back a waiting prompt. A follow-up's thread is told; its job goes on."""
    _take_back(tx, prompt, job, now, lifecycle.withdrawn)
    tx.audit.decided(Act.WITHDREW, by, job, now)
    if prompt.kind is PromptKind.FOLLOW_UP:
        tx.jobs.leave_queue(job.number)
        job = redraw_face(tx, job.number, now)
        reply(tx, job, f"withdrawn:{prompt.id}", say.follow_up_withdrawn(job, prompt, by), now)
