"""The list of every command. To add one, write its file and its test here, and add it to ``COMMANDS``."""

from __future__ import annotations

from bot import slack_text
from bot.commands import agent, followup, visitors
from bot.commands.command import Command, with_help
from bot.commands.guard import guarded
from bot.work.context import Context

COMMANDS = tuple(guarded(each) for each in with_help(agent.COMMAND, followup.COMMAND, visitors.COMMAND))


def meant_by(context: Context, text: str) -> tuple[Command, str] | None:
    """Return the command that the words after a mention mean, and its text; None if they are a prompt."""
    if slack_text.to_plain(text, {}, {}).strip().lower() == "help":
        return COMMANDS[0], "help"
    for command in COMMANDS:
        its_text = command.meant_by(context, text)
        if its_text is not None:
            return command, its_text
    return None
