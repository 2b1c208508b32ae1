"""How large the code is: `make size` prints lines, files and functions for each room.

A line of code is one that has a token other than a comment, and that belongs to no docstring.
"""

import ast
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
_DEEP = {"jobs", "work", "docs_service", "workspace"}  # rooms that are shown by their own rooms as well
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Size:
    """What a module, or a room of modules, amounts to."""

    lines: int = 0
    files: int = 0
    functions: int = 0

    def __add__(self, other: "Size") -> "Size":
        return Size(self.lines + other.lines, self.files + other.files, self.functions + other.functions)


@dataclass(frozen=True, slots=True)
class Function:
    """A function by its place, such as ``bot/app.py:running_bot``, and its lines of code."""

    name: str
    lines: int


def size(path: Path) -> Size:
    """The size of one module."""
    found = functions(path)
    return Size(len(_lines_of_code(path)), 1, len(found))


def functions(path: Path) -> list[Function]:
    """The functions of one module, those within others included."""
    lines = _lines_of_code(path)
    return [
        Function(
            f"{path.relative_to(ROOT)}:{node.name}",
            len(lines & {*range(node.lineno, (node.end_lineno or node.lineno) + 1)}),
        )
        for node in ast.walk(_tree(path))
        if isinstance(node, _FUNCTIONS)
    ]


@cache
def _tree(path: Path) -> ast.AST:
    return ast.parse(path.read_bytes())


@cache
def _lines_of_code(path: Path) -> frozenset[int]:
    with tokenize.open(path) as file:
        tokens = [token for token in tokenize.generate_tokens(file.readline) if token.type not in _NO_CODE]
    lines = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    return frozenset(lines - set(_docstring_lines(_tree(path))))


def _docstring_lines(tree: ast.AST) -> Iterator[int]:
    """The lines of docstrings, those of attributes included: texts that stand alone."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def sizes(root: Path = ROOT) -> dict[str, Size]:
    """The size of each room, and of each whole (`bot`, `sandbox`, `tests`, `bench`)."""
    found: dict[str, Size] = defaultdict(Size)
    for whole in ("bot", "sandbox", "tests", "bench"):
        for path in sorted((root / whole).rglob("*.py")):
            module = size(path)
            for room in _rooms(path.relative_to(root)):
                found[room] += module
    return dict(sorted(found.items()))


def _rooms(path: Path) -> Iterator[str]:
    folders = path.parts[:-1]
    depth = 3 if len(folders) > 1 and folders[1] in _DEEP else 2
    for end in range(1, min(len(folders), depth) + 1):
        yield "/".join(folders[:end])


def _print() -> None:
    print(f"{'room':34}{'lines':>8}{'files':>7}{'functions':>11}{'lines a file':>14}")
    for room, of in sizes().items():
        name = "  " * room.count("/") + room
        print(f"{name:34}{of.lines:8,}{of.files:7}{of.functions:11,}{of.lines // of.files:14}")
    page = sum(
        len(file.read_text().splitlines())
        for file in sorted((ROOT / "sandbox").rglob("*"))
        if file.suffix in {".js", ".css", ".html"}
    )
    words = sum(len(file.read_text().split()) for file in sorted((ROOT / "docs").glob("*.md")))
    print(f"\nThe sandbox's page has {page:,} lines; docs/ has {words:,} words.")


if __name__ == "__main__":
    _print()
