"""What the buttons under a message do: run again, send again, forget, withdraw."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pydantic import SecretStr

from bot.messages import jobs as say
from bot.model import (
    JobNumber,
    JobState,
    Prompt,
    PromptId,
    PromptKind,
    PromptState,
    RequestKey,
    TrackedJob,
    UserId,
)
from bot.store import LeaseLost, Transaction
from bot.work.context import Context
from bot.work.jobs.ask import Asked, AskRequest, ask
from bot.work.jobs.follow_up import FollowedUp, FollowUpRequest, follow_up
from bot.work.jobs.thread_messages import redraw_face, reply
from bot.work.jobs.transitions import OUT_OF_QUEUE, drop_follow_ups


@dataclass(frozen=True, slots=True)
class RunAgain:
    """Start a new job with the text and in the channel of an old one.

    ``occasion`` makes presses of one button count once.
    """

    job: JobNumber
    occasion: str
    user: UserId
    response_url: SecretStr | None = None


async def run_again(context: Context, request: RunAgain) -> Asked | None:
    """A new job; None when the old one is unknown. A second press of the same button finds the first's."""
    prompt, job = await context.store.read(
        lambda tx: (tx.prompts.starting(request.job), tx.jobs.get(request.job))
    )
    if prompt is None or job is None:
        return None
    key = RequestKey(f"again:{request.job}:{request.occasion}")
    return await ask(
        context,
        AskRequest(key, job.channel, request.user, prompt.raw, request.response_url, allow_duplicate=True),
    )


async def follow_up_anyway(context: Context, number: PromptId, once: str, user: UserId) -> FollowedUp | None:
    """The same follow-up once more, after the person was asked."""
    prompt, job = await context.store.read(lambda tx: _prompt_and_job(tx, number))
    if prompt is None or job is None:
        return None
    key = RequestKey(f"anyway:follow_up:{number}:{once}")
    request = FollowUpRequest(key, job.number, job.channel, user, prompt.raw, allow_duplicate=True)
    return await follow_up(context, request)


def _prompt_and_job(tx: Transaction, number: PromptId) -> tuple[Prompt | None, TrackedJob | None]:
    prompt = tx.prompts.get(number)
    return prompt, tx.jobs.get(prompt.job) if prompt else None


async def may_decide(context: Context, number: PromptId, user: UserId) -> UserId | None:
    """None when this person may decide about a prompt; otherwise whoever asked it, who may.

    So may whoever asked for the job, and admins.
    """
    prompt, job = await context.store.read(lambda tx: _prompt_and_job(tx, number))
    if (
        prompt is None
        or job is None
        or user in {prompt.asked_by, job.requester} | context.access_policy.admins
    ):
        return None
    return prompt.asked_by


async def to_withdraw(context: Context, job: JobNumber, user: UserId) -> PromptId | None:
    """What *Withdraw* under a root message takes back: the job's own prompt, else one of its follow-ups.

    Of these the presser's own first; None when nothing of the job waits any more.
    """
    prompts = await context.store.read(lambda tx: tx.prompts.unsettled_of(job))
    waiting = [prompt for prompt in prompts if prompt.state is PromptState.WAITING]
    waiting.sort(key=lambda prompt: (prompt.kind is not PromptKind.START, prompt.asked_by != user, prompt.id))
    return waiting[0].id if waiting else None


async def send_again(context: Context, prompt_id: PromptId) -> bool:
    """A person decided that a prompt in doubt is sent once more. False when it is not in doubt any more."""
    return await _decide(context, prompt_id, PromptState.UNCONFIRMED, PromptState.WAITING)


async def forget(context: Context, prompt_id: PromptId) -> bool:
    """A person decided to leave a prompt in doubt alone. False when it is not in doubt any more."""
    return await _decide(context, prompt_id, PromptState.UNCONFIRMED, PromptState.WITHDRAWN)


async def withdraw(context: Context, prompt_id: PromptId) -> bool:
    """Take back what has not been sent. False when it is too late."""
    return await _decide(context, prompt_id, PromptState.WAITING, PromptState.WITHDRAWN)


async def _decide(context: Context, prompt_id: PromptId, was: PromptState, becomes: PromptState) -> bool:
    def decide(tx: Transaction) -> bool:
        prompt = tx.prompts.get(prompt_id)
        if prompt is not None:
            _change(context, tx, prompt, was, becomes)
        return prompt is not None

    try:
        decided = await context.store.write(decide)
    except LeaseLost:
        return False
    if decided:
        context.wake()
    return decided


def _change(
    context: Context, tx: Transaction, prompt: Prompt, was: PromptState, becomes: PromptState
) -> None:
    now, project = context.clock(), (tx.jobs.known(prompt.job)).project
    # Before any prompt, as the round does that gives places: whoever leaves the queue meets it whole.
    tx.quota.lock(project)
    tx.prompts.change(
        prompt.id,
        was=was,
        state=becomes,
        due_at=now,
        sent_at=None,
        queue_position=None,
        claimed_by=None,
        claimed_until=None,
    )
    if was is PromptState.WAITING:
        tx.prompts.move_up(project, now)
    if prompt.kind is PromptKind.FOLLOW_UP:
        if was is PromptState.WAITING:
            _say_withdrawn(tx, prompt, now)
        return
    if becomes is PromptState.WAITING:
        tx.jobs.change(prompt.job, state=JobState.WAITING, ended_at=None, **OUT_OF_QUEUE)
        redraw_face(tx, prompt.job, now)
        return
    tx.jobs.change(prompt.job, state=JobState.WITHDRAWN, ended_at=now, **OUT_OF_QUEUE)
    job = redraw_face(tx, prompt.job, now)
    drop_follow_ups(tx, job, now)


def _say_withdrawn(tx: Transaction, prompt: Prompt, now: datetime) -> None:
    """The job goes on as it was; what waits behind the follow-up takes its place in the queue."""
    tx.jobs.change(prompt.job, **OUT_OF_QUEUE)
    job = redraw_face(tx, prompt.job, now)
    reply(tx, job, f"withdrawn:{prompt.id}", say.follow_up_withdrawn(job, prompt), now)
