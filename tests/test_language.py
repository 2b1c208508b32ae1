"""Plain English in the code: docstrings, comments and the names of local values, counted by file.

A clause such as "what is due" hides its noun, and code does not tell, say or hear. `language.toml` has the
files with such words and how many; it only falls. `python -m tests.test_language` prints the places.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.size import ROOT

HABIT = re.compile(
    r"\b(?:what|whoever|whatever|whichever|tells?|told|telling|says?|said|saying|hears?|heard|hearing)\b(?!\?)",
    re.IGNORECASE,
)
VAGUE = {
    *("about", "each", "found", "given", "here", "how", "kept", "known", "left"),
    *("said", "seen", "shown", "taken", "told", "wanted", "what", "why", "words"),
}
FILES = [path for folder in ("bot", "sandbox", "bench", "tests") for path in (ROOT / folder).rglob("*.py")]


def prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of docstrings, of notes beside fields, and of comments."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            for place, line in enumerate(str(node.value.value).splitlines()):
                yield node.lineno + place, line
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def bindings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the names of local values and parameters."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


def places(path: Path) -> Iterator[str]:
    source, name = path.read_text(), path.relative_to(ROOT)
    yield from (f"{name}:{line}: {text.strip()}" for line, text in prose(source) for _ in HABIT.findall(text))
    yield from (f"{name}:{line}: `{value}`" for line, value in bindings(source) if value.strip("_") in VAGUE)


def test_no_file_has_more_of_the_habits_than_it_may() -> None:
    allowed = Counter(tomllib.loads((ROOT / "tests" / "language.toml").read_text()))
    counts = Counter({str(path.relative_to(ROOT)): sum(1 for _ in places(path)) for path in FILES})
    assert counts - allowed == {}, "name the thing; `python -m tests.test_language` prints the places"
    assert allowed - counts == {}, "lower these numbers in tests/language.toml"


def test_no_two_public_functions_or_classes_share_a_name() -> None:
    """Let a name in a stack trace lead to one place. `__main__` has the words of the command line."""
    modules = [path for path in (ROOT / "bot").rglob("*.py") if path.name != "__main__.py"]
    trees = (ast.parse(path.read_text()) for path in modules if "migrations" not in path.parts)
    named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names = Counter(node.name for tree in trees for node in tree.body if isinstance(node, named))
    assert {name for name, count in names.items() if count > 1 and not name.startswith("_")} == set()


if __name__ == "__main__":
    print("\n".join(place for path in FILES for place in places(path)))
