"""Prompts: what people asked, stored before Slack is answered, and claimed on its way to the service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from pydantic import SecretStr
from sqlalchemy import and_, exists, func, insert, or_, select, update
from sqlalchemy.engine import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.model import (
    ChannelId,
    JobNumber,
    MessageTs,
    ProjectId,
    Prompt,
    PromptId,
    PromptKind,
    PromptState,
    RequestKey,
    UserId,
)
from bot.registry.claims import Claimer, LeaseLost, claim, first, held_by, unclaimed
from bot.registry.schema import holds, jobs, prompts

_FIELDS = tuple(field.name for field in fields(Prompt))
_UNSETTLED = (PromptState.NEW, PromptState.WAITING, PromptState.SENDING)


def to_prompt(row: RowMapping) -> Prompt:
    """A row as our noun."""
    values = {name: row[name] for name in _FIELDS}
    return Prompt(**{**values, "state": PromptState(row["state"]), "kind": PromptKind(row["kind"])})


@dataclass(frozen=True, slots=True)
class PromptRows:
    """The prompts, seen through one connection."""

    connection: AsyncConnection

    async def add(
        self,
        *,
        key: RequestKey,
        job: JobNumber,
        project: ProjectId,
        kind: PromptKind,
        asked_by: UserId,
        raw: str,
        asked_at: datetime,
        channel: ChannelId,
        message_ts: MessageTs | None = None,
        response_url: SecretStr | None = None,
    ) -> PromptId:
        """Store what somebody asked. ``key`` is unique: see ``job_of``."""
        row = await self.connection.execute(
            insert(prompts)
            .values(
                key=key,
                job=job,
                project=project,
                kind=kind,
                state=PromptState.NEW,
                asked_by=asked_by,
                raw=raw,
                asked_at=asked_at,
                channel=channel,
                message_ts=message_ts,
                response_url=response_url.get_secret_value() if response_url else None,
                due_at=asked_at,
            )
            .returning(prompts.c.id)
        )
        return PromptId(row.scalar_one())

    async def job_of(self, key: RequestKey) -> JobNumber | None:
        """The job that a request with this key already belongs to; None when the request is new."""
        row = await self.connection.execute(select(prompts.c.job).where(prompts.c.key == key))
        number = row.scalar_one_or_none()
        return None if number is None else JobNumber(number)

    async def get(self, prompt: PromptId) -> Prompt | None:
        """The prompt with this id."""
        row = (
            (await self.connection.execute(select(prompts).where(prompts.c.id == prompt))).mappings().first()
        )
        return to_prompt(row) if row else None

    async def starting(self, job: JobNumber) -> Prompt | None:
        """The prompt that starts a job."""
        condition = and_(prompts.c.job == job, prompts.c.kind == PromptKind.START)
        row = (await self.connection.execute(select(prompts).where(condition).limit(1))).mappings().first()
        return to_prompt(row) if row else None

    async def response_url(self, prompt: PromptId) -> SecretStr | None:
        """Where a private answer to this request goes, while Slack allows it."""
        row = await self.connection.execute(select(prompts.c.response_url).where(prompts.c.id == prompt))
        url = row.scalar_one_or_none()
        return SecretStr(url) if url else None

    async def change(
        self, prompt: PromptId, *, owner: str | None = None, was: PromptState | None = None, **values: Any
    ) -> None:
        """Write columns of one prompt; only while ``owner`` holds it and it is still in state ``was``."""
        conditions = [prompts.c.id == prompt]
        if owner:
            conditions.append(held_by(prompts, owner))
        if was:
            conditions.append(prompts.c.state == was)
        result = await self.connection.execute(update(prompts).where(*conditions).values(**values))
        if result.rowcount != 1:
            raise LeaseLost(f"prompt {prompt}")

    async def claim_new(self, claimer: Claimer, limit: int) -> Sequence[Prompt]:
        """Prompts as Slack sent them, to be made readable."""
        due = and_(prompts.c.state == PromptState.NEW, prompts.c.due_at <= claimer.now)
        candidates = first(prompts, and_(due, unclaimed(prompts, claimer.now)), limit)
        rows = await claim(self.connection, prompts, claimer, candidates=candidates, still=due)
        return [to_prompt(row) for row in rows]

    async def claim_waiting(self, claimer: Claimer, project: ProjectId, limit: int) -> Sequence[Prompt]:
        """Prompts that may go to the service now: the thread stands, and nothing before them is unsettled."""
        due = and_(
            prompts.c.state == PromptState.WAITING,
            prompts.c.due_at <= claimer.now,
            prompts.c.project == project,
        )
        earlier = prompts.alias("earlier")
        blocked = exists().where(
            earlier.c.job == prompts.c.job, earlier.c.id < prompts.c.id, earlier.c.state.in_(_UNSETTLED)
        )
        ready = exists().where(
            jobs.c.number == prompts.c.job,
            or_(
                and_(prompts.c.kind == PromptKind.START, jobs.c.root_ts.is_not(None)),
                jobs.c.service_id.is_not(None),
            ),
        )
        held = exists().where(holds.c.project == prompts.c.project, holds.c.until > claimer.now)
        condition = and_(due, unclaimed(prompts, claimer.now), ~blocked, ready, ~held)
        rows = await claim(
            self.connection, prompts, claimer, candidates=first(prompts, condition, limit), still=due
        )
        return [to_prompt(row) for row in rows]

    async def claim_abandoned(self, claimer: Claimer, limit: int) -> Sequence[Prompt]:
        """Prompts whose sender died or never came back: nobody knows whether the service has them."""
        left = prompts.c.state == PromptState.SENDING
        candidates = first(prompts, and_(left, unclaimed(prompts, claimer.now)), limit)
        rows = await claim(self.connection, prompts, claimer, candidates=candidates, still=left)
        return [to_prompt(row) for row in rows]

    async def waiting_projects(self, now: datetime) -> Sequence[ProjectId]:
        """The projects that have prompts to send now."""
        statement = (
            select(prompts.c.project)
            .where(prompts.c.state == PromptState.WAITING, prompts.c.due_at <= now)
            .distinct()
        )
        return [ProjectId(name) for name in (await self.connection.execute(statement)).scalars()]

    async def unsettled_of(self, job: JobNumber) -> Sequence[Prompt]:
        """What has been asked for a job and is not settled yet, oldest first."""
        condition = and_(prompts.c.job == job, prompts.c.state.in_(_UNSETTLED))
        rows = await self.connection.execute(select(prompts).where(condition).order_by(prompts.c.id))
        return [to_prompt(row) for row in rows.mappings()]

    async def due(self, project: ProjectId, now: datetime) -> Sequence[Prompt]:
        """Every prompt of a project that waits and is due, oldest first."""
        condition = and_(
            prompts.c.project == project, prompts.c.state == PromptState.WAITING, prompts.c.due_at <= now
        )
        rows = await self.connection.execute(select(prompts).where(condition).order_by(prompts.c.id))
        return [to_prompt(row) for row in rows.mappings()]

    async def uses_since(self, project: ProjectId, since: datetime) -> tuple[int, datetime | None]:
        """How many uses of the shared limit were spent since then, and when the first of them was."""
        statement = select(func.count(), func.min(prompts.c.sent_at)).where(
            prompts.c.project == project, prompts.c.sent_at > since
        )
        count, oldest = (await self.connection.execute(statement)).one()
        return int(count), oldest
