"""Lists of jobs, page by page: ``jobs``, ``jobs mine``, ``jobs open`` and ``jobs #channel``."""

from __future__ import annotations

import re
from dataclasses import replace

from bot.commands.command import Answer, Invocation, Press, Word
from bot.messages import job_answers as say
from bot.model.ids import ChannelId
from bot.model.jobs import TrackedJob
from bot.model.origin import Origin
from bot.work.access.admit import Allowed, reads_channel
from bot.work.context import Context

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
