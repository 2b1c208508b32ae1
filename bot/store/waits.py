"""What waits, and why: said by the conditions under which workers claim it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, ScalarSelect, and_, func, or_, select
from sqlalchemy.engine import RowMapping

from bot.model.ids import JobNumber
from bot.model.jobs import JobState, QueueWhy
from bot.model.outbox import QUIET, DeliveryKind, DeliveryState
from bot.model.prompts import PromptKind, PromptState
from bot.model.questions import QuestionState
from bot.model.quota import MAY_NOT_WRITE, BackOff
from bot.model.waits import Wait, Waiting, WaitWhy
from bot.store.columns import AnyTable, Repository, UtcDateTime
from bot.store.leases import NOW, one_of, readable
from bot.store.outbox import OPEN, waits_in_thread
from bot.store.prompts import face_before
from bot.store.queues import (
    ABANDONED_PROMPTS,
    DELIVERIES,
    NEW_PROMPTS,
    POLLS,
    UNSETTLED,
    WAITING_PROMPTS,
    Line,
)
from bot.store.schema import back_offs, deliveries, jobs, prompts, questions


def _is_claimable(line: Line) -> ColumnElement[bool]:
    return and_(line.waits, line.is_free)


# The conditions that are taken over have tables of their own.
_job, _back_offs = jobs.alias("of"), back_offs.alias("backs_off")
_BACK_OFF = (
    _back_offs.c.reason,
    _back_offs.c.since.label("failing_since"),
    _back_offs.c.until.label("backs_off_until"),
)
_PROMPTS = (
    select(
        *prompts.c["id", "job", "kind", "state", "asked_at", "due_at", "in_queue"],
        _job.c.state.label("job_state"),
        *_job.c["queue_why", "queue_until"],
        *_BACK_OFF,
        or_(
            and_(_is_claimable(NEW_PROMPTS), or_(prompts.c.kind != PromptKind.START, ~face_before())),
            _is_claimable(WAITING_PROMPTS),
            _is_claimable(ABANDONED_PROMPTS),
        ).label("is_due"),
    )
    .join(_job, _job.c.number == prompts.c.job)
    .outerjoin(_back_offs, _back_offs.c.project == prompts.c.project)
    .order_by(prompts.c.id)
)
_POLLS = select(*jobs.c["number", "poll_at"], *_BACK_OFF, _is_claimable(POLLS).label("is_due")).outerjoin(
    _back_offs, _back_offs.c.project == jobs.c.project
)
_MESSAGES = (
    select(
        *deliveries.c["seq", "job", "created_at", "due_at"],
        and_(_is_claimable(DELIVERIES), ~waits_in_thread()).label("is_due"),
    )
    .where(one_of(deliveries.c.state, OPEN), deliveries.c.kind.not_in(QUIET))
    .order_by(deliveries.c.seq)
    .limit(1)
)


class WaitRepository(Repository):
    """What waits, within one transaction."""

    def of_job(self, number: JobNumber, now: datetime) -> Sequence[Wait]:
        """Return what waits of a job: its prompts, its next poll, then its oldest message."""
        states = (*UNSETTLED, PromptState.UNCONFIRMED)
        asked = self._prompts(and_(prompts.c.job == number, prompts.c.state.in_(states)), now)
        polls = _POLLS.where(jobs.c.number == number, jobs.c.poll_at.is_not(None))
        found = self.connection.execute(polls, {NOW.key: now}).mappings()
        return [*asked, *(_poll(row, now) for row in found), *self._messages(deliveries.c.job == number, now)]

    def all_prompts(self, now: datetime) -> Sequence[Wait]:
        """Return the prompts that are not settled and wait for no person's decision, oldest first."""
        found = self._prompts(one_of(prompts.c.state, UNSETTLED), now)
        return [each for each in found if each.why is not WaitWhy.PERSON]

    def oldest_message(self, now: datetime) -> Wait | None:
        """Return the oldest delivery that tells somebody something."""
        return next(iter(self._messages(None, now)), None)

    def backlog(self, now: datetime) -> dict[str, float]:
        """Return the unsettled work of all processes, by the name of its gauge: numbers of rows, and ages.

        An age is that of the oldest unsettled request, whatever its next attempt is; 0 if there is none.
        Edits and reactions tell nobody anything new, so they are no deliveries here. A poll ages from when it
        was due.
        """
        unsettled, is_edit = deliveries.c.state.in_(OPEN), deliveries.c.kind.in_(QUIET)
        dead = deliveries.c.state == DeliveryState.DEAD
        ages: dict[str, ScalarSelect[datetime]] = {
            "oldest_prompt_seconds": _oldest(prompts.c.asked_at, prompts.c.state.in_(UNSETTLED)),
            "oldest_delivery_seconds": _oldest(deliveries.c.created_at, and_(unsettled, ~is_edit)),
            "oldest_question_seconds": _oldest(
                questions.c.asked_at, questions.c.state == QuestionState.WAITING
            ),
            "most_overdue_poll_seconds": _oldest(jobs.c.poll_at, jobs.c.poll_at <= now),
        }
        counts: dict[str, ScalarSelect[int]] = {
            "open_jobs": _count(jobs, jobs.c.poll_at.is_not(None)),
            "unconfirmed_prompts": _count(prompts, prompts.c.state == PromptState.UNCONFIRMED),
            "dead_letters": _count(deliveries, dead & (deliveries.c.kind != DeliveryKind.REACTION)),
        }
        row = self.connection.execute(select(*ages.values(), *counts.values())).one()
        return {
            name: max((now - value).total_seconds(), 0.0)
            if isinstance(value, datetime)
            else float(value or 0)
            for name, value in zip([*ages, *counts], row, strict=True)
        }

    def _prompts(self, which: ColumnElement[bool], now: datetime) -> list[Wait]:
        rows = self.connection.execute(_PROMPTS.where(which), {NOW.key: now}).mappings()
        return readable(prompts, rows, lambda row: _prompt(row, now))

    def _messages(self, which: ColumnElement[bool] | None, now: datetime) -> list[Wait]:
        wanted = _MESSAGES if which is None else _MESSAGES.where(which)
        rows = self.connection.execute(wanted, {NOW.key: now}).mappings()
        return [
            Wait(
                *(Waiting.MESSAGE, WaitWhy.BOT, row["created_at"], row["due_at"], _later(row["due_at"], now)),
                job=row["job"],
                is_due=bool(row["is_due"]),
            )
            for row in rows
        ]


def _later(at: datetime, now: datetime) -> datetime | None:
    return at if at > now else None


def _back_off(row: RowMapping, now: datetime) -> tuple[WaitWhy, datetime, str] | None:
    """Return what a project's back-off waits for, until when and the cause; None without one."""
    until = row["backs_off_until"]
    known = None if until is None else BackOff(row["reason"], row["failing_since"], until)
    if known is None or not known.lasts(now):
        return None
    return WaitWhy.KEY if known.is_refusal else WaitWhy.SERVICE, known.until, known.reason


def _prompt(row: RowMapping, now: datetime) -> Wait:
    state, is_follow_up = PromptState(row["state"]), PromptKind(row["kind"]) is PromptKind.FOLLOW_UP
    is_behind = is_follow_up and row["job_state"] == JobState.UNCONFIRMED and state is PromptState.WAITING
    about: tuple[WaitWhy, datetime | None, str | None] = (WaitWhy.BOT, _later(row["due_at"], now), None)
    if state is PromptState.UNCONFIRMED or is_behind:
        about = WaitWhy.PERSON, None, None
    elif state is PromptState.WAITING:
        if (backs_off := _back_off(row, now)) is not None:
            about = backs_off
        elif about[1] is not None and row["in_queue"]:
            is_share = row["queue_why"] == QueueWhy.SHARE
            about = WaitWhy.SHARE if is_share else WaitWhy.LIMIT, row["queue_until"] or about[1], None
        elif about[1] is not None and row["queue_why"] == QueueWhy.SERVICE:
            about = WaitWhy.SERVICE, about[1], None
    return Wait(
        Waiting.PROMPT, about[0], row["asked_at"], row["due_at"], *about[1:], row["job"], bool(row["is_due"])
    )


def _poll(row: RowMapping, now: datetime) -> Wait:
    at, backs_off = row["poll_at"], None if row["reason"] == MAY_NOT_WRITE else _back_off(row, now)
    if backs_off is None:
        return Wait(
            Waiting.POLL, WaitWhy.BOT, at, at, _later(at, now), None, row["number"], bool(row["is_due"])
        )
    why, until, cause = backs_off
    return Wait(Waiting.POLL, why, at, at, max(until, at), cause, row["number"])


def _oldest(column: ColumnElement[datetime], condition: ColumnElement[bool]) -> ScalarSelect[datetime]:
    return select(func.min(column, type_=UtcDateTime)).where(condition).scalar_subquery()


def _count(table: AnyTable, condition: ColumnElement[bool]) -> ScalarSelect[int]:
    return select(func.count()).select_from(table).where(condition).scalar_subquery()
