"""``limits``: how much of the hourly limits is left."""

from __future__ import annotations

import re

from bot.commands.command import Answer, Invocation, Word
from bot.context import Context
from bot.ids import Message, UserId
from bot.jobs.messages import job_answers as say
from bot.jobs.model.quota import frees_at
from bot.jobs.service_health import analytics_budget, failing_since, is_refused
from bot.jobs.store.limits import Quota
from bot.jobs.store.prompts import Prompts
from bot.jobs.store.sending import Sending
from bot.projects import Project
from bot.store import Transaction


async def _show_limits(context: Context, invocation: Invocation, _match: re.Match[str]) -> Answer:
    def look(tx: Transaction) -> Message:
        user = invocation.origin.user
        projects = context.projects.known
        limits = [_limits_of(context, tx, project, user) for project in projects]
        stop = Sending(tx).stop()
        return say.limits(limits, stop.stopped_at if stop else None)

    return Answer(message=await context.store.read(look))


def _limits_of(context: Context, tx: Transaction, project: Project, user: UserId) -> say.Limits:
    now = context.clock()
    limit = context.settings.uses_an_hour
    uses = Prompts(tx).uses(project.id, now)
    held_until = Quota(tx).exhausted_until(project.id, now)
    return say.Limits(
        used=limit if held_until else len(uses),
        limit=limit,
        frees_at=held_until or frees_at(uses, limit),
        waiting=Prompts(tx).waiting_for_quota(project.id),
        mine=sum(use.asked_by == user for use in uses),
        analytics=analytics_budget(context, tx, project.id),
        key_is_refused=is_refused(tx, project.id),
        failing_since=failing_since(tx, project.id, now),
        project=context.projects.shown(project.id),
    )


LIMITS = Word(
    usage="limits",
    shape="limits",
    tells="Shows how much of the hourly limits is left.",
    run=_show_limits,
    hint="limits",
    in_help=True,
)
