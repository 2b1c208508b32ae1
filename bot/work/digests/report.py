"""What a weekly digest says: the report on a week, the curve, the agent's work, one suggestion."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from statistics import median

from bot.model import (
    Analytics,
    Counts,
    PageCounts,
    Period,
    ProjectId,
    Report,
    Snapshot,
    Subscription,
    Suggestion,
    SuggestionReason,
    TrackedJob,
    VisitorsQuery,
    WeeklyReport,
    WorkDone,
    day_start,
)
from bot.store import Transaction
from bot.work.visitors.report import gather
from bot.work.visitors.windows import find_snapshot

CURVE_WEEKS = 8
_MOST_JOBS = 20_000
"""More than a hundred an hour make in a week."""
_LATELY = timedelta(days=30)
_LATELY_JOBS = 1_000


def weekly_report(
    tx: Transaction,
    analytics: Analytics,
    query: VisitorsQuery,
    window: Snapshot,
    before: Snapshot,
    project: ProjectId,
    subscription: Subscription | None,
    now: datetime,
) -> WeeklyReport:
    """The digest of the week in ``wish``, from what has been read."""
    budget = tx.budget.read(project, analytics.calls_an_hour, now)
    report = gather(tx, analytics, query, window, before, (), budget, now)
    since, until = day_start(query.period.first, analytics.zone), day_start(query.period.end, analytics.zone)
    jobs = tx.jobs.asked_between(project, since, until, _MOST_JOBS)
    lately = tx.jobs.asked_between(project, now - _LATELY, now, _LATELY_JOBS)
    return WeeklyReport(
        report=report,
        curve=_curve(tx, analytics, project, window, now),
        work=work_done(jobs),
        suggestion=suggestion(report, [job.text for job in lately]),
        subscription=subscription,
    )


def _curve(
    tx: Transaction, analytics: Analytics, project: ProjectId, window: Snapshot, now: datetime
) -> tuple[tuple[Period, Counts | None], ...]:
    """Ends with the very numbers of the week that is told."""
    points: list[tuple[Period, Counts | None]] = [(window.period, window.totals)]
    week = window.period.before()
    for _ in range(CURVE_WEEKS - 1):
        known = find_snapshot(tx, analytics, project, week, now)
        points.append((week, known.totals if known else None))
        week = week.before()
    return tuple(reversed(points))


def work_done(jobs: Sequence[TrackedJob]) -> WorkDone:
    """What came of these jobs; times are those of the last round of each that has ended."""
    taken = [job.time_taken.total_seconds() for job in jobs if job.time_taken is not None]
    return WorkDone(
        asked=len(jobs),
        by_state=dict(Counter(job.state for job in jobs)),
        median_time=timedelta(seconds=median(taken)) if taken else None,
    )


def suggestion(report: Report, worked_on: Iterable[str]) -> Suggestion | None:
    """A page that no prompt of the last weeks names: one that fell, is read by AI alone, or is read most."""
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
    """Whether a prompt names this page's path, not only a longer or a shorter one."""
    return re.search(rf"(?<![\w/-]){re.escape(page.path)}(?![\w/-])", text) is not None
