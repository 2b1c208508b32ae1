"""Messages about the API key and the hourly limits of the docs service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.messages import blocks as b
from bot.messages.numbers import counted, number
from bot.messages.plain_text import one_line
from bot.messages.problems import key_setting
from bot.model.ids import ProjectId
from bot.model.message import Message
from bot.model.projects import Project
from bot.model.visitors import Budget


def key_refused(
    project: ProjectId, *, forbidden: bool, shown: Project | None = None, entry: Project | None = None
) -> Message:
    """Return the notice to admins that the service refuses the key, with what to do.

    ``forbidden``: the service answered 403 instead of 401. ``shown`` and ``entry``: see ``Projects``.
    """
    named = _named(project, shown)
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
        "Check the key on the API keys page of the project's dashboard, "
        f"put a new one into {key_setting(entry)}, and restart the bot. "
        f"`docs-bot doctor` says whether it {said}. I'll also try again by myself."
    )


def _named(project: ProjectId, shown: Project | None) -> str:
    said = b.code(one_line(project, 80))
    return f"*{b.label(shown.label)}* ({said})" if shown else said


def key_accepted(project: ProjectId, shown: Project | None = None) -> Message:
    """Return the notice to admins that the service accepts the key again."""
    return b.words(
        f":white_check_mark: The docs service accepts the key for {_named(project, shown)} again. "
        "What waited goes out now."
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of both hourly limits of a project is used.

    ``used`` and ``limit`` are jobs and follow-ups, ``analytics`` the calls about visitors. ``waiting`` is the
    number of queued prompts; ``mine`` is the reader's own uses in the last hour.
    """

    used: int
    limit: int
    frees_at: datetime | None
    waiting: int
    mine: int
    analytics: Budget
    key_is_refused: bool = False
    shown: Project | None = None


def limits(projects: Sequence[Limits]) -> Message:
    """Return how much of both hourly limits is left, for each project."""
    cost = "A use is one new job or one follow-up; looking costs nothing."
    between = "\n\n" if len(projects) > 1 else "\n"
    return b.words(between.join([*map(_left, projects), cost]))


def _left(of: Limits) -> str:
    left = max(0, of.limit - of.used)
    frees = f", the next frees at {b.moment(of.frees_at, '{time}')}" if of.frees_at and of.used else ""
    queue = counted(of.waiting, "prompt waits", "prompts wait") if of.waiting else "Nothing waits"
    calls_left = max(0, of.analytics.limit - of.analytics.used)
    calls_at = of.analytics.free_at
    possible = f", the next is possible at {b.moment(calls_at, '{time}')}" if calls_at else ""
    key = ":warning: The docs service refuses the bot's key, so everything waits until that's fixed.\n"
    heading = f"*{b.label(of.shown.label)}*\n" if of.shown else ""
    return (
        f"{heading}{key if of.key_is_refused else ''}"
        f"*{number(left)} of {number(of.limit)} uses left*{frees}. "
        f"Of those spent in the last hour, {counted(of.mine, 'was yours', 'were yours')}.\n"
        f"{queue} for a use. People take turns: your second waits until everybody's first is out. "
        "One person can have half of an hour's uses while others ask, and four fifths otherwise.\n"
        f"Visitors: {number(calls_left)} of {number(of.analytics.limit)} analytics calls left{possible}."
    )
