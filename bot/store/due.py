"""One statement that finds which queues have rows due, and when the next row comes due."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, ScalarSelect, and_, exists, func, select
from sqlalchemy.engine import Connection

from bot.model.digests import DigestState, SubscriptionState
from bot.model.outbox import DeliveryState
from bot.model.prompts import PromptState
from bot.model.questions import QuestionState
from bot.model.visitors import SnapshotState
from bot.store.columns import AnyTable, UtcDateTime
from bot.store.leases import NOW, unclaimed
from bot.store.prompts import sendable
from bot.store.schema import (
    back_offs,
    conversations,
    deliveries,
    digests,
    heartbeats,
    jobs,
    prompts,
    questions,
    snapshots,
)
from bot.store.schema import subscriptions as subs
from bot.store.set_back import TOLERATED, TOO_LATE, is_ahead


class Queue(StrEnum):
    """A set of rows that workers claim from."""

    REQUESTS = "requests"
    """New prompts, as Slack sent them."""
    PROMPTS = "prompts"
    """Prompts to be sent, and prompts that a process was sending when it died."""
    POLLS = "polls"
    DELIVERIES = "deliveries"
    SNAPSHOTS = "snapshots"
    QUESTIONS = "questions"
    DIGESTS = "digests"
    """New subscriptions, subscriptions whose weekly time has come, and digests that wait for numbers."""
    UNREAD = "unread"
    """Conversations to be read again after an outage."""
    AHEAD = "ahead"
    """Heartbeats that lie ahead of the clock, because it was set back."""


@dataclass(frozen=True, slots=True)
class Due:
    """The queues with rows due now, and the time at which the next row comes due (None: no such row)."""

    queues: frozenset[Queue]
    next_at: datetime | None


def find_due(connection: Connection, now: datetime) -> Due:
    """Return the queues from which a claim may get rows, and the next due time.

    The result may name a queue from which a claim then gets nothing, because a claim also checks back-offs,
    the order in a thread and a channel's pace. ``next_at`` ignores most leases: a lease that runs out belongs
    to a dead process, and the workers' regular check finds such rows.
    """
    found = connection.execute(_STATEMENT, {NOW.key: now, TOO_LATE.key: now + TOLERATED}).one()
    flags, coming = found[: len(_CONDITIONS)], found[len(_CONDITIONS) :]
    queues = frozenset(queue for (queue, _), is_due in zip(_CONDITIONS, flags, strict=True) if is_due)
    return Due(queues, min((at for at in coming if isinstance(at, datetime)), default=None))


def _conditions() -> list[tuple[Queue, ColumnElement[bool]]]:
    """Return the conditions of due rows; not joined with OR, so that each of them uses an index."""
    active = and_(subs.c.state == SubscriptionState.ACTIVE, subs.c.next_run_at <= NOW)
    return [
        (Queue.REQUESTS, _waiting(prompts, PromptState.NEW)),
        (Queue.PROMPTS, _any(prompts, and_(prompts.c.due_at <= NOW, sendable()))),
        (Queue.PROMPTS, _lapsed(prompts, PromptState.SENDING)),
        (Queue.POLLS, _any(jobs, and_(jobs.c.poll_at <= NOW, unclaimed(jobs)))),
        (Queue.DELIVERIES, _waiting(deliveries, DeliveryState.PENDING)),
        (Queue.DELIVERIES, _lapsed(deliveries, DeliveryState.SENDING)),
        (Queue.SNAPSHOTS, _waiting(snapshots, SnapshotState.REQUESTED)),
        (Queue.QUESTIONS, _waiting(questions, QuestionState.WAITING)),
        (Queue.DIGESTS, _any(subs, subs.c.state == SubscriptionState.NEW)),
        (Queue.DIGESTS, _any(subs, active)),
        (Queue.DIGESTS, _waiting(digests, DigestState.GATHERING)),
        (Queue.UNREAD, _any(conversations, and_(conversations.c.due_at <= NOW, unclaimed(conversations)))),
        (Queue.AHEAD, _any(heartbeats, is_ahead())),
    ]


def _times() -> list[ScalarSelect[datetime]]:
    return [
        _next(prompts.c.due_at, prompts.c.state == PromptState.NEW),
        _next(prompts.c.due_at, prompts.c.state == PromptState.WAITING),
        # Prompts that are due wait while their project has a back-off.
        _next(back_offs.c.until, None),
        _next(jobs.c.poll_at, None),
        _next(deliveries.c.due_at, deliveries.c.state == DeliveryState.PENDING),
        # An unconfirmed delivery keeps a short lease; Slack is searched for it once the lease has run out.
        _next(deliveries.c.claimed_until, deliveries.c.state == DeliveryState.SENDING),
        _next(snapshots.c.due_at, snapshots.c.state == SnapshotState.REQUESTED),
        _next(questions.c.due_at, questions.c.state == QuestionState.WAITING),
        _next(subs.c.next_run_at, subs.c.state == SubscriptionState.ACTIVE),
        _next(digests.c.due_at, digests.c.state == DigestState.GATHERING),
        _next(conversations.c.due_at, None),
    ]


def _next(column: ColumnElement[datetime], condition: ColumnElement[bool] | None) -> ScalarSelect[datetime]:
    first = select(func.min(column, type_=UtcDateTime)).where(column > NOW)
    return (first if condition is None else first.where(condition)).scalar_subquery()


def _waiting(table: AnyTable, state: str) -> ColumnElement[bool]:
    return _any(table, and_(table.c.state == state, table.c.due_at <= NOW, unclaimed(table)))


def _lapsed(table: AnyTable, state: str) -> ColumnElement[bool]:
    return _any(table, and_(table.c.state == state, unclaimed(table)))


def _any(table: AnyTable, condition: ColumnElement[bool]) -> ColumnElement[bool]:
    return exists().select_from(table).where(condition)


_CONDITIONS = _conditions()
_STATEMENT = select(*(each for _, each in _CONDITIONS), *_times())
"""Built once, because building takes longer than the database takes for it."""
