"""Build a report from snapshots. No numbers are added: unique visitors can only be counted by the service."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from bot.messages.visitors_more import NO_CHART_BUDGET, NO_CHART_READ
from bot.model.period import Period
from bot.model.questions import VisitorsQuery
from bot.model.report import Movements, Report
from bot.model.visitors import Analytics, Budget, Counts, Snapshot
from bot.store import Transaction

_NAMED = 5
"""Maximum pages in each list of movements."""


def build_report(
    tx: Transaction,
    analytics: Analytics,
    query: VisitorsQuery,
    now: Snapshot,
    was: Snapshot | None,
    chart: Iterable[Snapshot] | None,
    budget: Budget,
) -> Report:
    """Return the report on snapshot ``now``, compared with ``was`` if the two can be compared.

    ``chart`` is None if the budget had no room for one. Raises LookupError if ``now`` has no numbers yet.
    """
    if now.totals is None or now.taken_at is None:
        raise LookupError(f"snapshot {now.id} has not been read")
    before = was.totals if was else None
    is_fair = was is not None and is_comparable(query.period, now.taken_at, was, analytics)
    compared = was if is_fair else None
    points, no_chart = _points(query.period, chart)
    return Report(
        query=query,
        now=now,
        was=was,
        site=now.totals,
        before=before,
        pages=tx.pages.count(now.id, query.section),
        top=tuple(
            tx.pages.top(now.id, compared.id if compared else None, query.section, query.sort, query.top)
        ),
        movements=_movements(tx, query, now, compared, now.totals),
        chart=points,
        no_chart=no_chart,
        budget=budget,
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
    period: Period, chart: Iterable[Snapshot] | None
) -> tuple[tuple[tuple[Period, Counts], ...], str | None]:
    if chart is None:
        return (), NO_CHART_BUDGET if period.steps() else None
    parts = list(chart)
    points = tuple((part.period, part.totals) for part in parts if part.totals is not None)
    if len(points) < len(parts):
        return (), NO_CHART_READ
    return points, None


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
