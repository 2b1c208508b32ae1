"""The list of every command. To add one, write its file and its test here, and add it to ``COMMANDS``."""

from __future__ import annotations

from dataclasses import replace

from bot import slack_text
from bot.commands import agent, followup, visitors
from bot.commands.command import Answer, Command, Invocation
from bot.commands.guard import guarded
from bot.messages.help import CommandHelp, help_message
from bot.work.context import Context


def _with_help(*commands: Command) -> tuple[Command, ...]:
    """Every command answers ``help`` with the help of all, to those who may use the bot."""
    pages = [CommandHelp(each.name, each.usage_hint, each.summary, each.examples) for each in commands]

    def helped(command: Command) -> Command:
        async def run(context: Context, invocation: Invocation) -> Answer:
            if invocation.text.strip().lower() == "help":
                return Answer(message=help_message(pages, context.projects))
            return await command.run(context, invocation)

        return replace(command, run=run)

    return tuple(guarded(helped(command)) for command in commands)


COMMANDS = _with_help(agent.COMMAND, followup.COMMAND, visitors.COMMAND)


def meant_by(context: Context, text: str) -> tuple[Command, str] | None:
    """Return the command that the words after a mention mean, and its text; None if they are a prompt."""
    if slack_text.to_plain(text, {}, {}).strip().lower() == "help":
        return COMMANDS[0], "help"
    for command in COMMANDS:
        its_text = command.meant_by(context, text)
        if its_text is not None:
            return command, its_text
    return None
