"""The worker that lets the faces of open jobs say since when the docs service fails or refuses the bot."""

from __future__ import annotations

from bot.model.quota import MAY_NOT_WRITE
from bot.store import Transaction
from bot.work.context import WorkerContext
from bot.work.jobs.key_health import trouble_of
from bot.work.jobs.thread_messages import redraw_face

_AT_ONCE = 50
_ENDED_SECONDS = 120.0
"""When a back-off ended longer ago, only jobs whose own calls failed say so: others may be well by now."""


async def show_trouble(context: WorkerContext) -> int:
    """Show trouble that has lasted for ten minutes, once, and take it back when the service works again.

    Return how many faces were redrawn.
    """
    if not await context.store.read(lambda tx: tx.back_offs.all() or tx.jobs.with_trouble((), 1)):
        return 0
    shown = await context.store.write(lambda tx: _take_back(context, tx) + _show(context, tx))
    if shown:
        context.wake()
    return shown


def _show(context: WorkerContext, tx: Transaction) -> int:
    now, began = context.clock(), context.after(-context.timeouts.trouble_seconds)
    count = 0
    for project, (reason, since, until) in tx.back_offs.begun_before(began).items():
        trouble, is_over = trouble_of(reason), until < context.after(-_ENDED_SECONDS)
        if trouble is None:
            continue
        # Where only prompts are refused, the running jobs are well.
        only_failing = is_over or reason == MAY_NOT_WRITE
        for job in tx.jobs.without_trouble(project, trouble, _AT_ONCE, only_failing=only_failing):
            tx.jobs.update(job.number, trouble=trouble, trouble_since=since)
            redraw_face(tx, job.number, now)
            count += 1
    return count


def _take_back(context: WorkerContext, tx: Transaction) -> int:
    now, failing = context.clock(), tx.back_offs.all()
    over = tx.jobs.with_trouble(failing, _AT_ONCE)
    for job in over:
        tx.jobs.update(job.number, trouble=None, trouble_since=None)
        if job.state.is_open:
            redraw_face(tx, job.number, now)
    return len(over)
