"""Poll the running jobs, and write each answer together with the messages about it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import structlog

from bot.context import WorkerContext
from bot.docs_api import DocsApiError, Job, JobStatus, NotConfigured, NotFound, Unavailable
from bot.engine import unless_taken_over
from bot.ids import Message, ProjectId
from bot.jobs.hooks import JobHooks
from bot.jobs.messages import jobs as messages
from bot.jobs.model import lifecycle
from bot.jobs.model.jobs import JobState, TrackedJob
from bot.jobs.prompt_outcomes import add_details
from bot.jobs.reviews import remind_at
from bot.jobs.service_health import (
    is_about_service,
    is_key_problem,
    note_service_failure,
    note_service_success,
    poll_retry_seconds,
    poll_wait_seconds,
    settle_refused_key,
    wait_asked_for,
)
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.limits import BackOffs
from bot.jobs.store.prompts import Prompts
from bot.jobs.thread import remove_buttons, result_message, say, say_end
from bot.logs import reason_of
from bot.messages.blocks import clean_url, web_address
from bot.store import DatabaseTrouble, LeaseLost, Transaction

log = structlog.get_logger(__name__)
_BATCH_SIZE = 50


async def claim_polls(
    context: WorkerContext, limit: int, full: Collection[str] = ()
) -> Sequence[TrackedJob]:
    """Claim the jobs whose polls are due, the most overdue first.

    ``full``: projects of which none is claimed.
    """
    most = min(limit, _BATCH_SIZE)
    return await context.store.write(
        lambda tx: Jobs(tx).claim_due(context.claimer(), most, besides=full)
    )


async def poll(context: WorkerContext, job: TrackedJob) -> None:
    """Poll one job and write the answer. An answer that cannot be written is a failed poll, too."""
    # A job whose last poll failed gets as long as any call.
    limit_seconds = None if job.poll_failing_since else context.timeouts.poll_seconds
    with unless_taken_over("job", job.number):
        try:
            has_news = await _poll(context, job, limit_seconds)
        except (LeaseLost, DatabaseTrouble):
            raise
        except Exception as error:
            failure = error
            if isinstance(error, TimeoutError):
                failure = Unavailable(f"no answer within {limit_seconds} s", sent=True)
            if not isinstance(failure, DocsApiError):
                log.exception("poll_broke", job=job.number)
            has_news = True
            context.failing.add(job.project)
            await context.settle(lambda tx: settle_failed_poll(context, tx, job, failure))
        if has_news:
            context.wake()


async def _poll(context: WorkerContext, job: TrackedJob, limit_seconds: float | None) -> bool:
    """Poll one job and write the answer. Return whether there is a message."""
    if job.service_id is None:
        raise LookupError(f"job {job.number} is polled without an id of the service")
    async with asyncio.timeout(limit_seconds):
        answer = await context.docs.get_job(job.project, job.service_id)
    last = context.answered.get(job.project)
    context.answered[job.project] = context.clock()

    def settle(tx: Transaction) -> bool:
        if last is None or job.project in context.failing:
            _bring_polls_forward(context, tx, job.project, last)
        return settle_poll(context, tx, job, answer)

    has_news = await context.settle(settle)
    context.failing.discard(job.project)
    return has_news


def _bring_polls_forward(
    context: WorkerContext, tx: Transaction, project: ProjectId, failed_after: datetime | None
) -> None:
    """Poll the jobs soon whose polls failed after a time, because the service answers again.

    A job whose polls fail while polls of other jobs succeed is left out. ``failed_after``: None for
    any time.
    """
    step = _AFTER_OUTAGE_SECONDS / _TURNS
    times = [context.after(step * turn) for turn in range(1, _TURNS + 1)]
    count = Jobs(tx).bring_polls_forward(project, failed_after, times)
    if count:
        log.info("polls_brought_forward", project=project, jobs=count)


_AFTER_OUTAGE_SECONDS = 30.0
"""The seconds over which the polls that failed during an outage are spread when it is over."""
_TURNS = 15


_HOURLY_SECONDS = 3_600.0
"""Pause between two polls of a job that has run for long."""
_MIN_NOT_FOUND = 5
"""A job is lost after at least so many 404 answers in a row, over ``Timeouts.not_found_seconds``."""
_NOT_FOUND_CAP_SECONDS = 600.0
"""Longest pause between two polls of a job that gets 404 answers."""
_UNREAD_CAP_SECONDS = 3_600.0
"""Longest pause between two polls of a job that cannot be read."""
_STATE_BY_STATUS: Mapping[str, JobState] = {
    JobStatus.COMPLETED: JobState.PULL_REQUEST,
    JobStatus.FAILED: JobState.FAILED,
    JobStatus.ARCHIVED: JobState.ARCHIVED,
}
_ANSWERED_SECONDS = 60.0
"""A poll that fails is its job's own trouble where another was answered in this time.

Or where another was answered since it fails.
"""


def settle_poll(context: WorkerContext, tx: Transaction, job: TrackedJob, answer: Job) -> bool:
    """Write an answer about a job's current iteration. Return whether there is a message."""
    now = context.clock()
    age_seconds = (now - (job.iteration_started_at or job.asked_at)).total_seconds()
    wait_seconds = poll_wait_seconds(context.settings, age_seconds, context.chance())
    if job.long_run_notice_at:
        wait_seconds = max(_HOURLY_SECONDS, context.settings.poll_max_seconds)
    read = lifecycle.record_poll(add_details(job, answer), context.after(wait_seconds))
    note_service_success(context, tx, job.project, wrote=False)
    # The service may leave out the pull request of an earlier end, which still exists.
    link = clean_url(answer.pr_link, context.settings.allowed_link_hosts) or job.pr_link
    end = _STATE_BY_STATUS.get(answer.status)
    if end is JobState.PULL_REQUEST and not link:
        end = JobState.NO_PULL_REQUEST
    if end is None:
        return _settle_running(context, tx, job, read, age_seconds)
    # A time further ahead was written by a clock that was ahead.
    until = job.unconfirmed_until
    latest = context.after(context.timeouts.quiet_seconds)
    if until is not None and not now < until <= latest:
        # The follow-up did not begin an iteration, so there is no message.
        Jobs(tx).save(job, lifecycle.without_polls(read), owner=context.owner)
    elif until is not None or (
        not job.has_been_active and age_seconds < context.timeouts.stale_seconds
    ):
        # The follow-up is undecided yet, or the end may belong to the previous iteration.
        Jobs(tx).save(job, read, owner=context.owner)
    else:
        reminder_at = remind_at(context, now) if web_address(link) else None
        over = lifecycle.end_iteration(read, end, now, pr_link=link, remind_at=reminder_at)
        _end_iteration(context, tx, job, over)
    return True


def _settle_running(
    context: WorkerContext, tx: Transaction, job: TrackedJob, read: TrackedJob, age_seconds: float
) -> bool:
    now = context.clock()
    quiet_seconds = context.timeouts.running_seconds
    if job.long_run_notice_at:
        quiet_seconds = context.timeouts.unwatched_seconds
    if job.unconfirmed_until is not None:
        follow_up = Prompts(tx).find_possibly_accepted(job.number)
        if follow_up is None:
            # The job exists: its agent works on a prompt from elsewhere, or the answer is old.
            Jobs(tx).save(job, lifecycle.without_polls(read), owner=context.owner)
            return True
        poll_at = context.after(context.settings.poll_min_seconds)
        begun = lifecycle.start_iteration(
            read, follow_up.asked_by, now, poll_at=poll_at, has_been_active=True
        )
        Jobs(tx).save(job, begun, owner=context.owner)
        remove_buttons(context, tx, job, now)
    elif age_seconds < quiet_seconds:
        usual = None if job.is_slow else Jobs(tx).usual_time(job.project)
        is_slow = job.is_slow or (usual is not None and age_seconds > usual.total_seconds())
        running = replace(read, has_been_active=True, is_slow=is_slow)
        Jobs(tx).save(job, running, owner=context.owner)
        return is_slow and not job.is_slow
    elif job.long_run_notice_at is None:
        Jobs(tx).save(
            job, replace(read, has_been_active=True, long_run_notice_at=now), owner=context.owner
        )
        say(tx, job, f"iteration:{job.iteration}:running", messages.still_running(job, now), now)
    else:
        _stop_polling(context, tx, job, messages.unwatched_message(job, now))
    return True


def _stop_polling(
    context: WorkerContext, tx: Transaction, job: TrackedJob, message: Message
) -> None:
    """Stop polling a job, and post that in its thread unless the thread has its end."""
    if job.state is not JobState.WORKING:
        Jobs(tx).save(job, lifecycle.without_polls(job), owner=context.owner)
        return
    now = context.clock()
    job = Jobs(tx).save(job, lifecycle.mark_job_unwatched(job, now), owner=context.owner)
    say_end(tx, job, message, now)


def _end_iteration(
    context: WorkerContext, tx: Transaction, before: TrackedJob, over: TrackedJob
) -> None:
    now = context.clock()
    job = Jobs(tx).save(before, over, owner=context.owner)
    remove_buttons(context, tx, before, now)
    for hooks in context.hooks_of(JobHooks):
        hooks.on_iteration_ended(context, tx, job)
    job = Jobs(tx).get_or_raise(job.number)
    say_end(tx, job, result_message(context, tx, job), now)
    log.info("job_ended", job=job.number, state=job.state, iteration=job.iteration)


def settle_failed_poll(
    context: WorkerContext, tx: Transaction, job: TrackedJob, error: Exception
) -> None:
    """Write a failed poll: back off, and stop polling a job that could not be read for days."""
    now = context.clock()
    if isinstance(error, NotConfigured):
        _stop_polling(context, tx, job, messages.not_served(job))
        return
    if isinstance(error, NotFound):
        _settle_missing(context, tx, job)
        return
    since = job.poll_failing_since or now
    if job.state is JobState.WORKING:
        begun = job.iteration_started_at or job.asked_at
        most_seconds = context.timeouts.unwatched_seconds
    else:
        begun = job.unconfirmed_until or job.ended_at or job.asked_at
        most_seconds = context.timeouts.watch_seconds
    if (now - begun).total_seconds() >= most_seconds:
        _stop_polling(context, tx, job, messages.polls_failed(job, since, now))
        return
    poll_at = _retry_at(context, tx, job, error)
    Jobs(tx).save(job, replace(job, poll_at=poll_at, poll_failing_since=since), owner=context.owner)


def _retry_at(
    context: WorkerContext, tx: Transaction, job: TrackedJob, error: Exception
) -> datetime:
    """Return the time of the next poll after an error.

    An error about the project backs off from it.
    """
    failing_seconds = (
        context.clock() - (job.poll_failing_since or context.clock())
    ).total_seconds()
    own_seconds = poll_retry_seconds(
        context.settings, failing_seconds, context.chance(), cap=_UNREAD_CAP_SECONDS
    )
    own = context.after(max(own_seconds, wait_asked_for(error)))
    answered_at = context.answered.get(job.project)
    recently = context.after(-_ANSWERED_SECONDS)
    is_own = answered_at is not None and answered_at > (job.poll_failing_since or recently)
    fails_for_long = job.poll_failing_since is not None and job.poll_failing_since < recently
    if is_key_problem(error):
        if not is_own:
            return settle_refused_key(context, tx, job.project, error, wrote=False)
    elif is_about_service(error) or (
        isinstance(error, Unavailable) and fails_for_long and not is_own
    ):
        back_off = BackOffs(tx).of(job.project)
        is_probe = back_off is None or not back_off.lasts(context.clock())
        until = note_service_failure(context, tx, job.project, error)
        # One job is polled at the end of each back-off, to see when the service answers again.
        return until if is_probe else max(own, until)
    log.warning("job_not_read", job=job.number, reason=reason_of(error))
    return own


def _settle_missing(context: WorkerContext, tx: Transaction, job: TrackedJob) -> None:
    """Write a 404 answer. A job that stays unknown for long enough is lost, and polling stops."""
    now = context.clock()
    count = job.not_found_count + 1
    since = job.not_found_since or now
    not_found_seconds = (now - since).total_seconds()
    if job.state is JobState.GONE:
        Jobs(tx).save(job, lifecycle.without_polls(job), owner=context.owner)
    elif count >= _MIN_NOT_FOUND and not_found_seconds >= context.timeouts.not_found_seconds:
        _end_iteration(context, tx, job, lifecycle.end_lost_job(job, now))
    else:
        wait_seconds = poll_retry_seconds(
            context.settings, not_found_seconds, context.chance(), cap=_NOT_FOUND_CAP_SECONDS
        )
        poll_at = context.after(wait_seconds)
        missing = replace(
            lifecycle.record_poll(job, poll_at), not_found_count=count, not_found_since=since
        )
        Jobs(tx).save(job, missing, owner=context.owner)
