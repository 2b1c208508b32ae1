"""The words that a pull request changes: in the end of a job, and in the view that *Changes* opens."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

from bot.ids import Block, Message
from bot.jobs.messages.status_message import lines_changed, open_words
from bot.jobs.model.changes import (
    Change,
    ChangedFile,
    ChangedLine,
    Mark,
    changes_in,
    compare_words,
    title_of,
)
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.model.pull_requests import Size
from bot.messages import blocks as b
from bot.messages.blocks import counted, number
from bot.messages.plain_text import clip, visible

MOST_READ = 100
_MOST_BLOCKS = 80
"""Slack takes 100; those that are left name the other files."""
_ALL_LENGTH, _PAGE_LENGTH, _CHANGE_LENGTH = 12_000, 3_000, 1_500
_KEPT_LENGTH = 240
"""Words that are kept between two changes are left out in the middle if they are longer."""
_LINKS_IN_A_BLOCK = 8
_TITLE_LENGTH, _PATH_LENGTH = 80, 100
_STYLES = {Mark.STRUCK: {"strike": True}, Mark.NEW: {"bold": True}}
_CODE_SIGNS = {Mark.KEPT: " ", Mark.STRUCK: "−", Mark.NEW: "+"}
_MARKUP = {Mark.KEPT: "", Mark.STRUCK: "~", Mark.NEW: "*"}


def changed_line(line: ChangedLine) -> str:
    """Return a changed line in mrkdwn: the page, and the words with their marks."""
    # Signs of markup count beside blanks alone, which stand between the pieces.
    parts = []
    for piece in compare_words(line.old.strip("|-# "), line.new.strip("|-# ")):
        text, sign = b.quoted(piece.text, len(piece.text)), _MARKUP[piece.mark]
        parts.append(f"{sign}{text}{sign}" if text else "")
    return f"{b.quoted(line.page, _TITLE_LENGTH)}: {' '.join(filter(None, parts))}"


def unreadable(job: TrackedJob) -> Message:
    """Return the answer to a press of *Changes* while the pull request cannot be read."""
    url = b.web_address(job.pr_link)
    where = b.link(url, open_words(url)) if url else "the pull request"
    return b.words(f"I can't read the changes right now. Look at them in {where}, or press again.")


def changes_view(job: TrackedJob, files: Sequence[ChangedFile]) -> Block:
    """Return the view of the changed paragraphs, the pages with the longest changes first."""
    url = b.web_address(job.pr_link) or ""
    ordered = sorted(files[:MOST_READ], key=lambda file: -(file.additions + file.deletions))
    pages: list[Block] = []
    rest: list[str] = []
    room = _ALL_LENGTH
    for file in ordered:
        if room > 0 and len(pages) < _MOST_BLOCKS:
            page = list(_page(file, url, min(room, _PAGE_LENGTH)))
            pages += page
            room -= sum(len(_text_of(block)) for block in page)
        else:
            rest.append(
                f"{_name(file, url)} {lines_changed(Size(file.additions, file.deletions, 1))}"
            )
    total = job.pull_request.size.files if job.pull_request else len(files)
    begun = f"*{b.link(url, open_words(url, 'PR'))}* · {counted(max(total, len(files)), 'file', 'files')}"
    starts = range(0, len(rest), _LINKS_IN_A_BLOCK)
    others = [b.context("Also: " + " · ".join(rest[at : at + _LINKS_IN_A_BLOCK])) for at in starts]
    blocks = [b.section(begun), *pages, *others]
    if total > MOST_READ:
        blocks.append(b.context(f"I read the first {MOST_READ} files of {number(total)}."))
    return b.modal("What changed", *blocks, callback_id="changes")


def _page(file: ChangedFile, url: str, room: int) -> Iterator[Block]:
    """Yield the heading of a changed file, and the changed paragraphs that fit."""
    facts = [f"*{_name(file, url)}*", *_became(file)]
    if file.additions or file.deletions:
        facts.append(lines_changed(Size(file.additions, file.deletions, 1)))
    if title_of(file.path, "") != file.path:
        facts.append(b.code(file.path, _PATH_LENGTH))
    yield b.section(" · ".join(facts))
    if file.patch is None or file.status == "removed":
        return
    every = list(changes_in(file.path, file.patch))
    chosen: set[int] = set()
    for at in sorted(range(len(every)), key=lambda at: -every[at].size):
        if room > 0:
            chosen.add(at)
            room -= min(every[at].size, _CHANGE_LENGTH)
    drawn = [_drawn(every[at], is_new=file.status == "added") for at in sorted(chosen)]
    elements = [element for element in drawn if element]
    if elements:
        yield {"type": "rich_text", "elements": elements}
    if len(chosen) < len(every):
        others = counted(len(every) - len(chosen), "more change", "more changes")
        yield b.context(f"And {b.link(_address(file, url), others)}")


def _became(file: ChangedFile) -> Iterator[str]:
    match file.status:
        case "added":
            yield "new"
        case "removed":
            yield "deleted"
        case "renamed":
            yield f"moved from {b.code(file.was or '', _PATH_LENGTH)}"
    if file.patch is None and file.status not in ("removed", "renamed"):
        yield "too long to show" if file.additions or file.deletions else "no text"


def _drawn(change: Change, *, is_new: bool) -> Block | None:
    """Return a change as an element of rich text; None if it changes blanks alone."""
    pieces = change.pieces()
    if all(piece.mark is Mark.KEPT for piece in pieces):
        return None
    if change.is_code:
        signed = (
            f"{'' if is_new else _CODE_SIGNS[piece.mark] + ' '}{piece.text}" for piece in pieces
        )
        code = clip(visible("".join(signed)).rstrip("\n"), _CHANGE_LENGTH)
        return {
            "type": "rich_text_preformatted",
            "elements": [{"type": "text", "text": code or " "}],
        }
    elements: list[Block] = []
    room = _CHANGE_LENGTH
    for at, piece in enumerate(pieces):
        text = visible(piece.text)
        if piece.mark is Mark.KEPT and len(text) > _KEPT_LENGTH:
            half = _KEPT_LENGTH // 2
            begins, ends = (
                ("" if at == 0 else text[:half]),
                ("" if at == len(pieces) - 1 else text[-half:]),
            )
            text = f"{begins} … {ends}"
        text = clip(text, room)
        room -= len(text)
        if text:
            style = {} if is_new else _STYLES.get(piece.mark, {})
            elements.append({"type": "text", "text": text} | ({"style": style} if style else {}))
        if room <= 0:
            break
    return {"type": "rich_text_section", "elements": elements} if elements else None


def _name(file: ChangedFile, url: str) -> str:
    title = title_of(file.path, file.patch or "")
    return b.link(_address(file, url), clip(title, _TITLE_LENGTH) or file.path)


def _address(file: ChangedFile, url: str) -> str:
    anchor = hashlib.sha256(file.path.encode("utf-8", "replace")).hexdigest()
    return f"{re.split('[?#]', url, maxsplit=1)[0].rstrip('/')}/files#diff-{anchor}"


def _text_of(block: Block) -> str:
    parts = [part for element in block.get("elements", ()) for part in element.get("elements", ())]
    return "".join(part["text"] for part in parts)
