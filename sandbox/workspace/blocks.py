"""Check blocks and modals against Slack's rules; report violations in Slack's format.

https://docs.slack.dev/reference/block-kit/blocks · https://docs.slack.dev/reference/views/modal-views
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

Block = Mapping[str, Any]
Complaints = Iterator[str]

_MESSAGE_ONLY = {
    "markdown",
    "task_card",
    "plan",
    "context_actions",
    "data_table",
    "data_visualization",
    "table",
}
_MODAL_ONLY = {"alert"}
_RENDERED_LENGTH = 13_200
"""Slack rejects messages above about this length; it documents no figure."""
_TABLE_LENGTHS = {"table": 10_000, "data_table": 20_000}
"""Characters in the cells of all tables of a message, by the kind of block.

https://docs.slack.dev/reference/block-kit/blocks/table-block ·
https://docs.slack.dev/reference/block-kit/blocks/data-table-block
"""


def message_complaints(blocks: Any) -> list[str]:
    """Return the reasons why Slack would reject these blocks in a message; empty if they are valid."""
    if not isinstance(blocks, list):
        return ["must be a list [json-pointer:/blocks]"]
    found = [] if len(blocks) <= 50 else ["no more than 50 items allowed [json-pointer:/blocks]"]
    return found + _collect(_blocks(blocks, _MODAL_ONLY), "/blocks")


def view_complaints(view: Any) -> list[str]:
    """Return the reasons why Slack would reject this modal; empty if it is valid."""
    if not isinstance(view, dict) or view.get("type") != "modal":
        return ["unsupported type [json-pointer:/view/type]"]
    return _collect(_view(view), "/view")


def _view(view: Block) -> Complaints:
    blocks = view.get("blocks")
    if not isinstance(blocks, list) or len(blocks) > 100:
        yield "must be a list of at most 100 [json-pointer:/view/blocks]"
        return
    yield from _blocks(blocks, _MESSAGE_ONLY)
    for key in ("title", "submit", "close"):
        if key in view or key == "title":
            yield from _text(view.get(key), 24, f"/view/{key}", ("plain_text",))
    for key, longest in (("private_metadata", 3000), ("callback_id", 255), ("external_id", 255)):
        yield from _string(view.get(key) or "", longest, f"/view/{key}", 0)
    if any(block.get("type") == "input" for block in blocks) and "submit" not in view:
        yield "missing required field: submit [json-pointer:/view]"


def _collect(complaints: Complaints, where: str) -> list[str]:
    """Return the complaints as a list; a value of an unexpected type is a complaint too."""
    found: list[str] = []
    try:
        found.extend(complaints)
    except (AttributeError, KeyError, IndexError, TypeError):
        found.append(f"invalid shape [json-pointer:{where}]")
    return found


def rendered_length(blocks: Any) -> int:
    """Return the length of blocks as Slack counts it: entities in full, and 100 more for each header."""
    if isinstance(blocks, list):
        return sum(rendered_length(each) for each in blocks)
    if not isinstance(blocks, dict):
        return 0
    extra = 100 if blocks.get("type") == "header" else 0
    text = blocks.get("text")
    if isinstance(text, str):
        entities = (
            0 if blocks.get("type") == "mrkdwn" else 4 * text.count("&") + 3 * sum(map(text.count, "<>"))
        )
        return len(text) + entities + extra
    inner = ("text", "elements", "fields", "rows", "accessory", "title", "child_blocks")
    return extra + sum(rendered_length(blocks[key]) for key in inner if key in blocks)


def too_long(blocks: Any) -> bool:
    """Return whether the whole message is longer than Slack accepts."""
    return rendered_length(blocks) > _RENDERED_LENGTH


def _blocks(blocks: list[Any], refused: set[str]) -> Complaints:
    ids = [block["block_id"] for block in blocks if isinstance(block, dict) and block.get("block_id")]
    if len(ids) != len(set(ids)):
        yield "`block_id` must be unique [json-pointer:/blocks]"
    if (
        sum(1 for block in blocks if isinstance(block, dict) and block.get("type") == "data_visualization")
        > 2
    ):
        yield "no more than 2 data_visualization blocks [json-pointer:/blocks]"
    for table, longest in _TABLE_LENGTHS.items():
        if _cells_length(blocks, table) > longest:
            yield f"tables must be less than {longest + 1} characters in all [json-pointer:/blocks]"
    for at, block in enumerate(blocks):
        where = f"/blocks/{at}"
        check = _CHECKS.get(block.get("type", "")) if isinstance(block, dict) else None
        if check is None or block["type"] in refused:
            kind = block.get("type") if isinstance(block, dict) else block
            yield f"unsupported type: {kind} [json-pointer:{where}/type]"
            continue
        if len(block.get("block_id") or "") > 255:
            yield f"must be less than 256 characters [json-pointer:{where}/block_id]"
        yield from check(block, where)


def _cells_length(blocks: list[Any], kind: str) -> int:
    """Return the length of all cells in the tables of a kind."""
    tables = [block for block in blocks if isinstance(block, dict) and block.get("type") == kind]
    return sum(rendered_length(row) for table in tables for row in table.get("rows") or [])


def refused_kinds(blocks: Any, refused: Collection[str]) -> list[str]:
    """Return the kinds of block in a message that its workspace does not have."""
    given = blocks if isinstance(blocks, list) else []
    return [
        str(block.get("type"))
        for block in given
        if isinstance(block, dict) and str(block.get("type")) in refused
    ]


def _text(
    value: Any, longest: int, where: str, kinds: tuple[str, ...] = ("plain_text", "mrkdwn")
) -> Complaints:
    if not isinstance(value, dict) or value.get("type") not in kinds:
        yield f"must be a text object of {' or '.join(kinds)} [json-pointer:{where}]"
        return
    yield from _string(value.get("text"), longest, f"{where}/text")


def _string(value: Any, longest: int, where: str, shortest: int = 1) -> Complaints:
    if not isinstance(value, str) or len(value) < shortest:
        yield f"must be more than {shortest - 1} characters [json-pointer:{where}]"
    elif len(value) > longest:
        yield f"must be less than {longest + 1} characters [json-pointer:{where}]"


def _section(block: Block, where: str) -> Complaints:
    if "text" not in block and "fields" not in block:
        yield f"missing required field: text [json-pointer:{where}]"
    if "text" in block:
        yield from _text(block["text"], 3000, f"{where}/text")
    fields = block.get("fields", [])
    if len(fields) > 10:
        yield f"no more than 10 items allowed [json-pointer:{where}/fields]"
    for at, field in enumerate(fields):
        yield from _text(field, 2000, f"{where}/fields/{at}")
    if "accessory" in block:
        yield from _element(block["accessory"], f"{where}/accessory")


def _header(block: Block, where: str) -> Complaints:
    yield from _text(block.get("text"), 150, f"{where}/text", ("plain_text",))


def _context(block: Block, where: str) -> Complaints:
    elements = block.get("elements") or []
    if not 1 <= len(elements) <= 10:
        yield f"must have 1 to 10 items [json-pointer:{where}/elements]"
    for at, element in enumerate(elements):
        if element.get("type") != "image":
            yield from _text(element, 3000, f"{where}/elements/{at}")


def _actions(block: Block, where: str) -> Complaints:
    elements = block.get("elements") or []
    most = 5 if block.get("type") == "context_actions" else 25
    if not 1 <= len(elements) <= most:
        yield f"must have 1 to {most} items [json-pointer:{where}/elements]"
    ids = [element.get("action_id") for element in elements]
    if len(ids) != len(set(ids)):
        yield f"`action_id` must be unique [json-pointer:{where}/elements]"
    for at, element in enumerate(elements):
        yield from _element(element, f"{where}/elements/{at}")


def _element(element: Any, where: str) -> Complaints:
    kind = element.get("type") if isinstance(element, dict) else None
    if kind not in _ELEMENTS:
        yield f"unsupported type: {kind} [json-pointer:{where}/type]"
        return
    if "action_id" in element:
        yield from _string(element["action_id"], 255, f"{where}/action_id")
    if kind == "button":
        yield from _button(element, where)
    if "placeholder" in element:
        yield from _text(element["placeholder"], 150, f"{where}/placeholder", ("plain_text",))
    if "options" in element:
        yield from _options(element["options"], where)


def _button(element: Block, where: str) -> Complaints:
    yield from _text(element.get("text"), 75, f"{where}/text", ("plain_text",))
    if "value" in element:
        yield from _string(element["value"], 2000, f"{where}/value", 0)
    if "url" in element:
        yield from _string(element["url"], 3000, f"{where}/url")
        if not str(element["url"]).startswith(("http://", "https://", "mailto:")):
            yield f"must be a valid url [json-pointer:{where}/url]"
    if element.get("style") not in (None, "primary", "danger"):
        yield f"unsupported style [json-pointer:{where}/style]"


def _options(options: Any, where: str) -> Complaints:
    if not isinstance(options, list) or not 1 <= len(options) <= 100:
        yield f"must have 1 to 100 items [json-pointer:{where}/options]"
        return
    for at, option in enumerate(options):
        yield from _text(option.get("text"), 75, f"{where}/options/{at}/text")
        yield from _string(option.get("value"), 150, f"{where}/options/{at}/value")


def _input(block: Block, where: str) -> Complaints:
    yield from _text(block.get("label"), 2000, f"{where}/label", ("plain_text",))
    if "hint" in block:
        yield from _text(block["hint"], 2000, f"{where}/hint", ("plain_text",))
    element = block.get("element") or {}
    yield from _element(element, f"{where}/element")
    longest = element.get("max_length", 3000)
    if not 1 <= longest <= 3000:
        yield f"must be at most 3000 [json-pointer:{where}/element/max_length]"
    if len(element.get("initial_value") or "") > longest:
        yield f"must be less than {longest + 1} characters [json-pointer:{where}/element/initial_value]"


def _image(block: Block, where: str) -> Complaints:
    yield from _string(block.get("alt_text"), 2000, f"{where}/alt_text")
    if "slack_file" not in block:
        yield from _string(block.get("image_url"), 3000, f"{where}/image_url")


_RICH_PARTS = {"rich_text_section", "rich_text_quote", "rich_text_preformatted", "rich_text_list"}
_RICH_PIECES = {"text", "link", "user", "channel", "usergroup", "emoji", "broadcast", "date", "color"}


def _rich_text(block: Block, where: str) -> Complaints:
    for at, part in enumerate(block.get("elements") or [{}]):
        inside = f"{where}/elements/{at}"
        if part.get("type") not in _RICH_PARTS:
            yield f"unsupported type: {part.get('type')} [json-pointer:{inside}]"
            continue
        for number, piece in enumerate(part.get("elements") or []):
            kinds = {"rich_text_section"} if part["type"] == "rich_text_list" else _RICH_PIECES
            if piece.get("type") not in kinds:
                yield f"unsupported type: {piece.get('type')} [json-pointer:{inside}/elements/{number}]"
            elif piece["type"] == "text":
                yield from _string(piece.get("text"), 12_000, f"{inside}/elements/{number}/text")


def _markdown(block: Block, where: str) -> Complaints:
    yield from _string(block.get("text"), 12_000, f"{where}/text")


def _table(block: Block, where: str) -> Complaints:
    rows = block.get("rows") or []
    is_data = block.get("type") == "data_table"
    fewest_rows, most_rows = (2, 201) if is_data else (1, 100)
    if not fewest_rows <= len(rows) <= most_rows or any(len(row) != len(rows[0]) for row in rows):
        yield f"must have {fewest_rows} to {most_rows} rows of equal length [json-pointer:{where}/rows]"
        return
    if not 1 <= len(rows[0]) <= 20:
        yield f"must have 1 to 20 columns [json-pointer:{where}/rows/0]"
    if is_data:
        yield from _string(block.get("caption"), 3000, f"{where}/caption")
        if not 1 <= block.get("page_size", 5) <= 100:
            yield f"must be 1 to 100 [json-pointer:{where}/page_size]"
    for at, row in enumerate(rows):
        for number, cell in enumerate(row):
            yield from _cell(cell, f"{where}/rows/{at}/{number}", in_data_head=is_data and at == 0)


def _cell(cell: Block, where: str, *, in_data_head: bool) -> Complaints:
    kind = cell.get("type")
    if kind not in ("raw_text", "raw_number", "rich_text") or (kind == "rich_text" and in_data_head):
        yield f"unsupported type: {kind} [json-pointer:{where}]"
    elif kind == "raw_text":
        yield from _string(cell.get("text"), 3000, f"{where}/text")
    elif kind == "raw_number" and not _is_number(cell.get("value")):
        yield f"must be a number [json-pointer:{where}/value]"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _chart(block: Block, where: str) -> Complaints:
    yield from _string(block.get("title"), 50, f"{where}/title")
    chart = block.get("chart") or {}
    if chart.get("type") == "pie":
        segments = chart.get("segments") or []
        if not 1 <= len(segments) <= 12 or any(segment.get("value", 0) <= 0 for segment in segments):
            yield f"must have 1 to 12 segments above zero [json-pointer:{where}/chart/segments]"
        for at, segment in enumerate(segments):
            yield from _string(segment.get("label"), 20, f"{where}/chart/segments/{at}/label")
        return
    if chart.get("type") not in ("bar", "line", "area"):
        yield f"unsupported type: {chart.get('type')} [json-pointer:{where}/chart/type]"
        return
    categories = (chart.get("axis_config") or {}).get("categories") or []
    series = chart.get("series") or []
    if not 1 <= len(series) <= 12 or not 1 <= len(categories) <= 20:
        yield f"must have 1 to 12 series and 1 to 20 categories [json-pointer:{where}/chart]"
    if len({one.get("name") for one in series}) != len(series):
        yield f"`name` must be unique [json-pointer:{where}/chart/series]"
    for label in ("x_label", "y_label"):
        named = (chart.get("axis_config") or {}).get(label) or ""
        yield from _string(named, 50, f"{where}/chart/axis_config/{label}", 0)
    for at, one in enumerate(series):
        yield from _string(one.get("name"), 20, f"{where}/chart/series/{at}/name")
        if [point.get("label") for point in one.get("data") or []] != categories:
            yield f"must have one point for each category [json-pointer:{where}/chart/series/{at}/data]"
        elif not all(_is_number(point.get("value")) for point in one["data"]):
            yield f"must be numbers [json-pointer:{where}/chart/series/{at}/data]"
    for at, category in enumerate(categories):
        yield from _string(category, 20, f"{where}/chart/axis_config/categories/{at}")


def _alert(block: Block, where: str) -> Complaints:
    yield from _text(block.get("text"), 200, f"{where}/text")


def _anything(_block: Block, _where: str) -> Complaints:
    yield from ()


_SELECTS = ("static_select", "users_select", "conversations_select", "channels_select", "external_select")
_ELEMENTS = {
    *("button", "overflow", "image", "checkboxes", "radio_buttons", "datepicker", "timepicker"),
    *(
        "plain_text_input",
        "number_input",
        "email_text_input",
        "url_text_input",
        "feedback_buttons",
        "icon_button",
    ),
    *_SELECTS,
    *(f"multi_{name}" for name in _SELECTS),
}
_CHECKS: dict[str, Callable[[Block, str], Complaints]] = {
    "section": _section,
    "header": _header,
    "divider": _anything,
    "context": _context,
    "actions": _actions,
    "context_actions": _actions,
    "input": _input,
    "image": _image,
    "rich_text": _rich_text,
    "markdown": _markdown,
    "table": _table,
    "data_table": _table,
    "data_visualization": _chart,
    "alert": _alert,
    "card": _anything,
    "carousel": _anything,
    "container": _anything,
    "task_card": _anything,
    "plan": _anything,
}
