"""What admins and people are told about the bot's own operation: key, limit, who may."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from bot.messages import blocks as b
from bot.messages.numbers import counted, number
from bot.messages.plain_text import one_line
from bot.messages.problems import Spent
from bot.model import Access, Budget, JobNumber, Message, ProjectId, UserId


def key_refused(project: ProjectId, *, forbidden: bool) -> Message:
    """For admins, once: what to do."""
    named = b.code(one_line(project, 80))
    said = "may read (only a prompt shows whether it may write)" if forbidden else "is good"
    what = (
        f"The docs service knows the key for {named} but does not let it do this (403): "
        "it lacks a right, or the bot's address is not allowed."
        if forbidden
        else f"The docs service does not accept the key for {named} any more (401): "
        "it is unknown or has expired."
    )
    return b.words(
        f":key: {what} I have stopped calling it; what people ask waits, and nothing is lost. "
        "Look at the key on the API keys page of the project's dashboard, put a new one into `DOCS_API_KEY`, "
        f"and restart the bot; `docs-bot doctor` says whether it {said}. I try again by myself."
    )


def key_accepted(project: ProjectId) -> Message:
    """For admins: the end of it."""
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
    """How much of both hourly limits is left, and whether the service takes anything at all."""
    left = max(0, limit - used)
    frees = f", the next frees at {b.moment(frees_at, '{time}')}" if frees_at and used else ""
    queue = counted(waiting, "prompt waits", "prompts wait") if waiting else "Nothing waits"
    calls_left = max(0, analytics.limit - analytics.used)
    calls_at = analytics.free_at
    possible = f", the next is possible at {b.moment(calls_at, '{time}')}" if calls_at else ""
    key = ":key: At present the docs service refuses the bot's key, so all that is asked waits for that.\n"
    return b.words(
        f"{key if key_is_refused else ''}"
        f":bar_chart: *{number(left)} of {number(limit)} uses left*{frees}. "
        f"Of those spent within the hour, {counted(mine, 'was yours', 'were yours')}.\n"
        f"{queue} for a use; nobody's second goes before another's first.\n"
        f"Visitors: {number(calls_left)} of {number(analytics.limit)} analytics calls left{possible}.\n"
        "A use is one new job or one follow-up; looking costs nothing."
    )


_WHY: Mapping[Access, str] = {
    Access.GUEST: "Guests cannot use this bot.",
    Access.BOT: "Bots cannot use this bot.",
    Access.STRANGER: "People from other organisations cannot use this bot.",
    Access.GONE: "Slack says that this account is not active.",
    Access.NOT_LISTED: "This bot is set up for some people only, and you are not among them.",
    Access.CHANNEL: "This bot is not set up for this channel.",
    Access.UNTOLD: "Slack could not tell me who you are, so I do nothing.",
}


def not_allowed(access: Access) -> Message:
    """Nothing was done."""
    why = _WHY.get(access, "You cannot use this bot.")
    return b.words(
        f":no_entry: {why} Nothing was started. {Spent.NO.value} If that should be otherwise, "
        "ask a colleague who may use it, or whoever runs this bot."
    )


def not_yours(requester: UserId) -> Message:
    """A button that only who asked, or an admin, may press."""
    return b.words(
        f":no_entry: Only {b.mention(requester)} or an admin of this bot can decide that. Nothing was done."
    )


SAME_ANEW = "You asked exactly this less than a minute ago. Change it, or send it again in a minute."


def same_job(job: JobNumber) -> Message:
    """The very same was asked a moment ago."""
    said = (
        f":eyes: You asked exactly the same less than a minute ago: it is #{job}. Nothing new was started. "
        f"{Spent.NO.value} Do you want it twice?"
    )
    return b.with_buttons(said, [b.button("Start it once more", "ask_anyway", str(job))])


def same_follow_up(job: JobNumber, prompt: int) -> Message:
    """The very same follow-up was sent a moment ago."""
    said = (
        f":eyes: That is exactly what you told #{job} less than a minute ago, so I have not sent it again. "
        f"{Spent.NO.value}"
    )
    return b.with_buttons(said, [b.button("Send it once more", "follow_up_anyway", str(prompt))])
