"""Markdown from outside: parsed into a tree of safe parts, and written again from it.

The tree is the same for the block that Slack renders and for the text of a notification. No part of
it notifies anybody, loads a picture, is HTML, or leads to another host than those of a `Site`.

https://docs.slack.dev/reference/block-kit/blocks/markdown-block, https://spec.commonmark.org
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

from bot.messages.links import Site, host_of, label_of, without_scheme
from bot.messages.mrkdwn import address_in_link, escape, unmarked
from bot.messages.plain_text import clip, visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

MAX_SOURCE_LENGTH = 6_000
"""Characters of a source that are parsed. The rest is left out."""
_MAX_NESTING = 20
_MAX_WRITES = 8
"""How often a tree is written until it fits. Each time more of its text is left out."""
_LANGUAGE_PATTERN = re.compile(r"[A-Za-z0-9+#._-]{1,20}")
_CALL_PATTERN = re.compile(r"<(?=[@!#])")
"""The beginning of a mention, which Slack may read in Markdown, too."""
_ADDRESS_PATTERN = re.compile(
    r"(?:[a-z0-9+.-]{0,20}://|(?<![a-z0-9])www\.)[^\s<>()\[\]\"'`]{1,2000}", re.IGNORECASE
)
_ENDS_OF_SENTENCES = ".,;:!?…*_~"
_SPECIAL_PATTERN = re.compile(r"[\\`*_\[\]<>~|&]")
_LINE_START_PATTERN = re.compile(r"^(?:([#+=:-])|([0-9]{1,9})(?=[.)]))", re.MULTILINE)
"""Signs at the start of a line that begin a heading, a list, a table or a rule."""
_ENTITY_END_PATTERN = re.compile(r"(?<=&)(#?[A-Za-z0-9]{1,32});")
_ENCODED_IN_ADDRESS = str.maketrans({"(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "\\": "%5C"})


class Kind(StrEnum):
    """The kinds of parts of a text."""

    DOCUMENT = "document"
    PARAGRAPH = "paragraph"
    HEADING = "heading"
    CODE_BLOCK = "code block"
    QUOTE = "quote"
    LIST = "list"
    ITEM = "item"
    TABLE = "table"
    ROW = "row"
    CELL = "cell"
    RULE = "rule"
    TEXT = "text"
    CODE = "code"
    STRONG = "strong"
    EMPHASIS = "emphasis"
    STRIKE = "strike"
    LINK = "link"
    LINE_END = "line end"


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a text."""

    kind: Kind
    children: tuple[Node, ...] = ()
    text: str = ""
    """The content of a text, of code, or of a block of code."""
    detail: str = ""
    """The address of a link, the language of a block of code."""
    number: int = 0
    """The level of a heading; the first number of a list, 0 for a list without numbers."""


# ---- reading


@cache
def _make_parser() -> MarkdownIt:
    # Imported here, because most processes read no Markdown.
    from markdown_it import MarkdownIt

    options = {"html": False, "linkify": False, "typographer": False, "maxNesting": _MAX_NESTING}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])


def parse(source: str, site: Site) -> Node:
    """Return the tree of a Markdown text.

    Links to other hosts than the site's become text.
    """
    from markdown_it.tree import SyntaxTreeNode

    text = visible(source[:MAX_SOURCE_LENGTH]).strip()
    root = SyntaxTreeNode(_make_parser().parse(text))
    return Node(Kind.DOCUMENT, tuple(_to_safe_blocks(root.children, site)))


_CONTAINERS = {
    "paragraph": Kind.PARAGRAPH,
    "heading": Kind.HEADING,
    "bullet_list": Kind.LIST,
    "ordered_list": Kind.LIST,
    "list_item": Kind.ITEM,
    "blockquote": Kind.QUOTE,
    "table": Kind.TABLE,
    "tr": Kind.ROW,
    "th": Kind.CELL,
    "td": Kind.CELL,
    "strong": Kind.STRONG,
    "em": Kind.EMPHASIS,
    "s": Kind.STRIKE,
}
_TRANSPARENT = frozenset({"inline", "thead", "tbody"})
"""Parts of the parser's tree that stand for their children."""


def _to_safe_blocks(parts: Iterable[SyntaxTreeNode], site: Site) -> Iterator[Node]:
    """Yield safe parts for parts of the parser's tree."""
    for part in parts:
        match part.type:
            case kind if kind in _CONTAINERS:
                children = tuple(_to_safe_blocks(part.children, site))
                yield Node(_CONTAINERS[kind], children, number=_number_of(part))
            case kind if kind in _TRANSPARENT:
                yield from _to_safe_blocks(part.children, site)
            case "fence" | "code_block":
                language = _LANGUAGE_PATTERN.match(part.info.strip())
                name = language[0] if language else ""
                yield Node(Kind.CODE_BLOCK, text=part.content.rstrip("\n"), detail=name)
            case "hr":
                yield Node(Kind.RULE)
            case "text":
                yield from _link_addresses(part.content, site)
            case "code_inline":
                yield Node(Kind.CODE, text=part.content)
            case "softbreak" | "hardbreak":
                yield Node(Kind.LINE_END)
            case "link" | "image":
                yield from _to_link(part, site)
            case _:
                yield Node(Kind.TEXT, text=part.content)


def _number_of(part: SyntaxTreeNode) -> int:
    """Return the level of a heading, or the first number of a list; 0 for other parts."""
    if part.type == "heading":
        return int(part.tag.removeprefix("h"))
    if part.type == "ordered_list":
        return max(int(part.attrs.get("start", 1)), 1)
    return 0


def _to_link(part: SyntaxTreeNode, site: Site) -> Iterator[Node]:
    """Yield a link or a picture as a link, or as its label and its address in code."""
    url = str(part.attrs.get("href") or part.attrs.get("src") or "")
    label = tuple(_drop_links(_to_safe_blocks(part.children, site)))
    words = format_for_speech(Node(Kind.PARAGRAPH, label)).strip()
    address = site.find_address(url)
    if address is None:
        shown = without_scheme(url)
        if words and without_scheme(words) != shown:
            yield from label
            if shown:
                yield Node(Kind.TEXT, text=" (")
                yield Node(Kind.CODE, text=shown)
                yield Node(Kind.TEXT, text=")")
        elif shown:
            yield Node(Kind.CODE, text=shown)
        return
    if not words:
        label = (Node(Kind.TEXT, text=host_of(address)),)
    elif (named := label_of(words, address)) != words:
        label = (*label, Node(Kind.TEXT, text=named.removeprefix(words)))
    yield Node(Kind.LINK, label, detail=address)


def _drop_links(parts: Iterable[Node]) -> Iterator[Node]:
    """Yield the parts of a label: an address in it is text, since links do not nest."""
    for part in parts:
        if part.kind is Kind.LINK:
            yield from _drop_links(part.children)
        elif part.kind is Kind.CODE or not part.children:
            yield part
        else:
            yield replace(part, children=tuple(_drop_links(part.children)))


def _link_addresses(content: str, site: Site) -> Iterator[Node]:
    """Yield a text with its addresses as links, or as code where they lead elsewhere."""
    at = 0
    for match in _ADDRESS_PATTERN.finditer(content):
        url = match[0].rstrip(_ENDS_OF_SENTENCES)
        if match.start() > at:
            yield Node(Kind.TEXT, text=content[at : match.start()])
        if address := site.find_address(url):
            yield Node(Kind.LINK, (Node(Kind.TEXT, text=url),), detail=address)
        else:
            yield Node(Kind.CODE, text=without_scheme(url))
        at = match.start() + len(url)
    if at < len(content):
        yield Node(Kind.TEXT, text=content[at:])


# ---- clipping


def clip_node(node: Node, length: int) -> tuple[Node, int]:
    """Return a part with at most ``length`` characters of text, and how many are left."""
    if node.text or not node.children:
        text = clip(node.text, length) if len(node.text) > length else node.text
        return replace(node, text=text), length - len(text)
    children: list[Node] = []
    for child in node.children:
        if length <= 0:
            break
        made, length = clip_node(child, length)
        children.append(made)
    return replace(node, children=tuple(children)), length


def is_blank(node: Node) -> bool:
    """Return whether a part has no visible text."""
    return not format_for_speech(node).strip()


# ---- writing Markdown


def write(node: Node, length: int, *, end: str) -> str:
    """Return a document in Markdown of at most ``length`` characters.

    ``end`` follows where it was clipped.
    """
    whole = "\n\n".join(_write_blocks(node.children))
    if len(whole) <= length:
        return whole
    room = length
    for _ in range(_MAX_WRITES):
        made, _left = clip_node(node, room)
        text = "\n\n".join([*_write_blocks(made.children), end])
        if len(text) <= length:
            return text
        room = max(room * length // len(text) - len(end), 0)
    return end


def _write_blocks(blocks: Sequence[Node]) -> Iterator[str]:
    for block in blocks:
        if text := _write_block(block):
            yield text


def _write_block(node: Node) -> str:
    match node.kind:
        case Kind.HEADING:
            return f"{'#' * node.number} {_join_lines(_write_inline(node.children))}"
        case Kind.CODE_BLOCK:
            fence = "`" * max(3, _count_longest_run(node.text) + 1)
            return f"{fence}{node.detail}\n{_CALL_PATTERN.sub('‹', node.text)}\n{fence}"
        case Kind.QUOTE:
            inside = "\n\n".join(_write_blocks(node.children))
            return "\n".join(f"> {line}".rstrip() for line in inside.split("\n"))
        case Kind.LIST:
            return "\n".join(_write_items(node))
        case Kind.TABLE:
            return "\n".join(_write_rows(node))
        case Kind.RULE:
            return "---"
        case _:
            return _write_paragraph(_write_inline(node.children or (node,)))


def _write_paragraph(text: str) -> str:
    """Return lines of a paragraph, of which none begins another kind of block."""
    lines = "\n".join(line.strip(" \t") for line in text.split("\n"))
    return _LINE_START_PATTERN.sub(_escape_start, lines)


def _escape_start(match: re.Match[str]) -> str:
    return f"\\{match[1]}" if match[1] else f"{match[2]}\\"


def _write_items(node: Node) -> Iterator[str]:
    for place, item in enumerate(node.children):
        mark = f"{node.number + place}. " if node.number else "- "
        inside = "\n".join(_write_blocks(item.children))
        indented = inside.replace("\n", f"\n{' ' * len(mark)}")
        yield f"{mark}{indented}".rstrip()


def _write_rows(node: Node) -> Iterator[str]:
    for place, row in enumerate(node.children):
        cells = [_format_cell(_join_lines(_write_inline(cell.children))) for cell in row.children]
        yield f"| {' | '.join(cells)} |"
        if place == 0:
            yield f"| {' | '.join('---' for _ in cells)} |"


def _format_cell(text: str) -> str:
    """Return a cell without a bar that would end it, also in code."""
    return re.sub(r"(?<!\\)\|", r"\\|", text)


def _write_inline(parts: Sequence[Node]) -> str:
    text = ""
    for part in _merge_parts(parts):
        if part.kind is Kind.LINK and text.endswith("!"):
            text = f"{text[:-1]}\\!"  # otherwise the link would be a picture
        text += _write_part(part)
    return text


def _merge_parts(parts: Sequence[Node]) -> list[Node]:
    """Return parts with neighbours of one kind as one, since their marks would run together."""
    made: list[Node] = []
    for part in parts:
        if made and part.kind in _MARKS and made[-1].kind is part.kind:
            made[-1] = replace(part, children=(*made[-1].children, *part.children))
        else:
            made.append(part)
    return made


_MARKS = {Kind.STRONG: "**", Kind.EMPHASIS: "*", Kind.STRIKE: "~~"}


def _write_part(part: Node) -> str:
    match part.kind:
        case Kind.TEXT:
            return _SPECIAL_PATTERN.sub(r"\\\g<0>", _CALL_PATTERN.sub("‹", part.text))
        case Kind.LINE_END:
            return "\n"
        case Kind.CODE:
            return _write_code(part.text)
        case Kind.LINK:
            label = _join_lines(_write_inline(part.children))
            address = _ENTITY_END_PATTERN.sub(r"\1%3B", part.detail.translate(_ENCODED_IN_ADDRESS))
            return f"[{label}]({address})"
    inside = _write_inline(part.children)
    mark = _MARKS.get(part.kind)
    words = inside.strip()
    if mark is None or not words:
        return inside
    before = inside[: len(inside) - len(inside.lstrip())]
    after = inside[len(inside.rstrip()) :]
    return f"{before}{mark}{words}{mark}{after}"


def _write_code(text: str) -> str:
    line = _join_lines(_CALL_PATTERN.sub("‹", text))
    if not line:
        return ""
    fence = "`" * (_count_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _count_longest_run(text: str) -> int:
    """Return the length of the longest run of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)


def _join_lines(text: str) -> str:
    return " ".join(text.split())


# ---- reading aloud, and Slack's mrkdwn


@dataclass(frozen=True, slots=True)
class _Reading:
    """How a tree becomes text: for ears, or for a section of mrkdwn."""

    is_mrkdwn: bool

    def text(self, text: str) -> str:
        return unmarked(text) if self.is_mrkdwn else escape(text)

    def code(self, text: str) -> str:
        if not self.is_mrkdwn or not text.strip():
            return escape(text)
        return f"`{escape(_join_lines(text)).replace('`', chr(39))}`"

    def code_block(self, text: str) -> str:
        if not self.is_mrkdwn:
            return escape(text)
        return f"```\n{escape(text).replace('```', chr(39) * 3)}\n```"

    def whole(self, node: Node) -> str:
        is_document = node.kind is Kind.DOCUMENT
        return self.blocks(node.children) if is_document else self.block(node)

    def blocks(self, blocks: Sequence[Node]) -> str:
        return "\n".join(filter(None, map(self.block, blocks)))

    def block(self, node: Node) -> str:
        match node.kind:
            case Kind.CODE_BLOCK:
                return self.code_block(node.text)
            case Kind.QUOTE if self.is_mrkdwn:
                return _quote_lines(self.blocks(node.children))
            case Kind.QUOTE:
                return self.blocks(node.children)
            case Kind.LIST:
                return "\n".join(self._items(node))
            case Kind.TABLE:
                return "\n".join(self._rows(node))
            case Kind.RULE:
                return ""
            case Kind.HEADING if self.is_mrkdwn:
                return f"*{_join_lines(self.inline(node.children))}*"
            case _:
                return self.inline(node.children or (node,))

    def _items(self, node: Node) -> Iterator[str]:
        for place, item in enumerate(node.children):
            mark = f"{node.number + place}. " if node.number else "• "
            yield f"{mark}{self.blocks(item.children)}".replace("\n", "\n  ")

    def _rows(self, node: Node) -> Iterator[str]:
        """Yield each row with the names of its columns."""
        names: list[str] = []
        for row in node.children:
            cells = [_join_lines(self.inline(cell.children)) for cell in row.children]
            if not names:
                names = cells
                continue
            named = zip(names, cells, strict=False)
            parts = (f"{name}: {cell}" if name else cell for name, cell in named if cell)
            yield f"{', '.join(parts)}."

    def inline(self, parts: Sequence[Node]) -> str:
        return "".join(map(self.part, parts))

    def part(self, part: Node) -> str:
        match part.kind:
            case Kind.TEXT:
                return self.text(part.text)
            case Kind.CODE:
                return self.code(part.text)
            case Kind.LINE_END:
                return "\n"
            case Kind.LINK:
                label = _join_lines(self.inline(part.children))
                return f"<{address_in_link(part.detail)}|{label}>"
            case _:
                return self.inline(part.children)


def _quote_lines(mrkdwn: str) -> str:
    return "\n".join(f"&gt; {line}" for line in mrkdwn.split("\n"))


def format_for_speech(node: Node) -> str:
    """Return a part as escaped text without marks, for notifications and screen readers."""
    return _Reading(is_mrkdwn=False).whole(node)


def to_mrkdwn(node: Node) -> str:
    """Return a part in Slack's mrkdwn, for where a workspace refuses the block of Markdown."""
    return _Reading(is_mrkdwn=True).whole(node)
