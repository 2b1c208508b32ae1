"""The weekly digest: readers, recommendations with their outcomes, and the pull requests to review."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

import structlog

from bot.context import Context, WorkerContext
from bot.ids import ProjectId, QuestionId, Recommendation
from bot.jobs.model.jobs import Review, ToReview, TrackedJob
from bot.jobs.service_health import analytics_budget
from bot.jobs.store.jobs import GAP_IN_WORK, Jobs
from bot.jobs.thread import status_message_link
from bot.messages.plain_text import one_line
from bot.outbox.model import DeliveryKind, NewDelivery
from bot.outbox.store import Outbox
from bot.store import Transaction
from bot.visitors import digest_messages
from bot.visitors.content_gaps import Source
from bot.visitors.gap_messages import compare_unmet, gap_recommendations
from bot.visitors.model import (
    Digest,
    Numbers,
    Outcome,
    Query,
    Question,
    QuestionState,
    ReadingProblem,
    SubscriptionState,
    build_report,
)
from bot.visitors.periods import WEEK, Period, day_start, days_before, last_full_week
from bot.visitors.store import Questions, Readings, Subscriptions

log = structlog.get_logger(__name__)
_CHART_WEEKS = 8
MOST_RECOMMENDED = 3
_TEXT_LENGTH = 300
"""A long prompt names many subjects besides its own, which stands at its beginning."""
_WORD = re.compile(r"[^\W_]+")
_ENDING = re.compile(r"(?<=...)(?:ing|ies|ed|es|s|e|y)$")
_COMMON_WORDS = """
    a an and are at can do docs does for from how i in is it me my not of on or our page the there to use we
    what when where which who why with you your
"""
_MOST_JOBS = 1_000
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


async def refresh_recommendations(context: Context, project: ProjectId) -> None:
    for hooks in context.hooks:
        await hooks.refresh_privacy(context, project)


def read_numbers(context: Context, tx: Transaction, question: Question) -> Numbers:
    """Return the stored numbers of a question, without the rows that its channel may not see."""
    hidden = set[str]()
    if question.has_gaps:
        for hooks in context.hooks:
            hidden.update(hooks.list_hidden(tx, question.project, question.channel))
    return Numbers(question.query, Readings(tx).of(question.readings), frozenset(hidden))


def list_recommendations(
    context: Context, tx: Transaction, question: Question, numbers: Numbers
) -> list[Recommendation]:
    """Return all recommendations of a digest, the largest evidence first.

    The service counts the questions that the bot asks for people, so of two with the same key one counts.
    """
    zone = context.settings.analytics_zone
    since = day_start(question.query.period.first, zone)
    before = day_start(question.query.period.end, zone)
    candidates = list(gap_recommendations(numbers))
    if not question.query.section:
        for hooks in context.hooks:
            candidates += hooks.list_recommendations(
                tx, question.project, question.channel, since, before
            )
    largest: dict[str, Recommendation] = {}
    for item in sorted(candidates, key=lambda item: (-item.events, item.title)):
        largest.setdefault(item.key, item)
    return list(largest.values())


def list_more(
    context: Context, tx: Transaction, question: Question, numbers: Numbers
) -> Sequence[Recommendation]:
    """Return the recommendations for which the digest has no room."""
    recent = Jobs(tx).about_gaps(question.project, context.clock())
    free = _drop_taken(tx, question, list_recommendations(context, tx, question, numbers), recent)
    return [item for item in free if item.key not in question.query.recommended]


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
        ToReview(tuple(waiting), now, count - len(waiting)),
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


def _drop_taken(
    tx: Transaction,
    question: Question,
    candidates: Sequence[Recommendation],
    recent: Sequence[TrackedJob],
) -> list[Recommendation]:
    """Return the recommendations without those that a job was asked for, or whose subject an open job has."""
    keys = {job.about.key for job in recent if job.about and not job.can_run_again}
    subjects: list[set[str]] = []
    for job in Jobs(tx).list_unreviewed(question.project, _MOST_JOBS):
        titles = [job.pull_request.title] if job.pull_request else []
        titles.append(job.about.title if job.about else one_line(job.text, _TEXT_LENGTH))
        subjects += map(_stem_words, titles)
    free = (item for item in candidates if item.key not in keys)
    return [
        item for item in free if not any(_stem_words(item.title, "-") <= text for text in subjects)
    ]


def _stem_words(text: str, if_none: str = "") -> set[str]:
    """Return the stems of the words that distinguish a text; ``if_none`` without any."""
    distinct = set(_WORD.findall(text.casefold())) - set(_COMMON_WORDS.split())
    return {_ENDING.sub("", word) for word in distinct} or {if_none}
