"""Windows of the analytics API: the stored answers for them, requested or only looked up."""

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
) -> Snapshot:
    """Return the stored answer for a window; the workers fetch it when it is not there yet."""
    return tx.snapshots.request(
        project,
        period,
        with_pages=with_pages,
        priority=priority,
        is_final=analytics.is_final(period, now),
        now=now,
    )


def find_snapshot(
    tx: Transaction, analytics: Analytics, project: ProjectId, period: Period, now: datetime
) -> Snapshot | None:
    """Return the stored answer for a window, if there is one; requests nothing."""
    return tx.snapshots.find(project, period, is_final=analytics.is_final(period, now), now=now)
