"""The rules of retention for jobs, their parts and messages."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, exists, true

from bot.ids import UserId
from bot.jobs.model.jobs import JobProblem, JobState
from bot.jobs.model.prompts import PromptState
from bot.jobs.store.audit import IS_OVER
from bot.jobs.store.tables import audit, jobs, prompts, sending_stops
from bot.outbox.store import OPEN_STATES, deliveries, is_being_delivered
from bot.store.retention import RetentionRule

_UNSETTLED = (PromptState.NEW, PromptState.WAITING, PromptState.SENDING, PromptState.UNCONFIRMED)
_OPEN_JOBS = (JobState.WAITING, JobState.WORKING, JobState.UNCONFIRMED)
# An alias, as the condition is used within statements about prompts, too.
_of_job = prompts.alias("of_job")
_JOB_IS_OVER = and_(
    jobs.c.state.not_in(_OPEN_JOBS),
    jobs.c.poll_at.is_(None),
    jobs.c.unconfirmed_until.is_(None),
    ~exists().where(_of_job.c.job == jobs.c.number, _of_job.c.state.in_(_UNSETTLED)),
    ~is_being_delivered(deliveries.c.job, jobs.c.number),
)


def is_of_finished_job(job: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a row belongs to a job that is over, by its number."""
    # No IN, for which SQLite would first list all finished jobs.
    return exists().where(jobs.c.number == job, _JOB_IS_OVER)


def _names_person(user: UserId) -> dict[str, ColumnElement[bool]]:
    kinds = [f"{kind}:{user}" for kind in JobProblem]
    return {"problem": jobs.c.problem.in_(kinds)}


JOBS_RULE = RetentionRule(
    "jobs",
    jobs,
    _JOB_IS_OVER,
    jobs.c.ended_at,
    names_person=_names_person,
)
PROMPTS_RULE = RetentionRule(
    "prompts",
    prompts,
    is_of_finished_job(prompts.c.job),
    None,
    part_of=(JOBS_RULE, prompts.c.job),
)
DELIVERIES_RULE = RetentionRule(
    "messages",
    deliveries,
    deliveries.c.state.not_in(OPEN_STATES),
    deliveries.c.settled_at,
    part_of=(JOBS_RULE, deliveries.c.job),
    delete_when=~exists().where(jobs.c.number == deliveries.c.job, jobs.c.requester != ""),
)
AUDIT_RULE = RetentionRule("audit rows", audit, IS_OVER, audit.c.acted_at)
STOPS_RULE = RetentionRule("switch of sending", sending_stops, true(), sending_stops.c.stopped_at)
"""Only its admin is forgotten: sending stays off."""
