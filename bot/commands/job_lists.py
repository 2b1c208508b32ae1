"""What ``/docs-agent`` lists: jobs page by page, the hourly limits, and the docs of a channel."""

from __future__ import annotations

import re
from dataclasses import replace

from bot.commands.command import Answer, Invocation, Press, Word
from bot.messages import general as general
from bot.messages import job_answers
from bot.messages import job_answers as say
from bot.model.access import Origin
from bot.model.ids import ChannelId, Message, UserId, is_direct_message
from bot.model.jobs import TrackedJob
from bot.model.projects import Project, UnknownProject
from bot.model.quota import frees_at
from bot.store import Transaction
from bot.work.access import Allowed, reads_channel
from bot.work.context import Context
from bot.work.jobs.service_health import is_refused

_CHANNEL = re.compile(r"<#(\w+)(?:\|[^>]*)?>")
_VALUE = re.compile(r"([0-9]{1,4}) (mine )?(open )?(\w*)")
_PAGE = 10


async def _list(context: Context, invocation: Invocation, _found: re.Match[str]) -> Answer:
    """Return the first page of the list that a text asks for."""
    typed, origin = invocation.words.split()[1:], invocation.origin
    words = [word.lower() for word in typed]
    mine, is_open = "mine" in words, "open" in words
    named = [_CHANNEL.fullmatch(word) for word in typed if word.lower() not in ("mine", "open")]
    if len(named) > 1 or not all(named):
        return Answer(message=say.no_such_channel())
    channel = ChannelId(named[0][1]) if named and named[0] else None if mine else origin.channel
    return await _show(context, invocation.allowed, say.JobListing(channel, mine, is_open))


JOBS = Word(
    usage="jobs",
    # "jobs in the navigation are out of date" is a prompt.
    shape=r"jobs(?:\s+(?:mine|open|#\S+))*",
    tells="Lists the channel's latest jobs.",
    run=_list,
    example="jobs mine open",
    hint="jobs",
)


async def turn_page(context: Context, press: Press) -> Answer:
    """Return another page in the place of the one whose button was pressed."""
    found = _VALUE.fullmatch(press.value)
    if found is None or not (found[4] or found[2]):
        return Answer(message=say.no_such_channel())
    channel = ChannelId(found[4]) if found[4] else None
    wanted = say.JobListing(channel, bool(found[2]), bool(found[3]), int(found[1]))
    return replace(await _show(context, press.allowed, wanted), replaces=True)


async def _show(context: Context, allowed: Allowed, wanted: say.JobListing) -> Answer:
    """Show a page. Slack is asked whether the person can read a channel in which they are not now."""
    is_here = wanted.channel in (None, allowed.origin.channel)
    if wanted.channel and not is_here and not await reads_channel(context, allowed, wanted.channel):
        return Answer(message=say.no_such_channel())
    return await _page(context, allowed.origin, wanted)


async def _page(context: Context, origin: Origin, wanted: say.JobListing) -> Answer:
    found = await context.store.read(
        lambda tx: tx.jobs.in_channel(
            wanted.channel,
            _PAGE + 1,
            origin.user,
            mine=wanted.mine,
            is_open=wanted.is_open,
            skipped=wanted.page * _PAGE,
        )
    )
    jobs = [(job, thread_link(context, job)) for job in found[:_PAGE]]
    shown = replace(wanted, is_here=wanted.channel == origin.channel, has_more=len(found) > _PAGE)
    return Answer(message=say.job_list(jobs, shown))


def thread_link(context: Context, job: TrackedJob) -> str | None:
    """Return the address of the job's face, which may be a reply in its thread."""
    if job.thread is None or job.root_ts is None or not context.workspace_url:
        return None
    return context.permalink(job.thread, job.root_ts)


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


async def projects_to_choose(
    context: Context, channel: ChannelId, chosen: Project | None = None
) -> tuple[Project, ...]:
    """Return the projects that a form offers, first the one that it begins with; none where there is one."""
    if not context.projects.are_several:
        return ()
    if chosen is None:
        chosen = await context.store.read(lambda tx: context.project_of(tx, channel))
    return (chosen, *(each for each in context.projects.known if each != chosen))


async def _show_docs(context: Context, invocation: Invocation, _found: re.Match[str]) -> Answer:
    channel = invocation.origin.channel
    project = await context.store.read(lambda tx: context.project_of(tx, channel))
    return Answer(message=general.project_here(project, context.projects))


async def _choose(context: Context, invocation: Invocation, found: re.Match[str]) -> Answer:
    origin, admins = invocation.origin, context.access_policy.admins
    try:
        project = context.projects.named(found[1])
    except UnknownProject as unknown:
        return Answer(message=general.unknown_choice(unknown.name, context.projects))
    if admins and origin.user not in admins and not is_direct_message(origin.channel):
        return Answer(message=general.may_not_choose(project))

    def choose(tx: Transaction) -> None:
        tx.channels.choose_project(origin.channel, project.id)
        tx.audit.chose_project(origin.user, project.id, origin.channel, context.clock())

    await context.store.write(choose)
    return Answer(message=general.chosen(project))


PROJECT = Word(
    usage="project",
    shape="project",
    tells="Shows which docs this channel's prompts are for.",
    run=_show_docs,
)
CHOOSE_PROJECT = Word(
    usage="project acme",
    shape=r"project\s+`?([^\s`]+)`?",
    tells="Chooses one of several docs for the channel.",
    run=_choose,
    if_several=True,
)
