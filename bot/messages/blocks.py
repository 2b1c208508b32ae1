"""Block Kit in small pieces. The only place that knows Slack's lengths and how its text is escaped.

Lengths: https://docs.slack.dev/reference/block-kit/blocks and, for a whole message, what is known in the
field: a message of blocks above about 13,200 characters is refused, so we stay under 12,000.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from bot.model import Block, Message, UserId

SECTION_LENGTH = 3_000
BUTTON_LENGTH = 75
URL_LENGTH = 3_000
PLAIN_INPUT_LENGTH = 3_000
MESSAGE_LENGTH = 12_000
EDITED_BYTES = 3_900
"""``chat.update`` refuses more than 4,000 bytes of text. https://docs.slack.dev/reference/methods/chat.update"""

_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, direction marks and overrides, halves of surrogate pairs."""


def visible(text: str) -> str:
    """The text with nothing hidden in it: control and direction characters become a visible sign."""
    return _HIDDEN.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def escape(text: str) -> str:
    """Words of somebody else inside mrkdwn: no mention, no link, no entity comes of them.

    https://docs.slack.dev/messaging/formatting-message-text#escaping
    """
    return visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def clip(text: str, length: int) -> str:
    """At most so many characters; a clipped text ends with "…"."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def clip_bytes(text: str, size: int) -> str:
    """At most so many bytes of UTF-8; a clipped text ends with "…"."""
    encoded = text.encode("utf-8")
    if len(encoded) <= size:
        return text
    kept = encoded[: size - len("…".encode())].decode("utf-8", "ignore")
    # An entity that was cut in two would show as letters.
    return kept.rsplit("&", 1)[0] + "…" if "&" in kept[-5:] else kept + "…"


def one_line(text: str, length: int) -> str:
    """Words of somebody else on one line, clipped, not escaped."""
    return clip(" ".join(visible(text).split()), length)


def mention(user: UserId) -> str:
    """Pings this person. Ids come from Slack and hold letters and digits only; anything else is escaped."""
    return f"<@{user}>" if user.isalnum() else escape(user)


def web_address(url: str | None) -> str | None:
    """The address if it is one that a button may lead to: http or https, of sane length."""
    if not url or len(url) > URL_LENGTH or _HIDDEN.search(url) or any(sign.isspace() for sign in url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None


def moment(at: datetime, form: str = "{date_short_pretty} at {time}") -> str:
    """A time that everybody reads in their own zone. https://docs.slack.dev/messaging/formatting-message-text"""
    fallback = at.strftime("%Y-%m-%d %H:%M UTC")
    return f"<!date^{int(at.timestamp())}^{form}|{fallback}>"


def section(mrkdwn: str, *, accessory: Block | None = None) -> Block:
    """A paragraph of mrkdwn that is already escaped where it must be."""
    block: dict[str, Any] = {
        "type": "section",
        "text": {"type": "mrkdwn", "text": clip(mrkdwn, SECTION_LENGTH)},
    }
    return block | {"accessory": accessory} if accessory else block


def context(*mrkdwn: str) -> Block:
    """Small print."""
    elements = [{"type": "mrkdwn", "text": clip(text, SECTION_LENGTH)} for text in mrkdwn if text]
    return {"type": "context", "elements": elements}


def quote(text: str) -> Block:
    """Somebody else's words, exactly as they are: in rich text nothing is markup and nothing pings."""
    words = visible(text) or " "
    elements = [{"type": "text", "text": words}]
    return {"type": "rich_text", "elements": [{"type": "rich_text_quote", "elements": elements}]}


def button(
    text: str, action_id: str, value: str, *, style: str | None = None, url: str | None = None
) -> Block:
    """A button; ``style`` is ``primary`` or ``danger``."""
    label = {"type": "plain_text", "text": clip(text, BUTTON_LENGTH), "emoji": True}
    made: dict[str, Any] = {"type": "button", "text": label, "action_id": action_id, "value": value}
    if style:
        made["style"] = style
    if url:
        made["url"] = url
    return made


def actions(buttons: Sequence[Block]) -> tuple[Block, ...]:
    """A row of buttons; nothing when there are none, since Slack refuses an empty row."""
    return ({"type": "actions", "elements": list(buttons)},) if buttons else ()


def words(text: str, *blocks: Block) -> Message:
    """A message whose words stand alone; the plain form says the same without the newer blocks."""
    return Message(text, blocks, plain(text))


def plain(mrkdwn: str) -> tuple[Block, ...]:
    """The words alone, as sections; what is over a message's length is clipped."""
    kept = clip(mrkdwn, MESSAGE_LENGTH - 500)
    return tuple(section(kept[at : at + SECTION_LENGTH]) for at in range(0, len(kept), SECTION_LENGTH))


def split(text: str, length: int) -> Iterable[str]:
    """The text in pieces whose escaped form has at most so many characters, cut at line ends if possible."""
    while text:
        room = _fitting(text, length)
        cut = text.rfind("\n", room // 2, room) + 1 if room < len(text) else room
        yield text[: cut or room]
        text = text[cut or room :]


def _fitting(text: str, length: int) -> int:
    """How many characters of the text fit when ``&``, ``<`` and ``>`` are written as entities."""
    used = 0
    for at, sign in enumerate(text[:length]):
        used += {"&": 5, "<": 4, ">": 4}.get(sign, 1)
        if used > length:
            return at
    return min(len(text), length)
