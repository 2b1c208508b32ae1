"""Which queues have something due, and when the next row comes due: one statement for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, ScalarSelect, and_, exists, func, select
from sqlalchemy.engine import Connection

from bot.model import (
    DeliveryState,
    DigestState,
    PromptState,
    QuestionState,
    SnapshotState,
    SubscriptionState,
)
from bot.store.leases import unclaimed
from bot.store.schema import AnyTable, UtcDateTime, deliveries, digests, jobs, prompts, questions, snapshots
from bot.store.schema import subscriptions as subs


class Queue(StrEnum):
    """What workers claim from."""

    REQUESTS = "requests"
    """Prompts as Slack sent them."""
    PROMPTS = "prompts"
    """Prompts to be sent, and those that a process left behind while sending."""
    POLLS = "polls"
    DELIVERIES = "deliveries"
    SNAPSHOTS = "snapshots"
    QUESTIONS = "questions"
    DIGESTS = "digests"
    """New subscriptions, weekly times that have come, and digests whose numbers are being fetched."""


@dataclass(frozen=True, slots=True)
class Due:
    """The queues with something due now, and when the first row that is not due yet will be."""

    queues: frozenset[Queue]
    next_at: datetime | None


def find_due(connection: Connection, now: datetime) -> Due:
    """Return what is due: never less than what a claim would find.

    It is more where a claim looks closer (a back-off, the order in a thread, a channel's pace). A lease
    that somebody holds is not waited for: whoever let it run out has died, which the regular look finds.
    """
    conditions, times = _conditions(now), _times(now)
    found = connection.execute(select(*(each for _, each in conditions), *times)).one()
    flags, coming = found[: len(conditions)], found[len(conditions) :]
    queues = frozenset(queue for (queue, _), is_due in zip(conditions, flags, strict=True) if is_due)
    return Due(queues, min((at for at in coming if isinstance(at, datetime)), default=None))


def _conditions(now: datetime) -> list[tuple[Queue, ColumnElement[bool]]]:
    """Two of one queue rather than one with an *or* in it: each then has its index."""
    active = and_(subs.c.state == SubscriptionState.ACTIVE, subs.c.next_run_at <= now)
    return [
        (Queue.REQUESTS, _waiting(prompts, PromptState.NEW, now)),
        (Queue.PROMPTS, _waiting(prompts, PromptState.WAITING, now)),
        (Queue.PROMPTS, _lapsed(prompts, PromptState.SENDING, now)),
        (Queue.POLLS, _any(jobs, and_(jobs.c.poll_at <= now, unclaimed(jobs, now)))),
        (Queue.DELIVERIES, _waiting(deliveries, DeliveryState.PENDING, now)),
        (Queue.DELIVERIES, _lapsed(deliveries, DeliveryState.SENDING, now)),
        (Queue.SNAPSHOTS, _waiting(snapshots, SnapshotState.REQUESTED, now)),
        (Queue.QUESTIONS, _waiting(questions, QuestionState.WAITING, now)),
        (Queue.DIGESTS, _any(subs, subs.c.state == SubscriptionState.NEW)),
        (Queue.DIGESTS, _any(subs, active)),
        (Queue.DIGESTS, _waiting(digests, DigestState.GATHERING, now)),
    ]


def _times(now: datetime) -> list[ScalarSelect[datetime]]:
    return [
        _next(prompts.c.due_at, prompts.c.state == PromptState.NEW, now),
        _next(prompts.c.due_at, prompts.c.state == PromptState.WAITING, now),
        _next(jobs.c.poll_at, None, now),
        _next(deliveries.c.due_at, deliveries.c.state == DeliveryState.PENDING, now),
        # A delivery of unclear outcome keeps a short lease and is looked for when it has run out.
        _next(deliveries.c.claimed_until, deliveries.c.state == DeliveryState.SENDING, now),
        _next(snapshots.c.due_at, snapshots.c.state == SnapshotState.REQUESTED, now),
        _next(questions.c.due_at, questions.c.state == QuestionState.WAITING, now),
        _next(subs.c.next_run_at, subs.c.state == SubscriptionState.ACTIVE, now),
        _next(digests.c.due_at, digests.c.state == DigestState.GATHERING, now),
    ]


def _next(
    column: ColumnElement[datetime], condition: ColumnElement[bool] | None, now: datetime
) -> ScalarSelect[datetime]:
    first = select(func.min(column, type_=UtcDateTime)).where(column > now)
    return (first if condition is None else first.where(condition)).scalar_subquery()


def _waiting(table: AnyTable, state: str, now: datetime) -> ColumnElement[bool]:
    return _any(table, and_(table.c.state == state, table.c.due_at <= now, unclaimed(table, now)))


def _lapsed(table: AnyTable, state: str, now: datetime) -> ColumnElement[bool]:
    return _any(table, and_(table.c.state == state, unclaimed(table, now)))


def _any(table: AnyTable, condition: ColumnElement[bool]) -> ColumnElement[bool]:
    return exists().select_from(table).where(condition)
