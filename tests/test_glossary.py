"""The glossary has the words of the code, of the tables and of the logs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import bot.app  # noqa: F401 - declares the tables of all features
from bot.store.queues import QUEUE_TABLES
from bot.store.schema import Choice, metadata
from tests.papers import DOCS, ROOT, codes, rows

GLOSSARY = (DOCS / "glossary.md").read_text()
OWN = [row for row in rows(GLOSSARY) if len(row) == 4]
"""Words of the bot's: the word, its meaning, its table, and its names in the code."""
OTHERS = [row for row in rows(GLOSSARY) if len(row) == 2]
"""Words of Slack's and of the machine's: the word, and its meaning here."""
REPLACED = [word for row in rows(GLOSSARY) if len(row) == 3 for word in row[0].split(", ")]
"""Words that have another word in their place."""
LEVELS = ("debug", "info", "warning", "error", "exception", "critical")


@cache
def _modules() -> tuple[ast.Module, ...]:
    """Return the bot's modules, which every worker would parse if it were done on import."""
    return tuple(ast.parse(path.read_text()) for path in sorted((ROOT / "bot").rglob("*.py")))


def _defined(module: ast.Module) -> Iterator[str]:
    """Yield the names that a module defines."""
    for node in module.body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield name
            case ast.AsyncFunctionDef(name=name):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name


def _events(module: ast.Module) -> Iterator[str]:
    """Yield the events that a module logs."""
    for node in ast.walk(module):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="log"), attr=level),
                args=[ast.Constant(value=str(event)), *_],
            ) if level in LEVELS:
                yield event


def _stems(text: str) -> set[str]:
    """Return the words of a text or of a name, each without the ending of its plural."""
    words = re.findall(r"[a-z]+", text.lower())
    return {word.removesuffix("s") for word in words if len(word) > 2}


def test_every_table_has_its_word() -> None:
    assert sorted(code for row in OWN for code in codes(row[2])) == sorted(metadata.tables)


def test_every_name_that_the_glossary_gives_is_in_the_code() -> None:
    defined = {name for module in _modules() for name in _defined(module)}
    named = {code for row in OWN for code in codes(row[3])}
    assert named
    assert named - defined == set()


def test_stored_states_and_kinds_have_their_word() -> None:
    columns = [column.type for table in metadata.sorted_tables for column in table.columns]
    stored = {column.kind.__name__ for column in columns if isinstance(column, Choice)}
    assert stored
    assert stored - {code for row in OWN for code in codes(row[3])} == set()


def test_every_log_line_has_a_word_of_the_glossary() -> None:
    words = {stem for row in (*OWN, *OTHERS) for stem in _stems(row[0])}
    events = {event for module in _modules() for event in _events(module)}
    assert len(events) > 1
    assert {event for event in events if not _stems(event) & words} == set()


def test_no_stored_or_logged_name_has_a_word_that_was_replaced() -> None:
    names = {event for module in _modules() for event in _events(module)}
    names |= {table.queue for table in QUEUE_TABLES}
    for table in metadata.sorted_tables:
        names |= {table.name, *(column.name for column in table.columns)}
    assert REPLACED
    assert {name for name in names if set(REPLACED) & set(re.split("[_ ]", name))} == set()


def test_no_word_has_two_meanings() -> None:
    words = [word.strip() for row in (*OWN, *OTHERS) for word in row[0].split(",")]
    assert sorted({word for word in words if words.count(word) > 1}) == []
