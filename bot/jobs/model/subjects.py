"""Subjects of readers' texts, pages and jobs: the words by which two subjects are the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from bot.messages.plain_text import one_line

Item = TypeVar("Item")
Subject = frozenset[str]
"""The stems of the words that distinguish a text."""
_MAX_LENGTH = 300
"""A long text names many subjects besides its own, which stands at its beginning."""
_WORD = re.compile(r"[^\W_]+")
_ENDING = re.compile(r"(?<=...)(?:ing|ies|ed|es|s|e|y)$")
_COMMON_WORDS = """
    a an and are at can do docs does for from how i in is it me my not of on or our page the there
    to use we what when where which who why with you your
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_WRITING = frozenset(
    ("add", "cover", "create", "describe", "document", "draft", "explain", "make", "write")
)
"""Verbs that ask for something new."""
_MAX_WORDS_BEFORE_VERB = 4
"""Before the verb of a request, as in "please could you add"."""
_REQUEST_WORDS = """
    please could can would should must have has let need needs want wants like new short small
    guide guides article articles section sections paragraph chapter tutorial entry note notes
    pages about with that this explains explaining describes describing so some more also
"""
_OF_REQUESTS = _WRITING | frozenset(_REQUEST_WORDS.split())
"""Words of a request that are no part of its subject."""
_ABBREVIATIONS = {
    "sso": "single sign",
    "saml": "single sign",
    "2fa": "two factor",
    "mfa": "two factor",
}
"""Abbreviations that readers use for a subject, with the words of its name."""


def find_subject(text: str) -> Subject:
    """Return the stems of the words that distinguish a text; none if it has only common words."""
    stems = set[str]()
    for word in _WORD.findall(one_line(text, _MAX_LENGTH).casefold()):
        if word not in _COMMON:
            stems.update(_stem(each) for each in _ABBREVIATIONS.get(word, word).split())
    return frozenset(stems)


def find_new_subject(request: str) -> Subject:
    """Return the subject of a request for something new; none for another request.

    "Please write a guide about single sign-on" has that of "Add a page on single sign-on". Numbers
    alone are none.
    """
    words = _WORD.findall(one_line(request, _MAX_LENGTH).casefold())
    if _WRITING.isdisjoint(words[:_MAX_WORDS_BEFORE_VERB]):
        return frozenset()
    subject = find_subject(" ".join(word for word in words if word not in _OF_REQUESTS))
    is_number = all(stem.isdecimal() for stem in subject)
    return frozenset() if is_number else subject


def find_page_subject(path: str) -> Subject:
    """Return the subject of a page: the words of the last part of its path."""
    return find_subject(path.rstrip("/").rpartition("/")[2])


def _stem(word: str) -> str:
    return _ENDING.sub("", word)


def is_about(subject: Subject, text: Subject) -> bool:
    """Return whether a text has all words of a subject."""
    return bool(subject) and subject <= text


def is_same_subject(one: Subject, other: Subject) -> bool:
    """Return whether two subjects are equal, or one of two words or more is a part of the other.

    One word is no proof: *keys* are a part of too many subjects.
    """
    if len(one) > len(other):
        one, other = other, one
    return is_about(one, other) and (len(one) > 1 or one == other)


def group_by_subject(items: Iterable[Item], text_of: Callable[[Item], str]) -> list[list[Item]]:
    """Group items by subject. The other items of a group are about the subject of its first."""
    groups = list[tuple[Subject, list[Item]]]()
    for item in items:
        subject = find_subject(text_of(item))
        for known, group in groups:
            if is_same_subject(known, subject):
                group.append(item)
                break
        else:
            groups.append((subject, [item]))
    return [group for _, group in groups]
