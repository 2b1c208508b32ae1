"""The size and the density of the code: `make size` prints the figures of each room. None has a limit.

A line of code is one that has a token other than a comment, and that belongs to no docstring. Tokens are
those of `tokenize` in such lines, without line ends and indents; an f-string is one, but several from
Python 3.12 on. Characters are those of a line without its indent. A tuple assignment has a tuple on both
sides, as in `a, b = x, y`.
"""

import ast
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from tests import doors

ROOT = Path(__file__).parents[1]
_DEEP = {
    "jobs",
    "work",
    "docs_service",
    "workspace",
}  # rooms that are shown by their own rooms as well
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COLUMNS = (
    ("lines", 8),
    ("files", 7),
    ("functions", 11),
    ("lines a file", 14),
    ("tokens", 10),
    ("characters a line", 19),
    ("tuple assignments", 19),
    ("a 1,000 lines", 15),
    ("lambdas", 9),
    ("a 1,000 lines", 15),
)


@dataclass(frozen=True, slots=True)
class Size:
    """What a module, or a room of modules, amounts to."""

    lines: int = 0
    files: int = 0
    functions: int = 0
    tokens: int = 0
    characters: int = 0
    tuple_assignments: int = 0
    lambdas: int = 0

    def __add__(self, other: "Size") -> "Size":
        return Size(*map(sum, zip(astuple(self), astuple(other), strict=True)))


def size(path: Path) -> Size:
    """Return the size of one module, with functions within others."""
    tree = ast.parse(path.read_bytes())
    tokens = _tokens(path, tree)
    lines = _lines(tokens)
    texts = path.read_text().splitlines()
    nodes = list(ast.walk(tree))
    return Size(
        lines=len(lines),
        files=1,
        functions=sum(isinstance(node, _FUNCTIONS) for node in nodes),
        tokens=len(tokens),
        characters=sum(len(texts[line - 1].strip()) for line in lines),
        tuple_assignments=sum(map(_is_tuple_assignment, nodes)),
        lambdas=sum(isinstance(node, ast.Lambda) for node in nodes),
    )


def _tokens(path: Path, tree: ast.AST) -> list[tokenize.TokenInfo]:
    """Return the tokens of code."""
    docstrings = set(_docstring_lines(tree))
    with tokenize.open(path) as file:
        tokens = [
            token for token in tokenize.generate_tokens(file.readline) if token.type not in _NO_CODE
        ]
    return [token for token in tokens if token.start[0] not in docstrings]


def _lines(tokens: Sequence[tokenize.TokenInfo]) -> set[int]:
    return {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}


def _docstring_lines(tree: ast.AST) -> Iterator[int]:
    """Yield the lines of docstrings, those of attributes included: texts that stand alone."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _is_tuple_assignment(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=targets, value=ast.Tuple()):
            return any(isinstance(target, ast.Tuple) for target in targets)
        case _:
            return False


def sizes(root: Path = ROOT) -> dict[str, Size]:
    """Return the size of each room, and of each whole (`bot`, `sandbox`, `tests`, `bench`)."""
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


def _figures(of: Size) -> tuple[str, ...]:
    """Return the figures of a room, one for each column."""
    lines = of.lines or 1  # a package may be an empty file
    return (
        f"{of.lines:,}",
        f"{of.files}",
        f"{of.functions:,}",
        f"{of.lines // of.files}",
        f"{of.tokens:,}",
        f"{of.characters / lines:.1f}",
        f"{of.tuple_assignments}",
        f"{1_000 * of.tuple_assignments / lines:.1f}",
        f"{of.lambdas}",
        f"{1_000 * of.lambdas / lines:.1f}",
    )


def _print() -> None:
    widths = [width for _, width in _COLUMNS]
    print(f"{'room':34}" + "".join(f"{title:>{width}}" for title, width in _COLUMNS))
    for room, of in sizes().items():
        name = "  " * room.count("/") + room
        figures = zip(_figures(of), widths, strict=True)
        print(f"{name:34}" + "".join(f"{figure:>{width}}" for figure, width in figures))
    page = sum(
        len(file.read_text().splitlines())
        for file in sorted((ROOT / "sandbox").rglob("*"))
        if file.suffix in {".js", ".css", ".html"}
    )
    words = sum(len(file.read_text().split()) for file in sorted((ROOT / "docs").glob("*.md")))
    print(f"\nThe sandbox's page has {page:,} lines; docs/ has {words:,} words.")
    inside = doors.count().total()
    print(
        f"{inside} test functions name something inside of the bot: `python -m tests.doors` lists them."
    )


if __name__ == "__main__":
    _print()
