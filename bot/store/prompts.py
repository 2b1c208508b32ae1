"""Prompts: what people asked, stored before Slack is answered, and claimed on its way to the service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Unpack

from pydantic import SecretStr
from sqlalchemy import and_, bindparam, exists, func, insert, or_, select, update
from sqlalchemy.engine import Connection, RowMapping

from bot.model import (
    JobNumber,
    JobState,
    NewPrompt,
    ProjectId,
    Prompt,
    PromptFields,
    PromptId,
    PromptKind,
    PromptState,
    PromptStep,
    Queued,
    QueueWhy,
    RequestKey,
    Use,
    UserId,
    Wanted,
)
from bot.model.quota import WINDOW
from bot.store.leases import FREE, Claimer, LeaseLost, claim, first, held_by, unclaimed
from bot.store.schema import back_offs, jobs, prompts

_FIELDS = tuple(field.name for field in fields(Prompt))
_STANDING = (
    JobState.WAITING,
    JobState.WORKING,
    JobState.PULL_REQUEST,
    JobState.NO_CHANGE,
    JobState.UNCONFIRMED,
)
"""A job in one of these has not failed its requester, so the same again may be a slip."""
_UNSETTLED = (PromptState.NEW, PromptState.WAITING, PromptState.SENDING)


def to_prompt(row: RowMapping) -> Prompt:
    """A row as our noun."""
    values = {name: row[name] for name in _FIELDS}
    return Prompt(**{**values, "state": PromptState(row["state"]), "kind": PromptKind(row["kind"])})


# Made once: making a statement anew costs as much as running it, and people wait for these two.
_ADD = insert(prompts)
_EARLIER = (
    select(prompts.c.key, prompts.c.job, prompts.c.asked_by, prompts.c.channel, prompts.c.raw)
    .where(
        or_(
            prompts.c.key.in_(bindparam("keys", expanding=True)),
            and_(
                prompts.c.kind == PromptKind.START,
                prompts.c.asked_by.in_(bindparam("people", expanding=True)),
                prompts.c.asked_at > bindparam("since"),
                prompts.c.raw.in_(bindparam("words", expanding=True)),
                exists().where(jobs.c.number == prompts.c.job, jobs.c.state.in_(_STANDING)),
            ),
        )
    )
    .order_by(prompts.c.id)
)


def _values(new: NewPrompt) -> dict[str, object]:
    origin = new.origin
    return {
        "key": origin.key,
        "job": new.job,
        "project": new.project,
        "kind": new.kind,
        "state": PromptState.NEW,
        "asked_by": origin.user,
        "raw": new.raw,
        "asked_at": new.asked_at,
        "channel": origin.channel,
        "message_ts": origin.message_ts,
        "response_url": origin.stored_url,
        "named": new.named,
        "due_at": new.asked_at,
    }


@dataclass(frozen=True, slots=True)
class PromptRepository:
    """The prompts, seen through one connection."""

    connection: Connection

    def add(self, new: NewPrompt) -> PromptId:
        """Store what somebody asked. The key of its origin is unique: see ``job_of``."""
        row = self.connection.execute(insert(prompts).values(_values(new)).returning(prompts.c.id))
        return PromptId(row.scalar_one())

    def add_all(self, new: Sequence[NewPrompt]) -> None:
        """Store what several asked, in this order."""
        self.connection.execute(_ADD, [_values(each) for each in new])

    def job_of(self, key: RequestKey) -> JobNumber | None:
        """The job that a request with this key already belongs to; None when the request is new."""
        row = self.connection.execute(select(prompts.c.job).where(prompts.c.key == key))
        number = row.scalar_one_or_none()
        return None if number is None else JobNumber(number)

    def earlier(
        self, keys: Sequence[RequestKey], wanted: Sequence[Wanted], since: datetime
    ) -> tuple[dict[RequestKey, JobNumber], dict[Wanted, JobNumber]]:
        """Two answers of one look, each without what is new.

        To which jobs requests with these keys already belong; and which jobs, that stand, were asked for
        since then by the same people in the same words and channels.
        """
        asked = {
            "keys": keys,
            "people": list({each.asked_by for each in wanted}),
            "words": list({each.raw for each in wanted}),
            "since": since,
        }
        found = self.connection.execute(_EARLIER, asked).all()
        by_key = {RequestKey(row.key): JobNumber(row.job) for row in found}
        by_words = {Wanted(row.asked_by, row.channel, row.raw): JobNumber(row.job) for row in found}
        known = set(keys)
        return {key: job for key, job in by_key.items() if key in known}, by_words

    def get(self, prompt: PromptId) -> Prompt | None:
        """The prompt with this id."""
        row = self.connection.execute(select(prompts).where(prompts.c.id == prompt)).mappings().first()
        return to_prompt(row) if row else None

    def starting(self, job: JobNumber) -> Prompt | None:
        """The prompt that starts a job."""
        condition = and_(prompts.c.job == job, prompts.c.kind == PromptKind.START)
        row = self.connection.execute(select(prompts).where(condition).limit(1)).mappings().first()
        return to_prompt(row) if row else None

    def same_follow_up(self, user: UserId, job: JobNumber, raw: str, since: datetime) -> PromptId | None:
        """What this person told this job in these words since then, and that was not refused."""
        same = and_(
            prompts.c.kind == PromptKind.FOLLOW_UP,
            prompts.c.job == job,
            prompts.c.asked_by == user,
            prompts.c.asked_at > since,
            prompts.c.raw == raw,
            prompts.c.state.not_in((PromptState.REFUSED, PromptState.WITHDRAWN)),
        )
        found = self.connection.execute(
            select(prompts.c.id).where(same).order_by(prompts.c.id.desc()).limit(1)
        )
        prompt = found.scalar_one_or_none()
        return None if prompt is None else PromptId(prompt)

    def has_asked(self, user: UserId, job: JobNumber) -> bool:
        """Whether a prompt of this person for this job was let in. Only those have a ``text``."""
        let_in = and_(prompts.c.job == job, prompts.c.asked_by == user, prompts.c.text.is_not(None))
        found = self.connection.execute(select(prompts.c.id).where(let_in).limit(1))
        return found.first() is not None

    def response_url(self, prompt: PromptId) -> SecretStr | None:
        """Where a private answer to this request goes, while Slack allows it."""
        row = self.connection.execute(select(prompts.c.response_url).where(prompts.c.id == prompt))
        url = row.scalar_one_or_none()
        return SecretStr(url) if url else None

    def update(self, prompt: PromptId, *, was: PromptState, **fields: Unpack[PromptFields]) -> None:
        """Write columns of one prompt; raises LeaseLost unless it is still in state ``was``."""
        self._write(prompt, None, was, fields)

    def apply(self, prompt: PromptId, step: PromptStep, *, owner: str | None = None) -> None:
        """Write a step of a prompt's lifecycle and free its lease.

        Raises LeaseLost when it is not in the state any more that the step begins in, or with ``owner`` when
        that owner has lost it.
        """
        self._write(prompt, owner, step.was, {"state": step.state, **step.fields, **FREE})

    def begin_sending(self, prompt: PromptId, step: PromptStep, claimer: Claimer) -> None:
        """Write that a prompt is about to be sent, and renew its lease: the call has all of it."""
        lease = {"claimed_until": claimer.until}
        self._write(prompt, claimer.owner, step.was, {"state": step.state, **step.fields, **lease})

    def put_back(
        self, prompt: PromptId, owner: str, *, was: PromptState, **fields: Unpack[PromptFields]
    ) -> None:
        """Free the lease of a prompt that stays as it is. Raises LeaseLost when the owner has lost it."""
        self._write(prompt, owner, was, {**fields, **FREE})

    def _write(
        self, prompt: PromptId, owner: str | None, was: PromptState, values: Mapping[str, object]
    ) -> None:
        mine = held_by(prompts, owner) if owner else prompts.c.id == prompt
        still = and_(prompts.c.id == prompt, prompts.c.state == was, mine)
        if self.connection.execute(update(prompts).where(still).values(values)).rowcount != 1:
            raise LeaseLost(f"prompt {prompt}")

    def claim_new(self, claimer: Claimer, limit: int) -> Sequence[Prompt]:
        """Prompts as Slack sent them, to be made readable."""
        due = and_(prompts.c.state == PromptState.NEW, prompts.c.due_at <= claimer.now)
        candidates = first(prompts, and_(due, unclaimed(prompts, claimer.now)), limit)
        rows = claim(self.connection, prompts, claimer, candidates=candidates, still=due)
        return [to_prompt(row) for row in rows]

    def quota_queue(self, project: ProjectId, now: datetime) -> Sequence[Queued]:
        """Prompts that only the shared limit keeps back: the thread stands, nothing before them is unsettled.

        Those that are due, and those that wait for their turn.
        """
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
        held = exists().where(back_offs.c.project == prompts.c.project, back_offs.c.until > now)
        condition = and_(
            prompts.c.state == PromptState.WAITING,
            prompts.c.project == project,
            or_(prompts.c.due_at <= now, prompts.c.queue_position.is_not(None)),
            unclaimed(prompts, now),
            ~blocked,
            ready,
            ~held,
        )
        columns = (prompts.c.id, prompts.c.job, prompts.c.kind, prompts.c.asked_by)
        rows = self.connection.execute(
            select(*columns, prompts.c.asked_at, prompts.c.due_at, prompts.c.queue_position)
            .where(condition)
            .order_by(prompts.c.id)
        )
        return [
            Queued(row.id, row.job, PromptKind(row.kind), row.asked_by, row.asked_at, row.due_at, row.place)
            for row in rows
        ]

    def claim_these(self, claimer: Claimer, ids: Sequence[PromptId]) -> Sequence[Prompt]:
        """These prompts, as far as they still wait and nobody holds them."""
        if not ids:
            return []
        waiting = prompts.c.state == PromptState.WAITING
        named = and_(waiting, prompts.c.id.in_(ids), unclaimed(prompts, claimer.now))
        candidates = first(prompts, named, len(ids))
        rows = claim(self.connection, prompts, claimer, candidates=candidates, still=waiting)
        return [to_prompt(row) for row in rows]

    def uses(self, project: ProjectId, now: datetime, since: datetime | None = None) -> Sequence[Use]:
        """The uses of the shared limit within the last hour, or since then, with what is being sent."""
        sent = and_(prompts.c.project == project, prompts.c.sent_at >= (since or now - WINDOW))
        about_to = and_(
            prompts.c.project == project,
            prompts.c.state == PromptState.WAITING,
            prompts.c.sent_at.is_(None),
            prompts.c.claimed_until > now,
        )
        rows = self.connection.execute(
            select(prompts.c.asked_by, prompts.c.sent_at).where(or_(sent, about_to))
        )
        return [Use(row.asked_by, row.sent_at or now) for row in rows]

    def waiting_for_quota(self, project: ProjectId) -> int:
        """How many prompts have a place in the queue."""
        condition = and_(
            prompts.c.project == project,
            prompts.c.state == PromptState.WAITING,
            prompts.c.queue_position.is_not(None),
        )
        statement = select(func.count()).select_from(prompts).where(condition)
        return int(self.connection.execute(statement).scalar_one())

    def hold_back(self, project: ProjectId, now: datetime, until: datetime) -> Sequence[JobNumber]:
        """Let everything that waits for this project wait until then; answers the jobs it is for."""
        waiting = and_(prompts.c.project == project, prompts.c.state == PromptState.WAITING)
        free = and_(waiting, prompts.c.due_at < until, unclaimed(prompts, now))
        rows = self.connection.execute(
            update(prompts).where(free).values(due_at=until, queue_position=None).returning(prompts.c.job)
        )
        return sorted(set(rows.scalars()))

    def resume(self, project: ProjectId, why: QueueWhy, now: datetime) -> None:
        """What was held back for this reason goes on."""
        for_it = exists().where(jobs.c.number == prompts.c.job, jobs.c.queue_why == why)
        waiting = and_(prompts.c.project == project, prompts.c.state == PromptState.WAITING)
        self.connection.execute(
            update(prompts).where(waiting, prompts.c.due_at > now, for_it).values(due_at=now)
        )

    def move_up(self, project: ProjectId, now: datetime) -> None:
        """Somebody left the queue: let the places be given anew."""
        queued = and_(
            prompts.c.project == project,
            prompts.c.state == PromptState.WAITING,
            prompts.c.queue_position.is_not(None),
        )
        head = select(func.min(prompts.c.id)).where(queued).scalar_subquery()
        self.connection.execute(update(prompts).where(prompts.c.id == head).values(due_at=now))

    def claim_abandoned(self, claimer: Claimer, limit: int) -> Sequence[Prompt]:
        """Prompts whose sender died or never came back: nobody knows whether the service has them."""
        left = prompts.c.state == PromptState.SENDING
        candidates = first(prompts, and_(left, unclaimed(prompts, claimer.now)), limit)
        rows = claim(self.connection, prompts, claimer, candidates=candidates, still=left)
        return [to_prompt(row) for row in rows]

    def waiting_projects(self, now: datetime) -> Sequence[ProjectId]:
        """The projects that have prompts to send now."""
        statement = (
            select(prompts.c.project)
            .where(prompts.c.state == PromptState.WAITING, prompts.c.due_at <= now)
            .distinct()
        )
        return [ProjectId(name) for name in self.connection.execute(statement).scalars()]

    def doubted_of(self, job: JobNumber) -> Prompt | None:
        """The last prompt for a job of which nobody knows whether it arrived."""
        condition = and_(prompts.c.job == job, prompts.c.state == PromptState.UNCONFIRMED)
        rows = self.connection.execute(
            select(prompts).where(condition).order_by(prompts.c.id.desc()).limit(1)
        )
        row = rows.mappings().first()
        return to_prompt(row) if row else None

    def unsettled_of(self, job: JobNumber) -> Sequence[Prompt]:
        """What has been asked for a job and is not settled yet, oldest first."""
        condition = and_(prompts.c.job == job, prompts.c.state.in_(_UNSETTLED))
        rows = self.connection.execute(select(prompts).where(condition).order_by(prompts.c.id))
        return [to_prompt(row) for row in rows.mappings()]
