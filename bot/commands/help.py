"""``help``: the main words of a command with examples; ``help all``: all commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.commands.command import Answer, Command, Invocation, Press, Word
from bot.context import Context
from bot.ids import is_direct_message
from bot.messages.blocks import Action
from bot.messages.help import CommandHelp, Here, full_help, short_help
from bot.ports import Origin
from bot.store import Transaction
from bot.store.channels import Channels

_SHAPE = r"help(?:\s+(all))?"


def with_help(*commands: tuple[Command, str | None], asks_help: Callable[[str], bool]) -> tuple[Command, ...]:
    """Return the commands with ``help`` among their words, the first with the button that shows all of it.

    Each comes with the regular expression of the words before ``help`` after a mention; None if no mention
    asks for its help. ``asks_help`` returns whether a plain text asks for help in other words.
    """
    every: list[Command] = []

    async def more(context: Context, press: Press) -> Answer:
        return await _full(context, press.origin, every)

    every.extend(
        _with_help(replace(command, asks_help=asks_help), before, every) for command, before in commands
    )
    every[0] = replace(every[0], buttons={**every[0].buttons, Action.HELP_MORE: more})
    return tuple(every)


def _with_help(command: Command, before: str | None, every: Sequence[Command]) -> Command:
    async def show(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
        origin = invocation.origin
        return await (_full(context, origin, every) if match[1] else _short(context, origin, command))

    word = Word(
        "help",
        f"(?:{before})?{_SHAPE}" if before else _SHAPE,
        "Shows the main words, and with `all` after it everything.",
        show,
        hint="help",
        after_mention=None if before is None else f"{before}{_SHAPE}",
    )
    return replace(command, words=(*command.words, word))


async def _short(context: Context, origin: Origin, command: Command) -> Answer:
    def look(tx: Transaction) -> Here:
        return Here(
            context.bot_name,
            context.projects,
            context.project_of(tx, origin.channel).name,
            in_thread=origin.thread is not None,
            is_direct=is_direct_message(origin.channel),
            by_mention=Channels(tx).is_by_mention(origin.channel),
        )

    place = await context.store.read(look)
    rows = []
    for word in command.all_words:
        if word.in_help and (word.after_mention == "" or not place.in_thread):
            text = word.example or word.usage
            typed = place.mentioned(text) if place.in_thread else f"{command.name} {text}".strip()
            rows.append((typed, word.tells))
    command_help = CommandHelp(command.name, command.summary, rows)
    return Answer(message=short_help(command_help, command.also(place), place))


async def _full(context: Context, origin: Origin, commands: Sequence[Command]) -> Answer:
    by_mention = await context.store.read(lambda tx: Channels(tx).is_by_mention(origin.channel))
    pages = [
        CommandHelp(
            command.name,
            command.summary,
            [
                (f"{command.name} {word.example or word.usage}".strip(), word.tells)
                for word in command.all_words
                if context.projects.are_several or not word.if_several
            ],
            command.full_help,
        )
        for command in commands
    ]
    return Answer(message=full_help(pages, context.projects, by_mention=by_mention))
