"""The answer to ``/docs-agent usage``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.ids import ChannelId, Message
from bot.jobs.messages.status_message import format_duration
from bot.messages import blocks as b
from bot.messages.blocks import counted, number
from bot.usage.model import Month, Usage


@dataclass(frozen=True, slots=True)
class MonthUsage:
    """A month with its numbers."""

    month: Month
    usage: Usage | None
    """None for a month before the bot began to count."""


def usage_report(
    months: tuple[MonthUsage, ...], *, counted_since: datetime, channel: ChannelId | None
) -> Message:
    """Return the numbers of months, the newest first.

    Args:
        months: The months with their numbers.
        counted_since: When the bot's database was made: what was asked before is not in it.
        channel: The channel whose requests are counted; None for all channels.
    """
    where = b.channel(channel) if channel else "all channels"
    paragraphs = [b.section(_format_month(each, counted_since, where)) for each in months]
    note = "Months in UTC. Pull requests and answers are those of what was asked in the month."
    return b.message(*paragraphs, b.context(note))


def _format_month(of: MonthUsage, counted_since: datetime, where: str) -> str:
    heading = f"*{of.month.begins_at:%B}*"
    if of.usage is None:
        return f"{heading}: not counted. I began on {_format_day(counted_since)}."
    if counted_since > of.month.begins_at:
        heading += f" since {_format_day(counted_since)}"
    usage = of.usage
    lines = [
        f"{heading}, {where}",
        _format_requests(usage),
        _format_pull_requests(usage),
        _format_questions(usage),
    ]
    return "\n".join(line for line in lines if line)


def _format_day(at: datetime) -> str:
    return f"{at.day} {at:%B}"


def _format_requests(usage: Usage) -> str:
    jobs = counted(usage.jobs, "job", "jobs")
    return f"{jobs} · {counted(usage.follow_ups, 'follow-up', 'follow-ups')}"


def _format_pull_requests(usage: Usage) -> str:
    """Return the line about pull requests; "" if no job has one."""
    if not usage.merged + usage.reviewed + usage.open + usage.closed:
        return ""
    parts = [f"{number(usage.merged)} merged"]
    if usage.reviewed:
        parts.append(f"{number(usage.reviewed)} marked as reviewed")
    parts += [f"{number(usage.open)} open", f"{number(usage.closed)} closed"]
    text = f"Pull requests: {', '.join(parts)}"
    if usage.time_to_merge is not None:
        text += f" · median time to merge {format_duration(usage.time_to_merge)}"
    return text


def _format_questions(usage: Usage) -> str:
    """Return the line about questions; "" if nobody asked one."""
    if not usage.questions + usage.assistant_messages:
        return ""
    parts = [f"{number(usage.answered)} answered", f"{number(usage.unanswered)} not"]
    if usage.written:
        parts.append(f"{number(usage.written)} by a change of the docs since")
    lines = [f"{counted(usage.questions, 'question', 'questions')}: {', '.join(parts)}"]
    if usage.gaps_closed:
        lines.append(counted(usage.gaps_closed, "gap closed", "gaps closed"))
    if usage.assistant_messages:
        messages = ("message of the assistant", "messages of the assistant")
        lines.append(counted(usage.assistant_messages, *messages))
    return " · ".join(lines)
