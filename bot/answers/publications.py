"""The worker that looks for merged pages in the live docs, before their askers are told.

A merge is no deployment, and the docs service reports none that the bot has not started. So it is
asked for the page with growing pauses, for a day. The outcome and the notices that it releases are
one transaction.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from html import unescape

import structlog

from bot.answers.model import InquiryState, Publication, PublicationState
from bot.answers.page_changes import PageChange, find_change, matches, may_be_at, paths_on_site
from bot.answers.publication_store import Publications
from bot.answers.store import Inquiries
from bot.context import Context, WorkerContext, make_claim
from bot.docs_api import DiscoveryClient, DocsApiError, NotFound
from bot.engine import back_off_seconds, unless_taken_over
from bot.github import GithubError, NotVisible
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.service_health import is_key_problem
from bot.jobs.service_keys import assistants_key_accepted, assistants_key_refused
from bot.jobs.store.jobs import Jobs
from bot.logs import reason_of
from bot.pulls.pull_requests import read_changed_files
from bot.store import Transaction

log = structlog.get_logger(__name__)
_LINK_PATTERN = re.compile(r"<(https?://[^|<>\s\\\"]{1,2000})\|")
"""A link to a page in the row under an answer that names its sources."""
_MAX_RESULTS = 3
"""Pages of a search that are read."""
_MAX_PAUSE_SECONDS = 3_600.0


def await_publication(context: Context, tx: Transaction, job: TrackedJob) -> bool:
    """Look for the page of a merged job in the live docs.

    Return False where the bot cannot: the project has no key for its assistant, or the bot has not
    seen the merge of the pull request.
    """
    is_merged = job.pull_request is not None and job.pull_request.is_merged
    if not is_merged or job.project not in context.discovery or context.github is None:
        return False
    now = context.clock()
    Publications(tx).begin(
        Publication(
            job.number,
            job.project,
            job.requester,
            PublicationState.AWAITED,
            merged_at=now,
            due_at=now,
        )
    )
    return True


claim_publications = make_claim(
    lambda tx, claimer, limit: Publications(tx).claim_due(claimer, limit)
)
"""Claims the merged pages to be looked for now."""


@dataclass(frozen=True, slots=True)
class _PageCheck:
    """The outcome of one look for a page."""

    publication: Publication
    """With its new state; its due time is set afterwards."""
    key_error: DocsApiError | None = None
    """The error by which the service refused the assistant's key."""
    was_answered: bool = False
    """Whether the docs service answered."""


async def poll_publication(context: WorkerContext, publication: Publication) -> None:
    """Look once for a merged page. Its askers are told when it is live, or after a day."""
    with unless_taken_over("publication", publication.job):
        found = await _check_page(context, publication)
        await context.settle(lambda tx: _settle_publication(context, tx, publication, found))
        context.wake()


async def _check_page(context: WorkerContext, publication: Publication) -> _PageCheck:
    client = context.discovery.get(publication.project)
    if client is None:
        return _PageCheck(replace(publication, state=PublicationState.UNKNOWN))
    change = publication.change
    try:
        async with asyncio.timeout(context.timeouts.answer_seconds):
            if change is None:
                change = await _read_change(context, publication)
                if change is None:
                    return _PageCheck(replace(publication, state=PublicationState.UNKNOWN))
                publication = replace(publication, change=change)
            cited = await _list_cited_addresses(context, publication)
            return _PageCheck(
                await _find_page(client, publication, change, cited), was_answered=True
            )
    except (DocsApiError, GithubError, TimeoutError) as error:
        log.warning("page_not_searched", job=publication.job, reason=reason_of(error))
        if isinstance(error, DocsApiError) and is_key_problem(error):
            return _PageCheck(publication, key_error=error)
        return _PageCheck(publication)


async def _read_change(context: WorkerContext, publication: Publication) -> PageChange | None:
    """Return the page that the pull request changes; None if there is none to look for."""
    job = await context.store.read(lambda tx: Jobs(tx).get_or_raise(publication.job))
    try:
        files = await read_changed_files(context, job)
    except NotVisible:
        return None
    # Outside the event loop, because it may take a tenth of a second to read a patch.
    titles = job.pull_request.titles if job.pull_request else {}
    return await asyncio.to_thread(find_change, files, titles) if files else None


async def _list_cited_addresses(context: WorkerContext, publication: Publication) -> Sequence[str]:
    """Return the addresses that the assistant cited in its answers to the waiting questions."""
    waiting = await context.store.read(lambda tx: Inquiries(tx).awaiting(publication.job))
    addresses: list[str] = []
    for inquiry in waiting:
        if inquiry.answer is not None:
            rows = [block for block in inquiry.answer.blocks if block["type"] == "context"]
            addresses += map(unescape, _LINK_PATTERN.findall(json.dumps(rows)))
    return list(dict.fromkeys(addresses))[:_MAX_RESULTS]


async def _find_page(
    client: DiscoveryClient, publication: Publication, change: PageChange, cited: Sequence[str]
) -> Publication:
    """Look for a page in the live docs, and return its publication: live or still awaited.

    The page is looked for by its path, then by a search for its title, which also has its address.

    ``cited``: addresses of pages that may be this one.
    """
    is_found = await _is_at_its_path(client, change)
    passages = await client.search(change.title, limit=_MAX_RESULTS)
    titles = {passage.path: passage.metadata.title for passage in passages}
    for address in [*titles, *cited]:
        if not address or not may_be_at(change, address, titles.get(address, "")):
            continue
        text = await _read_page(client, address)
        if text is None or not await asyncio.to_thread(matches, change, text):
            continue
        is_found = True
        if publication.address is None:
            title = titles.get(address) or None
            publication = replace(publication, address=address, title=title)
        break
    if is_found is change.is_removed:
        return publication
    return replace(publication, state=PublicationState.LIVE)


async def _is_at_its_path(client: DiscoveryClient, change: PageChange) -> bool:
    for path in paths_on_site(change.path):
        text = await _read_page(client, path)
        if text is not None and await asyncio.to_thread(matches, change, text):
            return True
    return False


async def _read_page(client: DiscoveryClient, path: str) -> str | None:
    try:
        return await client.page(path)
    except NotFound:
        return None


def _settle_publication(
    context: WorkerContext, tx: Transaction, publication: Publication, found: _PageCheck
) -> None:
    """Write the outcome of a look, and release the notices once it is known."""
    new = found.publication
    now = context.clock()
    ends_at = publication.merged_at + timedelta(seconds=context.timeouts.live_most_seconds)
    if new.state is PublicationState.AWAITED and now >= ends_at:
        new = replace(new, state=PublicationState.UNSEEN)
    if new.state is PublicationState.AWAITED:
        attempts = publication.attempts + 1
        first = context.timeouts.live_seconds
        pause = back_off_seconds(attempts, 1.0, first=first, cap=_MAX_PAUSE_SECONDS)
        due_at = min(context.after(pause), max(ends_at, now))
        new = replace(new, attempts=attempts, due_at=due_at)
    Publications(tx).save(publication, new, owner=context.owner)
    if found.key_error is not None:
        assistants_key_refused(context, tx, publication.project, found.key_error)
    elif found.was_answered:
        assistants_key_accepted(context, tx, publication.project)
    if new.state is PublicationState.AWAITED:
        return
    for inquiry in Inquiries(tx).awaiting(publication.job):
        Inquiries(tx).save(inquiry, replace(inquiry, state=InquiryState.WRITTEN, due_at=now))
