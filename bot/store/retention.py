"""Forgetting: texts and people are taken out of the rows of work that is over.

Keys, states, numbers and times stay: they keep a request from being carried out twice, and they are counted.
What is under way is left alone. A forgotten job has no requester, and so has a forgotten prompt or question.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Self

from sqlalchemy import ColumnElement, String, and_, cast, delete, exists, func, literal, or_, select, update

from bot.model.digests import DigestState, SubscriptionState
from bot.model.ids import JobNumber, UserId
from bot.model.jobs import JobProblem, JobState
from bot.model.outbox import DeliveryState
from bot.model.prompts import PromptState
from bot.model.questions import QuestionState
from bot.store.audit import IS_OVER
from bot.store.columns import AnyTable, Repository
from bot.store.schema import (
    audit,
    deliveries,
    digests,
    jobs,
    members,
    prompts,
    questions,
    subscriptions,
)

_UNSETTLED = (PromptState.NEW, PromptState.WAITING, PromptState.SENDING, PromptState.UNCONFIRMED)
_OPEN_JOBS = (JobState.WAITING, JobState.WORKING, JobState.UNCONFIRMED)
_OPEN_DELIVERIES = (DeliveryState.PENDING, DeliveryState.SENDING)
_JOB: Mapping[str, object] = {
    "requester": "",
    "text": "",
    "iteration_requester": None,
    "also_asked": [],
    "pr_link": None,
    "repository": None,
    "ref": None,
    "problem": None,
    "reviewed_by": None,
}
_PROMPT: Mapping[str, object] = {
    "asked_by": "",
    "raw": "",
    "text": "",
    "along": None,
    "files": None,
    "named": None,
    "response_url": None,
}
_QUESTION: Mapping[str, object] = {
    "user": "",
    "query": {},
    "chart": None,
    "response_url": None,
}
_DIGEST: Mapping[str, object] = {"asked_by": None, "section": None, "response_url": None}
_SUBSCRIPTION: Mapping[str, object] = {
    "owner": "",
    "section": None,
    "last_result": None,
    "response_url": None,
    # Unique, so that the channel can subscribe to the same section again.
    "place": literal("forgotten ").concat(cast(subscriptions.c.id, String)),
}


@dataclass(frozen=True, slots=True)
class RowCounts:
    """How many rows of each kind were forgotten, or are under way."""

    jobs: int = 0
    prompts: int = 0
    questions: int = 0
    digests: int = 0
    subscriptions: int = 0
    deliveries: int = 0
    members: int = 0
    acts: int = 0
    names: int = 0
    """Mentions of a person in others' jobs: who follows one, reviewed it, or dismissed its prompt."""

    @property
    def total(self) -> int:
        """Return the sum."""
        return sum(getattr(self, field.name) for field in fields(self))

    def __add__(self, other: Self) -> RowCounts:
        """Return the sums by kind."""
        return RowCounts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


class RetentionRepository(Repository):
    """What forgets, within one transaction."""

    def any_before(self, before: datetime) -> bool:
        """Return whether `forget_before` has something to do."""
        return any(self._first(table, where, 1) for table, where in _old(before).items())

    def forget_before(self, before: datetime, limit: int) -> RowCounts:
        """Forget what was over before ``before``: at most ``limit`` rows of each table, and jobs' prompts."""
        old = _old(before)
        found = {table: self._first(table, where, limit) for table, where in old.items()}
        over = self._lock_jobs(found[jobs])
        return RowCounts(
            jobs=self._set(jobs, over, _JOB),
            prompts=self._change(prompts, prompts.c.job.in_(over), _PROMPT),
            questions=self._set(questions, found[questions], _QUESTION),
            digests=self._set(digests, found[digests], _DIGEST),
            subscriptions=self._set(subscriptions, found[subscriptions], _SUBSCRIPTION),
            deliveries=self._remove(deliveries, found[deliveries]),
            members=self._remove(members, found[members]),
            acts=self._set(audit, found[audit], {"user": ""}),
        )

    def forget_person(self, user: UserId, limit: int) -> RowCounts:
        """Forget one person's rows that are not under way, at most ``limit`` of each table."""
        theirs = _of(user)
        found = {table: self._first(table, where, limit) for table, where in theirs.items()}
        over = self._lock_jobs(found[jobs])
        names = self._forget_name(user)
        self._drop_dead_letters(over)
        own = self._set(prompts, found[prompts], _PROMPT)
        others = self._change(prompts, and_(prompts.c.job.in_(over), prompts.c.asked_by != ""), _PROMPT)
        return RowCounts(
            jobs=self._set(jobs, over, _JOB),
            prompts=own + others,
            questions=self._set(questions, found[questions], _QUESTION),
            digests=self._set(digests, found[digests], _DIGEST),
            subscriptions=self._set(subscriptions, found[subscriptions], _SUBSCRIPTION),
            deliveries=self._set(deliveries, found[deliveries], {"user": None, "message": None}),
            members=self._remove(members, found[members]),
            acts=self._set(audit, found[audit], {"user": ""}),
            names=names,
        )

    def _forget_name(self, user: UserId) -> int:
        """Take a person out of jobs that are others' and over. Return how often they were named."""
        is_among = jobs.c.also_asked.cast(String).contains(f'"{user}"', autoescape=True)
        others = and_(jobs.c.requester != user, _is_over())
        named: tuple[tuple[ColumnElement[bool], Mapping[str, object]], ...] = (
            (and_(jobs.c.iteration_requester == user, others), {"iteration_requester": None}),
            (and_(jobs.c.reviewed_by == user, others), {"reviewed_by": None}),
            (and_(is_among, others), {"also_asked": []}),
            (jobs.c.problem == f"{JobProblem.DISMISSED}:{user}", {"problem": None}),
        )
        return sum(self._change(jobs, where, values) for where, values in named)

    def forget_job(self, number: JobNumber) -> RowCounts | None:
        """Forget one job, with its prompts and people. Return None while something of it is under way."""
        over = self._lock_jobs([number])
        if not over:
            return None
        self._drop_dead_letters(over)
        return RowCounts(
            jobs=self._set(jobs, over, _JOB),
            prompts=self._change(prompts, prompts.c.job.in_(over), _PROMPT),
            acts=self._change(audit, audit.c.job.in_(over), {"user": ""}),
        )

    def _drop_dead_letters(self, over: list[object]) -> None:
        """Drop what could not be said of these jobs, which nobody may have tried again."""
        self._change(deliveries, deliveries.c.job.in_(over), {"message": None, "user": None})

    def under_way(self, user: UserId) -> RowCounts:
        """Return how many rows of a person `forget_person` leaves alone."""
        return RowCounts(
            jobs=self._count(jobs, and_(jobs.c.requester == user, ~_is_over())),
            prompts=self._count(prompts, and_(prompts.c.asked_by == user, ~_in_job_that_is_over())),
            questions=self._count(questions, and_(questions.c.user == user, ~_of(user)[questions])),
            digests=self._count(digests, and_(digests.c.asked_by == user, ~_of(user)[digests])),
            subscriptions=self._count(
                subscriptions,
                and_(subscriptions.c.owner == user, subscriptions.c.state != SubscriptionState.ENDED),
            ),
            deliveries=self._count(
                deliveries, and_(deliveries.c.user == user, deliveries.c.state.in_(_OPEN_DELIVERIES))
            ),
            acts=self._count(audit, and_(audit.c.user == user, ~IS_OVER)),
        )

    def _lock_jobs(self, numbers: list[object]) -> list[object]:
        """Lock these jobs, and return those that are still over: a follow-up may have come meanwhile."""
        if not numbers:
            return []
        mine = jobs.c.number.in_(numbers)
        locked = select(jobs.c.number).where(mine).order_by(jobs.c.number).with_for_update(skip_locked=True)
        held = list(self.connection.execute(locked).scalars())
        # A statement of its own sees what was committed before the locks were granted.
        return self._first(jobs, and_(jobs.c.number.in_(held), _is_over()), len(numbers))

    def _first(self, table: AnyTable, where: ColumnElement[bool], limit: int) -> list[object]:
        key = next(iter(table.primary_key.columns))
        # Without an order, which would make SQLite walk the keys instead of the index of what is old.
        return list(self.connection.execute(select(key).where(where).limit(limit)).scalars())

    def _set(self, table: AnyTable, keys: list[object], values: Mapping[str, object]) -> int:
        return self._change(table, next(iter(table.primary_key.columns)).in_(keys), values) if keys else 0

    def _change(self, table: AnyTable, where: ColumnElement[bool], values: Mapping[str, object]) -> int:
        return self.connection.execute(update(table).where(where).values(values)).rowcount

    def _remove(self, table: AnyTable, keys: list[object]) -> int:
        key = next(iter(table.primary_key.columns))
        return self.connection.execute(delete(table).where(key.in_(keys))).rowcount if keys else 0

    def _count(self, table: AnyTable, where: ColumnElement[bool]) -> int:
        return int(self.connection.execute(select(func.count()).select_from(table).where(where)).scalar_one())


def _old(before: datetime) -> dict[AnyTable, ColumnElement[bool]]:
    """Return what is forgotten of each table because it was over before ``before``."""
    last_used = func.coalesce(subscriptions.c.last_run_at, subscriptions.c.created_at)
    job_is_kept = exists().where(jobs.c.number == deliveries.c.job, jobs.c.requester != "")
    return {
        jobs: and_(jobs.c.requester != "", jobs.c.ended_at < before, _is_over()),
        questions: and_(_answered(), questions.c.asked_at < before),
        digests: and_(_told(), digests.c.begun_at < before),
        subscriptions: and_(_unsubscribed(), last_used < before),
        deliveries: and_(_is_settled(), deliveries.c.settled_at < before, ~job_is_kept),
        members: members.c.checked_at < before,
        audit: and_(audit.c.user != "", audit.c.at < before, IS_OVER),
    }


def _of(user: UserId) -> dict[AnyTable, ColumnElement[bool]]:
    """Return what is forgotten of each table because it is one person's."""
    return {
        jobs: and_(jobs.c.requester == user, _is_over()),
        prompts: and_(prompts.c.asked_by == user, _in_job_that_is_over()),
        questions: and_(questions.c.user == user, _answered()),
        digests: and_(digests.c.asked_by == user, _told()),
        subscriptions: and_(subscriptions.c.owner == user, _unsubscribed()),
        deliveries: and_(deliveries.c.user == user, _is_settled()),
        members: members.c.user == user,
        audit: and_(audit.c.user == user, IS_OVER),
    }


def _is_over() -> ColumnElement[bool]:
    """Return the condition that nothing of a job is under way: no poll, no prompt and no delivery."""
    unsettled = exists().where(prompts.c.job == jobs.c.number, prompts.c.state.in_(_UNSETTLED))
    return and_(
        jobs.c.state.not_in(_OPEN_JOBS),
        jobs.c.poll_at.is_(None),
        jobs.c.unconfirmed_until.is_(None),
        ~unsettled,
        ~_delivers(deliveries.c.job, jobs.c.number),
    )


def _in_job_that_is_over() -> ColumnElement[bool]:
    return prompts.c.job.in_(select(jobs.c.number).where(_is_over()))


def _delivers(belongs_to: ColumnElement[int], key: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a delivery is under way that belongs to the row with this key."""
    return exists().where(belongs_to == key, deliveries.c.state.in_(_OPEN_DELIVERIES))


def _answered() -> ColumnElement[bool]:
    delivers = _delivers(deliveries.c.question, questions.c.id)
    return and_(questions.c.state == QuestionState.ANSWERED, questions.c.user != "", ~delivers)


def _told() -> ColumnElement[bool]:
    named = or_(digests.c.asked_by.is_not(None), digests.c.section.is_not(None))
    delivers = _delivers(deliveries.c.digest, digests.c.id)
    return and_(digests.c.state != DigestState.GATHERING, named, ~delivers)


def _unsubscribed() -> ColumnElement[bool]:
    delivers = _delivers(deliveries.c.subscription, subscriptions.c.id)
    return and_(subscriptions.c.state == SubscriptionState.ENDED, subscriptions.c.owner != "", ~delivers)


def _is_settled() -> ColumnElement[bool]:
    return deliveries.c.state.not_in(_OPEN_DELIVERIES)
