"""The text of blocks, as Slack's wire text.

https://docs.slack.dev/reference/block-kit/blocks

Every function takes time in proportion to the blocks, and raises for no JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.messages.plain_text import one_line
from bot.messages.slack_text import from_plain

Object = Mapping[str, Any]
MAX_CHARACTERS = 40_000
"""Slack's limit for a message, and here that of each text which somebody writes.

https://docs.slack.dev/reference/methods/chat.postMessage
"""
_MAX_DEPTH = 12
"""Blocks within blocks: cards in a carousel, lists in a container."""
_MAX_OMITTED = 20
_MAX_NAME_CHARACTERS = 80
_MAX_INDENT = 8
_ID = re.compile("[A-Za-z0-9]{1,40}")
_LINK = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^<>|]*")
_WITHOUT_WORDS = frozenset({"divider", "actions", "context_actions", "input"})
"""Blocks that show nothing to read: people press them and fill them in."""
_NOUNS = {
    "image": "image",
    "video": "video",
    "file": "file",
    "data_visualization": "chart",
    "call": "call",
}
"""Blocks that cannot be read as text, with the nouns for people."""
_TABLES = frozenset({"table", "data_table"})
_TEXT_KEYS = (
    "title",
    "subtitle",
    "caption",
    "text",
    "body",
    "subtext",
    "fields",
    "elements",
    "child_blocks",
    "tasks",
    "details",
    "output",
)
"""The keys of the texts in blocks of all other kinds, in the order of their display."""


@dataclass
class BlockText:
    """The text of blocks, and the names of the blocks that cannot be read as text."""

    lines: list[str] = field(default_factory=list)
    omitted_parts: list[str] = field(default_factory=list)
    _room: int = MAX_CHARACTERS + 2
    """The characters that still fit.

    One more than the limit fits, so that a text without its end is known by its length.
    """

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def is_full(self) -> bool:
        return self._room <= 0

    def add(self, text: str) -> None:
        """Add a text, unless it is blank or the room is used up."""
        if text.strip() and not self.is_full:
            self._room -= len(text) + 1
            self.lines.append(text)

    def omit(self, noun: str, name: str) -> None:
        """Add the name of something that cannot be read as text."""
        if len(self.omitted_parts) < _MAX_OMITTED:
            shown = one_line(name, _MAX_NAME_CHARACTERS)
            self.omitted_parts.append(f"{noun}: {shown}" if shown else noun)


def objects_in(of: Object, key: str) -> list[Object]:
    """Return the objects in the list under a key; none for other values."""
    return objects(of.get(key))


def objects(value: object) -> list[Object]:
    """Return the objects in a list; none for other values."""
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, Mapping)]


def mapping(value: object) -> Object:
    """Return an object; an empty one for other values."""
    return value if isinstance(value, Mapping) else {}


def string(value: object) -> str:
    """Return a text; an empty one for other values."""
    return value if isinstance(value, str) else ""


def read_blocks(blocks: object) -> BlockText:
    """Return the text of a message's blocks."""
    read = BlockText()
    for block in objects(blocks):
        _read_block(block, read, _MAX_DEPTH)
    return read


def _read_block(block: Object, read: BlockText, depth: int) -> None:
    kind = string(block.get("type"))
    if kind in _WITHOUT_WORDS or depth == 0 or read.is_full:
        return
    if kind == "rich_text":
        for part in objects_in(block, "elements"):
            read.add(_rich_text(part, depth - 1))
    elif kind in _TABLES:
        read.add(_words_of(block.get("caption")))
        read.add("\n".join(_rows(block.get("rows"), depth - 1)))
    elif kind in _NOUNS:
        read.omit(_NOUNS[kind], _name_of(block))
    else:
        _read_texts(block, read, depth)


def _name_of(block: Object) -> str:
    """Return the title of an image or a chart in plain text, or its description."""
    title = block.get("title")
    names = (title, mapping(title).get("text"), block.get("alt_text"), block.get("name"))
    return next(filter(None, map(string, names)), "")


def _read_texts(block: Object, read: BlockText, depth: int) -> None:
    """Read the texts of a block of any other kind, such as a section."""
    is_markdown = block.get("type") == "markdown"
    for key in _TEXT_KEYS:
        value = block.get(key)
        if isinstance(value, str):
            read.add(value if is_markdown else from_plain(value))
        elif isinstance(value, Mapping) and _is_text(value):
            read.add(_words_of(value))
        elif isinstance(value, Mapping):
            _read_block(value, read, depth - 1)
        for item in objects(value):
            if _is_text(item):
                read.add(_words_of(item))
            elif item.get("type") != "image":  # the icons of a context block
                _read_block(item, read, depth - 1)


def _is_text(value: Object) -> bool:
    return value.get("type") in ("plain_text", "mrkdwn")


def _words_of(text: object) -> str:
    """Return a text object as wire text.

    https://docs.slack.dev/reference/block-kit/composition-objects/text-object
    """
    if isinstance(text, str):
        return from_plain(text)
    if not isinstance(text, Mapping):
        return ""
    words = string(text.get("text"))
    return words if text.get("type") == "mrkdwn" else from_plain(words)


# ---- rich text: https://docs.slack.dev/reference/block-kit/blocks/rich-text-block


def _rich_text(part: Object, depth: int) -> str:
    """Return a part of a rich text block, without a line break at its end."""
    if depth == 0:
        return ""
    match part.get("type"):
        case "rich_text_list":
            return "\n".join(_items(part, depth))
        case "rich_text_quote":
            return "\n".join(f"&gt; {line}" for line in _inline(part, depth).splitlines())
        case "rich_text_preformatted":
            return f"```\n{_inline(part, depth)}\n```"
        case _:
            return _inline(part, depth).removesuffix("\n")


def _items(part: Object, depth: int) -> Iterator[str]:
    """Yield the items of a list, as Slack writes them into the text of a message."""
    blanks = " " * 4 * _count(part.get("indent"), _MAX_INDENT)
    first = _count(part.get("offset"), 10_000) + 1
    is_ordered = part.get("style") == "ordered"
    for number, item in enumerate(objects_in(part, "elements"), first):
        mark = f"{number}." if is_ordered else "•"
        yield f"{blanks}{mark} {_rich_text(item, depth - 1)}"


def _count(value: object, most: int) -> int:
    """Return a number from 0 to ``most``; 0 for other values."""
    return max(0, min(value, most)) if isinstance(value, int) else 0


def _inline(part: Object, depth: int) -> str:
    return "".join(_element(element, depth - 1) for element in objects_in(part, "elements"))


def _element(element: Object, depth: int) -> str:
    """Return an element of a line of rich text as wire text."""
    words = _entity(element)
    if words is None:
        is_nested = "elements" in element and depth > 0
        words = _inline(element, depth) if is_nested else from_plain(string(element.get("text")))
    is_code = mapping(element.get("style")).get("code") is True
    return f"`{words}`" if is_code and words.strip() else words


def _entity(element: Object) -> str | None:
    """Return a mention, a link, an emoji or a date as wire text; None for other elements."""
    match element.get("type"):
        case "link":
            return _link(string(element.get("url")), string(element.get("text")))
        case "user":
            return _mention("@", element.get("user_id"))
        case "channel":
            return _mention("#", element.get("channel_id"))
        case "usergroup":
            return _mention("!subteam^", element.get("usergroup_id"))
        case "broadcast":
            return _mention("!", element.get("range"))
        case "emoji":
            return from_plain(f":{string(element.get('name'))}:")
        case "date":
            return from_plain(string(element.get("fallback")))
        case "color":
            return from_plain(string(element.get("value")))
        case _:
            return None


def _mention(sign: str, of: object) -> str:
    name = string(of)
    return f"<{sign}{name}>" if _ID.fullmatch(name) else ""


def _link(address: str, label: str) -> str:
    if not _LINK.fullmatch(address):
        return from_plain(label or address)
    return f"<{address}|{from_plain(label)}>" if label and label != address else f"<{address}>"


# ---- tables: https://docs.slack.dev/reference/block-kit/blocks/table-block


def _rows(rows: object, depth: int) -> Iterator[str]:
    """Yield the rows of a table, as Markdown writes them."""
    for row in rows if isinstance(rows, list) else ():
        cells = [_cell(cell, depth) for cell in objects(row)]
        if cells:
            yield f"| {' | '.join(cells)} |"


def _cell(cell: Object, depth: int) -> str:
    """Return the text of a cell on one line."""
    if "elements" in cell:
        parts = objects_in(cell, "elements")
        words = "\n".join(_rich_text(part, depth) for part in parts)
    elif "text" in cell:
        words = from_plain(string(cell.get("text")))
    else:
        value = cell.get("value")
        words = str(value) if isinstance(value, int | float) else ""
    return " ".join(words.split()).replace("|", "\\|")
