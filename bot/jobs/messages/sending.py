"""Answers about the switch that stops all sending to the agent."""

from __future__ import annotations

from datetime import datetime

from bot.ids import Message, UserId
from bot.messages import blocks as b

ONLY_ADMINS = b.words(
    ":no_entry: Only an admin of this bot can switch sending off or on. "
    "Whoever runs it names its admins in `ADMINS`."
)
"""The refusal to everybody else."""
IS_ON = b.words(
    "Sending is on: requests go to the agent. An admin switches it off with "
    "`/docs-agent sending off`."
)
"""The state of the switch while requests are sent."""
SWITCHED_ON = b.words(
    ":white_check_mark: Sending is on again. The waiting requests go to the agent now, in order."
)


def switched_off(since: datetime, by: UserId | None) -> Message:
    """Return the confirmation to the admin, with the way back."""
    return b.words(
        f"{_format_switch_time(since, by)} Requests wait, and none is lost; questions and running jobs "
        "go on. `/docs-agent sending on` sends the waiting requests."
    )


def off_note(since: datetime) -> str:
    """Return the line for everybody, in mrkdwn."""
    return f"{_format_switch_time(since, None)} Your requests wait until an admin switches it on."


def note_for_admins(since: datetime, by: UserId | None) -> str:
    """Return the line of admins' Home, in mrkdwn."""
    return f"{_format_switch_time(since, by)} `/docs-agent sending on` sends the waiting requests."


def _format_switch_time(since: datetime, by: UserId | None) -> str:
    whom = f" by {b.mention(by)}" if by else ""
    return f":double_vertical_bar: Sending to the agent is off since {b.moment(since)}{whom}."
