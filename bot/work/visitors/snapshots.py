"""Request or find the stored snapshot of a period of the analytics API."""

from __future__ import annotations

from datetime import datetime

from bot.model.ids import ProjectId
from bot.model.period import Period
from bot.model.questions import Question
from bot.model.visitors import Analytics, Priority, Snapshot
from bot.store import Transaction


def request_snapshot(
    tx: Transaction,
    analytics: Analytics,
    project: ProjectId,
    period: Period,
    priority: Priority,
    now: datetime,
    *,
    with_pages: bool = True,
    is_patient: bool = False,
) -> Snapshot:
    """Return the snapshot of a period. A worker fetches its numbers if they are not stored yet.

    ``is_patient``: one that failed is not fetched before its pause is over.
    """
    return tx.snapshots.request(
        project,
        period,
        with_pages=with_pages,
        priority=priority,
        is_final=analytics.is_final(period, now),
        now=now,
        is_patient=is_patient,
    )


def find_snapshot(
    tx: Transaction, analytics: Analytics, project: ProjectId, period: Period, now: datetime
) -> Snapshot | None:
    """Return the snapshot of a period, or None if there is none. Requests nothing."""
    return tx.snapshots.find(project, period, is_final=analytics.is_final(period, now), now=now)


def chart_calls(tx: Transaction, analytics: Analytics, question: Question, now: datetime) -> int | None:
    """Return how many calls a question's chart still takes; None if they are all of its share or more."""
    parts = question.query.period.steps()
    known = [find_snapshot(tx, analytics, question.project, part, now) for part in parts]
    missing = sum(1 for each in known if each is None or each.totals is None)
    return missing if missing < analytics.question_calls else None


def has_had_share(tx: Transaction, analytics: Analytics, question: Question, now: datetime) -> bool:
    """Return whether the pages of a question have had their calls: its share without those of its chart."""
    read = tx.snapshots.get(question.windows).values()
    calls = sum(each.calls for each in read) - question.calls_before
    return calls >= analytics.question_calls - (chart_calls(tx, analytics, question, now) or 0)
