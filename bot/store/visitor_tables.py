"""The tables of visitors, with their queues and rules of retention."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Boolean,
    Column,
    ColumnElement,
    Date,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    and_,
    cast,
    func,
    literal,
    or_,
    text,
    true,
)

from bot.ids import SnapshotId
from bot.model.misses import NOT_HERE_FOR, Source, Words
from bot.model.questions import QuestionKind, QuestionState, SubscriptionState, VisitorsQuery
from bot.model.visitors import ReadingProblem, SnapshotState
from bot.outbox.store import deliveries, is_being_delivered
from bot.store.leases import NOW, later, one_of
from bot.store.queues import QueueTable
from bot.store.retention import RetentionRule
from bot.store.schema import (
    Channel,
    Choice,
    Due,
    Id,
    Json,
    Note,
    Owner,
    Secret,
    UserJson,
    UserText,
    UtcDateTime,
    lease,
    metadata,
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("project", Id(200), nullable=False),
    Column("source", Choice(Source), nullable=False, server_default=text("'visitors'")),
    Column("first", Date, nullable=False),
    Column("end", Date, nullable=False),
    Column("generation", Id(40), nullable=False),
    Column("is_final", Boolean, nullable=False),
    Column("state", Choice(SnapshotState), nullable=False),
    Column("with_pages", Boolean, nullable=False),
    Column("human", BigInteger),
    Column("ai", BigInteger),
    Column("total", BigInteger),
    Column("rows", Integer, nullable=False, server_default=text("0")),
    Column("repeated", Integer, nullable=False, server_default=text("0")),
    Column("next_offset", Integer, nullable=False, server_default=text("0")),
    Column("calls", Integer, nullable=False, server_default=text("0")),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("complete", Boolean, nullable=False, server_default=text("false")),
    Column("problem", Note),
    Column("created_at", UtcDateTime, nullable=False),
    Column("taken_at", UtcDateTime),
    # What readers wrote; empty for visitors, and once it is forgotten.
    Column("words", UserJson(Words)),
    Column("due_at", Due(minutes=65), nullable=False),
    # Until when a person waits for it, and until when a digest does.
    Column("wanted_until", UtcDateTime),
    Column("planned_until", UtcDateTime),
    *lease(),
    Index("ix_snapshots_window", "project", "source", "first", "end", "generation", unique=True),
    Index("ix_snapshots_state", "state", "due_at"),
)

page_visitors = Table(
    "page_visitors",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("snapshot", Integer, ForeignKey("snapshots.id"), nullable=False),
    # A path can be too long for an index, so pages are found by its hash.
    Column("hash", Id(32), nullable=False),
    Column("path", Note, nullable=False),
    Column("human", BigInteger, nullable=False),
    Column("ai", BigInteger, nullable=False),
    Column("total", BigInteger, nullable=False),
    Index("ix_page_visitors_page", "snapshot", "hash", unique=True),
)

analytics_calls = Table(
    "analytics_calls",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("project", Id(200), nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Index("ix_analytics_calls_at", "project", "at"),
)

subscriptions = Table(
    "subscriptions",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    # Project, channel and section, joined: each combination has one subscription.
    Column("place", Id(600), nullable=False, unique=True),
    Column("project", Id(200), nullable=False),
    Column("channel", Channel(40), nullable=False),
    Column("section", UserText),
    Column("weekday", Integer, nullable=False),
    Column("at", Id(5), nullable=False),
    Column("zone", Id(80), nullable=False),
    Column("owner", Owner(40), nullable=False),
    Column("state", Choice(SubscriptionState), nullable=False),
    Column("revision", Integer, nullable=False, server_default=text("1")),
    Column("next_run_at", Due(days=15)),
    Column("last_run_at", UtcDateTime),
    Column("last_result", UserText),
    Column("response_url", Secret),
    Column("created_at", UtcDateTime, nullable=False),
    Index("ix_subscriptions_state", "state", "next_run_at"),
)

questions = Table(
    "questions",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("key", Id(400), nullable=False, unique=True),
    Column("kind", Choice(QuestionKind), nullable=False),
    Column("subscription", Integer, ForeignKey("subscriptions.id")),
    Column("project", Id(200), nullable=False),
    Column("channel", Channel(40), nullable=False),
    # Empty for the digest of a subscription, and once the question is forgotten, as is the query.
    Column("user", Owner(40)),
    Column("query", UserJson(VisitorsQuery)),
    Column("state", Choice(QuestionState), nullable=False),
    Column("now", Integer, ForeignKey("snapshots.id"), nullable=False),
    Column("was", Integer, ForeignKey("snapshots.id")),
    Column("older", Integer, ForeignKey("snapshots.id")),
    Column("chart", Json(tuple[SnapshotId, ...]), nullable=False),
    Column("missed", Json(tuple[SnapshotId, ...])),
    Column("response_url", Secret),
    Column("calls_before", Integer, nullable=False, server_default=text("0")),
    Column("thread_ts", Id(40)),
    Column("asked_at", UtcDateTime, nullable=False),
    Column("due_at", Due(minutes=70), nullable=False),
    *lease(),
    Index("ix_questions_state", "state", "due_at"),
)

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
SNAPSHOTS = QueueTable("snapshots", snapshots, None, snapshots.c.due_at, or_(IS_WANTED, IS_PLANNED))
QUESTIONS = QueueTable("questions", questions, QuestionState.WAITING, questions.c.due_at)
NEW_SUBSCRIPTIONS = QueueTable("digests", subscriptions, SubscriptionState.NEW, None)
SUBSCRIPTIONS = QueueTable("digests", subscriptions, SubscriptionState.ACTIVE, subscriptions.c.next_run_at)
"""Subscriptions whose weekly time has come."""

QUESTIONS_RULE = RetentionRule(
    "questions",
    questions,
    and_(
        questions.c.state != QuestionState.WAITING, ~is_being_delivered(deliveries.c.question, questions.c.id)
    ),
    questions.c.asked_at,
)
READERS_WORDS = RetentionRule(
    "readers' words",
    snapshots,
    snapshots.c.state == SnapshotState.DONE,
    snapshots.c.taken_at,
    extra_values={"state": SnapshotState.REQUESTED, "complete": False, "taken_at": None},
)
SUBSCRIPTIONS_RULE = RetentionRule(
    "subscriptions",
    subscriptions,
    and_(
        subscriptions.c.state == SubscriptionState.ENDED,
        ~is_being_delivered(deliveries.c.subscription, subscriptions.c.id),
    ),
    func.coalesce(subscriptions.c.last_run_at, subscriptions.c.created_at),
    # Unique, so that the channel can subscribe to the same section again.
    extra_values={"place": literal("forgotten ").concat(cast(subscriptions.c.id, String))},
)
