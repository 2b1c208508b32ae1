"""Slack's mrkdwn: escaping and clipping untrusted text, mentions, links and times.

https://docs.slack.dev/messaging/formatting-message-text
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from bot.ids import ChannelId, UserId, is_direct_message
from bot.messages.links import label_of, web_address
from bot.messages.plain_text import QUOTE_LOOKALIKES, grapheme_boundary, one_line, visible

_MAX_CODE_CHARACTERS = 300


def escape(text: str) -> str:
    """Escape untrusted text for mrkdwn.

    The result contains no mention, link or entity.

    https://docs.slack.dev/messaging/formatting-message-text#escaping
    """
    return visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


_LOOKALIKES = QUOTE_LOOKALIKES | str.maketrans("*~`", "∗∼'")
_EDGE_PATTERN = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")
_EMOJI_PATTERN = re.compile(r":(?=[^\s:]+:)")


def unmarked(text: str) -> str:
    """Escape untrusted text for mrkdwn, also its formatting.

    The result has no formatting and no emoji, and ends no quotation.

    Slack has no escapes for such signs, so others that look alike stand in their place.
    https://docs.slack.dev/messaging/formatting-message-text#basic-formatting
    """
    safe = escape(text).translate(_LOOKALIKES)
    return _EMOJI_PATTERN.sub("∶", _EDGE_PATTERN.sub(_replace_underscores, safe))


def _replace_underscores(run: re.Match[str]) -> str:
    return "ˍ" * len(run[0])


def quoted(text: str, length: int) -> str:
    """Return untrusted text for use inside a sentence or a quotation.

    It is `unmarked`, clipped, and on one line.
    """
    return unmarked(one_line(text, length))


def label(text: str) -> str:
    """Return a project's label for use inside a sentence.

    It may be a name that somebody typed.
    """
    return quoted(text, 60)


def clip_mrkdwn(mrkdwn: str, length: int) -> str:
    """Clip mrkdwn to ``length`` characters without splitting an entity, mention or link."""
    if len(mrkdwn) <= length:
        return mrkdwn
    return mrkdwn[: safe_cut(mrkdwn, length - 1)].rstrip() + "…"


def safe_cut(mrkdwn: str, at: int) -> int:
    """Return the last index up to ``at`` where mrkdwn may be cut.

    It is not inside ``<…>``, ``&…;`` or a grapheme.
    """
    begun = mrkdwn.rfind("<", 0, at)
    if begun > mrkdwn.rfind(">", 0, at) and begun > 0:
        return begun
    entity = re.search(r"&[a-z]{0,3}$", mrkdwn[max(at - 4, 0) : at])
    return at - len(entity[0]) if entity else grapheme_boundary(mrkdwn, at)


def clip_bytes(mrkdwn: str, size: int) -> str:
    """Clip mrkdwn to ``size`` bytes of UTF-8.

    A clipped text ends with "…".
    """
    encoded = mrkdwn.encode("utf-8")
    if len(encoded) <= size:
        return mrkdwn
    head = encoded[: size - len("…".encode())].decode("utf-8", "ignore")
    return mrkdwn[: safe_cut(mrkdwn, len(head))].rstrip() + "…"


def mention(user: UserId) -> str:
    """Return a mention, which notifies the user.

    Slack's ids are letters and digits; others are escaped.
    """
    return f"<@{user}>" if user.isalnum() else escape(user)


def channel(channel: ChannelId) -> str:
    """Return a channel's name as a link.

    Slack shows it only to people who may see the channel.
    """
    if is_direct_message(channel):
        return "direct messages"
    return f"<#{channel}>" if channel.isalnum() else quoted(channel, 60)


def link(url: str | None, label: str) -> str:
    """Return a link in mrkdwn; only the label without a safe URL.

    A label that reads as another address shows the link's host.
    """
    address = web_address(url)
    if address is None:
        return unmarked(label)
    return f"<{address_in_link(address)}|{unmarked(label_of(label, address))}>"


def address_in_link(address: str) -> str:
    """Return a `web_address` escaped for a link of mrkdwn."""
    for sign, code in _ENCODED.items():
        address = address.replace(sign, code)
    return escape(address)


_ENCODED = {"|": "%7C", "<": "%3C", ">": "%3E", "`": "%60"}


def moment(at: datetime, form: str = "{date_short_pretty} at {time}") -> str:
    """Return a time that Slack shows in each reader's time zone.

    https://docs.slack.dev/messaging/formatting-message-text
    """
    fallback = at.strftime("%Y-%m-%d %H:%M UTC")
    return f"<!date^{int(at.timestamp())}^{form}|{fallback}>"


def code(text: str, length: int = _MAX_CODE_CHARACTERS) -> str:
    """Return untrusted text as inline code.

    It is escaped, clipped, on one line, and without backticks.
    """
    return f"`{escape(one_line(text, length)).replace('`', chr(39)) or ' '}`"


def split(text: str, length: int) -> Iterable[str]:
    """Split text into pieces of weight ``length`` at most.

    It is split at line ends if possible, and nothing is lost.

    A character weighs as much as its entity or its UTF-8 form, because Slack does not document its
    unit.
    """
    while text:
        room = _fitting_length(text, length)
        line_end = text.rfind("\n", room // 2, room) + 1 if room < len(text) else 0
        cut = line_end or grapheme_boundary(text, room)
        yield text[:cut]
        text = text[cut:]


def _fitting_length(text: str, length: int) -> int:
    """Count the characters from the start that weigh ``length`` at most."""
    used = 0
    for at, sign in enumerate(text[:length]):
        used += {"&": 5, "<": 4, ">": 4}.get(sign) or len(sign.encode("utf-8", "surrogatepass"))
        if used > length:
            return at
    return min(len(text), length)


def number(count: int) -> str:
    """Return a count with thousands separators: 1,234."""
    return f"{count:,}"


def counted(count: int, one: str, many: str) -> str:
    """Return a count with its noun: 1 page, 2 pages."""
    return f"{number(count)} {one if count == 1 else many}"
