"""The bot's own words: the vocabulary of all commands, and the run of a word that somebody used."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

from bot.access.admit import Allowed
from bot.commands.command import Answer, Command, Invocation, Word
from bot.commands.meaning import find_meaning
from bot.context import Context, Hooks
from bot.intent.kinds import Kind, Place
from bot.intent.own_words import FoundWord
from bot.intent.vocabulary import OwnWord, Vocabulary
from bot.messages import slack_text
from bot.projects import Project, Projects, with_project


@dataclass(frozen=True, slots=True)
class UsedWord:
    """One of the bot's own words, as somebody said or typed it."""

    word: FoundWord
    raw: str
    """The wire text in which it was found, without the name of a project."""
    project: Project | None = None
    """The project that the text names."""
    command: str = ""
    """The slash command after which it was typed; empty elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordHooks(Hooks):
    """The hook that runs a command, because commands import the features."""

    run_word: Callable[[Context, Allowed, UsedWord], Awaitable[Answer]]
    """Runs one of the bot's own words by the command that has it."""


def list_own_words(commands: Sequence[Command], projects: Projects) -> Vocabulary:
    """Return the words that the commands have at every door, and the labels of their buttons."""
    labels = [label for command in commands for label in command.labels]
    return Vocabulary(list(_list_command_words(commands, projects)), labels)


def _list_command_words(commands: Sequence[Command], projects: Projects) -> Iterator[OwnWord]:
    for command in commands:
        for word in (*command.words, command.fallback_word):
            is_own = word.is_own_word or not word.has_own_text
            if word.after_mention is not None and is_own:
                yield _to_own_word(command, word, projects)


def _to_own_word(command: Command, word: Word, projects: Projects) -> OwnWord:
    def is_match(text: str) -> bool:
        return word.match(text, projects, after_mention=True) is not None

    def is_typed_match(text: str) -> bool:
        # After its command the fallback word takes any text, which is no own word therefore.
        return word is not command.fallback_word and word.match(text, projects) is not None

    name = (word.head or word.usage).split()[0]
    return OwnWord(name, command.name, is_match, is_typed_match)


async def run_own_word(
    commands: Sequence[Command], context: Context, allowed: Allowed, used: UsedWord
) -> Answer:
    """Run a word by the first of its commands."""
    name = used.word.commands[0]
    [command] = [command for command in commands if command.name == name]
    text = restore_entities(used.word.typed, used.raw)
    if used.project is not None and command.takes_project:
        text = with_project(used.project, text)
    # The message belongs to the person's own conversation, and a named job perhaps to another.
    allowed = allowed.with_request(message_ts=None)
    invocation = Invocation(allowed, used.command, text, is_reworded=True)
    return await command.run(context, invocation)


async def run_other_word(context: Context, invocation: Invocation) -> Answer | None:
    """Run the word of any command that a typed text means in other words; None if it means none.

    A text that was understood as this word already means no other one.
    """
    if invocation.is_reworded:
        return None
    meaning = find_meaning(
        context,
        invocation.full_text,
        Place.COMMAND,
        author=invocation.allowed.user,
        command=invocation.command,
    )
    word = meaning.decision.word
    if meaning.kind is not Kind.OWN_WORD or word is None or not word.commands:
        return None
    plain = slack_text.to_plain(meaning.text, {}, {})
    if word.typed == plain and invocation.command in word.commands:
        return None  # its command has not understood just that
    used = UsedWord(word, meaning.text, meaning.project, invocation.command)
    for hooks in context.hooks_of(WordHooks):
        return await hooks.run_word(context, invocation.allowed, used)
    return None


def restore_entities(text: str, raw: str) -> str:
    """Return the wire text of a word that was found in the plain form of ``raw``.

    "reviewers @U02BEN" names Ben by an entity: ``reviewers <@U02BEN>``.
    """
    wire = slack_text.from_plain(text)
    entities = {
        slack_text.to_plain(entity, {}, {}).casefold(): entity
        for entity in slack_text.entities_in(raw)
    }
    if not entities:
        return wire
    longest_first = sorted(map(re.escape, entities), key=len, reverse=True)
    names = "|".join(longest_first)
    return re.sub(names, lambda found: entities[found[0].casefold()], wire, flags=re.IGNORECASE)
