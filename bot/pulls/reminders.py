"""The worker that reminds threads of pull requests which wait for their review."""

from __future__ import annotations

from dataclasses import replace

from bot.context import WorkerContext
from bot.jobs.store.jobs import Jobs
from bot.jobs.thread import say, status_message_link
from bot.pulls.messages.pull_requests import reminder
from bot.store import Transaction

_AT_ONCE = 20


async def remind_threads(context: WorkerContext) -> int:
    """Remind the threads of pull requests that wait for review. Return their number."""

    def tell(tx: Transaction) -> int:
        now = context.clock()
        due = Jobs(tx).to_remind(now, _AT_ONCE)
        for job in due:
            reminded = Jobs(tx).save(job, replace(job, remind_at=None))
            message = reminder(reminded, status_message_link(context, reminded), now)
            # Once for each iteration.
            say(tx, reminded, f"remind:{job.iteration}", message, now)
        return len(due)

    if not await context.store.read(lambda tx: Jobs(tx).to_remind(context.clock(), 1)):
        return 0
    return await context.write(tell)
