"""Check blocks and modals against Slack's rules; report violations in Slack's format.

https://docs.slack.dev/reference/block-kit/blocks · https://docs.slack.dev/reference/views/modal-views

A block or an element of a kind that the bot does not send is refused as unsupported.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sandbox.workspace.options import WorkspaceOptions
from sandbox.workspace.state import Json

Complaints = Iterator[str]
Check = Callable[[Any, str], Complaints]

_MESSAGE_ONLY = {"data_table", "data_visualization", "markdown"}
_MARKDOWN_LENGTH = 12_000
"""Characters in all blocks of Markdown together.

https://docs.slack.dev/reference/block-kit/blocks/markdown-block
"""
_RENDERED_LENGTH = 13_200
"""Slack rejects messages above about this length; it documents no figure."""
_VIEW_BYTES = 250_000
"""Slack rejects larger views; it documents no figure."""
_CELLS_LENGTH = 20_000
"""Characters in the cells of all tables of a message.

https://docs.slack.dev/reference/block-kit/blocks/data-table-block
"""


def message_complaints(blocks: Any) -> list[str]:
    """Return the reasons why Slack would reject these blocks in a message; empty if they are valid."""
    if not isinstance(blocks, list):
        return ["must be a list [json-pointer:/blocks]"]
    complaints = (
        [] if len(blocks) <= 50 else ["no more than 50 items allowed [json-pointer:/blocks]"]
    )
    return complaints + _collect(_blocks(blocks, set()), "/blocks")


def view_complaints(view: Any, kind: str = "modal") -> list[str]:
    """Return the reasons why Slack would reject this modal or Home tab; empty if it is valid."""
    if not isinstance(view, dict) or view.get("type") != kind:
        return ["unsupported type [json-pointer:/view/type]"]
    blocks = view.get("blocks")
    if not isinstance(blocks, list) or len(blocks) > 100:
        return ["must be a list of at most 100 [json-pointer:/view/blocks]"]
    if len(json.dumps(view)) > _VIEW_BYTES:
        return [f"must be less than {_VIEW_BYTES + 1} bytes [json-pointer:/view]"]
    check = _MODAL if kind == "modal" else _HOME
    complaints = _collect(_blocks(blocks, _MESSAGE_ONLY), "/view") + _collect(
        check(view, "/view"), "/view"
    )
    if (
        kind == "modal"
        and any(block.get("type") == "input" for block in blocks)
        and "submit" not in view
    ):
        complaints.append("missing required field: submit [json-pointer:/view]")
    return complaints


def _collect(complaints: Complaints, where: str) -> list[str]:
    """Return the complaints as a list; a value of an unexpected type is a complaint too."""
    found: list[str] = []
    try:
        found.extend(complaints)
    except (AttributeError, KeyError, IndexError, TypeError):
        found.append(f"invalid shape [json-pointer:{where}]")
    return found


def rendered_length(blocks: Any) -> int:
    """Return the length of blocks as Slack counts it: entities of plain text in full."""
    if isinstance(blocks, list):
        return sum(rendered_length(block) for block in blocks)
    if not isinstance(blocks, dict):
        return 0
    text = blocks.get("text")
    if isinstance(text, str):
        entities = 4 * text.count("&") + 3 * sum(map(text.count, "<>"))
        return len(text) + (0 if blocks.get("type") == "mrkdwn" else entities)
    return sum(
        rendered_length(blocks[key])
        for key in ("text", "elements", "rows", "accessory", "title")
        if key in blocks
    )


class BlocksRefused(Exception):
    """Slack rejects the blocks of a message; the message is its error code, ``complaints`` the reasons."""

    def __init__(self, code: str, complaints: list[str]) -> None:
        super().__init__(code)
        self.complaints = complaints


def checked(blocks: Any, options: WorkspaceOptions) -> list[Json] | None:
    """Return the blocks of a message with an id for each, or None; raise BlocksRefused."""
    if not blocks:
        return None
    kinds = [str(block.get("type")) for block in blocks if isinstance(block, dict)]
    if absent := [kind for kind in kinds if kind in options.refused_blocks]:
        raise BlocksRefused(options.refused_blocks_error, absent)
    if complaints := message_complaints(blocks):
        raise BlocksRefused("invalid_blocks", complaints)
    if rendered_length(blocks) > _RENDERED_LENGTH:
        raise BlocksRefused("msg_blocks_too_long", ["the message is too long"])
    return with_ids(blocks)


def with_ids(blocks: list[Json]) -> list[Json]:
    """Give each block an id that has none, and return them."""
    for number, block in enumerate(blocks):
        block.setdefault("block_id", f"b{number}")
    return blocks


def _blocks(blocks: list[Any], refused: set[str]) -> Complaints:
    objects = [block for block in blocks if isinstance(block, dict)]
    ids = [block["block_id"] for block in objects if block.get("block_id")]
    if len(ids) != len(set(ids)):
        yield "`block_id` must be unique [json-pointer:/blocks]"
    if [block.get("type") for block in objects].count("data_visualization") > 2:
        yield "no more than 2 data_visualization blocks [json-pointer:/blocks]"
    if sum(rendered_length(block.get("rows")) for block in objects) > _CELLS_LENGTH:
        yield f"tables must be less than {_CELLS_LENGTH + 1} characters in all [json-pointer:/blocks]"
    markdown = [str(block.get("text")) for block in objects if block.get("type") == "markdown"]
    if sum(map(len, markdown)) > _MARKDOWN_LENGTH:
        yield f"markdown must be less than {_MARKDOWN_LENGTH + 1} characters in all [json-pointer:/blocks]"
    checks = {kind: check for kind, check in _BLOCKS.items() if kind not in refused}
    for at, block in enumerate(blocks):
        yield from _of_type(checks, block, f"/blocks/{at}")


# The parts of the table: each returns a check of a value, which yields complaints about it.


def _string(longest: int, shortest: int = 1) -> Check:
    def check(value: Any, where: str) -> Complaints:
        if not isinstance(value, str) or len(value) < shortest:
            yield f"must be more than {shortest - 1} characters [json-pointer:{where}]"
        elif len(value) > longest:
            yield f"must be less than {longest + 1} characters [json-pointer:{where}]"

    return check


def _text(longest: int, *kinds: str) -> Check:
    return lambda value, where: _of_type(
        dict.fromkeys(kinds, _fields(text=_string(longest))), value, where
    )


def _list(fewest: int, most: int, check: Check, unique: str = "") -> Check:
    """Check a list and its items, which differ in the field ``unique``."""

    def check_all(value: Any, where: str) -> Complaints:
        if not isinstance(value, list) or not fewest <= len(value) <= most:
            yield f"must have {fewest} to {most} items [json-pointer:{where}]"
            return
        if unique and len({item.get(unique) for item in value}) != len(value):
            yield f"`{unique}` must be unique [json-pointer:{where}]"
        for at, item in enumerate(value):
            yield from check(item, f"{where}/{at}")

    return check_all


def _fields(optional: Mapping[str, Check] | None = None, **required: Check) -> Check:
    """Check the fields of an object: those that it must have, and those that it may have."""

    def check(value: Any, where: str) -> Complaints:
        checks = {name: one for name, one in (optional or {}).items() if name in value}
        for name, one in (required | checks).items():
            yield from one(value.get(name), f"{where}/{name}")

    return check


def _of_type(checks: Mapping[str, Check], value: Any, where: str) -> Complaints:
    kind: Any = value.get("type") if isinstance(value, dict) else value
    if not isinstance(value, dict) or kind not in checks:
        supported = f", not one of {', '.join(checks)}" if len(checks) < 3 else ""
        yield f"unsupported type: {kind}{supported} [json-pointer:{where}/type]"
        return
    yield from _fields({"block_id": _string(255), "action_id": _string(255)})(value, where)
    yield from checks[kind](value, where)


def _typed(checks: Mapping[str, Check]) -> Check:
    return lambda value, where: _of_type(checks, value, where)


def _holds(test: Callable[[Any], bool], complaint: str) -> Check:
    def check(value: Any, where: str) -> Complaints:
        if not test(value):
            yield f"{complaint} [json-pointer:{where}]"

    return check


def _both(*checks: Check) -> Check:
    def check(value: Any, where: str) -> Complaints:
        for one in checks:
            yield from one(value, where)

    return check


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# The table

_PLAIN = ("plain_text",)
_ANY_TEXT = ("plain_text", "mrkdwn")
_URL = _both(
    _string(3000),
    _holds(lambda url: str(url).startswith(("http://", "https://", "mailto:")), "must be a url"),
)
_OPTIONS = _list(1, 100, _fields(text=_text(75, *_ANY_TEXT), value=_string(150)))
_PLACEHOLDER = _text(150, *_PLAIN)
_ELEMENTS = {
    "button": _fields(
        {
            "value": _string(2000, 0),
            "url": _URL,
            "style": _holds(lambda style: style in ("primary", "danger"), "unsupported style"),
        },
        text=_text(75, *_PLAIN),
    ),
    "checkboxes": _fields(options=_OPTIONS),
    "conversations_select": _fields({"placeholder": _PLACEHOLDER}),
    "plain_text_input": _fields({"placeholder": _PLACEHOLDER}),
    "static_select": _fields({"placeholder": _PLACEHOLDER}, options=_OPTIONS),
}


def _input_length(block: Any, where: str) -> Complaints:
    longest = block["element"].get("max_length", 3000)
    if not 1 <= longest <= 3000:
        yield f"must be at most 3000 [json-pointer:{where}/element/max_length]"
    yield from _string(longest, 0)(
        block["element"].get("initial_value") or "", f"{where}/element/initial_value"
    )


def _style(style: Any, where: str) -> Complaints:
    if not style or any(name not in _STYLES or value is not True for name, value in style.items()):
        yield f"unsupported style [json-pointer:{where}]"


_STYLES = {"bold", "italic", "strike", "code"}
_WORDS = _list(0, 1000, _typed({"text": _fields({"style": _style}, text=_string(12_000))}))
_RICH = {
    "rich_text_quote": _fields(elements=_WORDS),
    "rich_text_section": _fields(elements=_WORDS),
    "rich_text_preformatted": _fields(
        elements=_list(0, 1000, _typed({"text": _fields(text=_string(12_000))}))
    ),
}
"""https://docs.slack.dev/reference/block-kit/blocks/rich-text-block"""
_CELLS = {
    "raw_text": _fields(text=_string(3000)),
    "raw_number": _fields(value=_holds(_is_number, "must be a number")),
}


def _rows(rows: Any, where: str) -> Complaints:
    if (
        not isinstance(rows, list)
        or not 2 <= len(rows) <= 201
        or len({len(row) for row in rows}) > 1
    ):
        yield f"must have 2 to 201 rows of equal length [json-pointer:{where}]"
        return
    for at, row in enumerate(rows):
        yield from _list(1, 20, _typed(_CELLS))(row, f"{where}/{at}")


def _line_chart(chart: Any, where: str) -> Complaints:
    axes, series = chart.get("axis_config") or {}, chart.get("series") or []
    categories = axes.get("categories") or []
    yield from _fields(categories=_list(1, 20, _string(20)))(axes, f"{where}/axis_config")
    yield from _list(1, 12, _fields(name=_string(20)), "name")(series, f"{where}/series")
    for at, one in enumerate(series):
        if [point.get("label") for point in one.get("data") or []] != categories:
            yield f"must have one point for each category [json-pointer:{where}/series/{at}/data]"
        elif not all(_is_number(point.get("value")) for point in one["data"]):
            yield f"must be numbers [json-pointer:{where}/series/{at}/data]"


_BLOCKS: dict[str, Check] = {
    "section": _fields({"accessory": _typed(_ELEMENTS)}, text=_text(3000, *_ANY_TEXT)),
    "context": _fields(elements=_list(1, 10, _typed({"mrkdwn": _fields(text=_string(3000))}))),
    "actions": _fields(elements=_list(1, 25, _typed(_ELEMENTS), "action_id")),
    "input": _both(
        _fields(
            {"hint": _text(2000, *_PLAIN)}, label=_text(2000, *_PLAIN), element=_typed(_ELEMENTS)
        ),
        _input_length,
    ),
    "markdown": _fields(text=_string(_MARKDOWN_LENGTH)),
    "rich_text": _fields(elements=_list(1, 1000, _typed(_RICH))),
    "data_table": _fields(
        {"page_size": _holds(lambda size: 1 <= size <= 100, "must be 1 to 100")},
        caption=_string(3000),
        rows=_rows,
    ),
    "data_visualization": _fields(title=_string(50), chart=_typed({"line": _line_chart})),
}
_IDS = {
    "private_metadata": _string(3000, 0),
    "callback_id": _string(255, 0),
    "external_id": _string(255, 0),
}
_MODAL = _fields(
    {"submit": _text(24, *_PLAIN), "close": _text(24, *_PLAIN), **_IDS}, title=_text(24, *_PLAIN)
)
_ABSENT = _holds(lambda _: False, "a Home tab has no such field")
_HOME = _fields(_IDS | dict.fromkeys(("title", "submit", "close"), _ABSENT))
