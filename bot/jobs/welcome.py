"""The welcome: short after a greeting and a bare mention, with jobs in the app's Home tab."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bot.access.admit import Allowed, reads_channel
from bot.context import Context
from bot.ids import ChannelId, Message, is_direct_message
from bot.jobs.access import admin_request
from bot.jobs.messages import job_answers as say
from bot.jobs.messages.sending import note_for_admins
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.sending import find_stop
from bot.jobs.store.jobs import Jobs
from bot.jobs.thread import status_message_link
from bot.store import Transaction

_MOST_ASKED = 10
"""About how many channels Slack is asked for one list, which must come within three seconds."""
_MOST_CHANNELS = 500
_SHOWN = 5


def greet(context: Context, allowed: Allowed) -> Message:
    """Return the short welcome."""
    return say.greeting(
        context.bot_name,
        is_direct=is_direct_message(allowed.origin.channel),
        can_answer=bool(context.discovery),
    )


async def welcome(context: Context, allowed: Allowed) -> Message:
    """Return the welcome, with the newest jobs of a person and the oldest that they may review."""
    channels, _ = await find_readable(context, allowed)
    origin = allowed.origin

    def look(tx: Transaction) -> Sequence[TrackedJob]:
        mine = Jobs(tx).in_channel(None, _SHOWN, origin.user, mine=True)
        to_review = Jobs(tx).to_review(channels, origin.user, _SHOWN)
        by_number = {job.number: job for job in (*mine, *to_review)}
        return list(by_number.values())

    shown = await context.store.read(look)
    jobs = [(job, status_message_link(context, job)) for job in shown]
    note = await _note_for_admins(context, allowed)
    return say.welcome_message(jobs, greet(context, allowed), note)


async def _note_for_admins(context: Context, allowed: Allowed) -> str:
    """Return the line about sending that is switched off; "" while it is on, or for others."""
    if admin_request(context, allowed) is None:
        return ""
    stop = await find_stop(context)
    return note_for_admins(stop.at, stop.user) if stop else ""


async def find_readable(context: Context, allowed: Allowed) -> tuple[tuple[ChannelId, ...], bool]:
    """Return the readable channels with jobs to review, and whether all were checked."""
    place = allowed.origin.channel
    is_admin = allowed.user in context.settings.admins
    ids = await context.store.read(lambda tx: Jobs(tx).channels_to_review(_MOST_CHANNELS))
    others = [channel for channel in ids if channel != place]
    asked = others
    if not is_admin:
        others = [channel for channel in others if not is_direct_message(channel)]
        asked = others[:_MOST_ASKED]
    checks = [reads_channel(context, allowed.user, channel) for channel in asked]
    answers = await asyncio.gather(*checks)
    readable = [channel for channel, may in zip(asked, answers, strict=True) if may]
    return (place, *readable), asked == others
