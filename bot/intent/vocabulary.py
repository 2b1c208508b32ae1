"""The bot's own words, as its commands and buttons declare them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.intent.folding import Phrase, fold, tokenize


@dataclass(frozen=True, slots=True)
class OwnWord:
    """A word of one of the bot's commands."""

    name: str
    """The first word of it, as a person types it: ``status``."""
    command: str
    """The slash command that it belongs to: ``/docs-agent``."""
    is_match: Callable[[str], bool]
    """Return whether a whole plain text is this word at any door: ``status 12``."""
    is_typed_match: Callable[[str], bool] | None = None
    """Return the same of a text after the word's own command; None if there is no difference."""

    def matches(self, text: str, command: str) -> bool:
        """Return whether a whole text is this word, typed after a command or said."""
        if command == self.command and self.is_typed_match is not None:
            return self.is_typed_match(text)
        return self.is_match(text)


@dataclass(frozen=True, slots=True)
class ButtonLabel:
    """The label of a button that people type instead of pressing it."""

    text: str
    """``My jobs``."""
    typed: str
    """The text to type for the same: ``jobs mine``, or a word of threads: ``stop``."""


class Vocabulary:
    """All words of the bot's commands, and the labels of its buttons."""

    def __init__(self, words: Sequence[OwnWord], labels: Sequence[ButtonLabel] = ()) -> None:
        self.words = tuple(words)
        named = (label.typed.split()[0] for label in labels)
        self.names = frozenset((*(word.name for word in words), *named))
        """The first words of all of it."""
        self._typed: dict[Phrase, str] = {}
        for label in labels:
            self._typed[tokenize(fold(label.text))] = label.typed

    def find(self, text: str, command: str) -> tuple[OwnWord, ...]:
        """Return the own words that equal a whole text, one of each command.

        After a command its own word goes first.
        """
        found: dict[str, OwnWord] = {}
        for word in self.words:
            if word.command not in found and word.matches(text, command):
                found[word.command] = word
        if command in found:
            return (found[command],)
        return tuple(found.values())

    def find_label(self, words: Phrase) -> str | None:
        """Return the text to type instead of a button whose label these words are."""
        return self._typed.get(words)

    def commands_of(self, name: str) -> tuple[str, ...]:
        """Return the commands with a word of this name."""
        return tuple(dict.fromkeys(word.command for word in self.words if word.name == name))
