"""Slack's rules for messages and dialogues, written down a second time, for tests alone.

https://docs.slack.dev/reference/block-kit/blocks · https://docs.slack.dev/reference/views/modal-views
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from bot.model.message import Message

BROADCASTS = re.compile(r"<!(?:here|channel|everyone|subteam)")
USER_MENTION = re.compile(r"<@([A-Z0-9]+)(?:\|[^>]*)?>")
LINK = re.compile(r"<(?![@!#])([^|>]*)[^>]*>")
FLAGS = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:{})\U000e007f".format(
        "|".join(
            (
                "\U000e0065\U000e006e\U000e0067",
                "\U000e0073\U000e0063\U000e0074",
                "\U000e0077\U000e006c\U000e0073",
            )
        )
    )
)
LOOKS = "\ufe0e\ufe0f"
MESSAGE_TYPES = {
    *("section", "context", "actions", "rich_text", "divider", "header"),
    *("data_table", "data_visualization"),
}
MODAL_TYPES = {"section", "input", "context", "divider", "header", "rich_text"}

SHOWN = (
    *("text", "elements", "fields", "element", "accessory", "placeholder", "options", "caption", "rows"),
    *("title", "chart", "series", "name", "data", "label", "axis_config", "categories", "x_label", "y_label"),
)
"""Where words that a reader sees can stand."""


@dataclass(frozen=True)
class Allowed:
    """Who may be pinged, and where links may lead."""

    users: Collection[str]
    addresses: Collection[str | None] = ()


def problems_of(message: Message, allowed: Allowed) -> list[str]:
    """Everything that Slack would refuse, or that could harm a reader."""
    found = [*_text(message.text, 40_000, "text"), *_harm(message.text, allowed, "text")]
    for name, blocks in (("blocks", message.blocks), ("plain_blocks", message.plain_blocks)):
        if len(blocks) > 50:
            found.append(f"{name}: {len(blocks)} blocks")
        if (size := rendered(blocks)) > 12_000:
            found.append(f"{name}: {size} characters in all")
        found += [f"{name}: {what}" for what in _together(blocks)]
        for at, block in enumerate(blocks):
            found += [f"{name}[{at}] {what}" for what in _block(block, MESSAGE_TYPES, allowed)]
    sent = [message.text, list(message.blocks), list(message.plain_blocks)]
    json.dumps(sent, ensure_ascii=False).encode("utf-8")
    return found


def modal_problems(view: Mapping[str, Any]) -> list[str]:
    """Everything that Slack would refuse in a dialogue."""
    found = [part for key in ("title", "submit", "close") for part in _text(view[key]["text"], 24, key)]
    found += ["private_metadata too long"] if len(view["private_metadata"]) > 3000 else []
    found += ["blocks"] if not 1 <= len(view["blocks"]) <= 100 else []
    json.dumps(view, ensure_ascii=False).encode("utf-8")
    for at, block in enumerate(view["blocks"]):
        found += [f"[{at}] {what}" for what in _block(block, MODAL_TYPES, Allowed(()))]
    return found


def _text(text: str, longest: int, name: str) -> Iterator[str]:
    if not text:
        yield f"{name} is empty"
    if len(text) > longest:
        yield f"{name} has {len(text)} characters"
    if is_hiding(text):
        yield f"{name} hides something"


def is_hiding(text: str) -> bool:
    """Whether there is a character in the text that nobody sees, other than those that belong to an emoji."""
    text = FLAGS.sub("", text)
    odd = {sign for sign in set(text) if not sign.isprintable() or _varies(sign)}
    return bool(odd) and any(_is_unseen(text, at) for at, sign in enumerate(text) if sign in odd)


def _is_unseen(text: str, at: int) -> bool:
    sign, before, after = text[at], text[max(at - 3, 0) : at], text[at + 1 : at + 2]
    if _varies(sign):
        return sign not in LOOKS or not (_is_symbol(before[-1:]) or after == "\u20e3")
    if sign == "\u200d":
        return not (_is_symbol(before.rstrip(LOOKS)[-1:]) and _is_symbol(after))
    return unicodedata.category(sign) in ("Cc", "Cf", "Cs") and sign not in "\n\t"


def _varies(sign: str) -> bool:
    return "VARIATION SELECTOR" in unicodedata.name(sign, "")


def _is_symbol(sign: str) -> bool:
    return bool(sign) and (unicodedata.category(sign) in ("So", "Sm", "Sk") or sign in "‼⁉〰ℹ")


def _harm(mrkdwn: str, allowed: Allowed, name: str) -> Iterator[str]:
    if BROADCASTS.search(mrkdwn):
        yield f"{name} pings everybody"
    for user in USER_MENTION.findall(mrkdwn):
        if user not in allowed.users:
            yield f"{name} pings {user}"
    for address in LINK.findall(mrkdwn):
        if not address.startswith(("http://", "https://")) or not _leads_to(address, allowed.addresses):
            yield f"{name} has a link to {address[:40]!r}"


def _leads_to(address: str, addresses: Collection[str | None]) -> bool:
    return unquote(address.replace("&amp;", "&")) in {unquote(each or "") for each in addresses}


def rendered(value: Any) -> int:
    """Characters as Slack counts them: plain words with ``&<>`` as entities; mrkdwn has them already.

    Every word that a reader sees anywhere is counted, since Slack does not say which ones it counts.
    """
    if isinstance(value, list | tuple):
        return sum(rendered(each) for each in value)
    if isinstance(value, str):
        return _escaped(value)
    if not isinstance(value, Mapping):
        return 0
    if value.get("type") == "mrkdwn":
        return len(value["text"])
    return sum(rendered(value[key]) for key in SHOWN if key in value)


def _escaped(text: str) -> int:
    return len(text) + 4 * text.count("&") + 3 * (text.count("<") + text.count(">"))


def _together(blocks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What a message may hold only so much of."""
    if sum(block.get("type") == "data_visualization" for block in blocks) > 2:
        yield "more than two charts"
    cells = [cell["text"] for block in blocks for row in block.get("rows", []) for cell in row]
    if sum(map(_escaped, cells)) > 20_000:
        yield "more than 20,000 characters in tables"


def _block(block: Mapping[str, Any], types: set[str], allowed: Allowed) -> Iterator[str]:
    kind = block.get("type")
    if kind not in types:
        yield f"type {kind}"
    match kind:
        case "section":
            yield from _section(block, allowed)
        case "data_table":
            yield from _table(block)
        case "data_visualization":
            yield from _text(block["title"], 50, "chart title")
            yield from _chart(block["chart"])
        case "context":
            if not 1 <= len(block["elements"]) <= 10:
                yield "elements"
            for element in block["elements"]:
                yield from _object(element, allowed)
        case "actions":
            yield from _actions(block["elements"], allowed)
        case "rich_text":
            for element in block["elements"]:
                for piece in element["elements"]:
                    yield from (
                        _text(piece["text"], 12_000, "rich text")
                        if piece["type"] == "text"
                        else [piece["type"]]
                    )
        case "input":
            yield from _input(block)


def _section(block: Mapping[str, Any], allowed: Allowed) -> Iterator[str]:
    if "text" not in block and "fields" not in block:
        yield "a section without words"
    if "text" in block:
        yield from _object(block["text"], allowed)
    if "fields" in block and not 1 <= len(block["fields"]) <= 10:
        yield "fields"
    for field in block.get("fields", []):
        yield from _object(field, allowed)
        yield from _text(field["text"], 2000, "field")
    if "accessory" in block:
        yield from _element(block["accessory"], allowed)


def _table(block: Mapping[str, Any]) -> Iterator[str]:
    """https://docs.slack.dev/reference/block-kit/blocks/data-table-block"""
    yield from _text(block["caption"], 3000, "caption")
    rows = block["rows"]
    if not 2 <= len(rows) <= 201 or not 1 <= len(rows[0]) <= 20:
        yield f"a table of {len(rows)} rows"
    if {len(row) for row in rows} != {len(rows[0])}:
        yield "rows of different length"
    if not 1 <= block.get("page_size", 5) <= 100:
        yield "page size"
    if not 0 <= block.get("row_header_column_index", 0) < len(rows[0]):
        yield "row header"
    for cell in (cell for row in rows for cell in row):
        yield from _text(cell["text"], 3000, "cell")
        if cell["type"] == "raw_number":
            yield from _number(cell["value"], "cell")
        elif cell["type"] != "raw_text":
            yield f"cell of type {cell['type']}"
    for column in zip(*rows[1:], strict=False):
        if len({cell["type"] for cell in column}) > 1:
            yield "a column that sorts neither as numbers nor as words"


def _chart(chart: Mapping[str, Any]) -> Iterator[str]:
    """https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block"""
    axes, series = chart["axis_config"], chart["series"]
    labels, names = axes["categories"], [each["name"] for each in series]
    if chart["type"] not in ("line", "bar", "area"):
        yield f"chart of type {chart['type']}"
    if not 1 <= len(series) <= 12 or not 1 <= len(labels) <= 20:
        yield f"{len(series)} series of {len(labels)} points"
    if len(set(names)) < len(names) or len(set(labels)) < len(labels):
        yield "names or labels of a chart repeat"
    for label in (*names, *labels):
        yield from _text(label, 20, "chart label")
    for key in ("x_label", "y_label"):
        yield from _text(axes.get(key, "none"), 50, key)
    for each in series:
        if [point["label"] for point in each["data"]] != labels:
            yield "not one point for each label"
        for point in each["data"]:
            yield from _number(point["value"], "point")


def _number(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield f"{name}: {value!r} is no number"


def _object(text: Mapping[str, Any], allowed: Allowed) -> Iterator[str]:
    yield from _text(text["text"], 3000, "text object")
    if text["type"] == "mrkdwn":
        yield from _harm(text["text"], allowed, "text object")
        if text.get("verbatim") is not True:
            yield "text object: Slack may make mentions out of plain words"


def _actions(elements: list[Mapping[str, Any]], allowed: Allowed) -> Iterator[str]:
    if not 1 <= len(elements) <= 25:
        yield "elements"
    if len({element["action_id"] for element in elements}) != len(elements):
        yield "action ids repeat"
    for element in elements:
        yield from _element(element, allowed)


def _element(element: Mapping[str, Any], allowed: Allowed) -> Iterator[str]:
    if not 1 <= len(element["action_id"]) <= 255:
        yield "action id"
    match element["type"]:
        case "button":
            yield from _button(element, allowed)
        case "static_select":
            yield from _text(element["placeholder"]["text"], 150, "placeholder")
            yield from _options(element)
        case "overflow":
            yield from _options(element)
            if len(element["options"]) > 5:
                yield "entries of an overflow menu"
        case kind:
            yield f"element {kind}"


def _button(element: Mapping[str, Any], allowed: Allowed) -> Iterator[str]:
    yield from _text(element["text"]["text"], 75, "button")
    if len(element["value"]) > 2000:
        yield "button value"
    if element.get("style") not in (None, "primary", "danger"):
        yield "button style"
    url = element.get("url")
    if url is not None and (
        len(url) > 3000 or not url.startswith(("http://", "https://")) or url not in allowed.addresses
    ):
        yield f"button leads to {url[:40]!r}"


def _options(element: Mapping[str, Any]) -> Iterator[str]:
    if not 1 <= len(element["options"]) <= 100:
        yield "options"
    for option in element["options"]:
        yield from _text(option["text"]["text"], 75, "option")
        yield from _text(option["value"], 150, "option value")


def _input(block: Mapping[str, Any]) -> Iterator[str]:
    yield from _text(block["label"]["text"], 2000, "label")
    element = block["element"]
    if element["type"] == "plain_text_input":
        if len(element.get("initial_value", "")) > element.get("max_length", 3000):
            yield "initial value too long"
        if is_hiding(element.get("initial_value", "")):
            yield "initial value hides something"
        yield from _text(element["placeholder"]["text"], 150, "placeholder")
    if element["type"] in ("static_select", "checkboxes"):
        yield from _options(element)
