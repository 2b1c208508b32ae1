"""Pending work and the reasons for which it waits, by the conditions of the claims."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, ScalarSelect, and_, func, or_, select
from sqlalchemy.engine import RowMapping

from bot.ids import JobNumber
from bot.jobs.model.jobs import JobState, Wait, Waiting, WaitReason
from bot.jobs.model.prompts import PromptState
from bot.jobs.model.quota import KEY_REASONS, MAY_NOT_WRITE
from bot.jobs.store.prompts import (
    ABANDONED_PROMPTS,
    IN_TURN,
    NEW_PROMPTS,
    UNSETTLED,
    WAITING_PROMPTS,
)
from bot.jobs.store.sending import IS_SENDING_OFF
from bot.jobs.store.tables import back_offs, jobs, prompts
from bot.outbox.model import QUIET_KINDS, DeliveryKind, DeliveryState
from bot.outbox.store import (
    ABANDONED_DELIVERIES,
    DELIVERIES,
    OPEN_STATES,
    UNCLEAR_DELIVERIES,
    deliveries,
    waits_in_thread,
)
from bot.store.leases import NOW, one_of
from bot.store.schema import AnyTable, Repository, UtcDateTime

# Aliases: the claims' conditions contain subqueries of the tables themselves, which must not be
# correlated.
_job = jobs.alias("of")
_pause = back_offs.alias("pause")
_PAUSE = (_pause.c.reason, _pause.c.retry_at.label("paused_until"))
_CLAIMABLE_PROMPT = or_(
    and_(NEW_PROMPTS.waits, IN_TURN),
    and_(WAITING_PROMPTS.waits, WAITING_PROMPTS.is_free),
    ABANDONED_PROMPTS.is_queued,
)
_PROMPTS = (
    select(
        *prompts.c["job", "state", "asked_at", "due_at", "is_awaiting_quota"],
        _job.c.state.label("job_state"),
        *_PAUSE,
        _CLAIMABLE_PROMPT.label("is_claimable"),
        IS_SENDING_OFF.label("is_off"),
    )
    .select_from(prompts)
    .join(_job, _job.c.number == prompts.c.job)
    .outerjoin(_pause, and_(_pause.c.project == prompts.c.project, _pause.c.retry_at > NOW))
    .order_by(prompts.c.id)
)
_HOLDS_POLLS = and_(
    _pause.c.project == jobs.c.project,
    _pause.c.retry_at > NOW,
    _pause.c.reason != MAY_NOT_WRITE,
)
_POLLS = (
    select(*jobs.c["number", "poll_at"], *_PAUSE).select_from(jobs).outerjoin(_pause, _HOLDS_POLLS)
)
_CLAIMABLE_DELIVERY = and_(
    or_(DELIVERIES.waits, UNCLEAR_DELIVERIES.waits, ABANDONED_DELIVERIES.is_queued),
    ~waits_in_thread(),
)
_OLDEST_MESSAGE = (
    select(*deliveries.c["job", "created_at", "due_at"], _CLAIMABLE_DELIVERY.label("is_claimable"))
    .where(one_of(deliveries.c.state, OPEN_STATES), deliveries.c.kind.not_in(QUIET_KINDS))
    .order_by(deliveries.c.seq)
    .limit(1)
)


class Waits(Repository):
    """Pending work, within one transaction."""

    def of_job(self, number: JobNumber, now: datetime) -> Sequence[Wait]:
        """Return the pending prompts of a job, its next poll, then its oldest message."""
        states = (*UNSETTLED, PromptState.UNCONFIRMED)
        asked = self._prompts(and_(prompts.c.job == number, prompts.c.state.in_(states)), now)
        is_next = _POLLS.where(jobs.c.number == number, jobs.c.poll_at.is_not(None))
        rows = self.connection.execute(is_next, {NOW.key: now}).mappings()
        waits = [*asked, *(_to_poll_wait(row, now) for row in rows)]
        message = self.oldest_message(now, job=number)
        if message:
            waits.append(message)
        return waits

    def all_prompts(self, now: datetime) -> Sequence[Wait]:
        """Return the unsettled prompts that wait for the bot or a service, oldest first."""
        pending = self._prompts(one_of(prompts.c.state, UNSETTLED), now)
        return [wait for wait in pending if wait.reason is not WaitReason.PERSON]

    def oldest_message(self, now: datetime, *, job: JobNumber | None = None) -> Wait | None:
        """Return the oldest pending message of a job, or of all; None if there is none."""
        query = _OLDEST_MESSAGE if job is None else _OLDEST_MESSAGE.where(deliveries.c.job == job)
        row = self.connection.execute(query, {NOW.key: now}).mappings().one_or_none()
        if row is None:
            return None
        return Wait(
            Waiting.MESSAGE,
            None,
            row["created_at"],
            _if_ahead(row["due_at"], now),
            row["job"],
            stuck_since=_find_claimable_time(row, "created_at"),
        )

    def waiting_seconds(self, now: datetime) -> dict[str, float]:
        """Return for how long the oldest work of each kind has waited; 0 if none waits.

        A prompt waits from the time at which it could be claimed, a message from its creation, and
        a poll from its due time. Edits and reactions are silent, so they do not count as messages.
        """
        is_open = and_(deliveries.c.state.in_(OPEN_STATES), deliveries.c.kind.not_in(QUIET_KINDS))
        oldest_message = _select_oldest(deliveries.c.created_at, is_open)
        oldest_poll = _select_oldest(jobs.c.poll_at, jobs.c.poll_at <= now)
        row = self.connection.execute(select(oldest_message, oldest_poll)).one()
        claimable = [wait.stuck_since for wait in self.all_prompts(now) if wait.stuck_since]
        return {
            "prompt": _count_seconds_since(min(claimable, default=None), now),
            "message": _count_seconds_since(row[0], now),
            "poll": _count_seconds_since(row[1], now),
        }

    def needs_person(self) -> dict[str, int]:
        """Return how many unconfirmed prompts and dead letters wait for a person."""
        is_dead = and_(
            deliveries.c.state == DeliveryState.DEAD, deliveries.c.kind != DeliveryKind.REACTION
        )
        unconfirmed = _select_count(prompts, prompts.c.state == PromptState.UNCONFIRMED)
        row = self.connection.execute(select(unconfirmed, _select_count(deliveries, is_dead))).one()
        return {"prompt": row[0], "message": row[1]}

    def _prompts(self, condition: ColumnElement[bool], now: datetime) -> list[Wait]:
        rows = self.connection.execute(_PROMPTS.where(condition), {NOW.key: now}).mappings()
        return [_to_prompt_wait(row, now) for row in rows]


def _to_prompt_wait(row: RowMapping, now: datetime) -> Wait:
    reason = None
    until = _if_ahead(row["due_at"], now)
    is_waiting = row["state"] == PromptState.WAITING
    if row["state"] == PromptState.UNCONFIRMED or (
        is_waiting and row["job_state"] == JobState.UNCONFIRMED
    ):
        reason = WaitReason.PERSON
        until = None
    elif is_waiting and row["is_off"]:
        reason = WaitReason.SWITCHED_OFF
        until = None
    elif is_waiting and row["reason"]:
        reason = _to_wait_reason(row["reason"])
        until = row["paused_until"]
    elif is_waiting and row["is_awaiting_quota"] and until:
        reason = WaitReason.LIMIT
    return Wait(
        Waiting.PROMPT,
        reason,
        row["asked_at"],
        until,
        row["job"],
        _find_claimable_time(row, "asked_at"),
    )


def _to_poll_wait(row: RowMapping, now: datetime) -> Wait:
    until = row["poll_at"]
    reason = None
    if row["paused_until"]:
        until = max(until, row["paused_until"])
        reason = _to_wait_reason(row["reason"])
    return Wait(Waiting.POLL, reason, row["poll_at"], _if_ahead(until, now), row["number"])


def _to_wait_reason(reason: str) -> WaitReason:
    return WaitReason.KEY if reason in KEY_REASONS else WaitReason.SERVICE


def _if_ahead(at: datetime, now: datetime) -> datetime | None:
    return at if at > now else None


def _count_seconds_since(at: datetime | None, now: datetime) -> float:
    """Return the seconds since a time; 0 for None or a time in the future."""
    return 0.0 if at is None else max((now - at).total_seconds(), 0.0)


def _find_claimable_time(row: RowMapping, asked: str) -> datetime | None:
    return max(row[asked], row["due_at"]) if row["is_claimable"] else None


def _select_oldest(
    column: ColumnElement[datetime], condition: ColumnElement[bool]
) -> ScalarSelect[datetime]:
    return select(func.min(column, type_=UtcDateTime)).where(condition).scalar_subquery()


def _select_count(table: AnyTable, condition: ColumnElement[bool]) -> ScalarSelect[int]:
    return select(func.count()).select_from(table).where(condition).scalar_subquery()
