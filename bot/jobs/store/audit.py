"""The audit: prompts asked for, acts on jobs, and choices for channels, by user."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, and_, func, insert, or_, select, update
from sqlalchemy.engine import Connection

from bot.ids import JobNumber, ProjectId, PromptId, SubscriptionId, UserId
from bot.jobs.model.jobs import JobState, TrackedJob
from bot.jobs.model.lifecycle import ENDS
from bot.jobs.model.prompts import Act, AuditRow, PromptState
from bot.jobs.store.tables import audit, prompts
from bot.ports import Origin
from bot.store.schema import Repository, reader

_to_row = reader(AuditRow, audit)
IS_OVER: ColumnElement[bool] = or_(audit.c.prompt.is_(None), audit.c.outcome.is_not(None))
"""The condition that a row is complete."""
_ITERATION_ENDS = ENDS | {JobState.UNWATCHED}
_PROMPT_ENDS = (PromptState.REFUSED, PromptState.WITHDRAWN)


class Audit(Repository):
    """The audit, within the transaction of the recorded act."""

    def decided(
        self,
        act: Act,
        user: UserId,
        job: TrackedJob,
        at: datetime,
        prompt: PromptId | None = None,
        app: str | None = None,
    ) -> None:
        """Add an act on a job.

        ``prompt``: the prompt whose end will be written to the row. ``app``: see `AuditRow`.
        """
        values = {
            "project": job.project,
            "channel": job.channel,
            "job": job.number,
            "prompt": prompt,
            "app": app,
        }
        self._add(act, user, at, values)

    def subscribed(
        self,
        act: Act,
        origin: Origin,
        subscription: SubscriptionId,
        project: ProjectId,
        at: datetime,
    ) -> None:
        values = {"project": project, "channel": origin.channel, "subscription": subscription}
        self._add(act, origin.user, at, values)

    def chose(self, act: Act, origin: Origin, project: ProjectId, at: datetime) -> None:
        """Add a choice or a trial in a channel, whose project is now ``project``."""
        self._add(act, origin.user, at, {"project": project, "channel": origin.channel})

    def switched(self, act: Act, origin: Origin, at: datetime) -> None:
        """Add a switch of sending, which counts for all projects."""
        self._add(act, origin.user, at, {"project": "", "channel": origin.channel})

    def _add(self, act: Act, user: UserId, at: datetime, values: dict[str, object]) -> None:
        self.connection.execute(insert(audit), {"acted_at": at, "user": user, "act": act, **values})

    def last(self) -> int:
        """Return the id of the newest row; 0 if there is none."""
        return self.connection.execute(select(func.max(audit.c.id))).scalar() or 0

    def after(
        self,
        last: int,
        limit: int,
        *,
        since: datetime | None = None,
        user: UserId | None = None,
        job: JobNumber | None = None,
    ) -> tuple[int, list[AuditRow]]:
        """Return the last id, and the rows written after ``last``.

        ``last``: the id of the row before; 0 for the first rows.
        """
        page = select(audit).where(audit.c.id > last).order_by(audit.c.id).limit(limit)
        if since:
            page = page.where(audit.c.acted_at >= since)
        if user:
            page = page.where(audit.c.user == user)
        if job:
            page = page.where(audit.c.job == job)
        rows = self.connection.execute(page).mappings().all()
        if rows:
            last = rows[-1]["id"]
        return last, [_to_row(row) for row in rows]


def write_prompt_end(connection: Connection, prompt: PromptId, state: PromptState) -> None:
    """Write the end of a prompt that will never be sent; do nothing for other states."""
    if state not in _PROMPT_ENDS:
        return
    job = select(prompts.c.job).where(prompts.c.id == prompt).scalar_subquery()
    is_of_prompt = and_(audit.c.job == job, audit.c.prompt == prompt)
    connection.execute(update(audit).where(is_of_prompt).values(outcome=state))


def write_job_end(connection: Connection, job: JobNumber, state: JobState) -> None:
    """Write the end of the prompts that the service has accepted; do nothing for other states."""
    if state not in _ITERATION_ENDS:
        return
    sent = select(prompts.c.id).where(prompts.c.job == job, prompts.c.state == PromptState.SENT)
    is_open = and_(audit.c.job == job, audit.c.prompt.in_(sent), audit.c.outcome.is_(None))
    connection.execute(update(audit).where(is_open).values(outcome=state))
