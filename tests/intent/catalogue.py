"""The vocabulary of the real commands, as the decision gets it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.commands.command import Command, Word
from bot.features import COMMANDS
from bot.ids import ProjectId
from bot.intent.vocabulary import ButtonLabel, OwnWord, Vocabulary
from bot.jobs.commands import followup
from bot.projects import Projects

MENTION = "@docs-agent"
PROJECTS = Projects.only(ProjectId("acme"))


def own_word(command: Command, word: Word) -> OwnWord:
    shape = re.compile(word.after_mention or word.shape, re.IGNORECASE | re.DOTALL)

    def is_match(text: str) -> bool:
        # The shape first: a parser of options takes longer.
        if shape.fullmatch(text) is None:
            return False
        return word.match(text, PROJECTS, after_mention=True) is not None

    def is_typed_match(text: str) -> bool:
        return word in command.words and word.match(text, PROJECTS) is not None

    name = (word.head or word.usage).split()[0]
    return OwnWord(name, command.name, is_match, is_typed_match)


def own_words() -> Iterator[OwnWord]:
    for command in COMMANDS:
        # Its words begin with a job's name and go on with a text for that job.
        if command.name == followup.NAME:
            continue
        for word in (*command.words, command.other):
            if word.after_mention is not None:
                yield own_word(command, word)


LABELS = (
    ButtonLabel("My jobs", "jobs mine"),
    ButtonLabel("What needs work?", "ideas"),
    ButtonLabel("Changes", "changes"),
    ButtonLabel("Preview", "preview"),
    ButtonLabel("Run again", "retry"),
    ButtonLabel("Withdraw", "stop"),
    ButtonLabel("Help", "help"),
)
VOCABULARY = Vocabulary(tuple(own_words()), LABELS)
