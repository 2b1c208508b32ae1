"""Answers and actions for texts that are not sent to the agent."""

from __future__ import annotations

from bot.access.admit import Allowed
from bot.context import Context
from bot.ids import JobNumber, Message
from bot.jobs.access import Readable, may_steer, readable
from bot.jobs.decisions import review, run_again, to_withdraw
from bot.jobs.messages import intents as say
from bot.jobs.messages import job_answers
from bot.jobs.model.intents import Intent, asks_yes_or_no, job_number
from bot.jobs.model.jobs import Review
from bot.jobs.model.prompts import Unsent
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.store.waits import Waits
from bot.jobs.welcome import welcome


async def respond(
    context: Context, allowed: Allowed, text: str, intent: Intent, unsent: Unsent, target: Readable | None
) -> Message | None:
    """Return the private answer to an unsent text; None if the thread shows the result.

    ``target``: the job that the text is about; None for the job that it names, or else the author's newest in
    the channel.
    """
    match intent:
        case Intent.NO:
            return say.WHAT_SHOULD_CHANGE
        case Intent.QUESTION:
            return say.cannot_answer(unsent)
        case Intent.PING:
            return say.CANNOT_PING
        case Intent.THANKS:
            return say.YOU_ARE_WELCOME
        case Intent.GREETING | Intent.HELP:
            return await welcome(context, allowed)
    number = job_number(text)
    if number is not None or target is None:
        target = await _find(context, allowed, number)
    if target is None:
        return say.NO_JOB_HERE if number is None else job_answers.no_such_job(str(number))
    if target.job.is_forgotten:
        return job_answers.forgotten(target.job)
    return await _about(context, allowed, text, intent, target)


async def _find(context: Context, allowed: Allowed, number: int | None) -> Readable | None:
    origin = allowed.origin
    job = await context.store.read(
        lambda tx: (
            Jobs(tx).latest_of(origin.user, origin.channel)
            if number is None
            else Jobs(tx).get(JobNumber(number))
        )
    )
    return await readable(context, allowed, job)


async def _about(
    context: Context, allowed: Allowed, text: str, intent: Intent, target: Readable
) -> Message | None:
    """Carry out one of the bot's own words about a job."""
    job, now = target.job, context.clock()
    match intent:
        case Intent.STOP:
            waits = await to_withdraw(context, job.number, allowed.user)
            first = await context.store.read(lambda tx: Prompts(tx).starting(job.number))
            decides = [prompt for prompt in (waits, first) if prompt and may_steer(context, target, prompt)]
            return say.cannot_stop(job, withdraws=waits in decides, may_steer=first in decides)
        case Intent.RETRY if job.can_run_again:
            await run_again(context, target, allowed.origin.key)
            return None
        case Intent.RETRY:
            return say.not_failed(job)
        case Intent.MERGE:
            return say.cannot_merge(job)
        case Intent.REVIEWED:
            if job.awaits_review:
                await review(context, target, Review.REVIEWED)
                job = await context.store.read(lambda tx: Jobs(tx).get_or_raise(job.number))
            return say.reviewed(job)
        case _:
            waiting = await context.store.read(lambda tx: Waits(tx).of_job(job.number, now))
            return say.status_line(job, waiting, asks=asks_yes_or_no(text))
