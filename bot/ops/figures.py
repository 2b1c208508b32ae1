"""What the metrics page says about all processes, read from the rows."""

from __future__ import annotations

from datetime import datetime

from bot.ops.metrics import Figures
from bot.store import Transaction
from bot.store.heartbeats import GONE_AFTER
from bot.work.context import Context
from bot.work.jobs.key_health import is_refused


def read_figures(context: Context, tx: Transaction) -> Figures:
    """Return the figures as they are now."""
    now, project = context.clock(), context.project
    backlog, calls_an_hour = tx.backlog(now), context.analytics.calls_an_hour
    heartbeats = tx.heartbeats.last(now)
    alive = sum(at > now - GONE_AFTER for at in heartbeats.values())
    return Figures(
        oldest_prompt_seconds=_age(backlog.prompt_at, now),
        oldest_delivery_seconds=_age(backlog.delivery_at, now),
        oldest_question_seconds=_age(backlog.question_at, now),
        most_overdue_poll_seconds=_age(backlog.poll_at, now),
        open_jobs=backlog.open_jobs,
        unconfirmed_prompts=backlog.unconfirmed_prompts,
        dead_letters=backlog.dead_letters,
        held_projects=backlog.held_projects,
        queued_prompts=tx.prompts.waiting_for_quota(project),
        quota_used=len(tx.prompts.uses(project, now)),
        quota_limit=context.uses_an_hour,
        quota_exhausted=tx.quota.exhausted_until(project, now) is not None,
        analytics_calls_used=tx.budget.read(project, calls_an_hour, now).used,
        analytics_calls_limit=calls_an_hour,
        key_refused=is_refused(tx, project),
        alive=alive,
        gone=len(heartbeats) - alive,
        heartbeats=heartbeats,
    )


def _age(at: datetime | None, now: datetime) -> float:
    return max((now - at).total_seconds(), 0.0) if at else 0.0
