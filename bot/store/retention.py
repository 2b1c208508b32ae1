"""Forgetting: texts and people are taken out of the rows of work that is over.

Keys, states, numbers and times stay: they keep a request from being carried out twice, and they are counted.
What is under way is left alone. A forgotten job has no requester, and so has a forgotten prompt or question.
What goes follows from the types of the columns (``columns.py``); when it goes stands here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Column, ColumnElement, String, and_, cast, exists, func, literal, or_, select, true

from bot.model.ids import JobNumber, UserId
from bot.model.jobs import JobProblem, JobState
from bot.model.prompts import PromptState
from bot.model.questions import QuestionState, SubscriptionState
from bot.model.visitors import SnapshotState
from bot.store.columns import AnyTable, Owner, People, Person, Repository, forgotten, nothing
from bot.store.leases import FREE
from bot.store.members import IS_OVER
from bot.store.outbox import OPEN
from bot.store.schema import (
    audit,
    deliveries,
    jobs,
    members,
    previews,
    prompts,
    pull_requests,
    questions,
    reviewers,
    snapshots,
    subscriptions,
)

RowCounts = Counter[str]
"""How many rows of each kind were forgotten, or are under way."""
NAMES = "names in others' jobs"
"""Mentions of a person in others' jobs: who follows one, reviewed it, or gave it up."""
_UNSETTLED = (PromptState.NEW, PromptState.WAITING, PromptState.SENDING, PromptState.UNCONFIRMED)
_OPEN_JOBS = (JobState.WAITING, JobState.WORKING, JobState.UNCONFIRMED)


@dataclass(frozen=True, eq=False)
class Kept:
    """Rows of a table that are forgotten once they are over: a person's at once, all of them after a while.

    ``name``: what people read of the rows. ``over``: the condition that nothing of a row is under way.
    ``ended_at``: since when it is over; None for rows that go with those of another table.
    ``goes``: the condition for old rows to be deleted; None for those that are emptied.
    ``besides``: further values of an emptied row.
    """

    name: str
    table: AnyTable
    over: ColumnElement[bool]
    ended_at: ColumnElement[datetime] | None
    goes: ColumnElement[bool] | None = None
    besides: Mapping[str, object] = field(default_factory=dict)

    @property
    def key(self) -> ColumnElement[object]:
        """Return the primary key."""
        return next(iter(self.table.primary_key.columns))

    @property
    def owner(self) -> Column[object] | None:
        """Return the column with the person whose row it is; None for rows of nobody whom the bot knows."""
        return next((column for column in self.table.c if isinstance(column.type, Owner)), None)

    @property
    def emptied(self) -> dict[str, object]:
        """Return the values of a forgotten row."""
        return {**forgotten(self.table), **self.besides}

    def old(self, before: datetime) -> ColumnElement[bool]:
        """Return the condition that a row was over before then, and that there is something to forget."""
        goes = self.goes
        if goes is None:
            owner = self.owner
            names = forgotten(self.table) if owner is None or owner.nullable else [owner.key]
            goes = or_(*(self.table.c[name] != nothing(self.table.c[name]) for name in names))
        return and_(goes, self.ended_at < before, self.over) if self.ended_at is not None else goes


class Retention(Repository):
    """What forgets, within one transaction."""

    def any_before(self, before: datetime) -> bool:
        """Return whether `forget_before` has something to do."""
        return any(self._first(kept, kept.old(before), 1) for kept in _BY_AGE)

    def forget_before(self, before: datetime, limit: int) -> RowCounts:
        """Forget what was over before ``before``: at most ``limit`` rows of each table, and jobs' prompts."""
        counts = RowCounts()
        for kept in _BY_AGE:
            counts += self._forget(
                kept, self._first(kept, kept.old(before), limit), goes=kept.goes is not None
            )
        return counts

    def forget_person(self, user: UserId, limit: int) -> RowCounts:
        """Forget one person's rows that are not under way, at most ``limit`` of each table."""
        by_them = jobs.c.problem.in_([f"{how}:{user}" for how in JobProblem])
        names = self._change(jobs, by_them, {"problem": None})
        names += sum(self._forget_name(kept, owner, user) for kept, owner in _OWNED)
        counts = RowCounts()
        for kept, owner in _OWNED:
            counts += self._forget(kept, self._first(kept, and_(owner == user, kept.over), limit))
        return counts + RowCounts({NAMES: names})

    def forget_job(self, number: JobNumber) -> RowCounts | None:
        """Forget one job, with its prompts and people. Return None while something of it is under way."""
        counts = self._forget(JOBS, [number])
        if not counts:
            return None
        counts[AUDIT.name] = self._change(audit, audit.c.job == number, AUDIT.emptied)
        return counts

    def under_way(self, user: UserId) -> RowCounts:
        """Return how many rows of a person `forget_person` leaves alone."""
        counts = RowCounts()
        for kept, owner in _OWNED:
            theirs = select(func.count()).where(owner == user, ~kept.over)
            counts[kept.name] = int(self.connection.execute(theirs).scalar_one())
        return +counts

    def _forget(self, kept: Kept, keys: list[object], *, goes: bool = False) -> RowCounts:
        """Forget these rows, those of jobs with their prompts, pull requests and messages."""
        counts = RowCounts({kept.name: 0})
        if kept is JOBS:
            keys = self._lock_jobs(keys)
            self._change(deliveries, deliveries.c.job.in_(keys), DELIVERIES.emptied)
            for each, owner in _OWNED:
                if each not in (PROMPTS, PULL_REQUESTS, PREVIEWS):
                    continue
                theirs = and_(each.table.c.job.in_(keys), owner != "")
                counts[each.name] = self._change(each.table, theirs, each.emptied)
        if keys and (goes or (kept.owner is not None and kept.owner.primary_key)):
            counts[kept.name] = self.connection.execute(
                kept.table.delete().where(kept.key.in_(keys))
            ).rowcount
        elif keys:
            counts[kept.name] = self._change(kept.table, kept.key.in_(keys), kept.emptied)
        return +counts

    def _forget_name(self, kept: Kept, owner: Column[object], user: UserId) -> int:
        """Take a person out of rows that are others' and over. Return how often they were named."""
        count, others = 0, and_(owner.is_distinct_from(user), kept.over)
        for column in kept.table.c:
            named: ColumnElement[bool] | None = None
            if isinstance(column.type, People):
                named = column.cast(String).contains(f'"{user}"', autoescape=True)
            elif isinstance(column.type, Person) and not isinstance(column.type, Owner):
                named = column == user
            if named is not None:
                count += self._change(kept.table, and_(named, others), {column.key: nothing(column)})
        return count

    def _lock_jobs(self, numbers: list[object]) -> list[object]:
        """Lock these jobs, and return those that are still over: a follow-up may have come meanwhile."""
        if not numbers:
            return []
        mine = jobs.c.number.in_(numbers)
        locked = select(jobs.c.number).where(mine).order_by(jobs.c.number).with_for_update(skip_locked=True)
        held = list(self.connection.execute(locked).scalars())
        # A statement of its own sees what was committed before the locks were granted.
        return self._first(JOBS, and_(jobs.c.number.in_(held), JOBS.over), len(numbers))

    def _first(self, kept: Kept, where: ColumnElement[bool], limit: int) -> list[object]:
        # Without an order, which would make SQLite walk the keys instead of the index of what is old.
        return list(self.connection.execute(select(kept.key).where(where).limit(limit)).scalars())

    def _change(self, table: AnyTable, where: ColumnElement[bool], values: Mapping[str, object]) -> int:
        return self.connection.execute(table.update().where(where).values(values)).rowcount


def _delivers(belongs_to: ColumnElement[int], key: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a delivery is under way that belongs to the row with this key."""
    return exists().where(belongs_to == key, deliveries.c.state.in_(OPEN))


_JOB_IS_OVER = and_(
    jobs.c.state.not_in(_OPEN_JOBS),
    jobs.c.poll_at.is_(None),
    jobs.c.unconfirmed_until.is_(None),
    ~exists().where(prompts.c.job == jobs.c.number, prompts.c.state.in_(_UNSETTLED)),
    ~_delivers(deliveries.c.job, jobs.c.number),
)
JOBS = Kept("jobs", jobs, _JOB_IS_OVER, jobs.c.ended_at)
PROMPTS = Kept("prompts", prompts, prompts.c.job.in_(select(jobs.c.number).where(_JOB_IS_OVER)), None)
PULL_REQUESTS = Kept(
    "pull requests",
    pull_requests,
    pull_requests.c.job.in_(select(jobs.c.number).where(_JOB_IS_OVER)),
    None,
    besides={"look_at": None, **FREE},  # who looks at it now may write no more
)
PREVIEWS = Kept(
    "previews",
    previews,
    and_(previews.c.due_at.is_(None), previews.c.job.in_(select(jobs.c.number).where(_JOB_IS_OVER))),
    None,
    besides={"due_at": None, **FREE},
)
QUESTIONS = Kept(
    "questions",
    questions,
    and_(questions.c.state != QuestionState.WAITING, ~_delivers(deliveries.c.question, questions.c.id)),
    questions.c.asked_at,
)
READERS_WORDS = Kept(
    "readers' words",
    snapshots,
    snapshots.c.state == SnapshotState.DONE,
    snapshots.c.taken_at,
    # Whoever asks again has them read again.
    besides={"state": SnapshotState.REQUESTED, "complete": False, "taken_at": None},
)
SUBSCRIPTIONS = Kept(
    "subscriptions",
    subscriptions,
    and_(
        subscriptions.c.state == SubscriptionState.ENDED,
        ~_delivers(deliveries.c.subscription, subscriptions.c.id),
    ),
    func.coalesce(subscriptions.c.last_run_at, subscriptions.c.created_at),
    # Unique, so that the channel can subscribe to the same section again.
    besides={"place": literal("forgotten ").concat(cast(subscriptions.c.id, String))},
)
DELIVERIES = Kept(
    "messages",
    deliveries,
    deliveries.c.state.not_in(OPEN),
    deliveries.c.settled_at,
    goes=~exists().where(jobs.c.number == deliveries.c.job, jobs.c.requester != ""),
)
MEMBERS = Kept("access checks", members, true(), members.c.checked_at)
AUDIT = Kept("audit rows", audit, IS_OVER, audit.c.at)
REVIEWERS = Kept("reviewers", reviewers, true(), None)
KEPT = (
    *(JOBS, PROMPTS, PULL_REQUESTS, PREVIEWS, QUESTIONS, READERS_WORDS, SUBSCRIPTIONS, DELIVERIES, MEMBERS),
    *(AUDIT, REVIEWERS),
)
_OWNED = [(kept, kept.owner) for kept in KEPT if kept.owner is not None]
_BY_AGE = [kept for kept in KEPT if kept.ended_at is not None]
