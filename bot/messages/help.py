"""The help message, built from the table of commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.messages import blocks as b
from bot.messages.projects import naming
from bot.model.message import Message
from bot.model.projects import Projects

_IN_THREADS = (
    "*In a job's thread* just reply: every reply is a follow-up and gets :eyes: when I take it. "
    "In a thread that people began, mention me. Begin with `#7` to name one of several jobs. "
    "To talk among yourselves, begin with `aside`, `!` or somebody's name after `@`. "
    "Slack allows no slash commands in threads, so `/docs-followup` names its job."
)
_ELSEWHERE = (
    "*Elsewhere*: mention me in a channel, a group direct message or a thread, or write me a direct message, "
    "to start a job. I answer in the thread. The words of the commands work after a mention, too: "
    "`jobs`, `status 42`, `limits`, `visitors last week`. "
    "Or choose *Ask the docs agent* from the menu of somebody's message. "
    "`/docs-agent` and `/docs-followup` alone open a form."
)
_VISITORS = (
    "*Periods and options of* `/docs-visitors`: `7d`, `last 28 days`, `today`, `last week`, `this month`, "
    "`last year`, `October`, `Q3 2025`, `2025`, `1 Oct`, `1 Oct to 15 Oct`, `since monday`. "
    "`compare September` names the period to compare with, `compare none` leaves it out. "
    "`sort human`, `sort ai` or `sort total` ranks the pages, `top 20` names more of them, "
    "`path /api` shows one section, `csv` sends all pages as a file."
)
_COST = (
    "*What it costs*: each new job and each follow-up is one use of the docs service's hourly limit. "
    "Looking, listing, thanks and replies that aren't meant for me cost nothing."
)


@dataclass(frozen=True, slots=True)
class CommandHelp:
    """What the help says of one command. ``words``: what to type after it, and what that does."""

    name: str
    usage_hint: str
    summary: str
    words: Sequence[tuple[str, str]]


def help_message(commands: Sequence[CommandHelp], projects: Projects) -> Message:
    """Return the help: all commands with examples, and the other ways to use the bot."""
    paragraphs = [*(_paragraph(command) for command in commands), _VISITORS, _IN_THREADS, _ELSEWHERE]
    paragraphs += [*([naming(projects)] if projects.are_several else []), _COST]
    return b.message(*map(b.section, paragraphs))


def _paragraph(command: CommandHelp) -> str:
    usage = f"*{b.escape(command.name)}* {b.quoted(command.usage_hint, 200)}"
    words = [
        f"• `{b.escape(f'{command.name} {typed}'.strip())}` {b.escape(tells)}"
        for typed, tells in command.words
    ]
    return "\n".join([usage, b.escape(command.summary), *words])
