"""``limits``: how much of both hourly limits is left."""

from __future__ import annotations

import re

from bot.commands.command import Answer, Invocation, Word
from bot.messages import job_answers
from bot.model.ids import UserId
from bot.model.message import Message
from bot.model.projects import Project
from bot.model.quota import frees_at
from bot.store import Transaction
from bot.work.context import Context
from bot.work.jobs.service_health import is_refused


async def _show_limits(context: Context, invocation: Invocation, _found: re.Match[str]) -> Answer:
    """Return the use of both hourly limits of each project, as the database counts it."""

    def look(tx: Transaction) -> Message:
        user, known = invocation.origin.user, context.projects.known
        return job_answers.limits([_limits_of(context, tx, each, user) for each in known])

    return Answer(message=await context.store.read(look))


def _limits_of(context: Context, tx: Transaction, project: Project, user: UserId) -> job_answers.Limits:
    now, which = context.clock(), project.id
    uses, held_until = tx.prompts.uses(which, now), tx.quota.exhausted_until(which, now)
    return job_answers.Limits(
        used=context.uses_an_hour if held_until else len(uses),
        limit=context.uses_an_hour,
        frees_at=held_until or frees_at(uses, context.uses_an_hour, 1),
        waiting=tx.prompts.waiting_for_quota(which),
        mine=sum(use.asked_by == user for use in uses),
        analytics=context.budget(tx, which),
        key_is_refused=is_refused(tx, which),
        shown=context.projects.shown(which),
    )


LIMITS = Word(
    usage="limits",
    shape="limits",
    tells="Shows how much of the hourly limits is left.",
    run=_show_limits,
    hint="limits",
)
