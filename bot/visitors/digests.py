"""The weekly digest: readers, recommendations with their outcomes, and the pull requests to review."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from zoneinfo import ZoneInfo

import structlog

from bot.context import Context, WorkerContext
from bot.ids import QuestionId, Recommendation
from bot.jobs.model.jobs import Review, ToReview, TrackedJob
from bot.jobs.service_health import analytics_budget
from bot.jobs.store.jobs import GAP_IN_WORK, Jobs
from bot.jobs.thread import status_message_link
from bot.outbox.model import DeliveryKind, NewDelivery
from bot.outbox.store import Outbox
from bot.store import Transaction
from bot.store.channels import Channels
from bot.visitors.messages import digests as digest_messages
from bot.visitors.messages.gap_rows import compare_unmet
from bot.visitors.model.digests import Digest, Outcome
from bot.visitors.model.gaps import Source
from bot.visitors.model.periods import WEEK, Period, day_start, days_before, last_full_week
from bot.visitors.model.questions import Numbers, Query, Question, QuestionState
from bot.visitors.model.readings import ReadingProblem
from bot.visitors.model.reports import build_report
from bot.visitors.model.subscriptions import SubscriptionState
from bot.visitors.recommendations import (
    MOST_RECOMMENDED,
    RecommendationSource,
    _drop_taken,
    list_recommendations,
)
from bot.visitors.store import Questions, Readings, Subscriptions

log = structlog.get_logger(__name__)
_CHART_WEEKS = 8


_REVIEWED = (Review.MERGED, Review.REVIEWED)


def digest_query(week: Period, section: str | None) -> Query:
    weeks = tuple(days_before(week.end - n * WEEK, 7) for n in reversed(range(_CHART_WEEKS)))
    return Query(week, week.before(), section, chart=() if section else weeks)


def gap_windows(query: Query) -> Iterator[tuple[Period, Source]]:
    """Yield the sources of content gaps that a digest reads, with their weeks."""
    if not query.section:  # searches belong to no section
        yield query.period, Source.SEARCHES
    yield from (
        (query.period, source) for source in (Source.VOTES, Source.COMMENTS, Source.QUESTIONS)
    )


def answer_key(question: QuestionId) -> str:
    """Return the key of the delivery with the answer."""
    return f"question:{question}:answer"


def send_digest(
    context: WorkerContext, tx: Transaction, question: Question, numbers: Numbers
) -> Question:
    """Post a digest. Without numbers the owner or the requester gets the reason. Return the settled question.

    A subscription ends with its project.
    """
    now, key, week = context.clock(), answer_key(question.id), question.query.period
    subscription = Subscriptions(tx).get(question.subscription) if question.subscription else None
    is_served = context.projects.serve(question.project)
    if is_served and numbers.visitors(week) is not None:
        digest = _build(context, tx, question, numbers)
        keys = tuple(item.key for item in digest.recommendations)
        message = digest_messages.digest(digest, question.id)
        post = NewDelivery.post(key, question.channel, question.user or None, message)
        Outbox(tx).add(replace(post, subscription=question.subscription, question=question.id), now)
        query = replace(question.query, recommended=keys)
        return replace(question, query=query, state=QuestionState.ANSWERED)
    problem = numbers.readings[0].problem or ReadingProblem.LATE
    problem = problem if is_served else ReadingProblem.NOT_SERVED
    log.error("digest_missed", question=question.id, reason=problem)
    if subscription:
        Subscriptions(tx).change(
            subscription.id, last_result=f"not told: {problem}", last_run_at=now
        )
        if not is_served:
            Subscriptions(tx).change(
                subscription.id, state=SubscriptionState.ENDED, next_run_at=None
            )
    project = context.projects.shown(question.project)
    message = digest_messages.missed(question, week, problem, project)
    reader, url = subscription.owner if subscription else question.user, question.response_url
    Outbox(tx).add(
        NewDelivery.private(key, question.channel, reader, message, response_url=url), now
    )
    return replace(question, state=QuestionState.MISSED)


def read_numbers(context: Context, tx: Transaction, question: Question) -> Numbers:
    """Return the stored numbers of a question, without the rows that its channel may not see."""
    place = question.project, question.channel
    sources = context.hooks_of(RecommendationSource) if question.has_gaps else ()
    hidden = frozenset(key for source in sources for key in source.hidden(tx, *place))
    return Numbers(question.query, Readings(tx).of(question.readings), hidden)


def _build(context: Context, tx: Transaction, question: Question, numbers: Numbers) -> Digest:
    """Build a digest, or build it again with the recommendations that it has."""
    zone, now, channel = context.settings.analytics_zone, context.clock(), question.channel
    candidates = list_recommendations(context, tx, question, numbers)
    recent = Jobs(tx).about_gaps(question.project, now)
    free = _drop_taken(tx, question, candidates, recent)
    largest: dict[str, Recommendation] = {}
    for item in free:
        largest.setdefault(item.heading, item)
    keys = (
        question.query.recommended
        or tuple(item.key for item in largest.values())[:MOST_RECOMMENDED]
    )
    chosen = {item.key: item for item in candidates if item.key in keys}
    mine = {job.about.key: job for job in reversed(recent) if job.about and job.channel == channel}
    asked = {
        key: (job, status_message_link(context, job))
        for key, job in mine.items()
        if job.asked_at >= question.asked_at and not job.can_run_again
    }
    began_at = day_start(question.query.period.first, zone)
    outcomes = [
        _measure(context, tx, job, numbers)
        for job in mine.values()
        if job.review in _REVIEWED and job.reviewed_at and job.reviewed_at >= began_at
    ]
    waiting, count = Jobs(tx).awaiting_review(question.project, channel, 1)
    subscription = Subscriptions(tx).get(question.subscription) if question.subscription else None
    weekly = subscription.weekly if subscription else None
    return Digest(
        build_report(numbers, zone, analytics_budget(context, tx, question.project)),
        ToReview(tuple(waiting), now, count - len(waiting), Channels(tx).reviewers(channel)),
        [chosen[key] for key in keys if key in chosen],
        asked,
        sum(item.key not in keys for item in free),
        outcomes[:MOST_RECOMMENDED],
        [reading for reading in numbers.readings if reading.source is not Source.VISITORS],
        weekly.next_after(now).astimezone(ZoneInfo(weekly.zone)) if weekly else None,
    )


def _measure(context: Context, tx: Transaction, job: TrackedJob, numbers: Numbers) -> Outcome:
    """Compare the week before a job was asked for with the digest's week."""
    week, key = last_full_week(context.today(job.asked_at)), job.about.key if job.about else ""
    if week >= numbers.query.period:
        return Outcome(job)
    then = Numbers(Query(week), Readings(tx).list_gaps(job.project, week))
    return Outcome(job, compare_unmet(then, numbers, key))


def show_asked(context: Context, tx: Transaction, job: TrackedJob) -> None:
    """Show in the channel's digests that a job was asked for at one of their recommendations."""
    now, key = context.clock(), job.about.key if job.about else ""
    for question in Questions(tx).list_digests(job.project, job.channel, now - GAP_IN_WORK):
        if key in question.query.recommended:
            numbers = read_numbers(context, tx, question)
            message = digest_messages.digest(_build(context, tx, question, numbers), question.id)
            post = answer_key(question.id)
            edit = NewDelivery(
                f"{post}:asked:{job.number}",
                DeliveryKind.EDIT,
                job.channel,
                message=message,
                edits=post,
            )
            Outbox(tx).add(edit, now)
