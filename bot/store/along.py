"""What went along with prompts: the earlier messages of their threads, and who asked."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import and_, func, select

from bot.model.ids import JobNumber, MessageTs, PromptId
from bot.store.columns import Repository
from bot.store.schema import prompts


class AlongRepository(Repository):
    """What went along with prompts, within one transaction."""

    def last_said(self, job: JobNumber, before: PromptId) -> MessageTs | None:
        """Return the newest message that brought an earlier prompt of a job; None when there is none."""
        earlier = and_(prompts.c.job == job, prompts.c.id < before)
        return self.connection.execute(select(func.max(prompts.c.message_ts)).where(earlier)).scalar()

    def of(self, job: JobNumber) -> Sequence[str]:
        """Return what went along with a job's prompts, oldest first."""
        with_some = and_(prompts.c.job == job, prompts.c.along != "")
        rows = self.connection.execute(select(prompts.c.along).where(with_some).order_by(prompts.c.id))
        return list(rows.scalars())
