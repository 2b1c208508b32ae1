"""The queues, each row of which waits for a worker. Claims and the check of what is due come from them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import BindParameter, ColumnElement, ScalarSelect, and_, exists, func, or_, select, true
from sqlalchemy.engine import Connection

from bot.model.misses import NOT_HERE_FOR
from bot.model.outbox import DeliveryState
from bot.model.prompts import PromptKind, PromptState
from bot.model.questions import QuestionState, SubscriptionState
from bot.model.visitors import ReadingProblem, SnapshotState
from bot.store.columns import AnyTable, UtcDateTime
from bot.store.leases import (
    NOW,
    ClaimStatement,
    claiming_oldest,
    has_passed,
    is_ahead,
    later,
    one_of,
    unclaimed,
)
from bot.store.schema import (
    back_offs,
    conversations,
    deliveries,
    jobs,
    previews,
    prompts,
    pull_requests,
    questions,
    snapshots,
    subscriptions,
)

UNSETTLED = (PromptState.NEW, PromptState.WAITING, PromptState.SENDING)


class Queue(StrEnum):
    """A set of rows that workers claim from."""

    REQUESTS = "requests"
    """New prompts, as Slack sent them."""
    PROMPTS = "prompts"
    ABANDONED = "abandoned"
    """Prompts that a process was sending when it died."""
    POLLS = "polls"
    LOOKS = "looks"
    """Pull requests to be looked at."""
    PREVIEWS = "previews"
    DELIVERIES = "deliveries"
    SNAPSHOTS = "snapshots"
    QUESTIONS = "questions"
    DIGESTS = "digests"
    """New subscriptions, and subscriptions whose weekly time has come."""
    UNREAD = "unread"
    """Conversations to be read again after an outage."""


@dataclass(frozen=True, slots=True)
class Line:
    """Rows of a queue: those of a table that are in ``state``, from their time in ``due`` on.

    ``state`` is None for all rows of the table, ``due`` for rows that wait only for the end of a lease.
    ``ready``: what else a row waits for, which may depend on other rows.
    """

    queue: Queue
    table: AnyTable
    state: StrEnum | None
    due: ColumnElement[datetime] | None
    ready: ColumnElement[bool] | None = None

    @property
    def here(self) -> ColumnElement[bool]:
        """Return the condition that a row is in the line, due or not."""
        return true() if self.state is None else self.table.c.state == self.state

    @property
    def waits(self) -> ColumnElement[bool]:
        """Return the condition that a row is in the line and its time has come."""
        return self.here if self.due is None else and_(self.here, has_passed(self.due))

    @property
    def is_free(self) -> ColumnElement[bool]:
        """Return the condition that a row of the line waits for nothing but its time."""
        held = unclaimed(self.table) if "claimed_until" in self.table.c else true()
        return and_(self.here, held, true() if self.ready is None else self.ready)

    def is_due(self) -> ColumnElement[bool]:
        """Return the condition that a row of the line can be claimed."""
        return exists().select_from(self.table).where(self.waits, self.is_free)

    def next_at(self) -> ScalarSelect[datetime] | None:
        """Return when the next row comes due; None for a line without due times."""
        return None if self.due is None else _first(self.due, self.here)

    def claiming(self, *more: ColumnElement[bool]) -> ClaimStatement:
        """Return the statement that claims the oldest rows of the line that meet ``more``."""
        return claiming_oldest(self.table, self.waits, *more)


def is_behind() -> ColumnElement[bool]:
    """Return the condition that an earlier prompt of the job is not settled."""
    earlier = prompts.alias("earlier")
    return exists().where(
        earlier.c.job == prompts.c.job, earlier.c.id < prompts.c.id, one_of(earlier.c.state, UNSETTLED)
    )


def _sendable() -> ColumnElement[bool]:
    """Return the condition that a waiting prompt waits for nothing but its time and the quota.

    Its job's face has been posted or its service id is known, the job has no earlier unsettled prompt, and
    the project has no back-off. A follow-up behind an unconfirmed first prompt waits for a person.
    """
    has_face = and_(prompts.c.kind == PromptKind.START, jobs.c.root_ts.is_not(None))
    ready = exists().where(jobs.c.number == prompts.c.job, or_(has_face, jobs.c.service_id.is_not(None)))
    backing_off = exists().where(back_offs.c.project == prompts.c.project, is_ahead(back_offs.c.until))
    return and_(~is_behind(), ready, ~backing_off)


IS_WANTED = and_(snapshots.c.state == SnapshotState.REQUESTED, snapshots.c.wanted_until > NOW)
"""The condition that a person waits for a snapshot."""


def is_not_here(now: datetime | BindParameter[datetime] = NOW) -> ColumnElement[bool]:
    """Return the condition that the service does not give a snapshot, and is not asked again for a day."""
    lately = snapshots.c.taken_at > later(now, -NOT_HERE_FOR)
    return and_(snapshots.c.state == SnapshotState.FAILED, _NOT_GIVEN, lately)


_NOT_GIVEN = snapshots.c.problem == ReadingProblem.NOT_HERE
IS_PLANNED = and_(
    one_of(snapshots.c.state, (SnapshotState.REQUESTED, SnapshotState.FAILED)),
    snapshots.c.planned_until > NOW,
    func.coalesce(~is_not_here(), true()),
)
"""The condition that a digest waits for a snapshot. One that failed is fetched again after its pause."""
NEW_PROMPTS = Line(Queue.REQUESTS, prompts, PromptState.NEW, prompts.c.due_at)
WAITING_PROMPTS = Line(Queue.PROMPTS, prompts, PromptState.WAITING, prompts.c.due_at, _sendable())
ABANDONED_PROMPTS = Line(Queue.ABANDONED, prompts, PromptState.SENDING, None)
POLLS = Line(Queue.POLLS, jobs, None, jobs.c.poll_at)
LOOKS = Line(Queue.LOOKS, pull_requests, None, pull_requests.c.look_at)
PREVIEWS = Line(Queue.PREVIEWS, previews, None, previews.c.due_at)
DELIVERIES = Line(Queue.DELIVERIES, deliveries, DeliveryState.PENDING, deliveries.c.due_at)
ABANDONED_DELIVERIES = Line(Queue.DELIVERIES, deliveries, DeliveryState.SENDING, None)
UNCLEAR_DELIVERIES = Line(Queue.DELIVERIES, deliveries, DeliveryState.UNCLEAR, deliveries.c.due_at)
SNAPSHOTS = Line(Queue.SNAPSHOTS, snapshots, None, snapshots.c.due_at, or_(IS_WANTED, IS_PLANNED))
QUESTIONS = Line(Queue.QUESTIONS, questions, QuestionState.WAITING, questions.c.due_at)
NEW_SUBSCRIPTIONS = Line(Queue.DIGESTS, subscriptions, SubscriptionState.NEW, None)
SUBSCRIPTIONS = Line(Queue.DIGESTS, subscriptions, SubscriptionState.ACTIVE, subscriptions.c.next_run_at)
UNREAD = Line(Queue.UNREAD, conversations, None, conversations.c.due_at)
LINES = tuple(each for each in list(globals().values()) if isinstance(each, Line))


def _first(due: ColumnElement[datetime], *which: ColumnElement[bool]) -> ScalarSelect[datetime]:
    return select(func.min(due, type_=UtcDateTime)).where(is_ahead(due), *which).scalar_subquery()


@dataclass(frozen=True, slots=True)
class Due:
    """The queues with rows due now, and the time at which the next row comes due (None: no such row)."""

    queues: frozenset[Queue]
    next_at: datetime | None


# Not joined with OR, so that each of them uses an index.
_CONDITIONS = tuple((line.queue, line.is_due()) for line in LINES)
_TIMES = (
    *(at for line in LINES if (at := line.next_at()) is not None),
    # Prompts that are due wait while their project has a back-off.
    _first(back_offs.c.until),
)
_STATEMENT = select(*(each for _, each in _CONDITIONS), *_TIMES)
"""Built once, because building takes longer than the database takes for it."""


def find_due(connection: Connection, now: datetime) -> Due:
    """Return the queues from which a claim may get rows, and the next due time.

    The result may name a queue from which a claim then gets nothing, because a claim also checks back-offs,
    the order in a thread and a channel's pace. ``next_at`` ignores most leases: a lease that runs out belongs
    to a dead process, and the workers' regular check finds such rows.
    """
    found = connection.execute(_STATEMENT, {NOW.key: now}).one()
    flags, coming = found[: len(_CONDITIONS)], found[len(_CONDITIONS) :]
    queues = frozenset(queue for (queue, _), is_due in zip(_CONDITIONS, flags, strict=True) if is_due)
    return Due(queues, min((at for at in coming if isinstance(at, datetime)), default=None))
