"""The time of every regular expression of the bot grows no faster than the text."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from time import thread_time

import pytest

import bot
from bot.features import COMMANDS
from tests.growth import SIGNS, texts_of, too_slow

pytestmark = pytest.mark.slow
ROOT = Path(bot.__file__).parent
FLOOR = 0.02
"""Seconds. A pattern that is quadratic takes half a second and more for 40,000 characters."""
METHODS = {"match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
WITH = (" ", ",", "<", "a", "1", "\n")
"""Parts that are mixed with the words of a pattern."""


@dataclass(frozen=True)
class Use:
    """A pattern of the bot and how it is used."""

    where: str
    pattern: re.Pattern[str]
    method: str


def _modules() -> Iterator[str]:
    for module in pkgutil.walk_packages(bot.__path__, "bot."):
        # Alembic's file runs within Alembic alone.
        if not module.name.endswith(("__main__", "revisions.env")):
            yield module.name


def _patterns_in(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _patterns_in(item)
    elif isinstance(value, tuple | list | set | frozenset):
        for item in value:
            yield from _patterns_in(item)


def _compiled() -> Iterator[Use]:
    """The patterns that stand in modules, each with the methods that its module calls."""
    for name in _modules():
        module = importlib.import_module(name)
        source = Path(str(module.__file__)).read_text(encoding="utf-8")
        for variable, value in vars(module).items():
            # Most values have none, and each search of the source takes a while.
            if not (patterns := [*_patterns_in(value)]):
                continue
            called = METHODS & set(re.findall(rf"\b{variable}\.(\w+)\(", source))
            for pattern in patterns:
                # One that is used by another name is tried in the way in which it can be slowest.
                yield from (
                    Use(f"{name}.{variable}", pattern, method) for method in called or {"sub"}
                )


def _inline() -> Iterator[Use]:
    """Yield the patterns in calls of ``re``, with a word for each formatted part."""
    for path in sorted(ROOT.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        # Most modules have none, and to parse all of them takes a second.
        if not re.search(r"\bre\.\w+\(", source):
            continue
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            is_pattern = getattr(node.func.value, "id", "") == "re" and node.func.attr in METHODS
            if not is_pattern or not node.args:
                continue
            argument = node.args[0]
            parts = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "word" for part in parts
            )
            where = f"{path.relative_to(ROOT)}:{node.lineno}"
            yield Use(where, re.compile(text), node.func.attr)


def _shapes() -> Iterator[Use]:
    """The shapes of the words of commands."""
    for command in COMMANDS:
        for word in command.all_words:
            for shape in filter(None, (word.shape, word.after_mention)):
                pattern = re.compile(shape, re.IGNORECASE | re.DOTALL)
                yield Use(f"{command.name} {word.usage}", pattern, "fullmatch")


USES = sorted(
    {*_compiled(), *_inline(), *_shapes()},
    key=lambda use: (use.where, use.pattern.pattern, use.method),
)


def _words_of(pattern: re.Pattern[str]) -> list[str]:
    """Return the literal words of a pattern: runs of them match longest before they fail."""
    bare = re.sub(r"\\[AZbdswDSW]|\(\?[a-zA-Z:=!<]*|\[[^]]*\]", "\0", pattern.pattern)
    runs = re.findall(r"[^\0\\()\[\]{}|?*+^$.]{2,}", bare)
    return list(dict.fromkeys(run for run in runs if not run.isdecimal()))[:6]


def _seconds_of(use: Use) -> Callable[[str], float]:
    call = getattr(use.pattern, use.method)

    def seconds(text: str) -> float:
        began = thread_time()
        result = call("", text) if use.method in ("sub", "subn") else call(text)
        if use.method == "finditer":
            for _ in result:
                pass
        return thread_time() - began

    return seconds


@pytest.mark.parametrize("use", USES, ids=lambda use: f"{use.where}.{use.method}")
def test_no_pattern_is_slow_on_what_strangers_write(use: Use) -> None:
    seconds = _seconds_of(use)
    parts = _words_of(use.pattern)
    joined = [one + other for one, other in pairwise(parts)]
    for text_of in (*texts_of([*SIGNS, *joined]), *texts_of([*parts, *WITH], WITH)):
        assert (slow := too_slow(seconds, text_of, FLOOR)) is None, f"{use.pattern.pattern}: {slow}"


def test_every_pattern_of_the_bot_is_found() -> None:
    """One that is compiled within a function or a class would not be."""
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        within = [node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
        assert not [ast.unparse(node) for node in within if "re.compile(" in ast.unparse(node)], (
            path
        )
    assert {"bot.messages.slack_text._ENTITY_PATTERN", "bot.masking._IN_ADDRESS_PATTERN"} <= {
        use.where for use in USES
    }
    assert any(use.where.startswith("messages/blocks.py") for use in USES)
