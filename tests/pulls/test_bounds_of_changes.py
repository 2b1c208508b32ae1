"""Hostile patches: the words that are compared, and the view that is drawn, keep within their limits."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

import pytest

from bot.pulls.messages.changes import changes_view
from bot.pulls.model.changes import ChangedFile, Mark, Steps, changed_lines, compare_words
from sandbox.workspace.blocks import view_complaints
from tests.messages import samples

MEGABYTE = 1_000_000
ALIKE = " ".join(["a"] * 400)
HALF_ALIKE = " ".join(f"a x{number}" for number in range(200))


def _of_two_words(seed: int) -> str:
    chance = random.Random(seed)
    return " ".join(chance.choice("ab") for _ in range(400))


UNITS = {
    "lines of code": ("api.json", '+"key": 1,\n'),
    "short lines of code": ("api.json", "-a\n+b\n"),
    "lines of prose": ("a.md", "+words of a page\n"),
    "paragraphs": ("a.md", "-old words\n+new words\n \n"),
    "paragraphs of a letter": ("a.md", "-a\n+b\n \n"),
    "paragraphs of an emoji": ("a.md", "-\U0001f600\n+\U0001f601\n \n"),
    "long paragraphs of two words": ("a.md", f"-{_of_two_words(1)}\n+{_of_two_words(2)}\n kept\n"),
    "long paragraphs alike": ("a.md", f"-{ALIKE}\n+{HALF_ALIKE}\n kept\n"),
    "hunks": ("a.md", "@@ -1 +1 @@\n-old\n+new\n"),
    "fences": ("a.md", " ```\n-a\n+b\n"),
    "a table": ("a.md", "-| yes | no | - |\n+| yes | yes | - |\n"),
    "one line": ("a.md", "+a b "),
}
"""The path of a file, and the lines that make up its whole patch."""


def _files(path: str, unit: str, count: int) -> list[ChangedFile]:
    """Return so many files whose patches have a megabyte together."""
    patch = "@@ -1 +1 @@\n" + unit * (MEGABYTE // count // len(unit) + 1)
    return [ChangedFile(f"{at}/{path}", "modified", 9, 9, None, patch) for at in range(count)]


def _view(files: Sequence[ChangedFile]) -> str:
    view = changes_view(samples.job(), files)
    assert view_complaints(view) == []
    return json.dumps(view)


@pytest.mark.parametrize("count", [1, 4, 100, 300])
@pytest.mark.parametrize("kind", UNITS)
def test_view_of_a_megabyte_keeps_within_slacks_limits(kind: str, count: int) -> None:
    path, unit = UNITS[kind]
    view = _view(_files(path, unit, count))
    assert len(view) <= 250_000
    assert view.count('"type": "text"') <= 5_000


@pytest.mark.parametrize("sign", ["\U0001f600", "&", "\u00e9", "\x01"])
def test_view_of_long_names_keeps_within_slacks_limits(sign: str) -> None:
    patch = f"@@ -0,0 +1 @@\n+# {sign * 2_000}\n+x"
    files = [
        ChangedFile(f"{at}/{sign * 4_000}.md", "added", 2, 0, None, patch) for at in range(100)
    ]
    assert len(_view(files)) <= 250_000


def test_changes_beyond_the_part_that_is_read_are_named() -> None:
    path, unit = UNITS["lines of code"]
    assert "|more changes>" in _view(_files(path, unit, 1))


@pytest.mark.parametrize(
    ("old", "new"),
    [(ALIKE, HALF_ALIKE), (_of_two_words(1), _of_two_words(2)), (ALIKE, ALIKE + " b")],
)
def test_words_are_compared_within_their_steps(old: str, new: str) -> None:
    steps = Steps(10_000)
    pieces = compare_words(old, new, steps)
    assert 0 <= steps.left <= 10_000
    assert [piece.mark for piece in pieces] == [Mark.STRUCK, Mark.NEW]
    assert [piece.text for piece in pieces] == [old, new]


def test_steps_are_shared_by_comparisons() -> None:
    steps = Steps(1_000)
    first = compare_words("Use the old key.", "Use the new key.", steps)
    assert [piece.text.strip() for piece in first] == ["Use the", "old", "new", "key."]
    compare_words(" ".join("abcd" * 6), " ".join("bcda" * 6), steps)
    assert steps.left < 1_000


def test_comparison_marks_the_longest_runs_as_kept() -> None:
    pieces = compare_words("a b c d e f", "x b c y d e f z")
    assert [(piece.text.strip(), piece.mark) for piece in pieces] == [
        ("a", Mark.STRUCK),
        ("x", Mark.NEW),
        ("b c", Mark.KEPT),
        ("y", Mark.NEW),
        ("d e f", Mark.KEPT),
        ("z", Mark.NEW),
    ]


class Unread(str):
    """A patch that must not be read."""

    def __getitem__(self, _key: object) -> str:
        raise AssertionError("it was read")


def test_end_reads_no_patches_that_it_cannot_show() -> None:
    files = [
        ChangedFile(f"{at}.md", "modified", 1, 0, None, Unread("+a\n" * 1_000)) for at in range(300)
    ]
    assert changed_lines(files, 2) == ()
