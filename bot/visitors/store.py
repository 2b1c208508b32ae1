"""Readings, questions and subscriptions.

Their tables, queues and retention, and statements about them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import TypedDict, Unpack

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Date,
    Float,
    ForeignKey,
    Index,
    Integer,
    Select,
    String,
    Table,
    and_,
    bindparam,
    cast,
    delete,
    func,
    insert,
    literal,
    literal_column,
    or_,
    select,
    text,
    true,
    update,
)

from bot.ids import ChannelId, ProjectId, QuestionId, ReadingId, SubscriptionId, can_be_id
from bot.outbox.store import deliveries, is_being_delivered
from bot.ports import Origin
from bot.store.leases import FREE_LEASE, LIMIT, Claimer, Rows, claiming, read_rows
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
    Packed,
    Secret,
    UserJson,
    UserText,
    UtcDateTime,
    insert_unless_there,
    lease,
    metadata,
    partial_index,
    reader,
    row_values,
)
from bot.visitors.model.gaps import GapRows, Source
from bot.visitors.model.periods import Period
from bot.visitors.model.questions import Query, Question, QuestionKind, QuestionState
from bot.visitors.model.readings import Counts, Reading, ReadingProblem
from bot.visitors.model.subscriptions import Subscription, SubscriptionState, WeeklyTime

READ_AHEAD = timedelta(hours=6)
"""A digest is asked so early that its numbers are read in time."""
_PAGES_ARE_SET = "pages IS NOT NULL"
_HAS_PAGES = literal_column(_PAGES_ARE_SET, Boolean)
"""Written literally, for the index of such rows."""

readings = Table(
    "readings",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("project", Id(200), nullable=False),
    Column("source", Choice(Source), nullable=False),
    Column("first_day", Date, nullable=False),
    Column("end_day", Date, nullable=False),
    Column("is_final", Boolean, nullable=False),
    Column("totals", Json(Counts)),
    Column("pages", Packed(dict[str, Counts])),
    Column("is_complete", Boolean, nullable=False),
    Column("next_offset", Integer, nullable=False),
    # Empty for visitors.
    Column("gap_rows", UserJson(GapRows)),
    Column("began_at", UtcDateTime, nullable=False),
    Column("read_at", UtcDateTime),
    Column("attempts", Integer, nullable=False),
    Column("problem", Note),
    Column("failed_at", UtcDateTime),
    Column("retry_at", UtcDateTime),
    Index("ix_readings_period", "project", "source", "first_day", "end_day"),
    partial_index(_PAGES_ARE_SET, "ix_readings_pages", "end_day"),
    sqlite_autoincrement=True,
)


subscriptions = Table(
    "subscriptions",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    # Project, channel and section, joined: each combination has one subscription.
    Column("key", Id(600), nullable=False, unique=True),
    Column("project", Id(200), nullable=False),
    Column("channel", Channel(40), nullable=False),
    Column("section", UserText),
    Column("weekday", Integer, nullable=False),
    Column("time_of_day", Id(5), nullable=False),
    Column("zone", Id(80), nullable=False),
    Column("owner", Owner(40), nullable=False),
    Column("state", Choice(SubscriptionState), nullable=False),
    Column("next_run_at", Due(days=15)),
    Column("last_run_at", UtcDateTime),
    Column("last_result", UserText),
    Column("posted_at", UtcDateTime),
    Column("created_at", UtcDateTime, nullable=False),
    Index("ix_subscriptions_state", "state", "next_run_at"),
    sqlite_autoincrement=True,
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
    Column("readings", Json(tuple[ReadingId, ...])),
    Column("calls", Integer, nullable=False, server_default=text("0")),
    Column("waited_seconds", Float, nullable=False, server_default=text("0")),
    Column("response_url", Secret),
    Column("thread_ts", Id(40)),
    Column("asked_at", UtcDateTime, nullable=False),
    Column("due_at", Due(seconds=READ_AHEAD.total_seconds() + 3_600), nullable=False),
    *lease(),
    Index("ix_questions_state", "state", "due_at"),
    sqlite_autoincrement=True,
)


QUESTIONS = QueueTable("questions", questions, QuestionState.WAITING, questions.c.due_at)
SUBSCRIPTIONS = QueueTable(
    "digests", subscriptions, SubscriptionState.ACTIVE, subscriptions.c.next_run_at
)


QUESTIONS_RULE = RetentionRule(
    "questions",
    questions,
    and_(
        questions.c.state != QuestionState.WAITING,
        ~is_being_delivered(deliveries.c.question, questions.c.id),
    ),
    questions.c.asked_at,
)


READERS_TEXTS_RULE = RetentionRule(
    "readers' words", readings, true(), readings.c.read_at, extra_values={"read_at": None}
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
    extra_values={"key": literal("forgotten ").concat(cast(subscriptions.c.id, String))},
)


_FRESH_PERIOD = timedelta(minutes=10)
"""Age up to which the numbers of a period that is not over serve further questions."""
_NOT_OFFERED_PAUSE = timedelta(days=1)
"""Pause before the service is asked again for a source that it does not offer."""
_KEEP_FINAL = timedelta(days=200)
"""How long after its period a reading keeps its pages."""
_KEEP_OPEN = timedelta(days=8)
"""The same if the period was not over when it was read: until the next digest."""
_CLAIM_QUESTIONS = claiming(
    questions,
    candidates=select(questions.c.id)
    .where(QUESTIONS.waits, QUESTIONS.is_free)
    .order_by(questions.c.kind.desc(), questions.c.id)
    .limit(LIMIT),
)
_NEWEST_OF_PERIOD = (
    select(readings)
    .where(
        readings.c.project == bindparam("of_project"),
        readings.c.source == bindparam("of_source"),
        readings.c.first_day == bindparam("first_day"),
        readings.c.end_day == bindparam("end_day"),
    )
    .order_by(readings.c.id.desc())
    .limit(1)
)
_NEWEST_LISTED = _NEWEST_OF_PERIOD.where(readings.c.id.in_(bindparam("listed", expanding=True)))
_NEWEST_FINAL = _NEWEST_OF_PERIOD.where(readings.c.is_final)
_NEWEST_FRESH = _NEWEST_OF_PERIOD.where(
    readings.c.began_at > bindparam("fresh_since", type_=UtcDateTime)
)
_COMING_SUBSCRIPTIONS = select(subscriptions).where(
    subscriptions.c.state == SubscriptionState.ACTIVE,
    subscriptions.c.next_run_at <= bindparam("until", type_=UtcDateTime),
)


class Readings(Rows[Reading]):
    """Readings, within one transaction."""

    table = readings
    read = staticmethod(
        reader(Reading, readings, period=lambda row: Period(row["first_day"], row["end_day"]))
    )

    def put(self, reading: Reading) -> Reading:
        """Store a reading, new or read on. Return it with its id."""
        period = {"first_day": reading.period.first, "end_day": reading.period.end}
        values = {**row_values(reading, readings, without="id"), **period}
        if reading.id is None:
            added = insert(readings).values(values).returning(readings.c.id)
            return replace(reading, id=ReadingId(self.connection.execute(added).scalar_one()))
        emptied = dict.fromkeys(("problem", "failed_at", "retry_at"))
        same = readings.c.id == reading.id
        self.connection.execute(update(readings).where(same).values({**emptied, **values}))
        return reading

    def drop_old_pages(self, today: date, limit: int) -> int:
        """Delete the numbers by page of old periods.

        Return the number of readings; their totals stay.
        """
        settled = and_(readings.c.is_final, readings.c.end_day < today - _KEEP_FINAL)
        unsettled = and_(~readings.c.is_final, readings.c.end_day < today - _KEEP_OPEN)
        old = (
            select(readings.c.id)
            .where(_HAS_PAGES, readings.c.end_day < today - _KEEP_OPEN, or_(settled, unsettled))
            .limit(limit)
        )
        keys = list(self.connection.execute(old).scalars())
        without = {"pages": None, "is_complete": False, "next_offset": 0}
        self.connection.execute(update(readings).where(readings.c.id.in_(keys)).values(without))
        return len(keys)

    def find(
        self,
        project: ProjectId,
        source: Source,
        period: Period,
        now: datetime,
        listed: Sequence[ReadingId] = (),
        *,
        is_final: bool,
    ) -> Reading | None:
        """Return the listed reading of a period, else the newest that is fresh."""
        same: dict[str, object] = {
            "of_project": project,
            "of_source": source,
            "first_day": period.first,
            "end_day": period.end,
        }
        if listed:
            found = self._find(_NEWEST_LISTED, {**same, "listed": list(listed)})
            if found is not None:
                return found
        if is_final:
            return self._find(_NEWEST_FINAL, same)
        return self._find(_NEWEST_FRESH, {**same, "fresh_since": now - _FRESH_PERIOD})

    def _find(
        self, statement: Select[*tuple[object, ...]], values: Mapping[str, object]
    ) -> Reading | None:
        rows = self.connection.execute(statement, values).mappings()
        return next(iter(read_rows(readings, rows, self.read)), None)

    @staticmethod
    def _of(project: ProjectId, period: Period) -> ColumnElement[bool]:
        days = and_(readings.c.first_day == period.first, readings.c.end_day == period.end)
        return and_(readings.c.project == project, days)

    def of(self, ids: Sequence[ReadingId]) -> tuple[Reading, ...]:
        """Return readings in the order of their ids in a question."""
        by_id = {reading.id: reading for reading in self._many(readings.c.id.in_(ids), len(ids))}
        return tuple(by_id[number] for number in ids if number in by_id)

    def is_not_offered(self, project: ProjectId, source: Source, now: datetime) -> bool:
        """Return whether the service refused a source within the last day."""
        return self._has(
            readings.c.project == project,
            readings.c.source == source,
            readings.c.problem == ReadingProblem.NOT_HERE,
            readings.c.failed_at > now - _NOT_OFFERED_PAUSE,
        )

    def list_gaps(self, project: ProjectId, period: Period) -> Sequence[Reading]:
        """Return the content gaps that were read of a period, the newest first."""
        return self._many(and_(self._of(project, period), readings.c.gap_rows.is_not(None)), 20)


class Questions(Rows[Question]):
    """Questions, within one transaction."""

    table = questions
    read = staticmethod(reader(Question, questions))

    def add(self, question: Question, key: str, due_at: datetime) -> None:
        """Store a question to be read for from ``due_at`` on, unless its key is already stored."""
        values = row_values(question, questions, without="id")
        values |= {"key": key, "user": question.user or None, "due_at": due_at}
        insert_unless_there(self.connection, questions, values)

    def has_key(self, key: str) -> bool:
        return self._has(questions.c.key == key)

    def get(self, question: QuestionId) -> Question | None:
        """Return a question; None if there is none, or if it has been forgotten."""
        is_kept = and_(questions.c.id == question, questions.c.query.is_not(None))
        return self._newest(is_kept) if can_be_id(question) else None

    def list_digests(
        self, project: ProjectId, channel: ChannelId, since: datetime
    ) -> Sequence[Question]:
        """Return the digests that were made for a channel since then, the newest first."""
        made = and_(
            questions.c.kind == QuestionKind.DIGEST, questions.c.state == QuestionState.ANSWERED
        )
        of_channel = and_(questions.c.project == project, questions.c.channel == channel)
        return self._many(
            and_(made, of_channel, questions.c.asked_at > since, questions.c.query.is_not(None)), 50
        )

    def requested_digest(
        self, project: ProjectId, channel: ChannelId, section: str | None, since: datetime
    ) -> QuestionId | None:
        """Return the newest digest that somebody has requested in a channel since then."""
        requested = and_(
            questions.c.kind == QuestionKind.DIGEST,
            questions.c.state != QuestionState.MISSED,
            questions.c.subscription.is_(None),
            questions.c.query.is_not(None),
        )
        place = and_(questions.c.project == project, questions.c.channel == channel)
        for question in self._many(and_(requested, place, questions.c.asked_at > since), 50):
            if question.query.section == section:
                return question.id
        return None

    def claim(self, claimer: Claimer, limit: int) -> Sequence[Question]:
        """Claim questions that are due, people's before digests."""
        return self._claim(_CLAIM_QUESTIONS, claimer, limit=limit)

    def settle(self, question: Question, owner: str) -> None:
        """Write the answered question. Raises LeaseLost, also if its subscription was withdrawn."""
        fields = {"state": question.state, "query": question.query, "readings": question.readings}
        self._write(question.id, owner, {**fields, "response_url": None, **FREE_LEASE})

    def put_back(self, question: Question, owner: str, due_at: datetime) -> None:
        """Let a question wait, with the readings that it has."""
        fields = {
            "readings": question.readings,
            "calls": question.calls,
            "waited_seconds": question.waited_seconds,
        }
        self._write(question.id, owner, {**fields, "due_at": due_at, **FREE_LEASE})

    def withdraw(self, subscription: SubscriptionId) -> None:
        """Delete the waiting digest of a subscription."""
        is_waiting = and_(
            questions.c.subscription == subscription, questions.c.state == QuestionState.WAITING
        )
        self.connection.execute(delete(questions).where(is_waiting))


class SubscriptionFields(TypedDict, total=False):
    """Columns of a subscription that change."""

    state: SubscriptionState
    next_run_at: datetime | None
    last_result: str
    last_run_at: datetime
    posted_at: datetime | None


class Subscriptions(Rows[Subscription]):
    """Subscriptions to the weekly digest, within one transaction."""

    table = subscriptions
    read = staticmethod(
        reader(
            Subscription,
            subscriptions,
            weekly=lambda row: WeeklyTime(
                row["weekday"], time.fromisoformat(row["time_of_day"]), row["zone"]
            ),
        )
    )

    def put(
        self,
        origin: Origin,
        project: ProjectId,
        section: str | None,
        weekly: WeeklyTime,
        now: datetime,
        next_run_at: datetime,
    ) -> Subscription:
        """Subscribe a channel, or change its subscription to this section.

        The requester is the owner.
        """
        key = f"{project}\n{origin.channel}\n{section or ''}"
        values: Mapping[str, object] = {
            "weekday": weekly.weekday,
            "time_of_day": weekly.time_of_day.isoformat("minutes"),
            "zone": weekly.zone,
            "owner": origin.user,
            "state": SubscriptionState.ACTIVE,
            "next_run_at": next_run_at,
            "posted_at": None,
        }
        new = {"key": key, "project": project, "channel": origin.channel, "section": section}
        if not insert_unless_there(
            self.connection, subscriptions, {**new, **values, "created_at": now}
        ):
            is_same = subscriptions.c.key == key
            self.connection.execute(subscriptions.update().where(is_same).values(**values))
        newest = self._newest(subscriptions.c.key == key)
        if newest is None:
            raise LookupError("a subscription that was just stored is gone")
        return newest

    def get(self, subscription: SubscriptionId) -> Subscription | None:
        return self._newest(subscriptions.c.id == subscription)

    def in_channel(self, channel: ChannelId) -> Sequence[Subscription]:
        """Return a channel's subscriptions that have not ended."""
        is_open = and_(
            subscriptions.c.channel == channel, subscriptions.c.state != SubscriptionState.ENDED
        )
        return self._many(is_open, 50, by=subscriptions.c.id)

    def due(self, until: datetime) -> Sequence[Subscription]:
        """Return active subscriptions that run until then."""
        rows = self.connection.execute(_COMING_SUBSCRIPTIONS, {"until": until}).mappings()
        return read_rows(subscriptions, rows, self.read)

    def change(self, subscription: SubscriptionId, **fields: Unpack[SubscriptionFields]) -> None:
        is_same = subscriptions.c.id == subscription
        self.connection.execute(subscriptions.update().where(is_same).values(dict(fields)))
