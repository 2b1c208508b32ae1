"""Build reports from snapshots, and tell the weekly digest.

No numbers are added: unique visitors can only be counted by the service.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from statistics import median

import structlog

from bot.messages import digests as say
from bot.messages.digests import digest as digest_message
from bot.messages.visitors import NO_CHART_BUDGET, NO_CHART_READ
from bot.model.outbox import NewDelivery
from bot.model.questions import (
    Movements,
    Numbers,
    Question,
    Report,
    Subscription,
    SubscriptionState,
    Suggestion,
    SuggestionReason,
    VisitorsQuery,
    WeeklyReport,
    WorkDone,
)
from bot.model.visitors import Analytics, Counts, Period, ReadingProblem, Snapshot, SnapshotState, day_start
from bot.store import Transaction
from bot.work.context import Context, WorkerContext

log = structlog.get_logger(__name__)
_NAMED = 5
"""Maximum pages in each list of movements."""


def build_report(context: Context, tx: Transaction, query: VisitorsQuery, numbers: Numbers) -> Report:
    """Return the report on a period. Raises LookupError if it has no numbers yet."""
    now, was, analytics = numbers.now, numbers.was, context.analytics
    if now.totals is None or now.taken_at is None:
        raise LookupError(f"snapshot {now.id} has not been read")
    is_fair = was is not None and is_comparable(query.period, now.taken_at, was, analytics)
    compared = was if is_fair else None
    points, no_chart = _points(query.period, numbers.chart)
    return Report(
        query=query,
        now=now,
        was=was,
        site=now.totals,
        before=was.totals if was else None,
        pages=tx.pages.count(now.id, query.section),
        top=tuple(
            tx.pages.top(now.id, compared.id if compared else None, query.section, query.sort, query.top)
        ),
        movements=_movements(tx, query, now, compared, now.totals),
        chart=points,
        no_chart=no_chart,
        budget=numbers.budget,
        zone=analytics.zone.key,
        is_open=not query.period.is_over(now.taken_at, analytics.zone),
        is_fair=is_fair,
        taken_at=now.taken_at,
    )


def is_comparable(period: Period, taken_at: datetime, was: Snapshot, analytics: Analytics) -> bool:
    """Return whether the pages of a period, read at ``taken_at``, can be compared with those of ``was``."""
    if was.taken_at is None or was.totals is None or not was.with_pages or was.period.days != period.days:
        return False
    return period.is_over(taken_at, analytics.zone) and was.period.is_over(was.taken_at, analytics.zone)


def _points(
    period: Period, chart: tuple[Snapshot, ...]
) -> tuple[tuple[tuple[Period, Counts], ...], str | None]:
    """Return the points of the chart, or why there is none."""
    points = tuple((part.period, part.totals) for part in chart if part.totals is not None)
    if points and len(points) == len(chart):
        return points, None
    if any(part.state is SnapshotState.FAILED for part in chart):
        return (), NO_CHART_READ
    return (), NO_CHART_BUDGET if period.steps() else None


def _movements(
    tx: Transaction, query: VisitorsQuery, now: Snapshot, compared: Snapshot | None, site: Counts
) -> Movements:
    """Return how pages moved. New and vanished pages need two snapshots with every page in them."""
    section, pages = query.section, tx.pages
    came = compared is not None and _is_whole(now) and _is_whole(compared)
    return Movements(
        risen=tuple(pages.moved(now.id, compared.id, section, up=True, limit=_NAMED)) if compared else (),
        fallen=tuple(pages.moved(now.id, compared.id, section, up=False, limit=_NAMED)) if compared else (),
        appeared=tuple(pages.appeared(now.id, compared.id, section, _NAMED)) if came and compared else (),
        vanished=tuple(pages.appeared(compared.id, now.id, section, _NAMED)) if came and compared else (),
        hardly_people=tuple(pages.leaning(now.id, site, section, to_ai=True, limit=_NAMED)),
        hardly_ai=tuple(pages.leaning(now.id, site, section, to_ai=False, limit=_NAMED)),
    )


def _is_whole(snapshot: Snapshot) -> bool:
    """Return whether the snapshot surely has every page. Rows that move during the fetch can be missed."""
    return snapshot.complete and not snapshot.repeated


# ---- the weekly digest

CURVE_WEEKS = 8
"""Weeks in the chart, with the digest's own and the one it is compared with."""
_MOST_JOBS = 20_000
"""Maximum jobs read for a week; a hundred an hour make fewer."""
_RECENT = timedelta(days=30)
_MOST_TO_REVIEW = 10
"""Maximum pull requests that the digest lists as waiting for review; older ones than 30 days are left out."""
_RECENT_JOBS = 1_000
"""A page is not suggested if one of these jobs names it."""


def tell_digest(context: WorkerContext, tx: Transaction, question: Question, numbers: Numbers) -> bool:
    """Post a digest. Return False if there are no numbers, and its owner or who asked for it is told why.

    A subscription ends with its project.
    """
    now, key = context.clock(), f"question:{question.id}:answer"
    shown = context.projects.shown(question.project)
    subscription = tx.subscriptions.get(question.subscription) if question.subscription else None
    is_served = context.projects.serve(question.project)
    if is_served and numbers.now.totals is not None:
        weekly = _weekly_report(context, tx, question, numbers, subscription)
        post = NewDelivery.post(key, question.channel, question.user or None, digest_message(weekly))
        tx.outbox.add(replace(post, subscription=question.subscription, question=question.id), now)
        log.info("digest_told", question=question.id, week=question.query.period.first.isoformat())
        return True
    problem = (numbers.now.problem or ReadingProblem.LATE) if is_served else ReadingProblem.NOT_SERVED
    log.error("digest_missed", question=question.id, reason=problem)
    week, reader, message = question.query.period, question.user, None
    if subscription is not None:
        reader, message = subscription.owner, say.missed(subscription, week, problem, shown)
        tx.subscriptions.change(subscription.id, last_result=f"not told: {problem}", last_run_at=now)
        if problem == ReadingProblem.NOT_SERVED:
            tx.subscriptions.change(subscription.id, state=SubscriptionState.ENDED, next_run_at=None)
    message = message or say.digest_failed(week, problem, shown)
    url = question.response_url
    tx.outbox.add(NewDelivery.private(key, question.channel, reader, message, response_url=url), now)
    return False


def _weekly_report(
    context: WorkerContext,
    tx: Transaction,
    question: Question,
    numbers: Numbers,
    subscription: Subscription | None,
) -> WeeklyReport:
    zone, now, week = context.analytics.zone, context.clock(), question.query.period
    report = build_report(context, tx, question.query, numbers)
    jobs = tx.jobs.asked_between(
        question.project, day_start(week.first, zone), day_start(week.end, zone), _MOST_JOBS
    )
    taken = [job.time_taken.total_seconds() for job in jobs if job.time_taken is not None]
    to_review = tx.jobs.awaiting_review(question.channel, now - _RECENT, _MOST_TO_REVIEW)
    work = WorkDone(
        asked=len(jobs),
        by_state=dict(Counter(job.state for job in jobs)),
        median_time=timedelta(seconds=median(taken)) if taken else None,
        to_review=tuple(job.number for job in to_review),
    )
    recent = tx.jobs.asked_between(question.project, now - _RECENT, now, _RECENT_JOBS)
    read = (*numbers.chart, *reversed(numbers.windows))
    return WeeklyReport(
        report=report,
        curve=tuple((snapshot.period, snapshot.totals) for snapshot in read),
        work=work,
        suggestion=suggestion(report, [job.text for job in recent]),
        subscription=subscription,
    )


def suggestion(report: Report, worked_on: Iterable[str]) -> Suggestion | None:
    """Return a page that no text in ``worked_on`` names; None if there is none.

    Pages that lost visitors come first, then those that hardly any people read, then the most read.
    """
    texts = list(worked_on)
    groups = (
        (SuggestionReason.FALLING, report.movements.fallen),
        (SuggestionReason.ONLY_AI, report.movements.hardly_people),
        (SuggestionReason.MOST_READ, report.top),
    )
    for why, pages in groups:
        for page in pages:
            # Exactly this page's path, and not a longer or a shorter one.
            path = rf"(?<![\w/-]){re.escape(page.path)}(?![\w/-])"
            if not any(re.search(path, text) for text in texts):
                return Suggestion(page, why)
    return None
