"""Lists of jobs by their next step, and the number of jobs of each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, and_, case, func, literal_column, not_, or_, select

from bot.ids import ChannelId
from bot.jobs.model.jobs import NEEDS_DECISION, JobScope, JobState, Listed, NextStep, TrackedJob
from bot.jobs.store.jobs import AWAITS_REVIEW, DERIVED_COLUMNS, IS_OPEN, OLDEST, Jobs
from bot.jobs.store.tables import jobs
from bot.store.leases import one_of, read_rows
from bot.store.schema import Repository

_later_job = jobs.alias("again")
# No EXISTS: PostgreSQL may build a table of all jobs for it, in each statement.
_HAS_LATER_RUN = (
    select(_later_job.c.number)
    .where(
        _later_job.c.rerun_of == jobs.c.number,
        _later_job.c.state.not_in((JobState.REFUSED, JobState.WITHDRAWN)),
    )
    .limit(1)
    .correlate(jobs)
    .scalar_subquery()
)
"""A job that runs the same prompt again, and was not taken back."""
_HAS_NO_REVIEW = jobs.c.review.is_(None)
_NEEDS_DECISION = and_(
    one_of(jobs.c.state, NEEDS_DECISION), _HAS_NO_REVIEW, _HAS_LATER_RUN.is_(None)
)
_ORDER = list(NextStep)


def _number_of_step(scope: JobScope) -> ColumnElement[int]:
    """Return the place of a job's next step in a list, as a number."""
    places = [
        (and_(_NEEDS_DECISION, jobs.c.requester == scope.reader), NextStep.NEEDS_YOU),
        (_NEEDS_DECISION, NextStep.NEEDS_REQUESTER),
        (AWAITS_REVIEW, NextStep.TO_REVIEW),
        (IS_OPEN, NextStep.WORKING),
    ]
    numbered = [(which, _literal_step(step)) for which, step in places]
    return case(*numbered, else_=_literal_step(NextStep.DONE)).label("step")


def _literal_step(step: NextStep) -> ColumnElement[int]:
    """Return the place of a step as a literal, since PostgreSQL groups by no parameters."""
    return literal_column(str(_ORDER.index(step)))


def _is_unsettled(scope: JobScope) -> ColumnElement[bool]:
    """Return the condition that a job of the listed kind has a next step other than *done*."""
    match scope.listed:
        case Listed.NEEDS_YOU:
            return and_(_NEEDS_DECISION, jobs.c.requester == scope.reader)
        case Listed.REVIEW:
            return AWAITS_REVIEW
        case Listed.OPEN:
            states = (*JobState.open_states(), JobState.PULL_REQUEST)
            return and_(_HAS_NO_REVIEW, one_of(jobs.c.state, states))
        case None:
            states = (*JobState.open_states(), JobState.PULL_REQUEST)
            is_left = or_(one_of(jobs.c.state, states), _HAS_LATER_RUN.is_(None))
            all_states = dict.fromkeys((*states, *NEEDS_DECISION))
            return and_(_HAS_NO_REVIEW, one_of(jobs.c.state, all_states), is_left)


def _is_visible(scope: JobScope) -> ColumnElement[bool]:
    """Return the condition that a job belongs to a list. Forgotten ones belong to none."""
    terms = [jobs.c.requester != ""]
    if scope.channel is not None:
        terms.append(jobs.c.channel == scope.channel)
    if scope.is_mine:
        terms.append(jobs.c.requester == scope.reader)
    if scope.readable is not None:
        is_theirs = jobs.c.requester == scope.reader
        terms.append(or_(jobs.c.channel.in_(scope.readable), is_theirs))
    if len(terms) == 1:
        raise ValueError("somebody else's jobs are listed by their channel")
    return and_(*terms)


class JobLists(Repository):
    """Lists of jobs, within one transaction."""

    def count(self, scope: JobScope) -> Mapping[NextStep, int]:
        """Return the number of all jobs of a list by their next step, without *done*."""
        step = _number_of_step(scope)
        counting = select(step, func.count()).where(_is_visible(scope), _is_unsettled(scope))
        rows = self.connection.execute(counting.group_by(step)).all()
        return {_ORDER[place]: count for place, count in rows}

    def page(
        self, scope: JobScope, limit: int, skipped: int = 0
    ) -> Sequence[tuple[NextStep, TrackedJob]]:
        """Return jobs of a list with their next steps.

        Jobs that need the reader come first. Jobs to review are sorted by age, others newest first.
        """
        unsettled = self._list_unsettled(scope, limit, skipped)
        if len(unsettled) == limit or scope.listed is not None:
            return unsettled
        total = sum(self.count(scope).values())
        done = self._list_done(scope, limit - len(unsettled), max(0, skipped - total))
        return [*unsettled, *((NextStep.DONE, job) for job in done)]

    def _list_unsettled(
        self, scope: JobScope, limit: int, skipped: int
    ) -> list[tuple[NextStep, TrackedJob]]:
        step = _number_of_step(scope)
        in_step = case((AWAITS_REVIEW, OLDEST), else_=-OLDEST)
        query = (
            select(jobs, *DERIVED_COLUMNS, step)
            .where(_is_visible(scope), _is_unsettled(scope))
            .order_by(step, in_step)
        )
        rows = self.connection.execute(query.limit(limit).offset(skipped)).mappings()
        return read_rows(jobs, rows, lambda row: (_ORDER[row["step"]], Jobs.read(row)))

    def _list_done(self, scope: JobScope, limit: int, skipped: int) -> list[TrackedJob]:
        query = (
            select(jobs, *DERIVED_COLUMNS)
            .where(_is_visible(scope), not_(_is_unsettled(scope)))
            .order_by(jobs.c.number.desc())
        )
        rows = self.connection.execute(query.limit(limit).offset(skipped)).mappings()
        return read_rows(jobs, rows, Jobs.read)

    def channels_to_review(self, limit: int) -> Sequence[ChannelId]:
        """Return the channels with jobs to review, the channel of the oldest job first."""
        query = (
            select(jobs.c.channel)
            .where(AWAITS_REVIEW, jobs.c.requester != "")
            .group_by(jobs.c.channel)
            .order_by(func.min(jobs.c.number))
            .limit(limit)
        )
        return self.connection.execute(query).scalars().all()
