"""The tables of visitors, their queues, and the rules by which their rows are forgotten."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    and_,
    cast,
    exists,
    func,
    literal,
    text,
    true,
)

from bot.outbox.store import deliveries, is_being_delivered
from bot.store.leases import NOW, later
from bot.store.queues import QueueTable
from bot.store.retention import RetentionRule
from bot.store.schema import (
    Channel,
    Choice,
    Due,
    Id,
    Note,
    Owner,
    Secret,
    UserJson,
    UserText,
    UtcDateTime,
    lease,
    metadata,
)
from bot.visitors.content_gaps import GapRows, Source
from bot.visitors.model import (
    Query,
    QuestionKind,
    QuestionState,
    ReadingProblem,
    SnapshotState,
    SubscriptionState,
)

READ_AHEAD = timedelta(hours=6)
"""A digest is asked so early that its numbers are read in time."""
NOT_OFFERED_PAUSE = timedelta(days=1)
"""Pause before the service is asked again for a source that it does not offer."""

snapshots = Table(
    "snapshots",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("project", Id(200), nullable=False),
    Column("source", Choice(Source), nullable=False, server_default=text("'visitors'")),
    Column("first", Date, nullable=False),
    Column("end", Date, nullable=False),
    # "final", or the time of the request of a period that was not over.
    Column("generation", Id(40), nullable=False),
    Column("state", Choice(SnapshotState), nullable=False),
    Column("with_pages", Boolean, nullable=False),
    Column("human", BigInteger),
    Column("ai", BigInteger),
    Column("total", BigInteger),
    Column("rows", Integer, nullable=False, server_default=text("0")),
    Column("next_offset", Integer, nullable=False, server_default=text("0")),
    Column("calls", Integer, nullable=False, server_default=text("0")),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("complete", Boolean, nullable=False, server_default=text("false")),
    Column("problem", Note),
    Column("created_at", UtcDateTime, nullable=False),
    Column("taken_at", UtcDateTime),
    # Empty for visitors, and once it is forgotten.
    Column("words", UserJson(GapRows), key="gap_rows"),
    Column("due_at", Due(minutes=65), nullable=False),
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
    Column("next_run_at", Due(days=15)),
    Column("last_run_at", UtcDateTime),
    Column("last_result", UserText),
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
    Column("query", UserJson(Query)),
    Column("state", Choice(QuestionState), nullable=False),
    Column("response_url", Secret),
    Column("calls_before", Integer, nullable=False, server_default=text("0")),
    Column("thread_ts", Id(40)),
    Column("asked_at", UtcDateTime, nullable=False),
    Column("due_at", Due(seconds=READ_AHEAD.total_seconds() + 3_600), nullable=False),
    *lease(),
    Index("ix_questions_state", "state", "due_at"),
)

question_snapshots = Table(
    "question_snapshots",
    metadata,
    Column("question", Integer, ForeignKey("questions.id"), primary_key=True, autoincrement=False),
    # Snapshots are read in this order.
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("snapshot", Integer, ForeignKey("snapshots.id"), nullable=False),
    Index("ix_question_snapshots_snapshot", "snapshot"),
)

LISTED_BY_WAITING = and_(
    question_snapshots.c.snapshot == snapshots.c.id,
    question_snapshots.c.question == questions.c.id,
    questions.c.state == QuestionState.WAITING,
)
"""The join of a snapshot with the waiting questions that list it."""
_earlier, _earlier_snapshot = question_snapshots.alias("earlier"), snapshots.alias("earlier_snapshot")
_PAGES_COME_FIRST = exists().where(
    _earlier.c.question == question_snapshots.c.question,
    _earlier.c.position < question_snapshots.c.position,
    _earlier_snapshot.c.id == _earlier.c.snapshot,
    _earlier_snapshot.c.with_pages,
    _earlier_snapshot.c.problem.is_(None),
    _earlier_snapshot.c.state != SnapshotState.DONE,
)
_NOT_OFFERED = and_(
    snapshots.c.problem == ReadingProblem.NOT_HERE, snapshots.c.taken_at > later(NOW, -NOT_OFFERED_PAUSE)
)
IS_WANTED = and_(
    snapshots.c.state == SnapshotState.REQUESTED,
    exists().where(LISTED_BY_WAITING, ~_PAGES_COME_FIRST).correlate(snapshots),
    func.coalesce(~_NOT_OFFERED, true()),
)
"""The condition that a question waits for a snapshot, and for no pages before it."""

SNAPSHOTS = QueueTable("snapshots", snapshots, None, snapshots.c.due_at, IS_WANTED)
QUESTIONS = QueueTable("questions", questions, QuestionState.WAITING, questions.c.due_at)
SUBSCRIPTIONS = QueueTable("digests", subscriptions, SubscriptionState.ACTIVE, subscriptions.c.next_run_at)

QUESTIONS_RULE = RetentionRule(
    "questions",
    questions,
    and_(
        questions.c.state != QuestionState.WAITING, ~is_being_delivered(deliveries.c.question, questions.c.id)
    ),
    questions.c.asked_at,
)
READERS_TEXTS = RetentionRule(
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
