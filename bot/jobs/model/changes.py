"""The words that a pull request changes, read from the patches of its files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import groupby, zip_longest
from typing import NamedTuple

_PROSE = (".md", ".mdx", ".markdown", ".rst", ".adoc", ".txt", ".html")
_FENCES = ("```", "~~~")
_WORD = re.compile(r"\S+\s*")
_MOST_WORDS = 400
"""Longer texts replace each other whole: the time of a comparison grows with the square of its words."""
_FEWEST_COMMON = 0.3
"""The share of words that two versions of a text have in common, below which one replaces the other whole."""
_LONGEST_LINE, _LONGEST_PATCH = 100, 10_000
"""In characters: the limits for lines and patches that an end shows."""


class Mark(StrEnum):
    """The effect of a change on words."""

    KEPT = "kept"
    STRUCK = "struck"
    NEW = "new"


_MARKS = {"-": Mark.STRUCK, "+": Mark.NEW}


class Piece(NamedTuple):
    """Words that a change keeps, strikes or adds."""

    text: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a pull request changes."""

    path: str
    status: str
    additions: int
    deletions: int
    was: str | None = None
    """Its path before it was moved."""
    patch: str | None = None
    """None for a binary file or a huge patch."""


class ChangedLine(NamedTuple):
    """A line of a page before and after; one that was added has no old text, a removed one no new text."""

    page: str
    old: str
    new: str


@dataclass
class Change:
    """Lines of a patch that belong together, each with its sign: "-", "+" or a blank."""

    is_code: bool = False
    lines: list[tuple[str, str]] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Count the characters of the changed lines."""
        return sum(len(text.strip()) for sign, text in self.lines if sign != " ")

    @property
    def strikes(self) -> bool:
        """Return whether a line was removed."""
        return any(sign == "-" for sign, _ in self.lines)

    def runs(self) -> Iterator[tuple[list[str], list[str]]]:
        """Yield the old and the new lines of each run of lines; unchanged lines are in both."""
        for is_kept, run in groupby(self.lines, key=lambda line: line[0] == " "):
            lines = list(run)
            yield (
                [text for sign, text in lines if is_kept or sign == "-"],
                [text for sign, text in lines if is_kept or sign == "+"],
            )

    def pieces(self) -> Sequence[Piece]:
        """Return whole lines of code, or the words of a text."""
        if self.is_code:
            return [Piece(f"{text}\n", _MARKS.get(sign, Mark.KEPT)) for sign, text in self.lines]
        return [
            piece for old, new in self.runs() for piece in compare_words(_joined(old), _joined(new))
        ]


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def changes_in(path: str, patch: str) -> Iterator[Change]:
    """Yield the changes of a file in order, divided at blank lines, fences of code and hunks."""
    is_prose = path.lower().endswith(_PROSE)
    for hunk in re.split(r"^@@[^\n]*\n?", patch, flags=re.MULTILINE):
        yield from (change for change in _of_hunk(hunk, is_prose=is_prose) if change.size)


def _of_hunk(hunk: str, *, is_prose: bool) -> Iterator[Change]:
    # A removed fence is none in the new text, and an added one none in the old.
    # An odd number of fences, of which the first names no language: it seems to end a block of code.
    fences = [
        line[1:].strip() for line in hunk.split("\n") if line[1:].lstrip().startswith(_FENCES)
    ]
    begins_in_code = len(fences) % 2 == 1 and fences[0] in _FENCES
    in_code = dict.fromkeys("-+", begins_in_code)
    change = Change(not is_prose)
    for line in hunk.split("\n"):
        sign, text = line[:1] or " ", line[1:].rstrip("\r")
        if sign not in "-+ ":  # "\ No newline at end of file"
            continue
        is_fence = text.lstrip().startswith(_FENCES)
        is_code = not is_prose or is_fence or in_code["-" if sign == "-" else "+"]
        if is_fence:
            in_code = {side: is_in != (sign in (" ", side)) for side, is_in in in_code.items()}
        is_beside = sign == " " or (sign == "+" and not change.strikes)
        is_break = is_beside and not text.strip() and not is_code
        if is_break or is_code != change.is_code:
            yield change
            change = Change(is_code)
        is_edge = text.strip() == "---" or (is_fence and is_beside)  # of front matter, or of code
        if not is_break and not is_edge:
            change.lines.append((sign, text))
    yield change


def compare_words(old: str, new: str) -> list[Piece]:
    """Return a new text as pieces, with the words that were struck from the old one."""
    if old == new:
        return [Piece(new, Mark.KEPT)]
    before, after = _WORD.findall(old), _WORD.findall(new)
    replaced = [Piece(text, mark) for text, mark in ((old, Mark.STRUCK), (new, Mark.NEW)) if text]
    if max(len(before), len(after)) > _MOST_WORDS:
        return replaced
    matcher = SequenceMatcher(None, _bare(before), _bare(after), autojunk=False)
    if matcher.ratio() < _FEWEST_COMMON:
        return replaced
    pieces = []
    for tag, begin, end, first, last in matcher.get_opcodes():
        if tag == "equal":
            pieces.append(Piece("".join(after[first:last]), Mark.KEPT))
            continue
        struck, added = "".join(before[begin:end]), "".join(after[first:last])
        if struck and added:
            struck = f"{struck.rstrip()} "
        pieces += [Piece(struck, Mark.STRUCK)] if struck else []
        pieces += [Piece(added, Mark.NEW)] if added else []
    return pieces


def _bare(tokens: Sequence[str]) -> list[str]:
    return [word.strip() for word in tokens]


def changed_lines(files: Sequence[ChangedFile], most: int) -> tuple[ChangedLine, ...]:
    """Return the changed lines of files if there are at most so many, and each is short; else none."""
    lines: list[ChangedLine] = []
    for file in files:
        if file.patch is None or len(file.patch) > _LONGEST_PATCH:
            return ()
        title = title_of(file.path, file.patch)
        for old, new in (
            run for change in changes_in(file.path, file.patch) for run in change.runs()
        ):
            before, after = ([text.strip() for text in side if text.strip()] for side in (old, new))
            if before and after and len(before) != len(after):
                return ()
            lines += [
                ChangedLine(title[:_LONGEST_LINE], *pair)
                for pair in zip_longest(before, after, fillvalue="")
                if pair[0] != pair[1]
            ]
    is_short = all(len(text) <= _LONGEST_LINE for line in lines for text in line)
    return tuple(lines) if len(lines) <= most and is_short else ()


def title_of(path: str, patch: str) -> str:
    """Return the title of a page by the beginning of its patch, else by its path; of other files the path."""
    if not path.lower().endswith(_PROSE):
        return path
    head = patch.split("\n", 12)[:12]
    if re.match(r"@@ -[01](?:,[0-9]+)? ", head[0]):
        for line in head[1:]:
            if line[:1] in ("+", " "):
                if line[1:].startswith("title:"):
                    return line[7:].strip().strip("\"'")
                if line[1:].startswith("# "):
                    return line[3:].strip()
    *folders, name = path.split("/")
    stem = name.rsplit(".", 1)[0] or name
    if stem.lower() in ("index", "readme") and folders:
        stem = folders[-1]
    title = " ".join(re.split(r"[-_\s]+", stem)).strip()
    return f"{title[:1].upper()}{title[1:]}" or path
