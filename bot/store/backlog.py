"""One statement that finds how old the oldest unsettled work is, and how much of it needs a person."""

from __future__ import annotations

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


def find_backlog(connection: Connection, now: datetime) -> dict[str, float]:
    """Return the unsettled work of all processes, by the name of its gauge: numbers of rows, and ages.

    An age is that of the oldest unsettled request, whatever its next attempt is; 0 if there is none. Edits
    and reactions tell nobody anything new, so they are no deliveries here. A poll ages from when it was due.
    """
    unsettled, is_edit = deliveries.c.state.in_(_UNSETTLED_DELIVERIES), deliveries.c.kind.in_(QUIET)
    dead = deliveries.c.state == DeliveryState.DEAD
    ages: dict[str, ScalarSelect[datetime]] = {
        "oldest_prompt_seconds": _oldest(prompts.c.asked_at, prompts.c.state.in_(_UNSETTLED_PROMPTS)),
        "oldest_delivery_seconds": _oldest(deliveries.c.created_at, and_(unsettled, ~is_edit)),
        "oldest_edit_seconds": _oldest(deliveries.c.created_at, and_(unsettled, is_edit)),
        "oldest_question_seconds": _oldest(questions.c.asked_at, questions.c.state == QuestionState.WAITING),
        "most_overdue_poll_seconds": _oldest(jobs.c.poll_at, jobs.c.poll_at <= now),
    }
    counts: dict[str, ScalarSelect[int]] = {
        "open_jobs": _count(jobs, jobs.c.poll_at.is_not(None)),
        "unconfirmed_prompts": _count(prompts, prompts.c.state == PromptState.UNCONFIRMED),
        "dead_letters": _count(deliveries, dead & (deliveries.c.kind != DeliveryKind.REACTION)),
        "held_projects": _count(back_offs, back_offs.c.until > now),
    }
    row = connection.execute(select(*ages.values(), *counts.values())).one()
    return {
        name: max((now - value).total_seconds(), 0.0) if isinstance(value, datetime) else float(value or 0)
        for name, value in zip([*ages, *counts], row, strict=True)
    }


def _oldest(column: ColumnElement[datetime], condition: ColumnElement[bool]) -> ScalarSelect[datetime]:
    return select(func.min(column, type_=UtcDateTime)).where(condition).scalar_subquery()


def _count(table: AnyTable, condition: ColumnElement[bool]) -> ScalarSelect[int]:
    return select(func.count()).select_from(table).where(condition).scalar_subquery()
