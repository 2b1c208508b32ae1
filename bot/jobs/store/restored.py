"""The work of a restored database, which may have been done after its backup."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import exists, or_, select

from bot.ids import JobNumber
from bot.jobs.model.prompts import PromptState
from bot.jobs.store.prompts import UNSETTLED
from bot.jobs.store.tables import STARTS_JOB, jobs, prompts
from bot.outbox.model import DeliveryState
from bot.outbox.store import OPEN, deliveries
from bot.store.leases import FREE
from bot.store.schema import Repository


class RestoredWork(Repository):
    """What waited at the time of a backup, within one transaction."""

    def doubt_deliveries(self) -> None:
        """Mark waiting deliveries as perhaps posted, as if a process had died while it posted them.

        Each is searched for in Slack before it is posted.
        """
        pending = deliveries.update().where(deliveries.c.state.in_(OPEN))
        self.connection.execute(pending.values(state=DeliveryState.UNCLEAR, **FREE))

    def unopened_jobs(self) -> Sequence[JobNumber]:
        """Return the jobs whose first prompt was not prepared."""
        is_new = prompts.c.state == PromptState.NEW
        first = select(prompts.c.job).where(STARTS_JOB, is_new)
        return [JobNumber(number) for number in self.connection.scalars(first)]

    def doubt_prompts(self) -> None:
        """Mark waiting prompts as perhaps sent, so that a person decides about each.

        A follow-up behind a first prompt waits for the decision about that.
        """
        has_begun = exists().where(jobs.c.number == prompts.c.job, jobs.c.service_id.is_not(None))
        unsettled = prompts.update().where(
            prompts.c.state.in_(UNSETTLED), or_(STARTS_JOB, has_begun)
        )
        # Each attempt has its own question.
        attempts = prompts.c.attempts + 1
        doubted = unsettled.values(state=PromptState.SENDING, attempts=attempts, **FREE)
        self.connection.execute(doubted)
