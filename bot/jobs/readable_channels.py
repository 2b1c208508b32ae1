"""The channels whose jobs a person may see in one list or count.

Slack is asked about few channels, because the answer is due within three seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from bot.access.admit import Allowed, ask_readership
from bot.context import Context
from bot.ids import ChannelId, is_direct_message
from bot.jobs.store.job_lists import JobLists
from bot.jobs.store.job_search import JobSearch

_MAX_ASKED = 10
"""Channels about which Slack is asked for one list."""
_MAX_CHANNELS = 500


@dataclass(frozen=True, slots=True)
class ReadableChannels:
    """Channels that a person can read."""

    channels: tuple[ChannelId, ...]
    is_complete: bool
    """Whether Slack has answered for every channel, so that none is missing."""


async def find_to_review(context: Context, allowed: Allowed) -> ReadableChannels:
    """Return the channels with jobs to review that Slack lets a person read."""
    ids = await context.store.read(lambda tx: JobLists(tx).channels_to_review(_MAX_CHANNELS))
    return await _ask_about(context, allowed, ids)


async def find_with_jobs(context: Context, allowed: Allowed) -> ReadableChannels:
    """Return the channels with jobs that Slack lets a person read."""
    ids = await context.store.read(lambda tx: JobSearch(tx).channels_with_jobs(_MAX_CHANNELS))
    return await _ask_about(context, allowed, ids)


async def _ask_about(
    context: Context, allowed: Allowed, candidates: Sequence[ChannelId]
) -> ReadableChannels:
    """Return the person's present channel, and the candidates that Slack lets them read."""
    here = allowed.origin.channel
    others = [each for each in candidates if each != here and not is_direct_message(each)]
    asked = others[:_MAX_ASKED]
    checks = [ask_readership(context, allowed.user, channel) for channel in asked]
    answers = await asyncio.gather(*checks)
    readable = [channel for channel, may in zip(asked, answers, strict=True) if may]
    is_complete = asked == others and None not in answers
    return ReadableChannels((here, *readable), is_complete)
