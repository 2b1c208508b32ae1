"""The weekly digest.

Readers, recommendations with their outcomes, and the pull requests to review.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import structlog

from bot.context import Context, WorkerContext
from bot.ids import QuestionId
from bot.jobs.model.jobs import Review, ToReview, TrackedJob
from bot.jobs.service_health import read_analytics_budget
from bot.jobs.store.jobs import GAP_IN_WORK, Jobs
from bot.jobs.thread import status_message_link
from bot.outbox.model import DeliveryKind, NewDelivery
from bot.outbox.store import Outbox
from bot.store import Transaction
from bot.store.upgrade import hash_key
from bot.visitors.hooks import DigestHooks
from bot.visitors.messages import digests as digest_messages
from bot.visitors.messages.gap_rows import compare_unmet
from bot.visitors.model.digests import Digest, Outcome, Recommendation
from bot.visitors.model.gaps import Source
from bot.visitors.model.own_questions import OwnQuestions, SentQuestion
from bot.visitors.model.periods import WEEK, Period, day_start, days_before, last_full_week
from bot.visitors.model.questions import Numbers, Query, Question, QuestionState
from bot.visitors.model.readings import ReadingProblem
from bot.visitors.model.reports import Report, build_report
from bot.visitors.model.subscriptions import Subscription, SubscriptionState
from bot.visitors.recommendations import MAX_RECOMMENDED, drop_taken, list_recommendations
from bot.visitors.store import Questions, Readings, Subscriptions

log = structlog.get_logger(__name__)
_CHART_WEEKS = 8
_DAY = timedelta(days=1)
_REVIEWED_OUTCOMES = (Review.MERGED, Review.REVIEWED)


def digest_query(week: Period, section: str | None) -> Query:
    weeks = [days_before(week.end - n * WEEK, 7) for n in reversed(range(_CHART_WEEKS))]
    chart = () if section else tuple(weeks)
    return Query(week, week.before(), section, chart=chart)


def gap_windows(query: Query) -> Iterator[tuple[Period, Source]]:
    """Yield the sources of content gaps that a digest reads, with their weeks."""
    if not query.section:  # searches belong to no section
        yield query.period, Source.SEARCHES
    for source in (Source.VOTES, Source.COMMENTS, Source.QUESTIONS):
        yield query.period, source


def answer_key(question: QuestionId) -> str:
    """Return the key of the delivery with the answer."""
    return f"question:{question}:answer"


# ---- sending


def send_digest(
    context: WorkerContext, tx: Transaction, question: Question, numbers: Numbers
) -> Question:
    """Post a digest of whatever was read. Return the settled question.

    If nothing was, the owner or the requester gets the reason. A subscription ends with its
    project.
    """
    subscription = _find_subscription(tx, question)
    if not context.projects.can_serve(question.project):
        if subscription:
            Subscriptions(tx).change(
                subscription.id, state=SubscriptionState.ENDED, next_run_at=None
            )
        return _settle_missed(context, tx, question, subscription, ReadingProblem.NOT_SERVED)
    if not any(reading.is_read for reading in numbers.readings):
        problem = numbers.problem_of(question.query.period)
        return _settle_missed(context, tx, question, subscription, problem)
    digest = _build_digest(context, tx, question, numbers)
    message = digest_messages.digest(digest, question.id)
    post = NewDelivery.post(
        answer_key(question.id), question.channel, question.user or None, message
    )
    can_join = subscription is not None and subscription.posted_at is None
    post = replace(
        post, subscription=question.subscription, question=question.id, can_join=can_join
    )
    Outbox(tx).add(post, context.clock())
    keys = tuple(item.key for item in digest.recommendations)
    query = replace(question.query, recommended=keys)
    return replace(question, query=query, state=QuestionState.ANSWERED)


def _find_subscription(tx: Transaction, question: Question) -> Subscription | None:
    return Subscriptions(tx).get(question.subscription) if question.subscription else None


def _settle_missed(
    context: WorkerContext,
    tx: Transaction,
    question: Question,
    subscription: Subscription | None,
    problem: str,
) -> Question:
    """Give the owner or the requester the reason why there is no digest.

    Return the settled question.
    """
    now = context.clock()
    log.error("digest_missed", question=question.id, reason=problem)
    if subscription:
        result = f"not told: {problem}"
        Subscriptions(tx).change(subscription.id, last_result=result, last_run_at=now)
    notice = NewDelivery.private(
        answer_key(question.id),
        question.channel,
        subscription.owner if subscription else question.user,
        digest_messages.digest_missed(question, problem, context.projects.shown(question.project)),
        response_url=question.response_url,
    )
    Outbox(tx).add(notice, now)
    return replace(question, state=QuestionState.MISSED)


def show_asked(context: Context, tx: Transaction, job: TrackedJob) -> None:
    """Show in the channel's digests that a job was asked for at one of their recommendations."""
    now = context.clock()
    key = job.gap.key if job.gap else ""
    for question in Questions(tx).list_digests(job.project, job.channel, now - GAP_IN_WORK):
        if key not in question.query.recommended:
            continue
        numbers = read_numbers(context, tx, question)
        digest = _build_digest(context, tx, question, numbers)
        post = answer_key(question.id)
        edit = NewDelivery(
            key=f"{post}:asked:{job.number}",
            kind=DeliveryKind.EDIT,
            channel=job.channel,
            message=digest_messages.digest(digest, question.id),
            edited_key=post,
        )
        Outbox(tx).add(edit, now)


# ---- the content


def read_numbers(context: Context, tx: Transaction, question: Question) -> Numbers:
    """Return the stored numbers of a question, without the rows that its channel may not see."""
    readings = Readings(tx).of(question.readings)
    if not question.has_gaps:
        return Numbers(question.query, readings)
    zone = context.settings.analytics_zone
    # The service counts the days of its own zone.
    since = day_start(question.query.period.first, zone) - _DAY
    before = day_start(question.query.period.end, zone) + _DAY
    sent = list[SentQuestion]()
    for hooks in context.hooks_of(DigestHooks):
        sent += hooks.list_sent(tx, question.project, question.channel, since, before)
    return Numbers(question.query, readings, OwnQuestions(hash_key(tx), tuple(sent)))


def _build_digest(
    context: Context, tx: Transaction, question: Question, numbers: Numbers
) -> Digest:
    """Build a digest, or build it again with the recommendations that it has."""
    now = context.clock()
    candidates = list_recommendations(context, tx, question, numbers)
    recent = Jobs(tx).list_from_gaps(question.project, now)
    free = drop_taken(tx, question, candidates, recent, now)
    keys = question.query.recommended or _choose_recommendations(free)
    chosen = [item for key in keys for item in candidates if key in item.keys]
    jobs = {
        job.gap.key: job for job in reversed(recent) if job.gap and job.channel == question.channel
    }
    subscription = _find_subscription(tx, question)
    weekly = subscription.weekly if subscription else None
    return Digest(
        query=question.query,
        report=_build_week_report(context, tx, question, numbers),
        to_review=_list_to_review(tx, question, now),
        recommendations=chosen,
        asked=_link_asked(context, question, chosen, jobs),
        more=sum(set(keys).isdisjoint(item.keys) for item in free),
        outcomes=_measure_all(context, tx, question, numbers, jobs),
        unread_readings=[reading for reading in numbers.readings if not reading.is_read],
        next_at=weekly.next_after(now).astimezone(ZoneInfo(weekly.zone)) if weekly else None,
    )


def _choose_recommendations(free: Sequence[Recommendation]) -> tuple[str, ...]:
    """Return the keys of the largest recommendation of each kind."""
    largest: dict[str, Recommendation] = {}
    for item in free:
        largest.setdefault(item.heading, item)
    return tuple(item.key for item in largest.values())[:MAX_RECOMMENDED]


def _build_week_report(
    context: Context, tx: Transaction, question: Question, numbers: Numbers
) -> Report | None:
    """Return the report on the week; None if its visitors were not read."""
    if numbers.visitors(question.query.period) is None:
        return None
    budget = read_analytics_budget(context, tx, question.project)
    return build_report(numbers, context.settings.analytics_zone, budget)


def _list_to_review(tx: Transaction, question: Question, now: datetime) -> ToReview:
    jobs, count = Jobs(tx).awaiting_review(question.project, question.channel, 1)
    return ToReview(tuple(jobs), now, count - len(jobs))


def _link_asked(
    context: Context,
    question: Question,
    chosen: Sequence[Recommendation],
    jobs: Mapping[str, TrackedJob],
) -> dict[str, tuple[TrackedJob, str | None]]:
    """Return the jobs that were asked for since the digest, by recommendation, with their links."""
    asked = {}
    for item in chosen:
        for key in item.keys:
            job = jobs.get(key)
            if job and job.asked_at >= question.asked_at and not job.can_run_again:
                asked[item.key] = (job, status_message_link(context, job))
    return asked


def _measure_all(
    context: Context,
    tx: Transaction,
    question: Question,
    numbers: Numbers,
    jobs: Mapping[str, TrackedJob],
) -> list[Outcome]:
    """Return the outcomes of the jobs that were reviewed since the digest's week began."""
    began_at = day_start(question.query.period.first, context.settings.analytics_zone)
    outcomes = []
    for key, job in jobs.items():
        is_reviewed = job.review in _REVIEWED_OUTCOMES and job.reviewed_at is not None
        if is_reviewed and job.reviewed_at and job.reviewed_at >= began_at:
            outcomes.append(Outcome(job, _measure(context, tx, job, key, numbers)))
    return outcomes[:MAX_RECOMMENDED]


def _measure(context: Context, tx: Transaction, job: TrackedJob, key: str, numbers: Numbers) -> str:
    """Compare the week before a job was asked for with the digest's week.

    "" if they can't be compared.
    """
    zone = context.settings.analytics_zone
    week = last_full_week(context.today(job.asked_at))
    if week >= numbers.query.period or not numbers.query.period.is_over(context.clock(), zone):
        return ""
    then = Numbers(Query(week), Readings(tx).list_gaps(job.project, week))
    return compare_unmet(then, numbers, key)
