"""The word ``usage``: a channel's numbers; for admins the numbers of all channels."""

from __future__ import annotations

import re

from bot.commands.command import Answer, Invocation, Word
from bot.commands.feature import Feature
from bot.context import Context
from bot.ids import Message
from bot.store import Transaction
from bot.store.upgrade import installed_at
from bot.usage.messages import MonthUsage, usage_report
from bot.usage.model import Month, UsageScope
from bot.usage.store import UsageCounts


async def _show_usage(context: Context, invocation: Invocation, _match: re.Match[str]) -> Answer:
    """Show this month and the last one."""
    is_admin = invocation.allowed.user in context.settings.admins
    channel = None if is_admin else invocation.origin.channel
    projects = [project.id for project in context.projects.known]
    this_month = Month.of(context.clock())

    def look(tx: Transaction) -> Message:
        counted_since = installed_at(tx)
        months = []
        for month in (this_month, this_month.before()):
            usage = None
            if counted_since < month.ends_at:
                usage = UsageCounts(tx).count(UsageScope(projects, month, channel))
            months.append(MonthUsage(month, usage))
        return usage_report(tuple(months), counted_since=counted_since, channel=channel)

    return Answer(message=await context.store.read(look))


USAGE = Feature(
    agent_words=(
        Word(
            "usage",
            "usage",
            "Shows what was asked and what came of it, this month and the last.",
            _show_usage,
        ),
    ),
)
