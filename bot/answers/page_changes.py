"""The page that a merged pull request changes, and the words by which its live text is recognised.

Strangers write patches and pages, so each function reads a limited number of characters, and each
pattern is linear. Texts are compared as words without Markdown, since the service may return a page
in another markup than the repository's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape

from bot.docs_api.models import MAX_PAGE_LENGTH
from bot.pulls.model.changes import MAX_PATCH_LENGTH, ChangedFile, title_of

_MAX_FILES = 100
_MAX_READ_LENGTH = 200_000
"""Characters of all patches together that are read."""
_PAGES = (".md", ".mdx", ".markdown")
_FENCES = ("```", "~~~")
_MIN_LENGTH = 8
"""Letters and digits of a line that is looked for. A shorter one may stand on any page."""
_MAX_FORBIDDEN = 20
"""Removed lines that are looked for, the longest ones."""
_MAX_FOLDERS = 4
"""Leading folders that are left out of a path, one after another."""
_NOT_WORDS = re.compile(
    r"\]\([^()\s]*\)"  # the address of a link
    r"|</?[A-Za-z!][^<>\n]*>"  # a tag or a comment
    r"|\{[^{}\n]*\}"  # an expression of MDX
)
_WORD = re.compile(r"[^\W_]+")
_CODE_OF_PAGE = re.compile(r"(?:import|export)\s")
_END_OF_PATH = re.compile(r"[?#]")
_FIRST_LINE = re.compile(r"@@ -[01](?:,[0-9]+)? ")


@dataclass(frozen=True, slots=True)
class PageChange:
    """A changed page, with the words by which its new text differs from its old one."""

    path: str
    """The path of its file in the repository."""
    title: str
    required: str = ""
    """Words that only the new text contains; for a page that only loses lines, words it keeps."""
    forbidden: tuple[str, ...] = ()
    """Words that the new text lacks."""
    is_removed: bool = False
    """Whether the page is deleted. ``required`` are then words of the deleted text."""


@dataclass
class _Lines:
    """The lines of a patch by their effect."""

    added: list[str] = field(default_factory=list)
    """Prose that is added."""
    removed: list[str] = field(default_factory=list)
    """Prose that is removed."""
    kept: list[str] = field(default_factory=list)
    """Prose beside it."""
    old: list[str] = field(default_factory=list)
    """The text before, of each hunk."""
    new: list[str] = field(default_factory=list)
    """The text after, of each hunk."""


def words_of(text: str) -> str:
    """Return the words of a text with single spaces, in lower case and without Markdown."""
    plain = unescape(_NOT_WORDS.sub(" ", text))
    words = " ".join(_WORD.findall(plain.casefold()))
    return f" {words} " if words else ""


def find_change(
    files: Sequence[ChangedFile], titles: Mapping[str, str] | None = None
) -> PageChange | None:
    """Return the page that a pull request changes most; None if no page can be recognised.

    A new page goes before changed ones, and these before pages that lose lines or are deleted.

    Args:
        files: The changed files.
        titles: The titles of pages by their paths, where they are known.
    """
    best: PageChange | None = None
    best_rank = (-1, -1)
    left = _MAX_READ_LENGTH
    for file in files[:_MAX_FILES]:
        if not _is_page(file) or left <= 0:
            continue
        left -= len(file.patch or "")
        change = _change_of(file, titles or {})
        if change is None:
            continue
        rank = _rank(file, change)
        if rank > best_rank:
            best = change
            best_rank = rank
    return best


def matches(change: PageChange, text: str) -> bool:
    """Return whether a live text is the new text of a page, or the old text of a deleted page."""
    words = words_of(text[:MAX_PAGE_LENGTH])
    if change.required not in words:
        return False
    return not any(phrase in words for phrase in change.forbidden)


def may_be_at(change: PageChange, address: str, title: str) -> bool:
    """Return whether a page at an address, or with a title, may be the changed one.

    Another page may have the same words: writers copy paragraphs.

    Args:
        change: The changed page.
        address: A path or an address of the docs.
        title: The title of the page there; "" if it is unknown.
    """
    if words_of(title) and words_of(title) == words_of(change.title):
        return True
    path = _END_OF_PATH.split(address, maxsplit=1)[0].rstrip("/")
    *_, name = path.split("/")
    return name.casefold() in {at.split("/")[-1].casefold() for at in paths_on_site(change.path)}


def paths_on_site(path: str) -> tuple[str, ...]:
    """Return the paths at which a file's page may be, the most likely one first.

    The docs' root folder in the repository is unknown, so each leading folder may be left out.
    """
    stem = path.rpartition(".")[0].strip("/")
    steps = stem.split("/")
    paths: list[str] = []
    for at in range(min(len(steps), _MAX_FOLDERS + 1)):
        rest = steps[at:]
        paths.append("/".join(rest))
        if rest[-1] == "index" and len(rest) > 1:
            paths.append("/".join(rest[:-1]))
    return tuple(dict.fromkeys(paths))


def _is_page(file: ChangedFile) -> bool:
    return file.path.lower().endswith(_PAGES) and file.patch is not None


def _rank(file: ChangedFile, change: PageChange) -> tuple[int, int]:
    if change.is_removed:
        return 0, file.deletions
    if change.forbidden:
        return 1, file.deletions
    return 3 if file.status == "added" else 2, file.additions


def _change_of(file: ChangedFile, titles: Mapping[str, str]) -> PageChange | None:
    patch = (file.patch or "")[:MAX_PATCH_LENGTH]
    title = titles.get(file.path) or title_of(file.path, patch)
    lines = _lines_of(patch)
    if file.status == "removed":
        required = _longest(lines.removed, "")
        return PageChange(file.path, title, required, is_removed=True) if required else None
    added = _longest(lines.added, _joined(lines.old))
    if added:
        return PageChange(file.path, title, added)
    if any(words_of(line) for line in lines.added):
        return None
    after = _joined(lines.new)
    missing = [words for words in map(words_of, lines.removed) if _is_long(words)]
    forbidden = sorted((words for words in missing if words not in after), key=len, reverse=True)
    kept = _longest(lines.kept, "")
    if not forbidden or not kept:
        return None
    return PageChange(file.path, title, kept, tuple(forbidden[:_MAX_FORBIDDEN]))


def _longest(lines: Sequence[str], other: str) -> str:
    """Return the words of the longest line that another text does not contain; "" without one."""
    every = sorted({words for words in map(words_of, lines) if _is_long(words)}, key=len)
    for words in reversed(every[-_MAX_FORBIDDEN:]):
        if words not in other:
            return words
    return ""


def _is_long(words: str) -> bool:
    return len(words.replace(" ", "")) >= _MIN_LENGTH


def _joined(hunks: Sequence[str]) -> str:
    """Return the words of all hunks as one text, with ``|`` between hunks.

    A phrase may go from line to line, since a writer may wrap it anew, but not from hunk to hunk.
    """
    return "|".join(words_of(hunk) for hunk in hunks)


def _lines_of(patch: str) -> _Lines:
    found = _Lines()
    for hunk in re.split(r"^(?=@@)", patch, flags=re.MULTILINE):
        heading, _, body = hunk.partition("\n")
        if not heading.startswith("@@"):
            body = hunk
        begins_page = bool(_FIRST_LINE.match(heading))
        _add_hunk(found, body, begins_page=begins_page)
    return found


def _add_hunk(found: _Lines, body: str, *, begins_page: bool) -> None:
    """Add the lines of a hunk. ``begins_page``: it shows the page's front matter, if it has one."""
    old: list[str] = []
    new: list[str] = []
    for sign, text, is_prose in _read_hunk(body, begins_page=begins_page):
        if sign != "+":
            old.append(text)
        if sign != "-":
            new.append(text)
        if is_prose:
            {"+": found.added, "-": found.removed, " ": found.kept}[sign].append(text)
    found.old.append("\n".join(old))
    found.new.append("\n".join(new))


def _read_hunk(body: str, *, begins_page: bool) -> Iterator[tuple[str, str, bool]]:
    """Yield the sign and the text of each line, and whether it is prose."""
    in_code = {"-": False, "+": False}
    in_front_matter = {"-": False, "+": False}
    is_first = {"-": begins_page, "+": begins_page}
    for line in body.split("\n"):
        sign = line[:1] or " "
        if sign not in "-+ ":
            # Git's remark about a file: "\ No newline at end of file".
            continue
        text = line[1:].rstrip("\r")
        sides = "-+" if sign == " " else sign
        stripped = text.strip()
        is_edge = stripped.startswith(_FENCES)
        for side in sides:
            if is_edge:
                in_code[side] = not in_code[side]
            elif stripped == "---" and (is_first[side] or in_front_matter[side]):
                in_front_matter[side] = not in_front_matter[side]
            is_first[side] = False
        side = sides[-1]
        is_apart = is_edge or in_code[side] or in_front_matter[side]
        yield sign, text, not is_apart and not _CODE_OF_PAGE.match(stripped)
