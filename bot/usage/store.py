"""Counts of a month's rows, by the indexes of their times.

Retention empties these rows and deletes none: their states, times and channels stay.
"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Column, ColumnElement, and_, case, distinct, func, or_, select
from sqlalchemy.engine import RowMapping

from bot.answers.model import InquiryState
from bot.answers.store import inquiries
from bot.jobs.model.jobs import JobState, Review
from bot.jobs.model.prompts import PromptKind, PromptState
from bot.jobs.store.tables import jobs, prompts
from bot.pulls.store.tables import pull_requests
from bot.store.schema import Repository
from bot.usage.model import Usage, UsageScope, median_time

_HAS_STARTED = jobs.c.state.not_in((JobState.REFUSED, JobState.WITHDRAWN))
_HAS_OPEN_PULL_REQUEST = and_(
    jobs.c.review.is_(None),
    or_(
        jobs.c.state == JobState.PULL_REQUEST,
        # A job with a pull request that works on a follow-up.
        and_(jobs.c.state.in_(JobState.open_states()), jobs.c.pr_link.is_not(None)),
    ),
)
_WRITTEN = (InquiryState.WRITTEN, InquiryState.NOTIFIED)
_IS_WRITTEN = inquiries.c.state.in_(_WRITTEN)


def _number_of(condition: ColumnElement[bool]) -> ColumnElement[int]:
    """Return the number of rows for which a condition is true."""
    return func.count(case((condition, 1)))


def _in_month(
    scope: UsageScope,
    project: Column[str],
    at: Column[object],
    channel: Column[str],
) -> ColumnElement[bool]:
    """Return the condition that a row belongs to a month, and to a channel if one is named."""
    terms = [
        project.in_(scope.projects),
        at >= scope.month.begins_at,
        at < scope.month.ends_at,
    ]
    if scope.channel is not None:
        terms.append(channel == scope.channel)
    return and_(*terms)


class UsageCounts(Repository):
    """Counts of a month's requests, within one transaction."""

    def count(self, scope: UsageScope) -> Usage:
        """Return the numbers of a month."""
        job = self._count_jobs(scope)
        question = self._count_questions(scope)
        return Usage(
            jobs=job["jobs"],
            follow_ups=self._count_follow_ups(scope),
            merged=job["merged"],
            reviewed=job["reviewed"],
            open=job["open"],
            closed=job["closed"],
            time_to_merge=self._time_to_merge(scope),
            answered=question["answered"],
            unanswered=question["unanswered"],
            written=question["written"],
            gaps_closed=question["gaps_closed"],
            assistant_messages=question["assistant_messages"],
        )

    def _count_jobs(self, scope: UsageScope) -> RowMapping:
        in_month = _in_month(scope, jobs.c.project, jobs.c.asked_at, jobs.c.channel)
        counting = select(
            func.count().label("jobs"),
            _number_of(jobs.c.review == Review.MERGED).label("merged"),
            _number_of(jobs.c.review == Review.REVIEWED).label("reviewed"),
            _number_of(_HAS_OPEN_PULL_REQUEST).label("open"),
            _number_of(jobs.c.review == Review.CLOSED).label("closed"),
        )
        counting = counting.where(in_month, _HAS_STARTED)
        return self.connection.execute(counting).mappings().one()

    def _time_to_merge(self, scope: UsageScope) -> timedelta | None:
        in_month = _in_month(scope, jobs.c.project, jobs.c.asked_at, jobs.c.channel)
        query = (
            select(pull_requests.c.reported_at, jobs.c.reviewed_at)
            .join(jobs, jobs.c.number == pull_requests.c.job)
            .where(
                in_month,
                _HAS_STARTED,
                jobs.c.review == Review.MERGED,
                jobs.c.reviewed_at.is_not(None),
            )
        )
        times: list[timedelta] = []
        for since, merged_at in self.connection.execute(query):
            # A pull request that was merged before the bot saw it took no time.
            times.append(max(merged_at - since, timedelta(0)))
        return median_time(times)

    def _count_follow_ups(self, scope: UsageScope) -> int:
        in_month = _in_month(scope, prompts.c.project, prompts.c.sent_at, jobs.c.channel)
        counting = (
            select(func.count())
            .select_from(prompts)
            .join(jobs, jobs.c.number == prompts.c.job)
            .where(
                in_month,
                prompts.c.kind == PromptKind.FOLLOW_UP,
                prompts.c.state == PromptState.SENT,
            )
        )
        return int(self.connection.execute(counting).scalar_one())

    def _count_questions(self, scope: UsageScope) -> RowMapping:
        in_month = _in_month(scope, inquiries.c.project, inquiries.c.asked_at, inquiries.c.channel)
        counting = select(
            _number_of(inquiries.c.state == InquiryState.ANSWERED).label("answered"),
            _number_of(inquiries.c.state == InquiryState.GAP).label("unanswered"),
            _number_of(_IS_WRITTEN).label("written"),
            func.count(distinct(case((_IS_WRITTEN, inquiries.c.job)))).label("gaps_closed"),
            _number_of(inquiries.c.is_by_assistant).label("assistant_messages"),
        )
        counting = counting.where(in_month, ~inquiries.c.is_topic)
        return self.connection.execute(counting).mappings().one()
