"""The list of every command. To add one, write its file and its test here, and add it to ``COMMANDS``."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace

from bot.commands import agent, followup, visitors
from bot.commands.command import Answer, Command, Invocation, Word
from bot.messages.general import CommandHelp, help_message
from bot.model.projects import UnknownProject
from bot.work.context import Context


async def _help(context: Context, _invocation: Invocation, _found: re.Match[str]) -> Answer:
    pages = [
        CommandHelp(
            each.name,
            each.usage_hint,
            each.summary,
            [(word.example or word.usage, word.tells) for word in each.all_words],
        )
        for each in COMMANDS
    ]
    return Answer(message=help_message(pages, context.projects))


HELP = Word("help", "help", "Explains all of this in Slack.", _help, hint="help")


def _with_help(command: Command) -> Command:
    async def run(context: Context, invocation: Invocation) -> Answer:
        found = HELP.match(invocation.text.strip(), context.projects)
        return await (_help(context, invocation, found) if found else command.run(context, invocation))

    return replace(command, words=(*command.words, HELP), run=run)


COMMANDS = tuple(_with_help(each) for each in (agent.COMMAND, followup.COMMAND, visitors.COMMAND))


def meant_by(context: Context, text: str) -> Command | None:
    """Return the command that a text after a mention means; None if it is a prompt."""
    without_project: str | None = None
    with suppress(UnknownProject):
        without_project, _ = context.projects.take(text)
    for command in COMMANDS:
        said = without_project if command.takes_project else text
        if said is not None and command.meaning(said, context.projects, after_mention=True):
            return command
    return None
