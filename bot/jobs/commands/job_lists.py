"""What ``/docs-agent`` lists, jobs page by page and the hourly limits, and what a channel chooses."""

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
from bot.jobs.commands.job_words import of_job
from bot.jobs.messages import job_answers as say
from bot.jobs.model.jobs import Listed, TrackedJob
from bot.jobs.model.prompts import Act
from bot.jobs.model.quota import frees_at
from bot.jobs.service_health import is_refused
from bot.jobs.store.audit import Audit
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.limits import Quota
from bot.jobs.store.prompts import Prompts
from bot.jobs.store.waits import Waits
from bot.jobs.thread import face_link
from bot.messages import general, slack_text
from bot.ports import Origin
from bot.projects import Project, UnknownProject
from bot.store import Transaction
from bot.store.channels import Channels

_CHANNEL = re.compile(r"<#(\w+)(?:\|[^>]*)?>")
_VALUE = re.compile(r"([0-9]{1,4}) (mine )?(open |review )?(\w*)")
_PAGE = 10
_MOST_ASKED = 10
"""About how many channels Slack is asked for one list, which must come within three seconds."""
_MOST_CHANNELS = 500


async def _list(context: Context, invocation: Invocation, _found: re.Match[str]) -> Answer:
    """Return the first page of the list that a text asks for."""
    typed, origin = invocation.words.split()[1:], invocation.origin
    words = [word.lower() for word in typed]
    mine, only = "mine" in words, next((each for each in reversed(Listed) if each in words), None)
    named = [_CHANNEL.fullmatch(word) for word in typed if word.lower() not in ("mine", *Listed)]
    if len(named) > 1 or not all(named):
        return Answer(message=say.NO_SUCH_CHANNEL)
    everywhere = only is Listed.REVIEW and not mine and not named
    mine = mine or (is_direct_message(origin.channel) and not named and not everywhere)
    channel = ChannelId(named[0][1]) if named and named[0] else None if mine or everywhere else origin.channel
    return await _show(context, invocation.allowed, say.JobListing(channel, mine, only))


JOBS = Word(
    usage="jobs",
    # "jobs in the navigation are out of date" is a prompt.
    shape=r"jobs(?:\s+(?:mine|open|review|#\S+))*",
    tells="Lists the channel's jobs; add `mine`, `open` or a #channel; `jobs review`: open pull requests.",
    run=_list,
    hint="jobs",
    in_help=True,
)


async def _status(
    context: Context, _invocation: Invocation, known: Readable, _found: re.Match[str]
) -> Answer:
    return await status_of(context, known)


async def status_of(context: Context, known: Readable) -> Answer:
    """Return all that is known of a job."""
    now, job = context.clock(), known.job
    waiting = await context.store.read(lambda tx: Waits(tx).of_job(job.number, now))
    return Answer(message=say.job_status(job, face_link(context, job), waiting))


STATUS = Word(
    usage="status 42",
    # "status codes are missing" is a prompt.
    shape=r"status\s+(?:job\s+)?(\S+)",
    tells="Shows one job by its number, service id or thread link.",
    run=of_job(_status),
    hint="status 42",
    in_help=True,
    takes=lambda text: re.fullmatch(r"(?:job\s+)?(?=[^\s0-9]*[0-9])\S+", text, re.IGNORECASE) is not None,
)


async def turn_page(context: Context, press: Press) -> Answer:
    """Return another page in the place of the one whose button was pressed."""
    found = _VALUE.fullmatch(press.value)
    if found is None or not (found[4] or found[2] or found[3] == "review "):
        return Answer(message=say.NO_SUCH_CHANNEL)
    channel = ChannelId(found[4]) if found[4] else None
    only = Listed(found[3].strip()) if found[3] else None
    wanted = say.JobListing(channel, bool(found[2]), only, int(found[1]))
    return replace(await _show(context, press.allowed, wanted), replaces=True)


async def _show(context: Context, allowed: Allowed, wanted: say.JobListing) -> Answer:
    """Show a page. Slack is asked whether the person can read a channel in which they are not now."""
    is_here = wanted.channel in (None, allowed.origin.channel)
    if wanted.channel and not is_here and not await reads_channel(context, allowed.user, wanted.channel):
        return Answer(message=say.NO_SUCH_CHANNEL)
    readable: tuple[ChannelId, ...] = ()
    is_all = True
    if wanted.channel is None and not wanted.mine:
        readable, is_all = await _readable(context, allowed)
    return await _page(context, allowed.origin, replace(wanted, is_all=is_all), readable)


async def _readable(context: Context, allowed: Allowed) -> tuple[tuple[ChannelId, ...], bool]:
    """Return which channels with jobs to review the person can read, and whether all were asked about."""
    here, is_admin = allowed.origin.channel, allowed.user in context.access_policy.admins
    found = await context.store.read(lambda tx: Jobs(tx).channels_to_review(_MOST_CHANNELS))
    others = [each for each in found if each != here and (is_admin or not is_direct_message(each))]
    asked = others if is_admin else others[:_MOST_ASKED]
    reads = await asyncio.gather(*(reads_channel(context, allowed.user, each) for each in asked))
    return (here, *(each for each, may in zip(asked, reads, strict=True) if may)), asked == others


async def _page(
    context: Context, origin: Origin, wanted: say.JobListing, readable: Sequence[ChannelId]
) -> Answer:
    channel, mine, skipped = wanted.channel, wanted.mine, wanted.page * _PAGE

    def look(tx: Transaction) -> Sequence[TrackedJob]:
        if readable:
            return Jobs(tx).to_review(readable, origin.user, _PAGE + 1, skipped)
        return Jobs(tx).in_channel(
            channel, _PAGE + 1, origin.user, mine=mine, only=wanted.only, skipped=skipped
        )

    found = await context.store.read(look)
    jobs = [(job, face_link(context, job)) for job in found[:_PAGE]]
    is_here, has_more = channel == origin.channel, len(found) > _PAGE
    shown = replace(wanted, is_here=is_here, has_more=has_more)
    return Answer(message=say.job_list(jobs, shown))


async def _show_limits(context: Context, invocation: Invocation, _found: re.Match[str]) -> Answer:
    """Return the use of both hourly limits of each project, as the database counts it."""

    def look(tx: Transaction) -> Message:
        user, known = invocation.origin.user, context.projects.known
        return say.limits([_limits_of(context, tx, each, user) for each in known])

    return Answer(message=await context.store.read(look))


def _limits_of(context: Context, tx: Transaction, project: Project, user: UserId) -> say.Limits:
    now, which = context.clock(), project.id
    uses, held_until = Prompts(tx).uses(which, now), Quota(tx).exhausted_until(which, now)
    return say.Limits(
        used=context.uses_an_hour if held_until else len(uses),
        limit=context.uses_an_hour,
        frees_at=held_until or frees_at(uses, context.uses_an_hour),
        waiting=Prompts(tx).waiting_for_quota(which),
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
    in_help=True,
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


async def choose(
    context: Context, origin: Origin, act: Act, change: Callable[[Transaction], None] = lambda _: None
) -> None:
    """Write what somebody chose for their channel, and that they did."""

    def write(tx: Transaction) -> None:
        change(tx)
        Audit(tx).chose(act, origin, context.project_of(tx, origin.channel).id, context.clock())

    await context.store.write(write)


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
        return Answer(message=general.may_not_choose(project, origin.channel))
    await choose(
        context, origin, Act.CHOSE_PROJECT, lambda tx: Channels(tx).choose_project(origin.channel, project.id)
    )
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


async def _replies(context: Context, invocation: Invocation, found: re.Match[str]) -> Answer:
    """Choose which replies steer the channel's jobs, or show what is chosen if the text names neither."""
    origin, by_mention = invocation.origin, (found[1] or "").lower() == "off"
    if is_direct_message(origin.channel):
        return Answer(message=general.REPLIES_IN_DIRECT)
    if not found[1]:
        chosen = await context.store.read(lambda tx: Channels(tx).is_by_mention(origin.channel))
        return Answer(message=general.replies_here(by_mention=chosen))
    await choose(
        context,
        origin,
        Act.CHOSE_REPLIES,
        lambda tx: Channels(tx).choose_replies(origin.channel, by_mention=by_mention),
    )
    return Answer(message=general.replies_chosen(by_mention=by_mention))


REPLIES = Word(
    usage="replies off",
    # "replies on the forum page are outdated" is a prompt.
    shape=r"replies(?:\s+(on|off))?",
    tells="Lets only mentions steer the channel's jobs; `replies on` lets every reply in their threads.",
    run=_replies,
)


async def _reviewers(context: Context, invocation: Invocation, found: re.Match[str]) -> Answer:
    """Choose who reviews the channel's pull requests, or show who does if the text names nobody."""
    origin, named = invocation.origin, slack_text.reviewers_in(invocation.words)
    if is_direct_message(origin.channel):
        return Answer(message=general.REVIEWERS_IN_DIRECT)
    if not found[1]:
        chosen = await context.store.read(lambda tx: Channels(tx).reviewers(origin.channel))
        return Answer(message=general.reviewers_here(chosen))
    typed = {word for word in found[1].split() if word.startswith("@")}
    if len(named) != len(typed) or len(named) > general.MOST_REVIEWERS:
        return Answer(message=general.NO_REVIEWERS)
    await choose(
        context, origin, Act.CHOSE_REVIEWERS, lambda tx: Channels(tx).choose_reviewers(origin.channel, named)
    )
    return Answer(message=general.reviewers_chosen(named))


REVIEWERS = Word(
    usage="reviewers @docs-team",
    shape=r"reviewers(?:\s+(none|@\S+(?:\s+(?:and\s+)?@\S+)*))?",
    tells="Chooses who is reminded of the channel's open pull requests; `none` leaves it to whoever asked.",
    run=_reviewers,
)
WORDS = (JOBS, STATUS, LIMITS, PROJECT, CHOOSE_PROJECT, REPLIES, REVIEWERS)
