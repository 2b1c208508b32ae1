"""Questions about visitors: stored before the request is acknowledged, and claimed until answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import NotRequired, TypedDict, Unpack

from pydantic import SecretStr
from sqlalchemy import and_, insert, or_, select, update
from sqlalchemy.engine import Connection, RowMapping

from bot.model.ids import ProjectId, QuestionId, RequestKey, SnapshotId, can_be_id
from bot.model.origin import Origin
from bot.model.period import Period
from bot.model.questions import FileTo, Question, QuestionState, VisitorsQuery
from bot.model.visitors import SortBy
from bot.store.leases import FREE, NOW, Claimer, claim, claiming_oldest, readable_claims, write_row
from bot.store.schema import questions


class QuestionFields(TypedDict, total=False):
    """Columns that change while a question waits."""

    chart: list[SnapshotId]


class StoredQuery(TypedDict):
    """The JSON form of a query in its column."""

    period: list[str]
    compared: list[str] | None
    section: str | None
    top: int
    sort: str
    file_to: str
    label: NotRequired[str | None]


def _stored(query: VisitorsQuery) -> StoredQuery:
    compared = query.compared
    return {
        "period": [query.period.first.isoformat(), query.period.end.isoformat()],
        "compared": [compared.first.isoformat(), compared.end.isoformat()] if compared else None,
        "section": query.section,
        "top": query.top,
        "sort": query.sort,
        "file_to": query.file_to,
        "label": query.label,
    }


def _period(pair: list[str]) -> Period:
    return Period(date.fromisoformat(pair[0]), date.fromisoformat(pair[1]))


def _query(stored: StoredQuery) -> VisitorsQuery:
    return VisitorsQuery(
        period=_period(stored["period"]),
        compared=_period(stored["compared"]) if stored["compared"] else None,
        section=stored["section"],
        top=stored["top"],
        sort=SortBy(stored["sort"]),
        file_to=FileTo(stored["file_to"]),
        label=stored.get("label"),
    )


def to_question(row: RowMapping) -> Question:
    """Return a row as a Question."""
    return Question(
        id=row["id"],
        project=row["project"],
        channel=row["channel"],
        user=row["user"],
        query=_query(row["query"]),
        asked_at=row["asked_at"],
        state=QuestionState(row["state"]),
        now=row["now"],
        was=row["was"],
        chart=None if row["chart"] is None else tuple(row["chart"]),
        thread_ts=row["thread_ts"],
        calls_before=row["calls_before"],
    )


_OVER: dict[str, object] = {
    "state": QuestionState.ANSWERED,
    "response_url": None,
}
_DUE = and_(questions.c.state == QuestionState.WAITING, questions.c.due_at <= NOW)
_CLAIM = claiming_oldest(questions, _DUE)


@dataclass(frozen=True, slots=True)
class QuestionRepository:
    """The questions, within one transaction."""

    connection: Connection

    def add(
        self,
        origin: Origin,
        query: VisitorsQuery,
        *,
        project: ProjectId,
        now: SnapshotId,
        was: SnapshotId | None,
        calls_before: int,
        asked_at: datetime,
    ) -> QuestionId:
        """Store a question and return its id. The key of its origin is unique (see ``with_key``)."""
        values: dict[str, object] = {
            "key": origin.key,
            "project": project,
            "channel": origin.channel,
            "user": origin.user,
            "query": _stored(query),
            "state": QuestionState.WAITING,
            "now": now,
            "was": was,
            "calls_before": calls_before,
            "asked_at": asked_at,
            "due_at": asked_at,
            "response_url": origin.stored_url,
            "thread_ts": origin.thread,
        }
        row = self.connection.execute(insert(questions).values(**values).returning(questions.c.id))
        return QuestionId(row.scalar_one())

    def with_key(self, key: RequestKey) -> QuestionId | None:
        """Return the id of the question with this request key; None when the request is new."""
        row = self.connection.execute(select(questions.c.id).where(questions.c.key == key))
        found = row.scalar_one_or_none()
        return None if found is None else QuestionId(found)

    def get(self, question: QuestionId) -> Question | None:
        """Return the question with this id; None when there is none, or when it has been forgotten."""
        if not can_be_id(question):
            return None
        found = self.connection.execute(
            select(questions).where(questions.c.id == question, questions.c.user != "")
        )
        row = found.mappings().first()
        return to_question(row) if row else None

    def waiting_for(self, snapshot: SnapshotId) -> Sequence[Question]:
        """Return the questions that wait for the pages of a snapshot."""
        pages = or_(questions.c.now == snapshot, questions.c.was == snapshot)
        waits = select(questions).where(questions.c.state == QuestionState.WAITING, pages)
        return [to_question(row) for row in self.connection.execute(waits).mappings()]

    def response_url(self, question: QuestionId) -> SecretStr | None:
        """Return the response URL for the answer; None when there is none."""
        stored = select(questions.c.response_url).where(questions.c.id == question)
        url = self.connection.execute(stored).scalar_one()
        return SecretStr(url) if url else None

    def any_due(self, now: datetime) -> bool:
        """Return whether a question is due."""
        due = and_(questions.c.state == QuestionState.WAITING, questions.c.due_at <= now)
        return self.connection.execute(select(questions.c.id).where(due).limit(1)).first() is not None

    def claim(self, claimer: Claimer, limit: int) -> Sequence[Question]:
        """Claim unanswered questions that are due."""
        rows = claim(self.connection, _CLAIM, claimer, limit=limit)
        return readable_claims(self.connection, questions, rows, to_question, claimer.now)

    def update(self, question: QuestionId, **fields: Unpack[QuestionFields]) -> None:
        """Write columns of one question without touching its lease."""
        write_row(self.connection, questions, question, None, fields)

    def answered(self, question: QuestionId, owner: str | None = None) -> None:
        """Write that the question is answered and free its lease.

        Raises LeaseLost when ``owner`` is given and does not hold the lease.
        """
        write_row(self.connection, questions, question, owner, {**_OVER, **FREE})

    def refused(self, question: QuestionId, owner: str) -> None:
        """Write that a question is over, keep nothing of its person and their words, and free its lease.

        Raises LeaseLost unless ``owner`` holds the lease.
        """
        forgotten: dict[str, object] = {"user": "", "query": {}, "chart": None}
        write_row(self.connection, questions, question, owner, {**_OVER, **forgotten, **FREE})

    def hasten(self, project: ProjectId, now: datetime) -> None:
        """Make a project's waiting questions due at ``now``, because numbers for one of them may be there."""
        waits = and_(questions.c.project == project, questions.c.state == QuestionState.WAITING)
        self.connection.execute(update(questions).where(waits, questions.c.due_at > now).values(due_at=now))

    def put_back(self, question: QuestionId, owner: str, due_at: datetime) -> None:
        """Set a question's due time and free its lease. Raises LeaseLost unless ``owner`` holds it."""
        write_row(self.connection, questions, question, owner, {"due_at": due_at, **FREE})
