"""One statement that finds how old the oldest unsettled work is, and how much of it needs a person."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, ScalarSelect, and_, func, select
from sqlalchemy.engine import Connection

from bot.model.outbox import QUIET, DeliveryKind, DeliveryState
from bot.model.prompts import PromptState
from bot.model.questions import QuestionState
from bot.store.columns import AnyTable, UtcDateTime
from bot.store.schema import back_offs, deliveries, jobs, prompts, questions

_UNSETTLED_PROMPTS = (PromptState.NEW, PromptState.WAITING, PromptState.SENDING)
_UNSETTLED_DELIVERIES = (DeliveryState.PENDING, DeliveryState.SENDING)


@dataclass(frozen=True, slots=True)
class Backlog:
    """Unsettled work of all processes. Times are None when there is no such row.

    ``prompt_at``, ``delivery_at``, ``edit_at`` and ``question_at``: when the oldest unsettled one was asked
    for, whatever its next attempt is. Edits and reactions tell nobody anything new, so they are no deliveries
    here. ``poll_at``: when the most overdue poll was due.
    """

    prompt_at: datetime | None
    delivery_at: datetime | None
    edit_at: datetime | None
    question_at: datetime | None
    poll_at: datetime | None
    open_jobs: int
    unconfirmed_prompts: int
    dead_letters: int
    held_projects: int


def find_backlog(connection: Connection, now: datetime) -> Backlog:
    """Return the unsettled work."""
    unsettled, is_edit = deliveries.c.state.in_(_UNSETTLED_DELIVERIES), deliveries.c.kind.in_(QUIET)
    dead = deliveries.c.state == DeliveryState.DEAD
    found = connection.execute(
        select(
            _oldest(prompts.c.asked_at, prompts.c.state.in_(_UNSETTLED_PROMPTS)),
            _oldest(deliveries.c.created_at, and_(unsettled, ~is_edit)),
            _oldest(deliveries.c.created_at, and_(unsettled, is_edit)),
            _oldest(questions.c.asked_at, questions.c.state == QuestionState.WAITING),
            _oldest(jobs.c.poll_at, jobs.c.poll_at <= now),
            _count(jobs, jobs.c.poll_at.is_not(None)),
            _count(prompts, prompts.c.state == PromptState.UNCONFIRMED),
            _count(deliveries, dead & (deliveries.c.kind != DeliveryKind.REACTION)),
            _count(back_offs, back_offs.c.until > now),
        )
    ).one()
    return Backlog(*found)


def _oldest(column: ColumnElement[datetime], condition: ColumnElement[bool]) -> ScalarSelect[datetime]:
    return select(func.min(column, type_=UtcDateTime)).where(condition).scalar_subquery()


def _count(table: AnyTable, condition: ColumnElement[bool]) -> ScalarSelect[int]:
    return select(func.count()).select_from(table).where(condition).scalar_subquery()
