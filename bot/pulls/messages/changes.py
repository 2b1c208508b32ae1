"""The words that a pull request changes: in a job's end, and in the view that *Changes* opens."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from bot.ids import Block, Message
from bot.jobs.messages.status_message import format_changed_lines, format_link_label
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.model.pull_request import ChangedLine, Size
from bot.messages import blocks as b
from bot.messages.blocks import counted, number
from bot.messages.plain_text import clip, visible
from bot.pulls.model.changes import (
    MAX_PATCH_LENGTH,
    Change,
    ChangedFile,
    Mark,
    Piece,
    Steps,
    changes_in,
    compare_words,
    title_of,
)

MAX_FILES = 100
"""Files that are read. GitHub returns so many in one answer."""
_MAX_BLOCKS = 80
"""Slack takes 100 blocks; the other ones name the files that are not shown."""
_MAX_PAGES_BYTES = 110_000
"""Bytes of JSON for the changed pages. Slack refuses a view of more than 250,000 bytes."""
_MAX_REST_BYTES = 110_000
"""Bytes of JSON for the names of the other files."""
_MAX_READ_LENGTH = 200_000
"""Characters of all patches together that are read."""
_MAX_STEPS = 200_000
"""Steps of all comparisons of words together."""
_MAX_LENGTH = 12_000
"""Characters of all changes together, without headings."""
_MAX_PAGE_LENGTH = 3_000
_MAX_CHANGE_LENGTH = 1_500
_MAX_CHANGES = 20
"""Changes of one page."""
_MAX_PIECES = 60
"""Pieces of one change. Each is an object of its own in the view."""
_MAX_KEPT_CHARACTERS = 240
"""Words that are kept between two changes are left out in the middle if they are longer."""
_LINKS_IN_A_BLOCK = 8
_MAX_TITLE_CHARACTERS = 80
_MAX_PATH_CHARACTERS = 100
_STYLE_BY_MARK = {Mark.STRUCK: {"strike": True}, Mark.NEW: {"bold": True}}
_CODE_SIGN_BY_MARK = {Mark.KEPT: " ", Mark.STRUCK: "−", Mark.NEW: "+"}
_MARKUP_BY_MARK = {Mark.KEPT: "", Mark.STRUCK: "~", Mark.NEW: "*"}


def changed_line(line: ChangedLine) -> str:
    """Return a changed line in mrkdwn: the page, and the words with their marks."""
    # Signs of markup count beside blanks alone, which stand between the pieces.
    parts = []
    for piece in compare_words(line.old.strip("|-# "), line.new.strip("|-# ")):
        text = b.quoted(piece.text, len(piece.text))
        sign = _MARKUP_BY_MARK[piece.mark]
        parts.append(f"{sign}{text}{sign}" if text else "")
    return f"{b.quoted(line.page, _MAX_TITLE_CHARACTERS)}: {' '.join(filter(None, parts))}"


def unreadable(job: TrackedJob) -> Message:
    """Return the answer to a press of *Changes* while the pull request cannot be read."""
    url = b.web_address(job.pr_link)
    where = b.link(url, format_link_label(url)) if url else "the pull request"
    return b.words(f"I can't read the changes right now. Look at them in {where}, or press again.")


def changes_view(job: TrackedJob, files: Sequence[ChangedFile]) -> Block:
    """Return the view of the changed paragraphs, the pages with the longest changes first."""
    url = b.web_address(job.pr_link) or ""
    ordered = sorted(files[:MAX_FILES], key=_count_lines, reverse=True)
    pages: list[Block] = []
    others: list[ChangedFile] = []
    room = _ViewBudget(titles=job.pull_request.titles if job.pull_request else {})
    for file in ordered:
        page = list(_build_file_blocks(file, url, room)) if room.is_left(pages) else []
        if page and room.take(page):
            pages += page
        else:
            others.append(file)
    total = job.pull_request.size.files if job.pull_request else len(files)
    total = max(total, len(files))
    heading = f"*{b.link(url, format_link_label(url, 'PR'))}* · {counted(total, 'file', 'files')}"
    blocks = [b.section(heading), *pages, *_build_name_blocks(others, url, room.titles)]
    if total > MAX_FILES:
        blocks.append(b.context(f"I read the first {MAX_FILES} files of {number(total)}."))
    return b.modal("What changed", *blocks, callback_id="changes")


def _count_lines(file: ChangedFile) -> int:
    return file.additions + file.deletions


@dataclass
class _ViewBudget:
    """The room that is left in a view, and the limits on reading and comparing its pages."""

    length: int = _MAX_LENGTH
    bytes: int = _MAX_PAGES_BYTES
    read_length: int = _MAX_READ_LENGTH
    steps: Steps = field(default_factory=lambda: Steps(_MAX_STEPS))
    titles: Mapping[str, str] = field(default_factory=dict)
    """The titles of pages by their paths, where they are known."""

    def is_left(self, pages: Sequence[Block]) -> bool:
        """Return whether another page may be drawn."""
        return self.length > 0 and self.read_length > 0 and len(pages) < _MAX_BLOCKS

    def take(self, page: Sequence[Block]) -> bool:
        """Take the room for a page. Return whether there was enough."""
        size = _count_bytes(page)
        if size > self.bytes:
            return False
        self.bytes -= size
        self.length -= sum(len(_join_text(block)) for block in page)
        return True


def _count_bytes(blocks: Sequence[Block]) -> int:
    """Return the length of blocks in the JSON that is sent, which is ASCII."""
    return len(json.dumps(blocks))


def _build_name_blocks(
    files: Sequence[ChangedFile], url: str, titles: Mapping[str, str]
) -> Iterator[Block]:
    """Yield the names of files whose changes are not shown, as many as the view may have."""
    left = _MAX_REST_BYTES
    for at in range(0, len(files), _LINKS_IN_A_BLOCK):
        names = [
            f"{_format_file_name(file, url, titles)} "
            f"{format_changed_lines(Size(file.additions, file.deletions, 1))}"
            for file in files[at : at + _LINKS_IN_A_BLOCK]
        ]
        block = b.context("Also: " + " · ".join(names))
        left -= _count_bytes([block])
        if left < 0:
            more = counted(len(files) - at, "more file", "more files")
            yield b.context(f"And {b.link(url, more)}")
            return
        yield block


def _build_file_blocks(file: ChangedFile, url: str, room: _ViewBudget) -> Iterator[Block]:
    """Yield the heading of a changed file, and the changed paragraphs that fit."""
    yield b.section(" · ".join(_format_facts(file, url, room.titles)))
    if file.patch is None or file.status == "removed":
        return
    length = min(room.read_length, MAX_PATCH_LENGTH)
    patch = file.patch[:length]
    room.read_length -= len(patch)
    every = list(changes_in(file.path, patch))
    chosen = _choose_longest(every, min(room.length, _MAX_PAGE_LENGTH))
    is_new = file.status == "added"
    drawn = [_draw_change(every[at], room.steps, is_new=is_new) for at in chosen]
    elements = [element for element in drawn if element]
    if elements:
        yield {"type": "rich_text", "elements": elements}
    left = len(every) - len(chosen)
    if len(patch) < len(file.patch):
        yield b.context(f"And {b.link(file_address(file.path, url), 'more changes')}")
    elif left:
        others = counted(left, "more change", "more changes")
        yield b.context(f"And {b.link(file_address(file.path, url), others)}")


def _choose_longest(changes: Sequence[Change], length: int) -> Sequence[int]:
    """Return the indexes of the longest changes that fit into ``length`` characters, in order."""
    chosen: list[int] = []
    longest = sorted(enumerate(changes), key=_count_numbered_characters, reverse=True)
    for at, change in longest[:_MAX_CHANGES]:
        if length <= 0:
            break
        chosen.append(at)
        length -= min(change.size, _MAX_CHANGE_LENGTH)
    return sorted(chosen)


def _count_numbered_characters(numbered: tuple[int, Change]) -> int:
    _, change = numbered
    return change.size


def _format_facts(file: ChangedFile, url: str, titles: Mapping[str, str]) -> Iterator[str]:
    """Yield the name of a changed file, and how it was changed."""
    yield f"*{_format_file_name(file, url, titles)}*"
    match file.status:
        case "added":
            yield "new"
        case "removed":
            yield "deleted"
        case "renamed":
            yield f"moved from {b.code(file.previous_path or '', _MAX_PATH_CHARACTERS)}"
    if file.patch is None and file.status not in ("removed", "renamed"):
        yield "too long to show" if file.additions or file.deletions else "no text"
    if file.additions or file.deletions:
        yield format_changed_lines(Size(file.additions, file.deletions, 1))
    if title_of(file.path, "") != file.path:
        yield b.code(file.path, _MAX_PATH_CHARACTERS)


def _draw_change(change: Change, steps: Steps, *, is_new: bool) -> Block | None:
    """Return a change as an element of rich text; None if it changes blanks alone."""
    pieces = list(islice(change.pieces(steps), _MAX_PIECES))
    if all(piece.mark is Mark.KEPT for piece in pieces):
        return None
    if change.is_code:
        return _draw_code(pieces, is_new=is_new)
    elements: list[Block] = []
    left = _MAX_CHANGE_LENGTH
    for at, piece in enumerate(pieces):
        text = visible(piece.text)
        if piece.mark is Mark.KEPT:
            text = _shorten_kept(text, begins=at > 0, ends=at < len(pieces) - 1)
        text = clip(text, left)
        left -= len(text)
        if text:
            element: Block = {"type": "text", "text": text}
            if piece.mark in _STYLE_BY_MARK and not is_new:
                element["style"] = _STYLE_BY_MARK[piece.mark]
            elements.append(element)
        if left <= 0:
            break
    return {"type": "rich_text_section", "elements": elements} if elements else None


def _draw_code(lines: Sequence[Piece], *, is_new: bool) -> Block:
    """Return changed lines of code as an element of rich text."""
    signs = {mark: "" if is_new else f"{sign} " for mark, sign in _CODE_SIGN_BY_MARK.items()}
    code = visible("".join(f"{signs[line.mark]}{line.text}" for line in lines)).rstrip("\n")
    text = clip(code, _MAX_CHANGE_LENGTH) or " "
    return {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": text}]}


def _shorten_kept(text: str, *, begins: bool, ends: bool) -> str:
    """Return words that are kept without their middle if they are long.

    ``begins`` and ``ends``: whether a change stands before and after them.
    """
    if len(text) <= _MAX_KEPT_CHARACTERS:
        return text
    half = _MAX_KEPT_CHARACTERS // 2
    first = text[:half] if begins else ""
    last = text[-half:] if ends else ""
    return f"{first} … {last}"


def _format_file_name(file: ChangedFile, url: str, titles: Mapping[str, str]) -> str:
    title = titles.get(file.path) or title_of(file.path, file.patch or "")
    return b.link(file_address(file.path, url), clip(title, _MAX_TITLE_CHARACTERS) or file.path)


def file_address(path: str, url: str) -> str:
    """Return the address of a file's changes on the pages of a pull request, ``url``."""
    anchor = hashlib.sha256(path.encode("utf-8", "replace")).hexdigest()
    pull_request, *_ = re.split("[?#]", url, maxsplit=1)
    return f"{pull_request.rstrip('/')}/files#diff-{anchor}"


def _join_text(block: Block) -> str:
    text = ""
    for element in block.get("elements", ()):
        text += "".join(part["text"] for part in element.get("elements", ()))
    return text
