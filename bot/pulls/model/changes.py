"""The words that a pull request changes, read from the patches of its files.

Strangers write patches, so each function has a limit on the characters, words and steps that it
reads and compares. Text beyond a limit counts as replaced whole, or as further changes that are not
shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import Match, SequenceMatcher
from enum import StrEnum
from itertools import groupby, islice, zip_longest
from typing import NamedTuple

from bot.jobs.model.pull_request import ChangedLine, ChangedPage

_PROSE = (".md", ".mdx", ".markdown", ".rst", ".adoc", ".txt", ".html")
_FENCES = ("```", "~~~")
_WORD = re.compile(r"\S+\s*")
_MAX_WORDS = 400
"""Longer texts replace each other whole."""
_MAX_STEPS = 100_000
"""Steps of one comparison. A step looks at one pair of equal words; 100,000 take about 20 ms."""
_MIN_COMMON_SHARE = 0.3
"""The common share of words of two texts, below which one replaces the other whole."""
MAX_PATCH_LENGTH = 40_000
"""Characters of a file's patch that are read. Later changes of the file are not shown."""
_MAX_LINE_LENGTH = 100
"""In characters: longer lines are not shown in an end."""
MAX_PAGES = 3
"""The most changed pages that an end may name."""
MAX_HEADINGS = 3
"""The most headings of a new page that an end shows."""
_MAX_HEADING_LENGTH = 60
_MAX_HEAD_LINES = 12
_MAX_HEAD_LENGTH = 4_000
_MAX_PATCHES_LENGTH = 10_000
"""Characters of all patches together, above which an end shows no lines."""


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


@dataclass
class Steps:
    """The steps that comparisons of words may still take."""

    left: int = _MAX_STEPS

    def take(self, count: int) -> bool:
        """Take ``count`` steps if they are left. Return whether they were."""
        if count > self.left:
            return False
        self.left -= count
        return True


@dataclass
class Change:
    """Lines of a patch that belong together, each with its sign: "-", "+" or a blank."""

    is_code: bool = False
    lines: list[tuple[str, str]] = field(default_factory=list)
    size: int = 0
    """The characters of the changed lines."""
    strikes: bool = False
    """Whether a line was removed."""

    def add(self, sign: str, text: str) -> None:
        """Add a line."""
        self.lines.append((sign, text))
        if sign != " ":
            self.size += len(text.strip())
        if sign == "-":
            self.strikes = True

    def runs(self) -> Iterator[tuple[list[str], list[str]]]:
        """Yield the old and the new lines of each run of lines; unchanged lines are in both."""
        for is_kept, run in groupby(self.lines, key=_is_kept):
            lines = list(run)
            old = [text for sign, text in lines if is_kept or sign == "-"]
            new = [text for sign, text in lines if is_kept or sign == "+"]
            yield old, new

    def pieces(self, steps: Steps) -> Iterator[Piece]:
        """Yield whole lines of code, or the words of a text, compared within ``steps``."""
        if self.is_code:
            for sign, text in self.lines:
                yield Piece(f"{text}\n", _MARKS.get(sign, Mark.KEPT))
            return
        kept = ""
        for old, new in self.runs():
            for piece in compare_words(_joined(old), _joined(new), steps):
                if piece.mark is Mark.KEPT:
                    kept += piece.text
                    continue
                if kept:
                    yield Piece(kept, Mark.KEPT)
                    kept = ""
                yield piece
        if kept:
            yield Piece(kept, Mark.KEPT)


def _is_kept(line: tuple[str, str]) -> bool:
    sign, _ = line
    return sign == " "


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def changes_in(path: str, patch: str) -> Iterator[Change]:
    """Yield the changes of a file in order, divided at blank lines, fences of code and hunks."""
    is_prose = is_page(path)
    for hunk in re.split(r"^@@[^\n]*\n?", patch, flags=re.MULTILINE):
        for change in _changes_of_hunk(hunk, is_prose=is_prose):
            if change.size:
                yield change


def _changes_of_hunk(hunk: str, *, is_prose: bool) -> Iterator[Change]:
    begins_in_code = _begins_in_code(hunk)
    # A removed fence is none in the new text, and an added one none in the old.
    in_code = {"-": begins_in_code, "+": begins_in_code}
    change = Change(not is_prose)
    for line in hunk.split("\n"):
        sign = line[:1] or " "
        text = line[1:].rstrip("\r")
        if sign not in "-+ ":
            # "\ No newline at end of file"
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
        # The edge of front matter, or of code.
        is_edge = text.strip() == "---" or (is_fence and is_beside)
        if not is_break and not is_edge:
            change.add(sign, text)
    yield change


def _begins_in_code(hunk: str) -> bool:
    """Return whether a hunk seems to begin within a block of code.

    So it is with an odd number of fences, of which the first names no language: it ends the block.
    """
    lines = (line[1:].strip() for line in hunk.split("\n"))
    fences = [line for line in lines if line.startswith(_FENCES)]
    return len(fences) % 2 == 1 and fences[0] in _FENCES


def compare_words(old: str, new: str, steps: Steps | None = None) -> list[Piece]:
    """Return a new text as pieces, with the words that were struck from the old one.

    One text replaces the other whole if they are long, have little in common, or cannot be compared
    within ``steps``.
    """
    if old == new:
        return [Piece(new, Mark.KEPT)]
    before = _WORD.findall(old)
    after = _WORD.findall(new)
    if max(len(before), len(after)) <= _MAX_WORDS:
        blocks = _equal_blocks(_bare(before), _bare(after), steps or Steps())
        common = sum(block.size for block in blocks)
        if 2 * common >= _MIN_COMMON_SHARE * (len(before) + len(after)):
            return list(_pieces(before, after, blocks))
    whole = [Piece(old, Mark.STRUCK), Piece(new, Mark.NEW)]
    return [piece for piece in whole if piece.text]


def _bare(tokens: Sequence[str]) -> list[str]:
    return [word.strip() for word in tokens]


def _equal_blocks(before: Sequence[str], after: Sequence[str], steps: Steps) -> list[Match]:
    """Return the runs of words that two texts have in common, in order.

    It is `SequenceMatcher.get_matching_blocks` with a limit: the longest run is found first, then
    the longest ones before and after it. Stretches for which no steps are left have nothing in
    common.
    """
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    words = Counter(after)
    counts = [words[word] for word in before]
    stretches = [(0, len(before), 0, len(after))]
    blocks: list[Match] = []
    while stretches:
        old_start, old_end, new_start, new_end = stretches.pop()
        cost = old_end - old_start + sum(counts[old_start:old_end])
        if old_start == old_end or new_start == new_end or not steps.take(cost):
            continue
        longest = matcher.find_longest_match(old_start, old_end, new_start, new_end)
        if longest.size:
            blocks.append(longest)
            old_behind = longest.a + longest.size
            new_behind = longest.b + longest.size
            stretches.append((old_start, longest.a, new_start, longest.b))
            stretches.append((old_behind, old_end, new_behind, new_end))
    return sorted(blocks)


def _pieces(before: Sequence[str], after: Sequence[str], blocks: list[Match]) -> Iterator[Piece]:
    """Yield the words of both texts in order, marked by the runs that they have in common."""
    old_at = 0
    new_at = 0
    for block in [*blocks, Match(len(before), len(after), 0)]:
        struck = "".join(before[old_at : block.a])
        added = "".join(after[new_at : block.b])
        if struck:
            yield Piece(f"{struck.rstrip()} " if added else struck, Mark.STRUCK)
        if added:
            yield Piece(added, Mark.NEW)
        old_at = block.a + block.size
        new_at = block.b + block.size
        if block.size:
            yield Piece("".join(after[block.b : new_at]), Mark.KEPT)


def changed_lines(
    files: Sequence[ChangedFile], most: int, titles: Mapping[str, str] | None = None
) -> tuple[ChangedLine, ...]:
    """Return the changed lines of files if they are few and short; else none.

    Args:
        files: The changed files.
        most: The most lines.
        titles: The titles of pages by their paths, where they are known.
    """
    if sum(len(file.patch or "") for file in files) > _MAX_PATCHES_LENGTH:
        return ()
    lines: list[ChangedLine] = []
    for file in files:
        if file.patch is None:
            return ()
        title = (titles or {}).get(file.path) or title_of(file.path, file.patch)
        for line in _lines_of(file, file.patch, title[:_MAX_LINE_LENGTH]):
            is_short = line is not None and max(map(len, line)) <= _MAX_LINE_LENGTH
            if line is None or not is_short or len(lines) == most:
                return ()
            lines.append(line)
    return tuple(lines)


def _lines_of(file: ChangedFile, patch: str, title: str) -> Iterator[ChangedLine | None]:
    """Yield the changed lines of a file, each with the line that it replaces.

    Yield None where other lines replace them.
    """
    for change in changes_in(file.path, patch):
        for old, new in change.runs():
            before = [text.strip() for text in old if text.strip()]
            after = [text.strip() for text in new if text.strip()]
            if before and after and len(before) != len(after):
                yield None
            for was, becomes in zip_longest(before, after, fillvalue=""):
                if was != becomes:
                    yield ChangedLine(title, was, becomes)


def changed_pages(
    files: Sequence[ChangedFile], titles: Mapping[str, str] | None = None
) -> tuple[ChangedPage, ...]:
    """Return the first pages that a pull request adds or changes, new ones first.

    ``titles``: see `changed_lines`.
    """
    pages = [file for file in files if is_page(file.path) and file.status != "removed"]
    new = [file for file in pages if file.status == "added"]
    old = [file for file in pages if file.status != "added"]
    return tuple(_to_page(file, titles or {}) for file in [*new, *old][:MAX_PAGES])


def _to_page(file: ChangedFile, titles: Mapping[str, str]) -> ChangedPage:
    patch = (file.patch or "")[:MAX_PATCH_LENGTH]
    title = (titles.get(file.path) or title_of(file.path, patch))[:_MAX_LINE_LENGTH]
    if file.status != "added":
        return ChangedPage(file.path, title)
    # One more shows that there are more.
    headings = tuple(islice(_headings_in(patch), MAX_HEADINGS + 1))
    return ChangedPage(file.path, title, True, headings, file.additions)


def _headings_in(patch: str) -> Iterator[str]:
    """Yield the second-level headings that a patch adds, without those in code."""
    is_code = False
    for line in patch.split("\n"):
        if line[:1] != "+":
            continue
        text = line[1:].strip()
        if text.startswith(_FENCES):
            is_code = not is_code
        elif not is_code and line.startswith("+## "):
            heading = text.lstrip("# ").rstrip("# ")[:_MAX_HEADING_LENGTH]
            if heading:
                yield heading


def is_page(path: str) -> bool:
    """Return whether a file is a page of the docs, by its name."""
    return path.lower().endswith(_PROSE)


def pages_without_title(files: Sequence[ChangedFile]) -> list[str]:
    """Return the paths of the first changed pages whose patches do not show their titles."""
    changed = [file for file in files if is_page(file.path) and file.status != "removed"]
    return [file.path for file in changed[:MAX_PAGES] if not _title_in(file.patch or "")]


def title_of(path: str, patch: str) -> str:
    """Return the title of a page by its patch, else by its path; of other files the path."""
    if not is_page(path):
        return path
    return _title_in(patch) or _title_by_path(path)


def _title_in(patch: str) -> str:
    """Return the title in a patch that shows the page's beginning; "" if there is none."""
    head = patch[:MAX_PATCH_LENGTH].split("\n", _MAX_HEAD_LINES)[:_MAX_HEAD_LINES]
    if not re.match(r"@@ -[01](?:,[0-9]+)? ", head[0]):
        return ""
    is_deleted = " +0,0 " in f"{head[0][:60]} "
    shown = ("-",) if is_deleted else ("+", " ")
    return title_in_text("\n".join(line[1:] for line in head[1:] if line[:1] in shown))


def title_in_text(text: str) -> str:
    """Return the title at the beginning of a page: of its front matter, else its first heading.

    Return "" if there is none.
    """
    for line in text[:_MAX_HEAD_LENGTH].split("\n", _MAX_HEAD_LINES)[:_MAX_HEAD_LINES]:
        if line.startswith("title:"):
            return line[6:].strip().strip("\"'")
        if line.startswith("# "):
            return line[2:].strip()
    return ""


def _title_by_path(path: str) -> str:
    *folders, name = path.split("/")
    stem = name.rsplit(".", 1)[0] or name
    if stem.lower() in ("index", "readme") and folders:
        stem = folders[-1]
    title = " ".join(re.split(r"[-_\s]+", stem)).strip()
    return f"{title[:1].upper()}{title[1:]}" or path
