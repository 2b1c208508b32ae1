"""Questions about visitors, of people and for digests: stored, and claimed until they are answered."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import SecretStr
from sqlalchemy import and_, select, update

from bot.model.ids import ChannelId, ProjectId, QuestionId, SubscriptionId, can_be_id
from bot.model.origin import Origin
from bot.model.questions import Question, QuestionKind, QuestionState, VisitorsQuery
from bot.model.visitors import Snapshot
from bot.store.columns import Repository, forgotten, reader
from bot.store.leases import FREE, LIMIT, Claimer, claim, claiming, readable_claims, write_row
from bot.store.queues import QUESTIONS
from bot.store.schema import questions
from bot.store.upsert import insert_unless_there

_to_question = reader(Question, questions)
_PEOPLE_FIRST = (questions.c.kind.desc(), questions.c.id)
_CLAIM = claiming(
    questions,
    candidates=select(questions.c.id)
    .where(QUESTIONS.waits, QUESTIONS.is_free)
    .order_by(*_PEOPLE_FIRST)
    .limit(LIMIT),
    still=QUESTIONS.waits,
)


class QuestionRepository(Repository):
    """The questions, within one transaction."""

    def add(
        self,
        origin: Origin,
        query: VisitorsQuery,
        *,
        kind: QuestionKind,
        subscription: SubscriptionId | None,
        project: ProjectId,
        now: Snapshot,
        was: Snapshot | None,
        chart: Sequence[Snapshot],
        asked_at: datetime,
    ) -> bool:
        """Store a question. Return False if one with the key of its origin exists already."""
        windows = [now, *([was] if was else []), *chart]
        values: dict[str, object] = {
            "key": origin.key,
            "kind": kind,
            "subscription": subscription,
            "project": project,
            "channel": origin.channel,
            "user": origin.user or None,
            "query": query,
            "state": QuestionState.WAITING,
            "now": now.id,
            "was": was.id if was else None,
            "chart": [each.id for each in chart],
            "calls_before": sum(each.calls for each in windows),
            "asked_at": asked_at,
            "due_at": asked_at,
            "response_url": origin.response_url,
            "thread_ts": origin.thread,
        }
        return insert_unless_there(self.connection, questions, values)

    def has_key(self, key: str) -> bool:
        """Return whether a question with this request key exists, answered or not."""
        found = self.connection.execute(select(questions.c.id).where(questions.c.key == key))
        return found.first() is not None

    def digests_since(self, project: ProjectId, channel: ChannelId, since: datetime) -> Sequence[Question]:
        """Return the digests that people asked for in a channel after ``since``, without those missed."""
        asked = and_(
            questions.c.project == project,
            questions.c.channel == channel,
            questions.c.kind == QuestionKind.DIGEST,
            questions.c.user.is_not(None),
            questions.c.asked_at > since,
            questions.c.state != QuestionState.MISSED,
        )
        rows = self.connection.execute(select(questions).where(asked)).mappings()
        return [_to_question(row) for row in rows]

    def get(self, question: QuestionId) -> Question | None:
        """Return the question with this id; None when there is none, or when it has been forgotten."""
        if not can_be_id(question):
            return None
        kept = and_(questions.c.id == question, questions.c.query.is_not(None))
        row = self.connection.execute(select(questions).where(kept)).mappings().first()
        return _to_question(row) if row else None

    def response_url(self, question: QuestionId) -> SecretStr | None:
        """Return the response URL for the answer; None when there is none."""
        stored = select(questions.c.response_url).where(questions.c.id == question)
        url: SecretStr | None = self.connection.execute(stored).scalar_one()
        return url

    def claim(self, claimer: Claimer, limit: int) -> Sequence[Question]:
        """Claim unanswered questions that are due, people's before digests."""
        rows = claim(self.connection, _CLAIM, claimer, limit=limit)
        return readable_claims(self.connection, questions, rows, _to_question, claimer.now)

    def settle(self, question: QuestionId, owner: str, state: QuestionState = QuestionState.ANSWERED) -> None:
        """Write that the question is over and free its lease. Raises LeaseLost unless ``owner`` holds it."""
        values = {"state": state, "response_url": None, **FREE}
        write_row(self.connection, questions, question, owner, values)

    def refused(self, question: QuestionId, owner: str) -> None:
        """Write that a question is over, keep nothing of its person and their words, and free its lease.

        Raises LeaseLost unless ``owner`` holds the lease.
        """
        self.settle(question, owner, QuestionState.MISSED)
        write_row(self.connection, questions, question, None, forgotten(questions))

    def check_now(self, project: ProjectId, now: datetime) -> None:
        """Make a project's waiting questions due at ``now``, because numbers for one of them were read."""
        waits = and_(questions.c.project == project, questions.c.state == QuestionState.WAITING)
        self.connection.execute(update(questions).where(waits, questions.c.due_at > now).values(due_at=now))

    def put_back(self, question: QuestionId, owner: str, due_at: datetime) -> None:
        """Set a question's due time and free its lease. Raises LeaseLost unless ``owner`` holds it."""
        write_row(self.connection, questions, question, owner, {"due_at": due_at, **FREE})
