"""``help``: of a command its main words, as a few lines with examples that work; ``help all``: everything."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from bot.commands.command import Answer, Command, Invocation, Press, Word
from bot.messages.help import MORE, CommandHelp, full_help, short_help
from bot.model.access import Origin
from bot.model.examples import Examples
from bot.model.intents import Intent, exact
from bot.work.context import Context
from bot.work.jobs.examples import examples_for

_SHAPE = r"help(?:\s+(all))?"


def with_help(*commands: tuple[Command, str | None]) -> tuple[Command, ...]:
    """Return the commands with ``help`` among their words, the first with the button that shows all of it.

    Each is given with what stands before ``help`` after a mention, as a regular expression; None for nothing
    that means it.
    """
    every: list[Command] = []

    async def more(context: Context, press: Press) -> Answer:
        return await _full(context, press.origin, every)

    every.extend(_with_help(command, before, every) for command, before in commands)
    every[0] = replace(every[0], buttons={**every[0].buttons, MORE: more})
    return tuple(every)


def _with_help(command: Command, before: str | None, every: Sequence[Command]) -> Command:
    async def show(context: Context, invocation: Invocation, found: re.Match[str]) -> Answer:
        origin = invocation.origin
        return await (_full(context, origin, every) if found[1] else _short(context, origin, command))

    async def run(context: Context, invocation: Invocation) -> Answer:
        typed = invocation.text.strip()
        found = word.match("help" if exact(typed) is Intent.HELP else typed, context.projects)
        return await (show(context, invocation, found) if found else command.run(context, invocation))

    word = Word(
        "help",
        f"(?:{before})?{_SHAPE}" if before else _SHAPE,
        "Shows the main words, and with `all` after it everything.",
        show,
        hint="help",
        after_mention=None if before is None else f"{before}{_SHAPE}",
    )
    return replace(command, words=(*command.words, word), run=run)


async def _short(context: Context, origin: Origin, command: Command) -> Answer:
    here = await context.store.read(lambda tx: examples_for(context, tx, origin))
    words = [
        (_typed(command, word, here), here.filled(word.tells))
        for word in command.all_words
        if word.in_help and here.has(word.needs) and (word.after_mention == "" or not here.in_thread)
    ]
    about = CommandHelp(command.name, command.summary, words)
    return Answer(message=short_help(about, command.also(here), here))


def _typed(command: Command, word: Word, here: Examples) -> str:
    text = here.filled(word.example or word.usage)
    return here.mentioned(text) if here.in_thread else f"{command.name} {text}".strip()


async def _full(context: Context, origin: Origin, commands: Sequence[Command]) -> Answer:
    here = await context.store.read(lambda tx: examples_for(context, tx, origin))
    pages = [
        CommandHelp(
            each.name,
            each.summary,
            [
                (f"{each.name} {here.filled(word.example or word.usage)}".strip(), here.filled(word.tells))
                for word in each.all_words
                if context.projects.are_several or not word.if_several
            ],
        )
        for each in commands
    ]
    return Answer(message=full_help(pages, context.projects, by_mention=here.by_mention))
