"""`make size` tells apart the things that it counts."""

from __future__ import annotations

from pathlib import Path

from tests.size import Size, size

MODULE = '''"""A docstring,

of three lines."""

x, y = 1, 2  # a comment
first, second = divmod(7, 2)


class Point:
    name: str
    """A docstring of an attribute."""

    def shown(self) -> str:
        """A docstring."""
        return self.name


twice = lambda number: (
    2 * number
)
'''


def test_size_leaves_out_comments_docstrings_and_indents(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(MODULE)
    lines = [
        ("x, y = 1, 2  # a comment", 7),
        ("first, second = divmod(7, 2)", 10),
        ("class Point:", 3),
        ("name: str", 3),
        ("def shown(self) -> str:", 8),
        ("return self.name", 4),
        ("twice = lambda number: (", 6),
        ("2 * number", 3),
        (")", 1),
    ]
    assert size(module) == Size(
        lines=len(lines),
        files=1,
        functions=1,
        tokens=sum(tokens for _, tokens in lines),
        characters=sum(len(line) for line, _ in lines),
        tuple_assignments=1,
        lambdas=1,
    )
