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

from bot.messages.plain_text import between_signs, clip, one_line, visible
from bot.model import Block, Message, UserId

SECTION_LENGTH = 3_000
BUTTON_LENGTH = 75
URL_LENGTH = 3_000
PLAIN_INPUT_LENGTH = 3_000
OPTION_LENGTH = 75
MOST_OPTIONS = 100
_PLACEHOLDER_LENGTH = 150
_FIELD_LENGTH = 2_000
MESSAGE_LENGTH = 12_000
_UNSEEN = frozenset({"type", "action_id", "value", "style", "url"})
EDITED_BYTES = 3_900
"""``chat.update`` refuses more than 4,000 bytes of text. https://docs.slack.dev/reference/methods/chat.update"""


def escape(text: str) -> str:
    """Words of somebody else inside mrkdwn: no mention, no link, no entity comes of them.

    https://docs.slack.dev/messaging/formatting-message-text#escaping
    """
    return visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def quoted(text: str, length: int) -> str:
    """Words of somebody else on one line among ours, clipped: no code of theirs runs into our words."""
    return escape(one_line(text, length)).replace("`", "'")


def clip_mrkdwn(mrkdwn: str, length: int) -> str:
    """At most so many characters of mrkdwn, without half an entity, mention or link at the end."""
    return mrkdwn if len(mrkdwn) <= length else mrkdwn[: _outside(mrkdwn, length - 1)].rstrip() + "…"


def _outside(mrkdwn: str, at: int) -> int:
    """The nearest place at or before this one that is not inside ``<…>`` or ``&…;``."""
    begun = mrkdwn.rfind("<", 0, at)
    if begun > mrkdwn.rfind(">", 0, at) and begun > 0:
        return begun
    entity = re.search(r"&[a-z]{0,3}$", mrkdwn[max(at - 4, 0) : at])
    return at - len(entity[0]) if entity else between_signs(mrkdwn, at)


def clip_bytes(mrkdwn: str, size: int) -> str:
    """At most so many bytes of UTF-8; a clipped text ends with "…"."""
    encoded = mrkdwn.encode("utf-8")
    if len(encoded) <= size:
        return mrkdwn
    kept = encoded[: size - len("…".encode())].decode("utf-8", "ignore")
    return mrkdwn[: _outside(mrkdwn, len(kept))].rstrip() + "…"


def mention(user: UserId) -> str:
    """Pings this person. Ids come from Slack and hold letters and digits only; anything else is escaped."""
    return f"<@{user}>" if user.isalnum() else escape(user)


def web_address(url: str | None) -> str | None:
    """The address if it is one that a button may lead to: http or https, of sane length."""
    if not url or len(url) > URL_LENGTH or visible(url) != url or any(sign.isspace() for sign in url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    # "https://good.example@evil.example" and "https://evil.example\\.good.example" mislead a reader.
    odd = "@" in parts.netloc or "\\" in url
    return url if parts.scheme in ("http", "https") and parts.hostname and not odd else None


def link(url: str | None, label: str) -> str:
    """A link in mrkdwn; the label alone when the address is not one that may be linked to."""
    address = web_address(url)
    if address is None:
        return escape(label)
    safe = address.replace("|", "%7C").replace("<", "%3C").replace(">", "%3E").replace("`", "%60")
    return f"<{escape(safe)}|{escape(label)}>"


def moment(at: datetime, form: str = "{date_short_pretty} at {time}") -> str:
    """A time that everybody reads in their own zone. https://docs.slack.dev/messaging/formatting-message-text"""
    fallback = at.strftime("%Y-%m-%d %H:%M UTC")
    return f"<!date^{int(at.timestamp())}^{form}|{fallback}>"


def section(mrkdwn: str, *, accessory: Block | None = None) -> Block:
    """A paragraph of mrkdwn that is already escaped where it must be."""
    block: dict[str, Any] = {"type": "section", "text": _mrkdwn(mrkdwn)}
    return block | {"accessory": accessory} if accessory else block


def _mrkdwn(mrkdwn: str) -> dict[str, Any]:
    """A text object in which Slack makes no mentions and links of its own out of plain words.

    https://docs.slack.dev/reference/block-kit/composition-objects/text-object
    """
    return {"type": "mrkdwn", "text": clip_mrkdwn(mrkdwn, SECTION_LENGTH), "verbatim": True}


def context(*mrkdwn: str) -> Block:
    """Small print."""
    return {"type": "context", "elements": [_mrkdwn(text) for text in mrkdwn if text]}


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


def menu(placeholder: str, action_id: str, options: Sequence[tuple[str, str]]) -> Block:
    """A menu; each option is its label and its value. At most a hundred are taken."""
    return {
        "type": "static_select",
        "action_id": action_id,
        "placeholder": {"type": "plain_text", "text": clip(placeholder, _PLACEHOLDER_LENGTH)},
        "options": [
            {"text": {"type": "plain_text", "text": clip(label, OPTION_LENGTH)}, "value": value}
            for label, value in options[:MOST_OPTIONS]
        ],
    }


def fields(*mrkdwn: str) -> Block:
    """Short paragraphs side by side, at most ten."""
    return {"type": "section", "fields": [_mrkdwn(clip_mrkdwn(text, _FIELD_LENGTH)) for text in mrkdwn]}


def code(text: str) -> str:
    """Somebody else's short words as code: nothing inside is markup, and nothing ends it early."""
    return f"`{escape(text).replace('`', chr(39)) or ' '}`"


def bare(message: Message) -> str:
    """The words of a message where Slack shows plain text, as under an input of a form."""
    without_sign = re.sub(r"^:[a-z_]+: ", "", message.text)
    said = re.sub(r"[*`]", "", without_sign)
    return said.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def words(text: str) -> Message:
    """A message of words alone, in escaped mrkdwn."""
    return Message(text, plain(text))


def with_buttons(said: str, buttons: Sequence[Block], *, address: str = "") -> Message:
    """A paragraph over a row of buttons; ``address`` says in words where the buttons with a link lead."""
    text = f"{said} {address}" if address else said
    safe = [made for made in buttons if "url" not in made]
    return Message(text, (section(said), *actions(buttons)), (*plain(text), *actions(safe)))


def plain(mrkdwn: str) -> tuple[Block, ...]:
    """The words alone, as sections cut at line ends; what is over a message's length is clipped."""
    left = clip_mrkdwn(mrkdwn, MESSAGE_LENGTH - 500)
    made = []
    while left:
        line = left.rfind("\n", SECTION_LENGTH // 2, SECTION_LENGTH) + 1
        cut = (line or _outside(left, SECTION_LENGTH)) if len(left) > SECTION_LENGTH else len(left)
        made.append(section(left[:cut]))
        left = left[cut:]
    return tuple(made)


def fits(message: Message) -> bool:
    """Whether a message stays under what Slack takes, with nothing of its plain form clipped."""
    heaviest = max(_weight(message.blocks), _weight(message.plain_blocks))
    return heaviest <= MESSAGE_LENGTH and len(message.text) <= MESSAGE_LENGTH - 500


def _weight(part: Any) -> int:
    """Characters with entities. Slack does not say which words it counts: all that are seen are."""
    if isinstance(part, str):
        return len(escape(part))
    if isinstance(part, list | tuple):
        return sum(map(_weight, part))
    if not isinstance(part, dict):
        return 0
    if part.get("type") == "mrkdwn":
        return len(part["text"])
    return sum(_weight(value) for key, value in part.items() if key not in _UNSEEN)


def split(text: str, length: int) -> Iterable[str]:
    """The text in pieces that weigh at most so much each, cut at line ends if possible; nothing is lost.

    A character weighs what its entity or its UTF-8 form takes: Slack does not say in which it counts.
    """
    while text:
        room = _fitting(text, length)
        line = text.rfind("\n", room // 2, room) + 1 if room < len(text) else 0
        cut = line or between_signs(text, room)
        yield text[:cut]
        text = text[cut:]


def _fitting(text: str, length: int) -> int:
    used = 0
    for at, sign in enumerate(text[:length]):
        used += {"&": 5, "<": 4, ">": 4}.get(sign) or len(sign.encode("utf-8", "surrogatepass"))
        if used > length:
            return at
    return min(len(text), length)
