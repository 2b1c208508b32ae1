"""The weekly digest: recommendations, readers, and the agent's work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

import structlog

from bot.context import WorkerContext
from bot.jobs.model.jobs import JobState, ToReview, TrackedJob
from bot.jobs.store.jobs import Jobs
from bot.outbox.model import NewDelivery
from bot.outbox.store import Outbox
from bot.store import Transaction
from bot.store.channels import Channels
from bot.visitors import digest_messages
from bot.visitors.content_gaps import Source
from bot.visitors.model import (
    Numbers,
    Query,
    Question,
    ReadingProblem,
    Subscription,
    SubscriptionState,
)
from bot.visitors.periods import WEEK, Period, day_start, days_before
from bot.visitors.recommendations import MOST_RECOMMENDED, Digest, Recommendation, recommend
from bot.visitors.report import build_report
from bot.visitors.store import Snapshots, Subscriptions

log = structlog.get_logger(__name__)
_CHART_WEEKS, _TOP, _MOST_TO_REVIEW = 8, 3, 3
_RECENT = timedelta(days=30)
"""A row is not recommended again while a job for it is younger than this."""
_MOST_ABOUT_GAPS = 1_000
_UNSUCCESSFUL = (JobState.FAILED, JobState.REFUSED, JobState.WITHDRAWN)


def digest_query(week: Period, section: str | None) -> Query:
    weeks = tuple(days_before(week.end - n * WEEK, 7) for n in reversed(range(_CHART_WEEKS)))
    return Query(week, week.before(), section, top=_TOP, chart=weeks)


def gap_windows(query: Query) -> Iterator[tuple[Period, Source]]:
    """Yield the sources of content gaps that a digest reads, with their weeks."""
    week, before = query.period, query.period.before()
    if not query.section:  # searches belong to no section
        yield from ((week, Source.SEARCHES), (before, Source.SEARCHES))
    yield from ((week, Source.VOTES), (week, Source.COMMENTS))
    yield from ((week, Source.QUESTIONS), (before, Source.QUESTIONS))


def send_digest(context: WorkerContext, tx: Transaction, question: Question, numbers: Numbers) -> bool:
    """Post a digest. Return False without numbers: the owner or the requester gets the reason.

    A subscription ends with its project.
    """
    now, key, week = context.clock(), f"question:{question.id}:answer", question.query.period
    subscription = Subscriptions(tx).get(question.subscription) if question.subscription else None
    is_served = context.projects.serve(question.project)
    if is_served and numbers.visitors(week) is not None:
        message = digest_messages.digest(_build(context, tx, question, numbers, subscription), question.id)
        post = NewDelivery.post(key, question.channel, question.user or None, message)
        Outbox(tx).add(replace(post, subscription=question.subscription, question=question.id), now)
        return True
    problem = numbers.snapshots[0].problem or ReadingProblem.LATE
    problem = problem if is_served else ReadingProblem.NOT_SERVED
    log.error("digest_missed", question=question.id, reason=problem)
    if subscription:
        Subscriptions(tx).change(subscription.id, last_result=f"not told: {problem}", last_run_at=now)
        if not is_served:
            Subscriptions(tx).change(subscription.id, state=SubscriptionState.ENDED, next_run_at=None)
    project = context.projects.shown(question.project)
    message = digest_messages.missed(question, week, problem, project)
    reader, url = subscription.owner if subscription else question.user, question.response_url
    Outbox(tx).add(NewDelivery.private(key, question.channel, reader, message, response_url=url), now)
    return False


def _build(
    context: WorkerContext,
    tx: Transaction,
    question: Question,
    numbers: Numbers,
    subscription: Subscription | None,
) -> Digest:
    zone, now = context.analytics.zone, context.clock()
    week, project, channel = question.query.period, question.project, question.channel
    began_at = day_start(week.first, zone)
    recent = Jobs(tx).about_gaps(project, now - _RECENT, _MOST_ABOUT_GAPS)
    waiting, count = Jobs(tx).awaiting_review(project, channel, _MOST_TO_REVIEW)
    outcomes: dict[str, TrackedJob] = {}  # the newest job of each row
    for job in recent:
        if job.about and job.channel == channel and job.asked_at >= began_at:
            outcomes.setdefault(job.about.key, job)
    return Digest(
        build_report(numbers, Snapshots(tx).pages_of(numbers), zone, context.budget(tx, project)),
        *Jobs(tx).count_asked(project, began_at, day_start(week.end, zone)),
        to_review=ToReview(tuple(waiting), now, count - len(waiting), Channels(tx).reviewers(channel)),
        recommendations=_recommendations(numbers, recent),
        outcomes=list(outcomes.values())[:MOST_RECOMMENDED],
        gap_snapshots=[snapshot for snapshot in numbers.snapshots if snapshot.source is not Source.VISITORS],
        subscription=subscription,
    )


def _recommendations(numbers: Numbers, recent: Sequence[TrackedJob]) -> list[Recommendation]:
    excluded = {job.about.key for job in recent if job.about and job.state not in _UNSUCCESSFUL}
    week = numbers.query.period
    now, was = (
        {source: rows for source in Source if (rows := numbers.gap_rows(source, period))}
        for period in (week, week.before())
    )
    return recommend(now, was, numbers.query.section, excluded)
