"""Messages about the API key and the hourly limits of the docs service."""

from __future__ import annotations

from datetime import datetime

from bot.messages import blocks as b
from bot.messages.numbers import counted, number
from bot.messages.plain_text import one_line
from bot.model import Budget, Message, ProjectId


def key_refused(project: ProjectId, *, forbidden: bool) -> Message:
    """Return the notice to admins that the service refuses the key, with what to do.

    ``forbidden``: the service answered 403 instead of 401.
    """
    named = b.code(one_line(project, 80))
    said = "may read (only a prompt shows whether it may write)" if forbidden else "is good"
    what = (
        f"The docs service knows the key for {named} but doesn't let it do this (403): "
        "it lacks a right, or the bot's address isn't allowed."
        if forbidden
        else f"The docs service doesn't accept the key for {named} any more (401): "
        "it is unknown or has expired."
    )
    return b.words(
        f":warning: {what} I've stopped calling it. What people ask waits, and nothing is lost. "
        "Check the key on the API keys page of the project's dashboard, put a new one into `DOCS_API_KEY`, "
        f"and restart the bot. `docs-bot doctor` says whether it {said}. I'll also try again by myself."
    )


def key_accepted(project: ProjectId) -> Message:
    """Return the notice to admins that the service accepts the key again."""
    return b.words(
        f":white_check_mark: The docs service accepts the key for {b.code(one_line(project, 80))} again. "
        "What waited goes out now."
    )


def limits(
    used: int,
    limit: int,
    frees_at: datetime | None,
    waiting: int,
    mine: int,
    analytics: Budget,
    *,
    key_is_refused: bool = False,
) -> Message:
    """Return how much of both hourly limits is left.

    ``used`` and ``limit`` are jobs and follow-ups, ``analytics`` the calls about visitors. ``waiting`` is the
    number of queued prompts; ``mine`` is the reader's own uses in the last hour.
    """
    left = max(0, limit - used)
    frees = f", the next frees at {b.moment(frees_at, '{time}')}" if frees_at and used else ""
    queue = counted(waiting, "prompt waits", "prompts wait") if waiting else "Nothing waits"
    calls_left = max(0, analytics.limit - analytics.used)
    calls_at = analytics.free_at
    possible = f", the next is possible at {b.moment(calls_at, '{time}')}" if calls_at else ""
    key = ":warning: The docs service refuses the bot's key, so everything waits until that's fixed.\n"
    return b.words(
        f"{key if key_is_refused else ''}"
        f"*{number(left)} of {number(limit)} uses left*{frees}. "
        f"Of those spent in the last hour, {counted(mine, 'was yours', 'were yours')}.\n"
        f"{queue} for a use. People take turns: your second waits until everybody's first is out.\n"
        f"Visitors: {number(calls_left)} of {number(analytics.limit)} analytics calls left{possible}.\n"
        "A use is one new job or one follow-up. Looking costs nothing."
    )
