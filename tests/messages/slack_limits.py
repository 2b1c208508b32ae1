"""Slack's rules for messages and dialogues, written down a second time, for tests alone.

https://docs.slack.dev/reference/block-kit/blocks · https://docs.slack.dev/reference/views/modal-views
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from bot.model import Message

BROADCASTS = re.compile(r"<!(?:here|channel|everyone|subteam)")
USER_MENTION = re.compile(r"<@([A-Z0-9]+)(?:\|[^>]*)?>")
LINK = re.compile(r"<(?![@!#])([^|>]*)[^>]*>")
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
MESSAGE_TYPES = {"section", "context", "actions", "rich_text", "divider", "header"}
MODAL_TYPES = {"section", "input", "context", "divider", "header", "rich_text"}


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
        if (size := sum(_rendered(block) for block in blocks)) > 12_000:
            found.append(f"{name}: {size} characters in all")
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
    if HIDDEN.search(text):
        yield f"{name} hides something"


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


def _rendered(value: Any) -> int:
    """Characters as Slack counts them: plain words with ``&<>`` as entities; mrkdwn has them already."""
    if isinstance(value, list | tuple):
        return sum(_rendered(each) for each in value)
    if not isinstance(value, Mapping):
        return 0
    text = value.get("text")
    if isinstance(text, str):
        return len(text) if value["type"] == "mrkdwn" else _escaped(text)
    return sum(_rendered(value[key]) for key in ("text", "elements", "fields", "element") if key in value)


def _escaped(text: str) -> int:
    return len(text) + 4 * text.count("&") + 3 * (text.count("<") + text.count(">"))


def _block(block: Mapping[str, Any], types: set[str], allowed: Allowed) -> Iterator[str]:
    kind = block.get("type")
    if kind not in types:
        yield f"type {kind}"
    match kind:
        case "section":
            yield from _object(block["text"], allowed)
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
        yield from _text(element["text"]["text"], 75, "button")
        if len(element["value"]) > 2000 or len(element["action_id"]) > 255:
            yield "button value"
        url = element.get("url")
        if url is not None and (
            len(url) > 3000 or not url.startswith(("http://", "https://")) or url not in allowed.addresses
        ):
            yield f"button leads to {url[:40]!r}"


def _input(block: Mapping[str, Any]) -> Iterator[str]:
    yield from _text(block["label"]["text"], 2000, "label")
    element = block["element"]
    if element["type"] == "plain_text_input":
        if len(element.get("initial_value", "")) > element.get("max_length", 3000):
            yield "initial value too long"
        yield from _text(element["placeholder"]["text"], 150, "placeholder")
    for option in element.get("options", []):
        yield from _text(option["text"]["text"], 75, "option")
    if element["type"] == "static_select" and not 1 <= len(element["options"]) <= 100:
        yield "options"
