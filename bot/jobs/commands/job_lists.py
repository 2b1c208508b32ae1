"""Lists of jobs, the search, and the status of one."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

from bot.access.admit import Allowed, reads_channel
from bot.commands.command import Answer, Invocation, Press, Word
from bot.context import Context
from bot.ids import ChannelId, Message, is_direct_message
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
from bot.jobs.readable_channels import find_to_review, find_with_jobs
from bot.jobs.store.job_lists import JobLists
from bot.jobs.store.job_search import JobSearch
from bot.jobs.store.waits import Waits
from bot.jobs.thread import status_message_link
from bot.store import Transaction

_CHANNEL_PATTERN = re.compile(r"<#(\w+)(?:\|[^>]*)?>")
_VALUE_PATTERN = re.compile(r"([0-9]{1,4}) (mine )?(open |review |needs )?(\w*)")
_FOUND_VALUE_PATTERN = re.compile(r"([0-9]{1,3}) find (.{1,150})", re.DOTALL)
_JOB_NAME_PATTERN = re.compile(r"(?:job\s+)?(?=[^\s0-9]*[0-9])\S+", re.IGNORECASE)
_PAGE_SIZE = 10


async def _list(context: Context, invocation: Invocation, _match: re.Match[str]) -> Answer:
    place = invocation.origin.channel
    is_mine = False
    only: Listed | None = None
    channel: ChannelId | None = None
    for word in invocation.text.split():
        kind = word.lower()
        match = _CHANNEL_PATTERN.fullmatch(word)
        if kind == "mine":
            is_mine = True
        elif kind in set(Listed):
            only = Listed.REVIEW if only is Listed.REVIEW else Listed(kind)
        elif match is not None and channel is None:
            channel = ChannelId(match[1])
        elif kind != "jobs":
            return Answer(message=say.NO_SUCH_CHANNEL)
    is_everywhere = only is Listed.REVIEW and not is_mine
    if channel is None and not is_everywhere:
        is_mine = is_mine or is_direct_message(place)
        channel = None if is_mine else place
    return await _show(context, invocation.allowed, say.JobListing(channel, is_mine, only))


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
    # Outside the event loop, because four million characters take a tenth of a second.
    found = await asyncio.to_thread(find_jobs, text, candidates)
    shown = found[page * _PAGE_SIZE : (page + 1) * _PAGE_SIZE]

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
            has_more=len(found) > (page + 1) * _PAGE_SIZE,
        )
        return say.found_jobs(rows, result)

    return Answer(message=await context.store.read(look))


FIND = Word(
    usage="jobs find TEXT",
    shape=r"jobs\s+find\s+(.+)",
    help_text="Finds jobs by words of their title and prompt.",
    run=_find,
    example="jobs find API key",
    is_own_word=True,
)
JOBS = Word(
    usage="jobs",
    # "jobs in the navigation are out of date" is a prompt.
    shape=r"jobs(?:\s+(?:mine|open|review|#\S+))*|review",
    help_text=(
        "Lists the channel's jobs; add `mine`, `open` or a #channel; "
        "`jobs review`: open pull requests."
    ),
    run=_list,
    hint="jobs",
    is_in_help=True,
)


async def _show_status(
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
    return _JOB_NAME_PATTERN.fullmatch(text) is not None


STATUS = Word(
    usage="status 42",
    # "status codes are missing" is a prompt.
    shape=r"status\s+(?:job\s+)?(\S+)",
    help_text="Shows one job by its number, service id or thread link; without one, the latest here.",
    run=of_job(_show_status),
    hint="status 42",
    is_in_help=True,
    accepts=_names_job,
)


async def see_page(context: Context, press: Press) -> Answer:
    """Show a page of a list below the message whose button was pressed."""
    search = _FOUND_VALUE_PATTERN.fullmatch(press.value)
    if search is not None:
        return await _show_found(context, press.allowed, search[2], int(search[1]))
    match = _VALUE_PATTERN.fullmatch(press.value)
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
    scope = JobScope(user, channel, is_mine=listing.is_mine, listed=listing.listed)
    is_complete = True
    if channel is None and not listing.is_mine:
        readable = await find_to_review(context, allowed)
        scope = replace(scope, readable=readable.channels)
        is_complete = readable.is_complete

    def look(tx: Transaction) -> Message:
        lists = JobLists(tx)
        found = lists.page(scope, _PAGE_SIZE + 1, listing.page * _PAGE_SIZE)
        rows = [
            say.ListedJob(step, job, status_message_link(context, job))
            for step, job in found[:_PAGE_SIZE]
        ]
        page = replace(
            listing,
            is_complete=is_complete,
            is_here=channel == place,
            has_more=len(found) > _PAGE_SIZE,
            counts=lists.count(scope),
        )
        return say.job_list(rows, page)

    return Answer(message=await context.store.read(look))


WORDS = (FIND, JOBS, STATUS)
