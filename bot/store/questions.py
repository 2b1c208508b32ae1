"""Questions about visitors, of people and for digests, and the subscriptions to digests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time
from typing import TypedDict, Unpack

from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.engine import RowMapping

from bot.ids import ChannelId, ProjectId, QuestionId, SubscriptionId, can_be_id
from bot.model.questions import (
    Question,
    QuestionKind,
    QuestionState,
    Subscription,
    SubscriptionState,
    VisitorsQuery,
    Weekday,
    WeeklyTime,
)
from bot.model.visitors import Snapshot
from bot.ports import Origin
from bot.store.leases import FREE, LIMIT, Claimer, Rows, claiming, has_passed, readable
from bot.store.schema import insert_unless_there, reader
from bot.store.visitor_tables import QUESTIONS, questions, subscriptions

_PEOPLE_FIRST = (questions.c.kind.desc(), questions.c.id)
_CLAIM = claiming(
    questions,
    candidates=select(questions.c.id)
    .where(QUESTIONS.waits, QUESTIONS.is_free)
    .order_by(*_PEOPLE_FIRST)
    .limit(LIMIT),
    still=QUESTIONS.waits,
)


class Questions(Rows[Question]):
    """The questions, within one transaction."""

    table = questions
    read = staticmethod(reader(Question, questions))

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
        older: Snapshot | None,
        chart: Sequence[Snapshot],
        asked_at: datetime,
        missed: Sequence[Snapshot] = (),
    ) -> bool:
        """Store a question. Return False if one with the key of its origin exists already."""
        windows = [now, *(each for each in (older, was) if each), *chart]
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
            "older": older.id if older else None,
            "chart": [each.id for each in chart],
            "missed": [each.id for each in missed],
            "calls_before": sum(each.calls for each in windows),
            "asked_at": asked_at,
            "due_at": asked_at,
            "response_url": origin.response_url,
            "thread_ts": origin.thread,
        }
        return insert_unless_there(self.connection, questions, values)

    def has_key(self, key: str) -> bool:
        """Return whether a question with this request key exists, answered or not."""
        return self._has(questions.c.key == key)

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
        return [self.read(row) for row in rows]

    def get(self, question: QuestionId) -> Question | None:
        """Return the question with this id; None when there is none, or when it has been forgotten."""
        kept = and_(questions.c.id == question, questions.c.query.is_not(None))
        return self._newest(kept) if can_be_id(question) else None

    def claim(self, claimer: Claimer, limit: int) -> Sequence[Question]:
        """Claim unanswered questions that are due, people's before digests."""
        return self._claim(_CLAIM, claimer, limit=limit)

    def settle(self, question: QuestionId, owner: str, state: QuestionState = QuestionState.ANSWERED) -> None:
        """Write that the question is over and free its lease. Raises LeaseLost unless ``owner`` holds it."""
        values = {"state": state, "response_url": None, **FREE}
        self._write(question, owner, values)

    def check_now(self, project: ProjectId, now: datetime) -> None:
        """Make a project's waiting questions due at ``now``, because numbers for one of them were read."""
        waits = and_(questions.c.project == project, questions.c.state == QuestionState.WAITING)
        self.connection.execute(questions.update().where(waits, questions.c.due_at > now).values(due_at=now))

    def put_back(self, question: QuestionId, owner: str, due_at: datetime) -> None:
        """Set a question's due time and free its lease. Raises LeaseLost unless ``owner`` holds it."""
        self._write(question, owner, {"due_at": due_at, **FREE})


def place_of(project: ProjectId, channel: ChannelId, section: str | None) -> str:
    """Return the unique key of a channel's subscription to a section."""
    return f"{project}\n{channel}\n{section or ''}"


class SubscriptionFields(TypedDict, total=False):
    """Columns of a subscription that change after it was added."""

    state: SubscriptionState
    zone: str
    next_run_at: datetime | None
    last_run_at: datetime
    last_result: str
    response_url: None


def _weekly(row: RowMapping) -> WeeklyTime:
    return WeeklyTime(Weekday(row["weekday"]), time.fromisoformat(row["at"]), row["zone"] or "UTC")


class Subscriptions(Rows[Subscription]):
    """The subscriptions, within one transaction."""

    table = subscriptions
    read = staticmethod(
        reader(Subscription, subscriptions, weekly=_weekly, has_zone=lambda row: bool(row["zone"]))
    )

    def put(
        self,
        origin: Origin,
        *,
        project: ProjectId,
        section: str | None,
        weekday: Weekday,
        at: time,
        zone: str | None,
        now: datetime,
    ) -> SubscriptionId:
        """Subscribe a channel, or change its subscription; return the subscription's id.

        Whoever asked becomes the owner. The state becomes *new*: it is activated after its first post.
        ``zone`` None means the owner's zone, which is looked up before that.
        """
        channel = origin.channel
        place = place_of(project, channel, section)
        values: dict[str, object] = {
            "weekday": int(weekday),
            "at": at.isoformat("minutes"),
            "zone": zone or "",
            "owner": origin.user,
            "state": SubscriptionState.NEW,
            "next_run_at": None,
            "response_url": origin.response_url,
        }
        where = {"place": place, "project": project, "channel": channel, "section": section}
        if not insert_unless_there(self.connection, subscriptions, where | values | {"created_at": now}):
            again = values | {"revision": subscriptions.c.revision + 1}
            self.connection.execute(
                subscriptions.update().where(subscriptions.c.place == place).values(**again)
            )
        found = self.connection.execute(select(subscriptions.c.id).where(subscriptions.c.place == place))
        return SubscriptionId(found.scalar_one())

    def get(self, subscription: SubscriptionId) -> Subscription | None:
        """Return the subscription with this id; None when there is none."""
        return self._newest(subscriptions.c.id == subscription)

    def in_channel(self, channel: ChannelId) -> Sequence[Subscription]:
        """Return a channel's subscriptions that have not ended."""
        here = and_(subscriptions.c.channel == channel, subscriptions.c.state != SubscriptionState.ENDED)
        return self._oldest(here, 50)

    def new(self, limit: int) -> Sequence[Subscription]:
        """Return new subscriptions, which wait for their zone and their first post."""
        return self._oldest(subscriptions.c.state == SubscriptionState.NEW, limit)

    def due(self, until: datetime, limit: int) -> Sequence[Subscription]:
        """Return active subscriptions whose next run is at or before ``until``, locked on PostgreSQL."""
        condition = and_(
            subscriptions.c.state == SubscriptionState.ACTIVE, has_passed(subscriptions.c.next_run_at, until)
        )
        statement = (
            select(subscriptions)
            .where(condition)
            .order_by(subscriptions.c.next_run_at)
            .with_for_update(skip_locked=True)
        )
        # Without a limit in SQL, because those that cannot be read stay due.
        rows = self.connection.execute(statement).mappings()
        return readable(subscriptions, rows, self.read)[:limit]

    def change(
        self,
        subscription: SubscriptionId,
        *,
        was: SubscriptionState | None = None,
        revision: int | None = None,
        **fields: Unpack[SubscriptionFields],
    ) -> bool:
        """Write columns if the subscription is in state ``was`` and has this revision (None: any).

        Return whether it was.
        """
        still = [subscriptions.c.id == subscription]
        still += [subscriptions.c.state == was] if was else []
        still += [subscriptions.c.revision == revision] if revision else []
        result = self.connection.execute(subscriptions.update().where(*still).values(dict(fields)))
        return result.rowcount == 1

    def _oldest(self, condition: ColumnElement[bool], limit: int) -> Sequence[Subscription]:
        statement = select(subscriptions).where(condition).order_by(subscriptions.c.id)
        rows = self.connection.execute(statement).mappings()
        return readable(subscriptions, rows, self.read)[:limit]
