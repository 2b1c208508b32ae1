"""The help, made from the table of commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.messages import blocks as b
from bot.model import Message

_IN_THREADS = (
    "*In a job's thread* just reply: every reply is a follow-up and gets :eyes: when I take it. "
    "Begin with `aside` or `!` to talk among yourselves, or by mentioning somebody. "
    "Slack allows no slash commands in threads; that is why `/docs-followup` names its job."
)
_COST = (
    "*What it costs*: each new job and each follow-up is one use of the docs service's hourly limit. "
    "Looking, listing and replies that are not meant for me cost nothing."
)


@dataclass(frozen=True, slots=True)
class CommandHelp:
    """What the help says of one command."""

    name: str
    usage_hint: str
    summary: str
    examples: tuple[str, ...]


def help_message(commands: Sequence[CommandHelp]) -> Message:
    """All commands with examples, and how threads work."""
    paragraphs = [_paragraph(command) for command in commands]
    text = "\n\n".join([*paragraphs, _IN_THREADS, _COST])
    return Message(text, tuple(b.section(part) for part in [*paragraphs, _IN_THREADS, _COST]), b.plain(text))


def _paragraph(command: CommandHelp) -> str:
    examples = "\n".join(f"• `{b.escape(example)}`" for example in command.examples)
    usage = f"*{b.escape(command.name)}* {b.quoted(command.usage_hint, 200)}"
    return f"{usage}\n{b.escape(command.summary)}\n{examples}"
