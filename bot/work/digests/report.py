"""Build the content of a weekly digest: the report, the chart, the agent's work and one suggestion."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from statistics import median

from bot.model.digests import Subscription
from bot.model.ids import ChannelId, ProjectId
from bot.model.jobs import TrackedJob
from bot.model.period import Period, day_start
from bot.model.questions import VisitorsQuery
from bot.model.report import Report, Suggestion, SuggestionReason, WeeklyReport, WorkDone
from bot.model.visitors import Analytics, Budget, Counts, PageCounts, Snapshot
from bot.store import Transaction
from bot.work.visitors.report import build_report
from bot.work.visitors.snapshots import find_snapshot

CURVE_WEEKS = 8
"""Weeks in the chart, with the digest's own."""
_MOST_JOBS = 20_000
"""Maximum jobs read for a week; a hundred an hour make fewer."""
_RECENT = timedelta(days=30)
_MOST_TO_REVIEW = 10
"""Maximum pull requests that the digest lists as waiting for review; older ones than 30 days are left out."""
_RECENT_JOBS = 1_000
"""A page is not suggested if one of these jobs names it."""


def weekly_report(
    tx: Transaction,
    analytics: Analytics,
    query: VisitorsQuery,
    current: Snapshot,
    before: Snapshot,
    project: ProjectId,
    subscription: Subscription | None,
    channel: ChannelId,
    budget: Budget,
    now: datetime,
) -> WeeklyReport:
    """Return the digest of the week in ``query``, from the stored snapshots."""
    report = build_report(tx, analytics, query, current, before, (), budget)
    since, until = day_start(query.period.first, analytics.zone), day_start(query.period.end, analytics.zone)
    jobs = tx.jobs.asked_between(project, since, until, _MOST_JOBS)
    to_review = tx.jobs.awaiting_review(channel, now - _RECENT, _MOST_TO_REVIEW)
    recent = tx.jobs.asked_between(project, now - _RECENT, now, _RECENT_JOBS)
    return WeeklyReport(
        report=report,
        curve=_curve(tx, analytics, project, current, now),
        work=replace(work_done(jobs), to_review=tuple(job.number for job in to_review)),
        suggestion=suggestion(report, [job.text for job in recent]),
        subscription=subscription,
    )


def _curve(
    tx: Transaction, analytics: Analytics, project: ProjectId, current: Snapshot, now: datetime
) -> tuple[tuple[Period, Counts | None], ...]:
    """Return the points of the chart, oldest first. The last one has the numbers of the digest's week."""
    points: list[tuple[Period, Counts | None]] = [(current.period, current.totals)]
    week = current.period.before()
    for _ in range(CURVE_WEEKS - 1):
        known = find_snapshot(tx, analytics, project, week, now)
        points.append((week, known.totals if known else None))
        week = week.before()
    return tuple(reversed(points))


def work_done(jobs: Sequence[TrackedJob]) -> WorkDone:
    """Return a summary of these jobs. The median time is that of the last ended iteration of each."""
    taken = [job.time_taken.total_seconds() for job in jobs if job.time_taken is not None]
    return WorkDone(
        asked=len(jobs),
        by_state=dict(Counter(job.state for job in jobs)),
        median_time=timedelta(seconds=median(taken)) if taken else None,
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
            if not any(names(text, page) for text in texts):
                return Suggestion(page, why)
    return None


def names(text: str, page: PageCounts) -> bool:
    """Return whether a text names exactly this page's path, and not a longer or a shorter one."""
    return re.search(rf"(?<![\w/-]){re.escape(page.path)}(?![\w/-])", text) is not None
