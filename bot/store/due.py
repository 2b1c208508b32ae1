"""Which queues have something due: one look for all, since most looks find nothing."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, Table, and_, exists, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.model import DeliveryState, PromptState, QuestionState, SnapshotState
from bot.store.leases import unclaimed
from bot.store.schema import deliveries, jobs, prompts, questions, snapshots


class Queue(StrEnum):
    """What rounds claim from."""

    REQUESTS = "requests"
    """Prompts as Slack sent them."""
    PROMPTS = "prompts"
    """Prompts to be sent, and those of which nobody knows whether they were."""
    POLLS = "polls"
    DELIVERIES = "deliveries"
    SNAPSHOTS = "snapshots"
    QUESTIONS = "questions"


async def due_queues(connection: AsyncConnection, now: datetime) -> frozenset[Queue]:
    """The queues in which a row may be due and nobody holds it.

    Never less than what a claim would find; more where a claim looks closer (a hold, the order in a thread).
    """
    conditions = _conditions(now)
    found = (await connection.execute(select(*(condition for _, condition in conditions)))).one()
    return frozenset(queue for (queue, _), is_due in zip(conditions, found, strict=True) if is_due)


def _conditions(now: datetime) -> list[tuple[Queue, ColumnElement[bool]]]:
    """Two of one queue rather than one with an *or* in it: each then has its index."""
    return [
        (Queue.REQUESTS, _waiting(prompts, PromptState.NEW, now)),
        (Queue.PROMPTS, _waiting(prompts, PromptState.WAITING, now)),
        (Queue.PROMPTS, _lapsed(prompts, PromptState.SENDING, now)),
        (Queue.POLLS, _any(jobs, and_(jobs.c.poll_at <= now, unclaimed(jobs, now)))),
        (Queue.DELIVERIES, _waiting(deliveries, DeliveryState.PENDING, now)),
        (Queue.DELIVERIES, _lapsed(deliveries, DeliveryState.SENDING, now)),
        (Queue.SNAPSHOTS, _waiting(snapshots, SnapshotState.REQUESTED, now)),
        (Queue.QUESTIONS, _waiting(questions, QuestionState.WAITING, now)),
    ]


def _waiting(table: Table, state: str, now: datetime) -> ColumnElement[bool]:
    return _any(table, and_(table.c.state == state, table.c.due_at <= now, unclaimed(table, now)))


def _lapsed(table: Table, state: str, now: datetime) -> ColumnElement[bool]:
    return _any(table, and_(table.c.state == state, unclaimed(table, now)))


def _any(table: Table, condition: ColumnElement[bool]) -> ColumnElement[bool]:
    return exists().select_from(table).where(condition)
