"""Request or find the stored snapshot of a period of the analytics API."""

from __future__ import annotations

from datetime import datetime

from bot.model import Analytics, Period, Priority, ProjectId, Snapshot
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
