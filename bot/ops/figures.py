"""What the metrics page says about all processes, read from the rows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial

import structlog

from bot.model.ids import ProjectId
from bot.model.jobs import Trouble
from bot.ops.checks import LIMIT_SECONDS, Finding, free_bytes
from bot.ops.metrics import Figures, Metrics
from bot.store import DatabaseTrouble, Transaction
from bot.store.heartbeats import GONE_AFTER
from bot.work.context import Context
from bot.work.jobs.service_health import is_refused, trouble_of

log = structlog.get_logger(__name__)


def metrics_page(
    context: Context, metrics: Metrics
) -> Callable[[Sequence[Finding]], Awaitable[tuple[bytes, str]]]:
    """Return the page of metrics, which never fails: what cannot be read is missing."""

    async def page(found: Sequence[Finding]) -> tuple[bytes, str]:
        for each in found:
            metrics.set_check(each.name, each.ok)
        metrics.set_free_bytes(free_bytes(context.store))
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                metrics.set_figures(await context.store.read(partial(read_figures, context)))
        except (DatabaseTrouble, TimeoutError):
            log.warning("figures_not_read", exc_info=True)
            metrics.set_figures(None)
        return metrics.page()

    return page


def read_figures(context: Context, tx: Transaction) -> Figures:
    """Return the figures as they are now."""
    now = context.clock()
    heartbeats = tx.heartbeats.last(now)
    alive = sum(at > now - GONE_AFTER for at in heartbeats.values())
    stuck = [each.stuck_since for each in tx.waits.all_prompts(now) if each.stuck_since]
    return Figures(
        gauges={**tx.backlog(now), "stuck_prompt_seconds": (now - min(stuck, default=now)).total_seconds()},
        projects={each.name: _of_project(context, tx, each.id) for each in context.projects.known},
        processes={"alive": alive, "gone": len(heartbeats) - alive},
        heartbeats=heartbeats,
    )


def _of_project(context: Context, tx: Transaction, project: ProjectId) -> Mapping[str, float]:
    now = context.clock()
    return {
        "queued_prompts": tx.prompts.waiting_for_quota(project),
        "quota_used": len(tx.prompts.uses(project, now)),
        "quota_limit": context.uses_an_hour,
        "quota_exhausted": tx.quota.exhausted_until(project, now) is not None,
        "analytics_calls_used": context.budget(tx, project).used,
        "analytics_calls_limit": context.analytics.calls_an_hour,
        "key_refused": is_refused(tx, project),
        "service_failing_seconds": _failing_seconds(tx, project, now),
    }


def _failing_seconds(tx: Transaction, project: ProjectId, now: datetime) -> float:
    """Return the time from the begin of a project's back-off to its end, which may be long ago.

    The back-off stays in the rows until the service answers. While nobody asks, nothing more is known: one
    failed call in the evening is no failing night.
    """
    back_off = tx.back_offs.of(project)
    if back_off is None or trouble_of(back_off) is not Trouble.AWAY:
        return 0.0
    return max((min(back_off.until, now) - back_off.since).total_seconds(), 0.0)
