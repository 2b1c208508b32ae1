"""The words about a job that no command owns: status, stop, retry, merge, changes, preview."""

from __future__ import annotations

import re

from bot.access.admit import Allowed
from bot.context import Context
from bot.ids import JobNumber, Message
from bot.intent.own_words import FoundWord
from bot.jobs.access import Manageable, Readable, find_manageable, may_steer, steerable
from bot.jobs.hooks import JobHooks
from bot.jobs.job_acts import run_again, to_withdraw, withdraw
from bot.jobs.messages import job_answers, unsent
from bot.jobs.model.jobs import Review, TrackedJob
from bot.jobs.reviews import review
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.store.waits import Waits
from bot.store import Transaction

JOB_WORDS = frozenset({"status", "stop", "retry", "merge", "reviewed", "changes", "preview"})
_WORD_PATTERN = re.compile(r"([a-z]+)(?:\s+(?:job\s+)?#?([1-9][0-9]{0,8}))?", re.IGNORECASE)


def takes_job_word(word: FoundWord) -> bool:
    """Return whether a word is about a job, with or without its number; False for a link."""
    return word.name in JOB_WORDS and _WORD_PATTERN.fullmatch(word.typed) is not None


def job_of(word: FoundWord) -> JobNumber | None:
    """Return the number in a word about a job; None for a word without a number."""
    match = _WORD_PATTERN.fullmatch(word.typed)
    return JobNumber(int(match[2])) if match and match[2] else None


async def run_job_word(
    context: Context, allowed: Allowed, word: FoundWord, thread_job: Readable | None
) -> Message | None:
    """Carry out a word about a job. Return the private answer; None if the thread shows the result.

    Args:
        context: The store and the settings.
        allowed: The request of its author.
        word: The word.
        thread_job: The job of the thread. Without one it is about the job that the word names, or
            else the newest here.
    """
    number = job_of(word)
    target: Manageable | None = thread_job
    if number is not None or target is None:
        target = await _find_job(context, allowed, number, of_others=word.name == "status")
    if target is None:
        return job_answers.no_such_job(str(number)) if number else unsent.NO_JOB_HERE
    if target.job.is_forgotten:
        return job_answers.forgotten(target.job)
    if not isinstance(target, Readable):
        return await _answer_admin(context, word, target)
    match word.name:
        case "stop":
            return await _stop(context, target)
        case "retry":
            return await _retry(context, target)
        case "merge":
            return unsent.cannot_merge(target.job)
        case "reviewed":
            return await _mark_reviewed(context, target)
    return await answer_by_hook(context, target, word.name)


async def _find_job(
    context: Context, allowed: Allowed, number: JobNumber | None, *, of_others: bool
) -> Manageable | None:
    """Return the job with this number; without a number the author's newest job here.

    ``of_others``: or else anybody's newest here.
    """
    user = allowed.user
    channel = allowed.origin.channel

    def look(tx: Transaction) -> TrackedJob | None:
        if number is not None:
            return Jobs(tx).get(number)
        newest = Jobs(tx).in_channel(channel, 1) if of_others else ()
        return Jobs(tx).latest_of(user, channel) or next(iter(newest), None)

    return await find_manageable(context, allowed, await context.store.read(look))


async def _answer_admin(context: Context, word: FoundWord, target: Manageable) -> Message:
    """Carry out ``stop`` about a job that an admin may not read, else show the job's state."""
    if word.name == "stop" and await _take_back(context, target):
        return unsent.TAKEN_BACK
    return await answer_unreadable(context, target)


async def _take_back(context: Context, target: Manageable) -> bool:
    """Take back the waiting prompt of a job, if the person may decide that."""
    waiting = await to_withdraw(context, target.job.number, target.allowed.user)
    if waiting is None or not may_steer(context, target, waiting):
        return False
    return await withdraw(context, steerable(context, target, waiting))


async def _stop(context: Context, target: Readable) -> Message:
    """Take back the waiting prompt of a job, or return why nothing is taken back."""
    if await _take_back(context, target):
        return unsent.TAKEN_BACK
    number = target.job.number
    job = await context.store.read(lambda tx: Jobs(tx).get_or_raise(number))
    first = await context.store.read(lambda tx: Prompts(tx).starting(job.number))
    decides = first is not None and may_steer(context, target, first)
    return unsent.cannot_stop(job, may_steer=decides)


async def _retry(context: Context, target: Readable) -> Message | None:
    """Run a job again that ended without a result. The thread shows the new one."""
    if not target.job.can_run_again:
        return unsent.not_failed(target.job)
    await run_again(context, target, target.allowed.origin.key)
    return None


async def _mark_reviewed(context: Context, target: Readable) -> Message:
    job = target.job
    if job.awaits_review:
        await review(context, target, Review.REVIEWED)
        job = await context.store.read(lambda tx: Jobs(tx).get_or_raise(job.number))
    return unsent.reviewed(job)


async def answer_by_hook(context: Context, target: Readable, word: str) -> Message:
    """Answer a word about a job by the hook of a feature, else with the job's status."""
    for hooks in context.hooks_of(JobHooks):
        if word in hooks.answer_words:
            return await hooks.answer_words[word](context, target)
    return await answer_status(context, target.job)


async def answer_status(context: Context, job: TrackedJob) -> Message:
    """Return the status of a job in one line, with whom its review waits for."""
    now = context.clock()

    def look(tx: Transaction) -> Message:
        waiting = Waits(tx).of_job(job.number, now)
        return unsent.status_line(job, waiting, Jobs(tx).usual_time(job.project))

    return await context.store.read(look)


async def answer_unreadable(
    context: Context, target: Manageable, *, is_unsent: bool = False
) -> Message:
    """Return the state of a job that an admin may not read, with the buttons for decisions.

    ``is_unsent``: the admin wanted to send it a follow-up.
    """
    number = target.job.number
    now = context.clock()
    waiting_prompt = await to_withdraw(context, number, target.allowed.user)

    def look(tx: Transaction) -> Message:
        return job_answers.unreadable_job(
            Jobs(tx).get_or_raise(number),
            Waits(tx).of_job(number, now),
            can_withdraw=waiting_prompt is not None,
            unconfirmed=Prompts(tx).unconfirmed_of(number),
            is_unsent=is_unsent,
        )

    return await context.store.read(look)
