"""Forget texts and people: a while after the end of a job, or at once for one person."""

from __future__ import annotations

import structlog

from bot.context import WorkerContext
from bot.ids import UserId
from bot.store import Store
from bot.store.job_retention import JOBS
from bot.store.retention import Retention, RowCounts

log = structlog.get_logger(__name__)
_AT_ONCE = 50
"""Rows of each table in one transaction, so that no request waits for long."""


async def forget_old(context: WorkerContext) -> int:
    """Forget some of what is older than the settings allow, and return how many rows that were."""
    if context.keep is None:
        return 0
    before = context.clock() - context.keep
    forgotten = await context.store.forget(lambda tx: Retention(tx).forget_before(before, _AT_ONCE))
    if forgotten:
        log.info("forgotten", jobs=forgotten[JOBS.name], rows=forgotten.total())
    return forgotten.total()


async def forget_person(store: Store, user: UserId) -> tuple[RowCounts, RowCounts]:
    """Forget what one person wrote, and them. Return what was forgotten, and what is under way and stays."""
    forgotten = RowCounts()
    while more := await store.forget(lambda tx: Retention(tx).forget_person(user, _AT_ONCE)):
        forgotten += more
    return forgotten, await store.read(lambda tx: Retention(tx).under_way(user))
