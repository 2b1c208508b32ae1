"""The weekly digest: the report of a week with a chart, the agent's work and one suggestion."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from statistics import median

import structlog

from bot.messages import digests as say
from bot.messages.digests import digest as digest_message
from bot.model.digests import Subscription, SubscriptionState
from bot.model.outbox import NewDelivery
from bot.model.period import day_start
from bot.model.questions import Numbers, Question
from bot.model.report import Report, Suggestion, SuggestionReason, WeeklyReport, WorkDone
from bot.model.visitors import ReadingProblem
from bot.store import Transaction
from bot.work.context import WorkerContext
from bot.work.visitors.report import build_report

log = structlog.get_logger(__name__)
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
    if numbers.now.totals is not None:
        weekly = _weekly_report(context, tx, question, numbers, subscription)
        post = NewDelivery.post(key, question.channel, question.user or None, digest_message(weekly))
        tx.outbox.add(replace(post, subscription=question.subscription, question=question.id), now)
        log.info("digest_told", question=question.id, week=question.query.period.first.isoformat())
        return True
    problem = numbers.now.problem or ReadingProblem.LATE
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
            path = re.compile(rf"(?<![\w/-]){re.escape(page.path)}(?![\w/-])")
            if not any(path.search(text) for text in texts):
                return Suggestion(page, why)
    return None
