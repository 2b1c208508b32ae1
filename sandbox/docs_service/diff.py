"""Compare two versions of a set of files, as rows with line numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

CONTEXT_LINES = 3


class RowKind(StrEnum):
    """Whether a line is unchanged, added or removed."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True)
class Row:
    """A line with its number in the old and the new version; None where it does not exist."""

    kind: RowKind
    old: int | None
    new: int | None
    text: str


@dataclass(frozen=True)
class Hunk:
    """Neighbouring changed lines with `CONTEXT_LINES` lines around them."""

    header: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class FileDiff:
    """The changes of one file; `action` is "added", "changed" or "deleted"."""

    path: str
    action: str
    hunks: tuple[Hunk, ...]

    @property
    def added(self) -> int:
        """Return the number of added lines."""
        return self._count(RowKind.ADDED)

    @property
    def removed(self) -> int:
        """Return the number of removed lines."""
        return self._count(RowKind.REMOVED)

    def _count(self, kind: RowKind) -> int:
        return sum(row.kind is kind for hunk in self.hunks for row in hunk.rows)


def compare(old: Mapping[str, str], new: Mapping[str, str]) -> list[FileDiff]:
    """Return the files that differ, sorted by path."""
    differing = sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))
    return [_compare_file(path, old.get(path), new.get(path)) for path in differing]


def _compare_file(path: str, old: str | None, new: str | None) -> FileDiff:
    action = "added" if old is None else "deleted" if new is None else "changed"
    # split, not splitlines: like git, treat a form feed or U+2028 within a line as text.
    return FileDiff(path, action, tuple(_hunks(_lines(old), _lines(new))))


def _lines(text: str | None) -> list[str]:
    if not text:
        return []
    return text.removesuffix("\n").split("\n")


def _hunks(old: list[str], new: list[str]) -> Iterator[Hunk]:
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT_LINES):
        rows: list[Row] = []
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                rows += [
                    Row(RowKind.SAME, old_from + step + 1, new_from + step + 1, old[old_from + step])
                    for step in range(old_to - old_from)
                ]
                continue
            rows += [Row(RowKind.REMOVED, at + 1, None, old[at]) for at in range(old_from, old_to)]
            rows += [Row(RowKind.ADDED, None, at + 1, new[at]) for at in range(new_from, new_to)]
        first, last = group[0], group[-1]
        header = f"@@ -{_span(first[1], last[2])} +{_span(first[3], last[4])} @@"
        yield Hunk(header, tuple(rows))


def _span(begin: int, end: int) -> str:
    # An empty range starts at the line before it, as in unified diffs.
    # https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html
    return f"{begin + 1 if end > begin else begin},{end - begin}"
