"""Lists of jobs, the hourly limits, and the choices of a channel."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.access.admit import Allowed, reads_channel
from bot.commands.command import Answer, Invocation, Press, Word
from bot.context import Context
from bot.ids import ChannelId, Message, UserId, is_direct_message
from bot.jobs.access import Readable
from bot.jobs.commands.job_references import of_job
from bot.jobs.job_words import answer_status
from bot.jobs.messages import job_answers as say
from bot.jobs.model.job_search import (
    MAX_SEARCH_CHARACTERS,
    MAX_SEARCHED_JOBS,
    SearchedJob,
    find_jobs,
)
from bot.jobs.model.jobs import JobScope, Listed, NextStep
from bot.jobs.model.prompts import Act
from bot.jobs.model.quota import frees_at
from bot.jobs.readable_channels import find_to_review, find_with_jobs
from bot.jobs.service_health import analytics_budget, failing_since, is_refused
from bot.jobs.store.audit import Audit
from bot.jobs.store.job_lists import JobLists
from bot.jobs.store.job_search import JobSearch
from bot.jobs.store.limits import Quota
from bot.jobs.store.prompts import Prompts
from bot.jobs.store.sending import Sending
from bot.jobs.store.waits import Waits
from bot.jobs.thread import status_message_link
from bot.messages import general
from bot.ports import Origin
from bot.projects import Project, UnknownProject
from bot.store import Transaction
from bot.store.channels import Channels

_CHANNEL = re.compile(r"<#(\w+)(?:\|[^>]*)?>")
_VALUE = re.compile(r"([0-9]{1,4}) (mine )?(open |review |needs )?(\w*)")
_FOUND_VALUE = re.compile(r"([0-9]{1,3}) find (.{1,150})", re.DOTALL)
_JOB_NAME = re.compile(r"(?:job\s+)?(?=[^\s0-9]*[0-9])\S+", re.IGNORECASE)
_PAGE = 10


async def _list(context: Context, invocation: Invocation, _match: re.Match[str]) -> Answer:
    place = invocation.origin.channel
    mine = False
    only: Listed | None = None
    channel: ChannelId | None = None
    for word in invocation.text.split():
        kind = word.lower()
        match = _CHANNEL.fullmatch(word)
        if kind == "mine":
            mine = True
        elif kind in set(Listed):
            only = Listed.REVIEW if only is Listed.REVIEW else Listed(kind)
        elif match is not None and channel is None:
            channel = ChannelId(match[1])
        elif kind != "jobs":
            return Answer(message=say.NO_SUCH_CHANNEL)
    is_everywhere = only is Listed.REVIEW and not mine
    if channel is None and not is_everywhere:
        mine = mine or is_direct_message(place)
        channel = None if mine else place
    return await _show(context, invocation.allowed, say.JobListing(channel, mine, only))


async def _find(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
    return await _show_found(context, invocation.allowed, match[1].strip(), 0)


async def _show_found(context: Context, allowed: Allowed, text: str, page: int) -> Answer:
    """Return a page of the jobs with the words of a text, of the channels that somebody reads."""
    if len(text) > MAX_SEARCH_CHARACTERS:
        return Answer(message=say.FEWER_WORDS)
    readable = await find_with_jobs(context, allowed)

    def collect(tx: Transaction) -> tuple[int, Sequence[SearchedJob]]:
        search = JobSearch(tx)
        numbers = search.newest(readable.channels, allowed.user, MAX_SEARCHED_JOBS + 1)
        return len(numbers), search.texts(numbers[:MAX_SEARCHED_JOBS])

    count, candidates = await context.store.read(collect)
    # In a thread, because four million characters take a tenth of a second.
    found = await asyncio.to_thread(find_jobs, text, candidates)
    shown = found[page * _PAGE : (page + 1) * _PAGE]

    def look(tx: Transaction) -> Message:
        rows = [
            say.ListedJob(NextStep.DONE, job, status_message_link(context, job))
            for job in JobSearch(tx).rows(shown)
        ]
        result = say.FoundJobs(
            text=text,
            count=len(found),
            searched=len(candidates),
            has_older=count > MAX_SEARCHED_JOBS,
            is_complete=readable.is_complete,
            page=page,
            has_more=len(found) > (page + 1) * _PAGE,
        )
        return say.found_jobs(rows, result)

    return Answer(message=await context.store.read(look))


FIND = Word(
    usage="jobs find TEXT",
    shape=r"jobs\s+find\s+(.+)",
    tells="Finds jobs by words of their title and prompt.",
    run=_find,
    example="jobs find API key",
    is_own_word=True,
)
JOBS = Word(
    usage="jobs",
    # "jobs in the navigation are out of date" is a prompt.
    shape=r"jobs(?:\s+(?:mine|open|review|#\S+))*|review",
    tells=(
        "Lists the channel's jobs; add `mine`, `open` or a #channel; "
        "`jobs review`: open pull requests."
    ),
    run=_list,
    hint="jobs",
    in_help=True,
)


async def _status(
    context: Context, _invocation: Invocation, target: Readable, _match: re.Match[str]
) -> Answer:
    return Answer(message=await answer_status(context, target.job))


async def status_of(context: Context, target: Readable) -> Answer:
    """Return the details of a job."""
    now = context.clock()
    job = target.job
    waiting = await context.store.read(lambda tx: Waits(tx).of_job(job.number, now))
    return Answer(message=say.job_status(job, status_message_link(context, job), waiting))


def _names_job(text: str) -> bool:
    """Return whether a text names a job by something with a digit."""
    return _JOB_NAME.fullmatch(text) is not None


STATUS = Word(
    usage="status 42",
    # "status codes are missing" is a prompt.
    shape=r"status\s+(?:job\s+)?(\S+)",
    tells="Shows one job by its number, service id or thread link; without one, the latest here.",
    run=of_job(_status),
    hint="status 42",
    in_help=True,
    takes=_names_job,
)


async def see_page(context: Context, press: Press) -> Answer:
    """Show a page of a list below the message whose button was pressed."""
    search = _FOUND_VALUE.fullmatch(press.value)
    if search is not None:
        return await _show_found(context, press.allowed, search[2], int(search[1]))
    match = _VALUE.fullmatch(press.value)
    if match is None or not (match[4] or match[2] or match[3] == "review "):
        return Answer(message=say.NO_SUCH_CHANNEL)
    channel = ChannelId(match[4]) if match[4] else None
    only = Listed(match[3].strip()) if match[3] else None
    listing = say.JobListing(channel, bool(match[2]), only, int(match[1]))
    return await _show(context, press.allowed, listing)


async def turn_page(context: Context, press: Press) -> Answer:
    """Replace the page whose button was pressed by another one."""
    return replace(await see_page(context, press), replaces=True)


async def _show(context: Context, allowed: Allowed, listing: say.JobListing) -> Answer:
    """Return a page of the list, if its channel is readable."""
    user = allowed.user
    place = allowed.origin.channel
    channel = listing.channel
    if channel not in (None, place) and not await reads_channel(context, user, channel):
        return Answer(message=say.NO_SUCH_CHANNEL)
    scope = JobScope(user, channel, is_mine=listing.mine, only=listing.only)
    is_complete = True
    if channel is None and not listing.mine:
        readable = await find_to_review(context, allowed)
        scope = replace(scope, readable=readable.channels)
        is_complete = readable.is_complete

    def look(tx: Transaction) -> Message:
        lists = JobLists(tx)
        found = lists.page(scope, _PAGE + 1, listing.page * _PAGE)
        rows = [
            say.ListedJob(step, job, status_message_link(context, job))
            for step, job in found[:_PAGE]
        ]
        page = replace(
            listing,
            is_complete=is_complete,
            is_here=channel == place,
            has_more=len(found) > _PAGE,
            counts=lists.count(scope),
        )
        return say.job_list(rows, page)

    return Answer(message=await context.store.read(look))


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


async def projects_to_choose(
    context: Context, channel: ChannelId, chosen: Project | None = None
) -> tuple[Project, ...]:
    """Return the projects of a form's menu, ``chosen`` first.

    It has none if the bot serves one project.
    """
    if not context.projects.are_several:
        return ()
    if chosen is None:
        chosen = await context.store.read(lambda tx: context.project_of(tx, channel))
    return (chosen, *(project for project in context.projects.known if project != chosen))


def _change_nothing(_tx: Transaction) -> None:
    """Change nothing: the default for ``change``."""


async def choose(
    context: Context,
    origin: Origin,
    act: Act,
    change: Callable[[Transaction], None] = _change_nothing,
) -> None:
    """Write a choice for a channel, and its audit row."""

    def write(tx: Transaction) -> None:
        change(tx)
        Audit(tx).chose(act, origin, context.project_of(tx, origin.channel).id, context.clock())

    await context.store.write(write)


async def _show_docs(context: Context, invocation: Invocation, _match: re.Match[str]) -> Answer:
    channel = invocation.origin.channel
    project = await context.store.read(lambda tx: context.project_of(tx, channel))
    return Answer(message=general.project_here(project, context.projects))


async def _choose_project(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
    origin = invocation.origin
    admins = context.settings.admins
    try:
        project = context.projects.named(match[1])
    except UnknownProject as unknown:
        return Answer(message=general.unknown_choice(unknown.name, context.projects))
    if admins and origin.user not in admins and not is_direct_message(origin.channel):
        return Answer(message=general.may_not_choose(project, origin.channel))

    def change(tx: Transaction) -> None:
        Channels(tx).choose_project(origin.channel, project.id)

    await choose(context, origin, Act.CHOSE_PROJECT, change)
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
    run=_choose_project,
    if_several=True,
)


async def _replies(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
    """Choose which replies steer the channel's jobs.

    A bare word shows the choice.
    """
    origin = invocation.origin
    is_mention_only = (match[1] or "").lower() == "off"
    if is_direct_message(origin.channel):
        return Answer(message=general.REPLIES_IN_DIRECT)
    if not match[1]:
        chosen = await context.store.read(lambda tx: Channels(tx).is_mention_only(origin.channel))
        return Answer(message=general.replies_setting(is_mention_only=chosen))

    def change(tx: Transaction) -> None:
        Channels(tx).choose_replies(origin.channel, is_mention_only=is_mention_only)

    await choose(context, origin, Act.CHOSE_REPLIES, change)
    return Answer(message=general.replies_chosen(is_mention_only=is_mention_only))


REPLIES = Word(
    usage="replies off",
    # "replies on the forum page are outdated" is a prompt.
    shape=r"replies(?:\s+(on|off))?",
    tells=(
        "Lets only mentions steer the channel's jobs; "
        "`replies on` lets every reply in their threads."
    ),
    run=_replies,
)


WORDS = (FIND, JOBS, STATUS, LIMITS, PROJECT, CHOOSE_PROJECT, REPLIES)
