"""Snapshots with their pages, questions and subscriptions, within one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import TypedDict, Unpack

from sqlalchemy import (
    BindParameter,
    Boolean,
    ColumnElement,
    String,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
)
from sqlalchemy.engine import RowMapping

from bot.ids import ChannelId, ProjectId, QuestionId, SnapshotId, SubscriptionId, can_be_id
from bot.ports import Origin
from bot.store.leases import (
    FREE,
    LIMIT,
    NOW,
    Claimer,
    ClaimStatement,
    Rows,
    claiming,
    has_passed,
    read_rows,
    unclaimed,
)
from bot.store.schema import UtcDateTime, insert_unless_there, reader
from bot.visitors.content_gaps import GapRows, Source
from bot.visitors.model import (
    Counts,
    Numbers,
    Query,
    Question,
    QuestionKind,
    QuestionState,
    ReadingProblem,
    Snapshot,
    SnapshotState,
    Subscription,
    SubscriptionState,
    path_hash,
)
from bot.visitors.periods import Period, WeeklyTime
from bot.visitors.tables import (
    IS_WANTED,
    LISTED_BY_WAITING,
    NOT_OFFERED_PAUSE,
    QUESTIONS,
    SNAPSHOTS,
    page_visitors,
    question_snapshots,
    questions,
    snapshots,
    subscriptions,
)

FRESH = timedelta(minutes=10)
"""Age up to which the numbers of a period that is not over serve further questions."""
MOST_PAGES = 50_000
_PATH_LENGTH = 2_000
_SWEPT_AT_ONCE = 20
_FINAL = "final"
"""The generation of a snapshot whose counts will not change."""
_PROJECT: BindParameter[str] = bindparam("of_project", type_=String)
_DIGESTS_TOO: BindParameter[bool] = bindparam("digests_too", type_=Boolean)


def _is_listed(*which: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return the condition that a waiting question lists the snapshot."""
    return exists().where(LISTED_BY_WAITING, *which).correlate(snapshots)


def _claim_snapshots() -> ClaimStatement:
    of_people = _is_listed(questions.c.kind == QuestionKind.VISITORS)
    mine = and_(SNAPSHOTS.waits, snapshots.c.project == _PROJECT, or_(_DIGESTS_TOO, of_people))
    position = select(func.min(question_snapshots.c.position)).where(LISTED_BY_WAITING).correlate(snapshots)
    order = case((of_people, 0), else_=1), position.scalar_subquery(), snapshots.c.id
    candidates = select(snapshots.c.id).where(mine, IS_WANTED, unclaimed(snapshots))
    return claiming(snapshots, candidates=candidates.order_by(*order).limit(LIMIT))


_CLAIM_SNAPSHOTS = _claim_snapshots()
_CLAIM_QUESTIONS = claiming(
    questions,
    candidates=select(questions.c.id)
    .where(QUESTIONS.waits, QUESTIONS.is_free)
    .order_by(questions.c.kind.desc(), questions.c.id)
    .limit(LIMIT),
)


def _totals(row: RowMapping) -> Counts | None:
    return None if row["total"] is None else Counts(row["human"], row["ai"], row["total"])


class SnapshotFields(TypedDict, total=False):
    """Columns of a snapshot that the result of a call changes."""

    human: int
    ai: int
    total: int
    rows: int
    next_offset: int
    calls: int
    attempts: int
    taken_at: datetime
    due_at: datetime
    state: SnapshotState
    complete: bool
    problem: ReadingProblem | None
    gap_rows: GapRows


class Snapshots(Rows[Snapshot]):
    """Snapshots and their pages, within one transaction."""

    table = snapshots
    read = staticmethod(
        reader(Snapshot, snapshots, period=lambda row: Period(row["first"], row["end"]), totals=_totals)
    )

    def find_or_add(
        self,
        project: ProjectId,
        period: Period,
        *,
        now: datetime,
        is_final: bool,
        with_pages: bool = False,
        source: Source = Source.VISITORS,
    ) -> Snapshot:
        """Return the existing snapshot of a period, or a new one."""
        fresh = snapshots.c.generation == _FINAL if is_final else snapshots.c.created_at > now - FRESH
        same = and_(snapshots.c.project == project, snapshots.c.source == source, fresh)
        same &= and_(snapshots.c.first == period.first, snapshots.c.end == period.end)
        newest = self._newest(same)
        if newest is None:
            values: Mapping[str, object] = {
                "project": project,
                "source": source,
                "first": period.first,
                "end": period.end,
                "generation": _FINAL if is_final else now.isoformat(),
                "state": SnapshotState.REQUESTED,
                "with_pages": with_pages,
                "created_at": now,
                "due_at": now,
            }
            insert_unless_there(self.connection, snapshots, values)
        elif with_pages and not newest.with_pages:
            pages = {"with_pages": True, "state": SnapshotState.REQUESTED}
            self.connection.execute(snapshots.update().where(snapshots.c.id == newest.id).values(pages))
        newest = self._newest(same)
        if newest is None:
            raise LookupError("a snapshot that was just stored is gone")
        return newest

    def retry_failed(self, failed: Sequence[Snapshot], now: datetime) -> None:
        """Let failed snapshots be read at once, because a person asks for them."""
        ids = [snapshot.id for snapshot in failed if snapshot.problem and not snapshot.is_done]
        retry = {"due_at": now, "problem": None, "attempts": 0}
        self.connection.execute(snapshots.update().where(snapshots.c.id.in_(ids)).values(retry))

    def is_not_offered(self, project: ProjectId, source: Source, now: datetime) -> bool:
        """Return whether the service refused a source within the last day."""
        return self._has(
            snapshots.c.project == project,
            snapshots.c.source == source,
            snapshots.c.problem == ReadingProblem.NOT_HERE,
            snapshots.c.taken_at > now - NOT_OFFERED_PAUSE,
        )

    def waiting_projects(self, now: datetime) -> Sequence[ProjectId]:
        """Return the projects with a snapshot to read now."""
        waiting = select(snapshots.c.project).where(SNAPSHOTS.waits, SNAPSHOTS.is_free).distinct()
        return [ProjectId(project) for project in self.connection.execute(waiting, {NOW.key: now}).scalars()]

    def claim(
        self, claimer: Claimer, project: ProjectId, limit: int, *, digests_too: bool = True
    ) -> Sequence[Snapshot]:
        """Claim snapshots to read: people's first, in the order of their question."""
        return self._claim(
            _CLAIM_SNAPSHOTS, claimer, limit=limit, of_project=project, digests_too=digests_too
        )

    def store_page(
        self,
        snapshot: Snapshot,
        totals: Counts,
        rows: Sequence[tuple[str, Counts]],
        *,
        has_more: bool,
        next_offset: int,
        now: datetime,
        owner: str,
    ) -> None:
        """Store the rows of one call. Reading ends when the service returns no new rows.

        Raises LeaseLost unless ``owner`` holds the lease.
        """
        count = self._add_rows(snapshot, rows) if snapshot.with_pages else 0
        is_endless = has_more and snapshot.with_pages and not snapshot.rows < count < MOST_PAGES
        is_whole = snapshot.with_pages and not has_more
        # Its pages may have been requested since the claim.
        mine = select(snapshots.c.with_pages).where(snapshots.c.id == snapshot.id)
        is_done = is_whole or is_endless or not self.connection.execute(mine).scalar_one()
        self.settle(
            snapshot,
            owner,
            human=totals.human,
            ai=totals.ai,
            total=totals.total,
            rows=count,
            next_offset=next_offset if snapshot.with_pages else 0,
            calls=snapshot.calls + 1,
            attempts=0,
            taken_at=now,
            state=SnapshotState.DONE if is_done else SnapshotState.REQUESTED,
            complete=is_whole,
            problem=ReadingProblem.ENDLESS if is_endless else None,
        )

    def _add_rows(self, snapshot: Snapshot, rows: Sequence[tuple[str, Counts]]) -> int:
        """Add the rows of new pages. Return the number of all pages."""
        values = [
            {
                "snapshot": snapshot.id,
                "hash": path_hash(path),
                "path": path[:_PATH_LENGTH],
                "human": counts.human,
                "ai": counts.ai,
                "total": counts.total,
            }
            for path, counts in rows
        ]
        if values:
            insert_unless_there(self.connection, page_visitors, *values)
        count = select(func.count()).where(page_visitors.c.snapshot == snapshot.id)
        return int(self.connection.execute(count).scalar_one())

    def store_gap_rows(self, snapshot: Snapshot, rows: GapRows, now: datetime, owner: str) -> None:
        self.settle(
            snapshot,
            owner,
            state=SnapshotState.DONE,
            complete=not rows.is_part,
            attempts=0,
            problem=None,
            gap_rows=rows,
            taken_at=now,
            calls=snapshot.calls + 1,
        )

    def settle(self, snapshot: Snapshot, owner: str, **fields: Unpack[SnapshotFields]) -> None:
        """Write the result of a call and free the lease. Raises LeaseLost."""
        self._write(snapshot.id, owner, {**fields, **FREE})

    def pages(self, snapshot: SnapshotId) -> dict[str, Counts]:
        """Return the counts of all pages that were read, by path."""
        columns = page_visitors.c["path", "human", "ai", "total"]
        rows = select(*columns).where(page_visitors.c.snapshot == snapshot).order_by(page_visitors.c.id)
        return {path: Counts(*counts) for path, *counts in self.connection.execute(rows)}

    def pages_of(self, numbers: Numbers) -> dict[SnapshotId, dict[str, Counts]]:
        """Return the pages of a question's period and of the one compared with, by snapshot."""
        query = numbers.query
        parts = (numbers.visitors(period) for period in (query.period, query.compared))
        return {snapshot.id: self.pages(snapshot.id) for snapshot in parts if snapshot}

    def list_gaps(self, project: ProjectId, period: Period) -> Sequence[Snapshot]:
        """Return the content gaps that were read of a period, the newest first."""
        same = and_(snapshots.c.project == project, snapshots.c.source != Source.VISITORS)
        same &= and_(snapshots.c.first == period.first, snapshots.c.end == period.end)
        return self._many(and_(same, snapshots.c.state == SnapshotState.DONE), 20)

    def sweep(self, before: datetime, final_before: date) -> int:
        """Delete the pages of old snapshots; their totals stay, for charts. Return the number of snapshots.

        Args:
            before: the end of the time for which pages of a period that was not over are kept.
            final_before: the day before which all pages are deleted.
        """
        is_open = and_(snapshots.c.generation != _FINAL, snapshots.c.created_at < before)
        old = and_(is_open | (snapshots.c.end < final_before), snapshots.c.rows > 0)
        old &= and_(snapshots.c.taken_at < before, ~_is_listed())
        ids = list(self.connection.execute(select(snapshots.c.id).where(old).limit(_SWEPT_AT_ONCE)).scalars())
        self.connection.execute(delete(page_visitors).where(page_visitors.c.snapshot.in_(ids)))
        without = {"rows": 0, "next_offset": 0, "with_pages": False, "complete": False}
        self.connection.execute(snapshots.update().where(snapshots.c.id.in_(ids)).values(without))
        return len(ids)


class Questions(Rows[Question]):
    """Questions and the snapshots that they list, within one transaction."""

    table = questions
    read = staticmethod(reader(Question, questions))

    def add(
        self,
        origin: Origin,
        project: ProjectId,
        kind: QuestionKind,
        query: Query,
        listed: Sequence[Snapshot],
        at: datetime,
        subscription: SubscriptionId | None = None,
    ) -> bool:
        """Store a question that is answered from ``at`` on. Return False if its key is already stored."""
        values: Mapping[str, object] = {
            "key": origin.key,
            "kind": kind,
            "subscription": subscription,
            "project": project,
            "channel": origin.channel,
            "user": origin.user or None,
            "query": query,
            "state": QuestionState.WAITING,
            "calls_before": sum(snapshot.calls for snapshot in listed),
            "asked_at": at,
            "due_at": at,
            "response_url": origin.response_url,
            "thread_ts": origin.thread,
        }
        if not insert_unless_there(self.connection, questions, values):
            return False
        mine = select(questions.c.id).where(questions.c.key == origin.key)
        self.list_snapshots(QuestionId(self.connection.execute(mine).scalar_one()), listed)
        return True

    def list_snapshots(self, question: QuestionId, listed: Sequence[Snapshot]) -> None:
        """Store the snapshots of a question in the order of reading."""
        rows = [
            {"question": question, "position": position, "snapshot": snapshot.id}
            for position, snapshot in enumerate(listed)
        ]
        self.connection.execute(insert(question_snapshots), rows)

    def has_key(self, key: str) -> bool:
        return self._has(questions.c.key == key)

    def get(self, question: QuestionId) -> Question | None:
        """Return a question; None if there is none, or if it has been forgotten."""
        is_kept = and_(questions.c.id == question, questions.c.query.is_not(None))
        return self._newest(is_kept) if can_be_id(question) else None

    def snapshots(self, question: QuestionId) -> tuple[Snapshot, ...]:
        """Return the snapshots of a question in the order of reading."""
        listed = (
            select(snapshots)
            .join(question_snapshots, question_snapshots.c.snapshot == snapshots.c.id)
            .where(question_snapshots.c.question == question)
            .order_by(question_snapshots.c.position)
        )
        return tuple(Snapshots.read(row) for row in self.connection.execute(listed).mappings())

    def list_digests(self, project: ProjectId, channel: ChannelId, since: datetime) -> Sequence[Question]:
        """Return the digests that were made for a channel since then, the newest first."""
        made = and_(questions.c.kind == QuestionKind.DIGEST, questions.c.state == QuestionState.ANSWERED)
        mine = and_(questions.c.project == project, questions.c.channel == channel)
        return self._many(and_(made, mine, questions.c.asked_at > since, questions.c.query.is_not(None)), 50)

    def keep_query(self, question: QuestionId, query: Query) -> None:
        self.connection.execute(questions.update().where(questions.c.id == question).values(query=query))

    def claim(self, claimer: Claimer, limit: int) -> Sequence[Question]:
        """Claim questions that are due, people's before digests."""
        return self._claim(_CLAIM_QUESTIONS, claimer, limit=limit)

    def settle(self, question: QuestionId, owner: str, state: QuestionState) -> None:
        self._write(question, owner, {"state": state, "response_url": None, **FREE})

    def put_back(self, question: QuestionId, owner: str, due_at: datetime) -> None:
        self._write(question, owner, {"due_at": due_at, **FREE})

    def check_now(self, project: ProjectId, now: datetime) -> None:
        """Make a project's waiting questions due, because something was read for one of them."""
        waits = and_(questions.c.project == project, questions.c.state == QuestionState.WAITING)
        waits &= and_(questions.c.due_at > now, questions.c.asked_at <= now)
        self.connection.execute(questions.update().where(waits).values(due_at=now))

    def withdraw(self, subscription: SubscriptionId) -> None:
        """Delete the waiting digest of a subscription."""
        mine = and_(questions.c.subscription == subscription, questions.c.state == QuestionState.WAITING)
        ids = select(questions.c.id).where(mine)
        self.connection.execute(delete(question_snapshots).where(question_snapshots.c.question.in_(ids)))
        self.connection.execute(delete(questions).where(mine))

    def oldest_waiting(self) -> datetime | None:
        """Return the time of the oldest waiting question; None if there is none."""
        oldest = select(func.min(questions.c.asked_at, type_=UtcDateTime))
        at = self.connection.execute(oldest.where(questions.c.state == QuestionState.WAITING)).scalar_one()
        return at if isinstance(at, datetime) else None


class SubscriptionFields(TypedDict, total=False):
    """Columns of a subscription that change."""

    state: SubscriptionState
    next_run_at: datetime | None
    last_result: str
    last_run_at: datetime


class Subscriptions(Rows[Subscription]):
    """Subscriptions to the weekly digest, within one transaction."""

    table = subscriptions
    read = staticmethod(
        reader(
            Subscription,
            subscriptions,
            weekly=lambda row: WeeklyTime(row["weekday"], time.fromisoformat(row["at"]), row["zone"]),
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
        """Subscribe a channel, or change its subscription to this section. The requester is the owner."""
        place = f"{project}\n{origin.channel}\n{section or ''}"
        values: Mapping[str, object] = {
            "weekday": weekly.weekday,
            "at": weekly.at.isoformat("minutes"),
            "zone": weekly.zone,
            "owner": origin.user,
            "state": SubscriptionState.ACTIVE,
            "next_run_at": next_run_at,
        }
        new = {"place": place, "project": project, "channel": origin.channel, "section": section}
        if not insert_unless_there(self.connection, subscriptions, {**new, **values, "created_at": now}):
            mine = subscriptions.c.place == place
            self.connection.execute(subscriptions.update().where(mine).values(**values))
        newest = self._newest(subscriptions.c.place == place)
        if newest is None:
            raise LookupError("a subscription that was just stored is gone")
        return newest

    def get(self, subscription: SubscriptionId) -> Subscription | None:
        return self._newest(subscriptions.c.id == subscription)

    def in_channel(self, channel: ChannelId) -> Sequence[Subscription]:
        """Return a channel's subscriptions that have not ended."""
        is_open = and_(subscriptions.c.channel == channel, subscriptions.c.state != SubscriptionState.ENDED)
        return self._many(is_open, 50, by=subscriptions.c.id)

    def due(self, until: datetime) -> Sequence[Subscription]:
        """Return active subscriptions that run until then, locked on PostgreSQL."""
        due = and_(
            subscriptions.c.state == SubscriptionState.ACTIVE, has_passed(subscriptions.c.next_run_at, until)
        )
        rows = select(subscriptions).where(due)
        return read_rows(subscriptions, self.connection.execute(rows).mappings(), self.read)

    def change(self, subscription: SubscriptionId, **fields: Unpack[SubscriptionFields]) -> None:
        mine = subscriptions.c.id == subscription
        self.connection.execute(subscriptions.update().where(mine).values(dict(fields)))
