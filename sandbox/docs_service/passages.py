"""Full-text search in the sections of pages."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from typing import NamedTuple

from sandbox.docs_service.agent.site import Page
from sandbox.docs_service.agent.writing import KINDS_OF_PAGES, keywords, stems

_MOST_WORDS = 50
_WORDS_OF_QUESTIONS = frozenset(
    {"are", "can", "doe", "get", "has", "my", "not", "often", "own", "there", "thi", "where"}
    | {"which", "who", "why", "work"}
)
"""Stems of words that occur in questions about anything."""
_HOW_TO = re.compile(r"(?i)\bhow (?:to|(?:do|can|should) (?:I|we|you))\b")
_FIRST_STEP = re.compile(r"(?m)^1[.)][ \t]")
_LINK_ITEM = re.compile(r"[-*+] \[[^\]]+\]\(")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_MOST_LETTERS_OF_A_WHOLE_WORD = 4
"""A longer word also matches words that begin with it."""
# https://www.sqlite.org/fts5.html
_INDEX = (
    "CREATE VIRTUAL TABLE passages USING fts5 (title, heading, text, page, tokenize = 'porter')"
)
_NAMES = "title heading page"
"""The columns by which a passage is called: a page's title and path, and a heading."""
_MATCHES = "SELECT rowid FROM passages WHERE passages MATCH ?"
_RANKED = "SELECT rowid, * FROM passages WHERE passages MATCH ? ORDER BY rank"


class Passage(NamedTuple):
    """A section of a page. The heading of an introduction is empty."""

    title: str
    heading: str
    text: str
    page: str
    """The path of the page on the site."""


def find_passages(texts: Mapping[str, str], query: str, least_score: float) -> list[Passage]:
    """Return the passages that match a text, the best first.

    Args:
        texts: The pages' Markdown by their path on the site.
        query: Any text; stop words are left out. Kinds of pages ("the Python quickstart") are
            looked for in names alone. They say which of the passages about the subject fits
            best, and are the subject of a query that has no other: "where is the quickstart?".
        least_score: The share of the query's words that a passage must have, from 0 to 1.
    """
    subject = sorted(keywords(query) - _WORDS_OF_QUESTIONS)[:_MOST_WORDS]
    kinds = sorted(stems(query) & KINDS_OF_PAGES)
    if not subject and not kinds:
        return []
    words = subject or kinds
    patterns = [_pattern(word) for word in words]
    names = [_pattern(word) for word in {*words, *kinds}]
    columns = f"{_NAMES} text" if subject else _NAMES
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(_INDEX)
        database.executemany("INSERT INTO passages VALUES (?, ?, ?, ?)", _passages(texts))
        in_all = _count_words(database, patterns, columns)
        in_names = _count_words(database, names, _NAMES)
        in_section = _count_words(database, patterns, "heading text")
        rows = database.execute(_RANKED, (f"{{{columns}}} : ({' OR '.join(patterns)})",))
        passages = {number: Passage(*row) for number, *row in rows}
    asks_for_steps = bool(_HOW_TO.search(query))

    def fit(number: int) -> tuple[int, int, int, bool]:
        passage = passages[number]
        # An introduction is about its page's title.
        in_own_words = in_section if passage.heading else in_all
        has_steps = bool(_FIRST_STEP.search(passage.text))
        return (
            in_all[number],
            in_names[number],
            in_own_words[number],
            asks_for_steps and has_steps,
        )

    # The sort is stable: passages that fit as well stay in the order of the ranking.
    best_first = sorted(passages, key=fit, reverse=True)
    fewest = least_score * len(words)
    return [passages[number] for number in best_first if in_all[number] >= fewest]


def _pattern(word: str) -> str:
    prefix = "*" if len(word) > _MOST_LETTERS_OF_A_WHOLE_WORD else ""
    return f'"{word}"{prefix}'


def _count_words(
    database: sqlite3.Connection, patterns: Collection[str], columns: str
) -> Counter[int]:
    """Return how many of the words each passage has in these columns, by its number."""
    found = Counter[int]()
    for pattern in patterns:
        found.update(row[0] for row in database.execute(_MATCHES, (f"{{{columns}}} : {pattern}",)))
    return found


def _passages(texts: Mapping[str, str]) -> Iterator[Passage]:
    for path, text in texts.items():
        page = Page.parse(text)
        for heading, body in {"": page.intro, **page.sections}.items():
            if body and not _is_list_of_links(body):
                # A link relative to its page leads nowhere in an answer.
                yield Passage(page.title or path, heading, _LINK.sub(r"\1", body), path)


def _is_list_of_links(body: str) -> bool:
    """Return whether a section leads to other pages and answers nothing itself."""
    return all(_LINK_ITEM.match(line) for line in body.splitlines() if line.strip())
