"""The acts of people on a job, by button: run again, send, dismiss, withdraw, stop watching."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime

from bot.access.admit import check_channel
from bot.context import Context
from bot.ids import JobNumber, RequestKey, UserId
from bot.jobs.access import Readable, Steerable
from bot.jobs.ask import Asked, FollowUpOutcome, ask, follow_up
from bot.jobs.messages import jobs as messages
from bot.jobs.model import lifecycle
from bot.jobs.model.jobs import JobProblem, JobState, TrackedJob
from bot.jobs.model.prompts import Act, Prompt, PromptKind, PromptRequest, PromptState
from bot.jobs.prompt_outcomes import drop_follow_ups, show_decision
from bot.jobs.store.audit import Audit
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.thread import say
from bot.store import Transaction


async def run_again(
    context: Context, readable: Readable, occasion: str, raw: str | None = None
) -> Asked | None:
    """Start a new job in the channel of an old one.

    None if the old one is forgotten, or has no words.

    ``raw``: the new prompt; None for the old job's prompt. ``occasion`` identifies the button or
    the form, so that a second use of it returns the job of the first.
    """
    job = readable.job
    prompt = await context.store.read(lambda tx: Prompts(tx).starting(job.number))
    if prompt is None or job.is_forgotten:
        return None
    words = prompt.raw if raw is None else raw
    if not words:
        return None
    again = PromptRequest(
        words,
        allow_duplicate=True,
        allow_key=raw in (None, prompt.raw),
        attach_thread=prompt.attach_thread,
        files=prompt.files,
        rerun_of=job.number,
        project=None if context.projects.serves_former else job.project,
        gap=job.gap,
    )
    pressed = sent_by_button(readable, f"again:{job.number}:{occasion}")
    return await ask(context, pressed.allowed, again)


async def follow_up_anyway(
    context: Context, readable: Readable, prompt: Prompt, occasion: str
) -> FollowUpOutcome:
    """Send an equal follow-up again, as the person has confirmed."""
    sent = sent_by_button(readable, f"anyway:follow_up:{prompt.id}:{occasion}")
    again = PromptRequest(prompt.raw, allow_duplicate=True, allow_key=True)
    return await follow_up(context, sent, again)


def sent_by_button(readable: Readable, key: str) -> Readable:
    """Return the request of a prompt that a button sends.

    It has no message, because the button's message is the bot's. A new job goes into the thread of
    the old job's request.
    """
    job = readable.job
    return readable.with_request(
        key=RequestKey(key), channel=job.channel, thread=job.thread_ts, message_ts=None
    )


async def to_withdraw(context: Context, job: JobNumber, user: UserId) -> Prompt | None:
    """Return the prompt that *Withdraw* on a status message takes back; None if all are sent.

    The prompt that starts the job comes first, then the follow-ups of ``user``, then other people's
    follow-ups.
    """
    prompts = await context.store.read(lambda tx: Prompts(tx).unsettled_of(job))
    waiting = [prompt for prompt in prompts if prompt.state is not PromptState.SENDING]

    def rank(prompt: Prompt) -> tuple[bool, bool, int]:
        return prompt.kind is not PromptKind.START, prompt.asked_by != user, prompt.id

    return min(waiting, key=rank, default=None)


async def send_again(context: Context, steerable: Steerable) -> bool:
    """Send an unconfirmed prompt again.

    Return False if it is not unconfirmed any more, or has no words.

    Raises NotAllowed for a job in a channel that the bot is not set up for.
    """
    if steerable.prompt.channel:
        check_channel(context, steerable.prompt.channel)

    def resend(tx: Transaction, prompt: Prompt, job: TrackedJob, by: UserId, now: datetime) -> None:
        Prompts(tx).save(prompt, lifecycle.resend_prompt(prompt, now))
        Audit(tx).decided(Act.SENT_AGAIN, by, job, now, prompt.id)
        if prompt.kind is PromptKind.START:
            Jobs(tx).save(job, lifecycle.resend_job(job))
        show_decision(tx, job, prompt, messages.SEND_AGAIN, by, now)

    return await _decide(context, steerable, (PromptState.UNCONFIRMED,), resend, needs_words=True)


async def dismiss(context: Context, steerable: Steerable) -> bool:
    """Dismiss an unconfirmed prompt. Return False if it is not unconfirmed any more."""

    def give_up(
        tx: Transaction, prompt: Prompt, job: TrackedJob, by: UserId, now: datetime
    ) -> None:
        take_back_prompt(tx, prompt, job, by, now, JobProblem.DISMISSED)
        show_decision(tx, job, prompt, messages.DISMISS, by, now)

    return await _decide(context, steerable, (PromptState.UNCONFIRMED,), give_up)


async def withdraw(context: Context, steerable: Steerable) -> bool:
    """Take back a prompt that has not been sent. Return False if it is too late."""
    return await _decide(
        context, steerable, (PromptState.NEW, PromptState.WAITING), take_back_prompt
    )


async def _decide(
    context: Context,
    steerable: Steerable,
    states: Collection[PromptState],
    change: Callable[[Transaction, Prompt, TrackedJob, UserId, datetime], None],
    *,
    needs_words: bool = False,
) -> bool:
    """Change a prompt that is in one of these states. Return False if it is not any more.

    ``needs_words``: a prompt whose messages are deleted is left alone, too.
    """

    def decide(tx: Transaction) -> bool:
        prompt = Prompts(tx).get(steerable.prompt.id)
        if prompt is None or prompt.state not in states or (needs_words and not prompt.raw):
            return False
        job = Jobs(tx).get_or_raise(prompt.job)
        change(tx, prompt, job, steerable.allowed.user, context.clock())
        return True

    done = await context.store.write(decide)
    if done:
        context.wake()
    return done


async def stop_watching(context: Context, steerable: Steerable) -> bool:
    """Stop polling a running job, and post that in its thread.

    Return False if it is not running.
    """
    now = context.clock()
    by = steerable.allowed.user

    def stop(tx: Transaction) -> bool:
        job = Jobs(tx).get_or_raise(steerable.prompt.job)
        if job.state is not JobState.WORKING:
            return False
        job = Jobs(tx).save(job, lifecycle.mark_job_unwatched(job, now))
        Audit(tx).decided(Act.STOPPED, by, job, now)
        occasion = f"iteration:{job.iteration}:stopped:{now.isoformat()}"
        say(tx, job, occasion, messages.stopped_watching(job, by), now)
        return True

    return await context.write(stop)


def take_back_prompt(
    tx: Transaction,
    prompt: Prompt,
    job: TrackedJob,
    by: UserId,
    now: datetime,
    end: JobProblem = JobProblem.WITHDRAWN,
) -> None:
    """Give up a prompt, and move the queue up.

    With the first prompt its job is over, and the job's follow-ups.

    A prompt that no thread shows is withdrawn without a message.
    """
    is_shown = prompt.text is not None
    is_dismissed = end is JobProblem.DISMISSED
    Prompts(tx).save(prompt, lifecycle.withdraw_prompt(prompt, now))
    Prompts(tx).move_up(job.project, now)
    if is_shown:
        Audit(tx).decided(Act.DISMISSED if is_dismissed else Act.WITHDREW, by, job, now)
    if prompt.kind is PromptKind.START:
        job = Jobs(tx).save(job, lifecycle.withdraw_job(job, now, end, by))
        drop_follow_ups(tx, job, now, has_thread=is_shown)
    elif is_shown and not is_dismissed:
        job = Jobs(tx).save(job, lifecycle.without_wait(job))
        message = messages.follow_up_withdrawn(job, prompt, end, by)
        say(tx, job, f"withdrawn:{prompt.id}", message, now)


def refuse_waiting_prompt(
    tx: Transaction,
    prompt: Prompt,
    now: datetime,
    problem: JobProblem = JobProblem.NOT_ALLOWED,
) -> None:
    """Refuse a prompt that waits, and move the queue up.

    With the first prompt its job is refused, and the job's follow-ups.

    Its author is told by the caller.
    """
    is_shown = prompt.text is not None
    Prompts(tx).save(prompt, lifecycle.refuse_prompt(prompt))
    job = Jobs(tx).get_or_raise(prompt.job)
    Prompts(tx).move_up(job.project, now)
    if prompt.kind is PromptKind.START:
        job = Jobs(tx).save(job, lifecycle.refuse_job(job, problem, now))
        drop_follow_ups(tx, job, now, has_thread=is_shown)
    else:
        Jobs(tx).save(job, lifecycle.without_wait(job))
