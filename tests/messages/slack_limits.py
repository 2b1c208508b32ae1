"""Check messages and dialogues for contents that Slack refuses or that could harm a reader."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from bot.ids import Message
from sandbox.workspace.blocks import message_complaints, view_complaints

BROADCASTS = re.compile(r"<!(?:here|channel|everyone|subteam)")
USER_MENTION = re.compile(r"<@([A-Z0-9]+)(?:\|[^>]*)?>")
LINK = re.compile(r"<(?![@!#])([^|>]*)[^>]*>")
_COUNTRIES = (
    "\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073"
)
FLAGS = re.compile(f"\U0001f3f4\U000e0067\U000e0062(?:{_COUNTRIES})\U000e007f")
"""The flags of England, Scotland and Wales."""
LOOKS = "\ufe0e\ufe0f"
SHOWN = (
    *(
        "text",
        "elements",
        "fields",
        "element",
        "accessory",
        "placeholder",
        "options",
        "caption",
        "rows",
    ),
    *(
        "title",
        "chart",
        "series",
        "name",
        "data",
        "label",
        "axis_config",
        "categories",
        "x_label",
        "y_label",
    ),
)
"""The keys of visible text."""


@dataclass(frozen=True)
class Allowed:
    """The people that a message may ping, and the addresses that it may link to."""

    users: Collection[str]
    addresses: Collection[str | None] = ()


NOBODY = Allowed(())
DIFF = re.compile("/files#diff-[0-9a-f]{64}$")
"""The end of the address of a file's changes in a pull request."""


def problems_of(message: Message, allowed: Allowed) -> list[str]:
    """List the contents of a message that Slack would refuse or that could harm a reader."""
    return problems_in(
        message.text, allowed, blocks=message.blocks, plain_blocks=message.plain_blocks
    )


def problems_in(text: str, allowed: Allowed, **versions: Sequence[Mapping[str, Any]]) -> list[str]:
    """List the same problems of a text and of the versions of its blocks."""
    problems = [] if 1 <= len(text) <= 40_000 else [f"text has {len(text)} characters"]
    problems += ["text hides something"] if is_hiding(text) else []
    problems += _harm(text, allowed, "text")
    for name, blocks in versions.items():
        problems += [
            f"{name}: {complaint}"
            for complaint in message_complaints([dict(block) for block in blocks])
        ]
        if (size := rendered(blocks)) > 12_000:
            problems.append(f"{name}: {size} characters in all")
        problems += [
            f"{name}: {harm}" for part in _parts(blocks) for harm in _harm_of(part, allowed)
        ]
    json.dumps([text, *map(list, versions.values())], ensure_ascii=False).encode("utf-8")
    return problems


def modal_problems(view: Mapping[str, Any], allowed: Allowed = NOBODY) -> list[str]:
    """List the contents of a dialogue that Slack would refuse or that could harm a reader."""
    json.dumps(view, ensure_ascii=False).encode("utf-8")
    harm = (problem for part in _parts(view) for problem in _harm_of(part, allowed))
    return [*view_complaints(view), *harm]


def _parts(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every object in a value, the outer before the inner."""
    if isinstance(value, Mapping):
        yield value
        value = list(value.values())
    if isinstance(value, list | tuple):
        for inner in value:
            yield from _parts(inner)


def _harm_of(part: Mapping[str, Any], allowed: Allowed) -> Iterator[str]:
    """Yield the harmful contents of one object, without its inner objects."""
    for key in ("text", "title", "caption", "name", "label", "initial_value"):
        if isinstance(text := part.get(key), str) and is_hiding(text):
            yield f"{key} hides something"
    if part.get("type") == "mrkdwn":
        yield from _harm(part["text"], allowed, "text object")
        if part.get("verbatim") is not True:
            yield "text object: Slack may make mentions out of plain words"
    if "url" in part and part["url"] not in allowed.addresses:
        yield f"button leads to {part['url'][:40]!r}"


def is_hiding(text: str) -> bool:
    """Return whether a text has an invisible character that belongs to no emoji."""
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
        if not address.startswith(("http://", "https://")) or not _leads_to(
            address, allowed.addresses
        ):
            yield f"{name} has a link to {address[:40]!r}"


def _leads_to(address: str, addresses: Collection[str | None]) -> bool:
    leads_to = unquote(address.replace("&amp;", "&"))
    pull_requests = {
        re.split("[?#]", address or "", maxsplit=1)[0].rstrip("/") for address in addresses
    }
    return leads_to in map(unquote, filter(None, addresses)) or (
        bool(DIFF.search(leads_to)) and DIFF.sub("", leads_to) in map(unquote, pull_requests)
    )


def rendered(value: Any) -> int:
    """Count characters like Slack: ``&<>`` of plain text as entities, which mrkdwn has already.

    All visible text is counted, since Slack's docs name no exception.
    """
    if isinstance(value, list | tuple):
        return sum(rendered(item) for item in value)
    if isinstance(value, str):
        return _escaped(value)
    if not isinstance(value, Mapping):
        return 0
    if value.get("type") == "mrkdwn":
        return len(value["text"])
    return sum(rendered(value[key]) for key in SHOWN if key in value)


def _escaped(text: str) -> int:
    return len(text) + 4 * text.count("&") + 3 * (text.count("<") + text.count(">"))
