"""Questions to the bot that the docs service lists among readers' questions.

A question that was asked in private must not appear in another channel's list. The service's own
conversation id recognises its row, or else its words at about its time. In doubt a row is hidden.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.visitors.model.gaps import GapRow, Source, bare_words

_NEAR_PERIOD = timedelta(minutes=10)
"""How far the time of the service's row may lie from ours."""


def hash_text(text: str, key: bytes) -> str:
    """Return the hash of a question's words (see `clean_text`) with the key of a database."""
    words = bare_words(text).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(words, key=key, digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class SentQuestion:
    """A question, as it was sent to the docs service, without its words."""

    text_hash: str
    """A hash of the question with the database's key."""
    sent_at: datetime
    conversation: str | None
    """The service's id of the conversation; None for a search, and until it is known."""
    is_hidden: bool
    """Whether the reader of a list may not see it."""


@dataclass(frozen=True, slots=True)
class OwnQuestions:
    """The questions that the bot has sent in a period, for the reader of a list."""

    key: bytes = b""
    """The database's key of `hash_text`."""
    sent: Collection[SentQuestion] = ()

    def hider(self, source: Source) -> Callable[[GapRow], bool]:
        """Return the condition for a row of a source to be hidden from the reader."""
        if not any(question.is_hidden for question in self.sent):
            return _hides_nothing
        match source:
            case Source.QUESTIONS:
                return self._hides_question
            case Source.SEARCHES:
                return self._hides_search
        return _hides_nothing

    def _hides_question(self, row: GapRow) -> bool:
        """Return whether a row is, or may be, a question that was asked in private."""
        if row.conversation:
            same = [each for each in self.sent if each.conversation == row.conversation]
            if same:
                return any(each.is_hidden for each in same)
        return _is_private(
            each
            for each in self._with_words(row)
            if row.at is None or abs(row.at - each.sent_at) <= _NEAR_PERIOD
        )

    def _hides_search(self, row: GapRow) -> bool:
        """Return whether all searches of a row may be the bot's own.

        Whether the service counts a question to its assistant as a search is unknown.
        """
        own = self._with_words(row)
        return _is_private(own) and row.events <= len(own)

    def _with_words(self, row: GapRow) -> list[SentQuestion]:
        text_hash = hash_text(row.text, self.key)
        return [each for each in self.sent if each.text_hash == text_hash]


def _is_private(same: Iterable[SentQuestion]) -> bool:
    """Return whether all questions with the same words were asked in private; False for none."""
    hidden = [each.is_hidden for each in same]
    return bool(hidden) and all(hidden)


def _hides_nothing(_row: GapRow) -> bool:
    return False
