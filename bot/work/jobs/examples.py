"""What is there where somebody asks for help, for examples that work."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.model.access import Origin
from bot.model.examples import Examples
from bot.model.ids import ProjectId, is_direct_message
from bot.model.jobs import TrackedJob
from bot.model.visitors import SortBy
from bot.store import Transaction
from bot.work.context import Context
from bot.work.jobs.ask import takes_follow_ups

_LOOKED_AT = 20
_SECTION = re.compile(r"(/[\w.-]{1,40})/")


def jobs_here(tx: Transaction, origin: Origin, limit: int = _LOOKED_AT) -> Sequence[TrackedJob]:
    """Return the newest jobs of a channel; in direct messages the person's own of all channels."""
    is_direct = is_direct_message(origin.channel)
    return tx.jobs.in_channel(None if is_direct else origin.channel, limit, origin.user, mine=is_direct)


def examples_for(context: Context, tx: Transaction, origin: Origin) -> Examples:
    """Return what examples can name where this person asks."""
    in_thread = tx.jobs.in_thread(origin.thread_ref) if origin.thread_ref else None
    steered = [
        each for each in [in_thread or None, *jobs_here(tx, origin)] if each and takes_follow_ups(each)
    ]
    latest = tx.jobs.latest_of(origin.user, origin.channel)
    project = context.project_of(tx, origin.channel)
    return Examples(
        bot_name=context.bot_name,
        projects=context.projects,
        project=project.name,
        job=steered[0].number if steered else None,
        own_job=latest is not None and takes_follow_ups(latest),
        section=_section(tx, project.id),
        in_thread=origin.thread is not None,
        is_direct=is_direct_message(origin.channel),
        by_mention=tx.channels.is_by_mention(origin.channel),
    )


def _section(tx: Transaction, project: ProjectId) -> str | None:
    """Return the section of the docs that has the most read page, as far as the bot has read."""
    newest = tx.snapshots.newest_with_pages(project)
    pages = tx.pages.top(newest, None, None, SortBy.TOTAL, _LOOKED_AT) if newest else ()
    found = (_SECTION.match(page.path) for page in pages)
    return next((each[1] for each in found if each), None)
