"""Build a report from snapshots. No numbers are added: unique visitors can only be counted by the service."""

from __future__ import annotations

from datetime import datetime

from bot.messages.visitors import NO_CHART_BUDGET, NO_CHART_READ
from bot.model.period import Period
from bot.model.questions import Numbers, VisitorsQuery
from bot.model.report import Movements, Report
from bot.model.visitors import Analytics, Counts, Snapshot, SnapshotState
from bot.store import Transaction
from bot.work.context import Context

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
