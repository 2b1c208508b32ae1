"""The welcome: short after a greeting and a bare mention, with two numbers in the app's Home tab."""

from __future__ import annotations

from bot.access.admit import Allowed
from bot.context import Context
from bot.ids import Message, is_direct_message
from bot.jobs.access import admin_request
from bot.jobs.messages import job_answers as say
from bot.jobs.messages.sending import note_for_admins
from bot.jobs.model.jobs import JobScope, Listed
from bot.jobs.readable_channels import find_to_review
from bot.jobs.sending import find_stop
from bot.jobs.store.job_lists import JobLists
from bot.store import Transaction


def greet(context: Context, allowed: Allowed) -> Message:
    """Return the short welcome."""
    return say.greeting(
        context.bot_name,
        is_direct=is_direct_message(allowed.origin.channel),
        can_answer=bool(context.discovery),
    )


async def welcome(context: Context, allowed: Allowed) -> Message:
    """Return the welcome with the numbers of jobs that need a person and that they may review."""
    readable = await find_to_review(context, allowed)
    needs_you = JobScope(allowed.user, is_mine=True, only=Listed.NEEDS_YOU)
    to_review = JobScope(allowed.user, readable=readable.channels, only=Listed.REVIEW)

    def count(tx: Transaction) -> say.ToDo:
        lists = JobLists(tx)
        return say.ToDo(
            needs_you=sum(lists.count(needs_you).values()),
            to_review=sum(lists.count(to_review).values()),
            is_complete=readable.is_complete,
        )

    to_do = await context.store.read(count)
    note = await _note_for_admins(context, allowed)
    return say.welcome_message(to_do, greet(context, allowed), note)


async def _note_for_admins(context: Context, allowed: Allowed) -> str:
    """Return the line about sending that is switched off; "" while it is on, or for others."""
    if admin_request(context, allowed) is None:
        return ""
    stop = await find_stop(context)
    return note_for_admins(stop.stopped_at, stop.stopped_by) if stop else ""
