"""Questions about visitors: stored before the request is acknowledged, and claimed until answered."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict, Unpack

from pydantic import SecretStr
from sqlalchemy import and_, insert, or_, select, update

from bot.model.ids import ProjectId, QuestionId, RequestKey, SnapshotId, can_be_id
from bot.model.origin import Origin
from bot.model.questions import Question, QuestionState, VisitorsQuery
from bot.store.columns import Repository, forgotten, reader
from bot.store.leases import FREE, Claimer, claim, readable_claims, write_row
from bot.store.queues import QUESTIONS
from bot.store.schema import questions


class QuestionFields(TypedDict, total=False):
    """Columns that change while a question waits."""

    chart: list[SnapshotId]


_to_question = reader(Question, questions)
_OVER: dict[str, object] = {
    "state": QuestionState.ANSWERED,
    "response_url": None,
}
_CLAIM = QUESTIONS.claiming()


class QuestionRepository(Repository):
    """The questions, within one transaction."""

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
            "query": query,
            "state": QuestionState.WAITING,
            "now": now,
            "was": was,
            "calls_before": calls_before,
            "asked_at": asked_at,
            "due_at": asked_at,
            "response_url": origin.response_url,
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
        return _to_question(row) if row else None

    def waiting_for(self, snapshot: SnapshotId) -> Sequence[Question]:
        """Return the questions that wait for the pages of a snapshot."""
        pages = or_(questions.c.now == snapshot, questions.c.was == snapshot)
        waits = select(questions).where(questions.c.state == QuestionState.WAITING, pages)
        return [_to_question(row) for row in self.connection.execute(waits).mappings()]

    def response_url(self, question: QuestionId) -> SecretStr | None:
        """Return the response URL for the answer; None when there is none."""
        stored = select(questions.c.response_url).where(questions.c.id == question)
        url: SecretStr | None = self.connection.execute(stored).scalar_one()
        return url

    def any_due(self, now: datetime) -> bool:
        """Return whether a question is due."""
        due = and_(questions.c.state == QuestionState.WAITING, questions.c.due_at <= now)
        return self.connection.execute(select(questions.c.id).where(due).limit(1)).first() is not None

    def claim(self, claimer: Claimer, limit: int) -> Sequence[Question]:
        """Claim unanswered questions that are due."""
        rows = claim(self.connection, _CLAIM, claimer, limit=limit)
        return readable_claims(self.connection, questions, rows, _to_question, claimer.now)

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
        write_row(self.connection, questions, question, owner, {**forgotten(questions), **_OVER, **FREE})

    def hasten(self, project: ProjectId, now: datetime) -> None:
        """Make a project's waiting questions due at ``now``, because numbers for one of them may be there."""
        waits = and_(questions.c.project == project, questions.c.state == QuestionState.WAITING)
        self.connection.execute(update(questions).where(waits, questions.c.due_at > now).values(due_at=now))

    def put_back(self, question: QuestionId, owner: str, due_at: datetime) -> None:
        """Set a question's due time and free its lease. Raises LeaseLost unless ``owner`` holds it."""
        write_row(self.connection, questions, question, owner, {"due_at": due_at, **FREE})
