"""The bot's own words about a job, questions, and other texts that are not sent to the agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.access.admit import Allowed
from bot.context import Context
from bot.ids import JobNumber, Message
from bot.jobs.access import Readable, if_visible, may_steer, steerable
from bot.jobs.decisions import review, run_again, to_withdraw, withdraw
from bot.jobs.messages import intents, job_answers
from bot.jobs.model.intents import Intent, asks_yes_or_no, job_number
from bot.jobs.model.jobs import Review, TrackedJob
from bot.jobs.model.prompts import Unsent
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.store.waits import Waits
from bot.jobs.welcome import welcome
from bot.store import Transaction


@dataclass(frozen=True, slots=True)
class AskDocs:
    """Takes a question about the docs, and returns an immediate reply."""

    ask: Callable[[Context, Allowed, Unsent], Awaitable[Message | None]]


async def respond(
    context: Context,
    allowed: Allowed,
    text: str,
    intent: Intent,
    unsent: Unsent,
    target: Readable | None,
) -> Message | None:
    """Return the private answer to an unsent text; None if the thread shows the result.

    ``target``: the job that the text is about; None for the job that it names, or else the author's newest in
    the channel.
    """
    match intent:
        case Intent.NO:
            return intents.WHAT_SHOULD_CHANGE
        case Intent.QUESTION:
            for docs in context.hooks_of(AskDocs):
                return await docs.ask(context, allowed, unsent)
            return intents.cannot_answer(unsent)
        case Intent.PING:
            return intents.CANNOT_PING
        case Intent.THANKS:
            return intents.YOU_ARE_WELCOME
        case Intent.GREETING | Intent.HELP:
            return await welcome(context, allowed)
    number = job_number(text)
    if number is not None or target is None:
        target = await _find(
            context, allowed, number, of_all=intent in (Intent.STATUS, Intent.SLIP)
        )
    if intent is Intent.SLIP:
        return intents.did_you_mean(unsent, target.job if target else None)
    if target is None:
        return intents.NO_JOB_HERE if number is None else job_answers.no_such_job(str(number))
    if target.job.is_forgotten:
        return job_answers.forgotten(target.job)
    return await _about(context, allowed, text, intent, target)


async def _find(
    context: Context, allowed: Allowed, number: int | None, *, of_all: bool
) -> Readable | None:
    """Return the job with this number, or else the author's newest here; ``of_all``, or anybody's."""
    user, channel = allowed.origin.user, allowed.origin.channel

    def look(tx: Transaction) -> TrackedJob | None:
        if number is not None:
            return Jobs(tx).get(JobNumber(number))
        newest = Jobs(tx).in_channel(channel, 1, user) if of_all else ()
        return Jobs(tx).latest_of(user, channel) or next(iter(newest), None)

    return await if_visible(context, allowed, await context.store.read(look))


async def answer_status(context: Context, job: TrackedJob, *, asks: bool = False) -> Message:
    """Return the status of a job in one line. ``asks``: somebody wants a yes or a no."""
    now = context.clock()
    waiting, usual = await context.store.read(
        lambda tx: (Waits(tx).of_job(job.number, now), Jobs(tx).usual_time(job.project))
    )
    return intents.status_line(job, waiting, usual, asks=asks)


async def _about(
    context: Context, allowed: Allowed, text: str, intent: Intent, target: Readable
) -> Message | None:
    """Carry out one of the bot's own words about a job."""
    job = target.job
    match intent:
        case Intent.STOP:
            return await _stop(context, allowed, target)
        case Intent.RETRY if job.can_run_again:
            await run_again(context, target, allowed.origin.key)
            return None
        case Intent.RETRY:
            return intents.not_failed(job)
        case Intent.MERGE:
            return intents.cannot_merge(job)
        case Intent.REVIEWED:
            if job.awaits_review:
                await review(context, target, Review.REVIEWED)
                job = await context.store.read(lambda tx: Jobs(tx).get_or_raise(job.number))
            return intents.reviewed(job)
        case _:
            return await answer_status(context, job, asks=asks_yes_or_no(text))


async def _stop(context: Context, allowed: Allowed, target: Readable) -> Message:
    """Take back what waits of a job, or return why nobody can."""
    job = target.job
    waits = await to_withdraw(context, job.number, allowed.user)
    if waits is not None and may_steer(context, target, waits):
        is_stopped = await withdraw(context, steerable(context, target, waits))
        if is_stopped:
            return intents.taken_back(job)
    first = await context.store.read(lambda tx: Prompts(tx).starting(job.number))
    decides = first is not None and may_steer(context, target, first)
    return intents.cannot_stop(job, may_steer=decides)
