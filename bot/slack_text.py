"""Reading what Slack sends: its wire text, with ids and entities, as plain text for the agent.

https://docs.slack.dev/messaging/formatting-message-text, and for commands
https://docs.slack.dev/interactivity/implementing-slash-commands
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from bot.model import ChannelId, UserId

_ENTITY = re.compile(
    r"<((?:[@#][A-Z0-9]+|!(?:here|channel|everyone|(?:subteam|date)\^[^<>|]*)|[A-Za-z][A-Za-z0-9+.-]*:[^<>|]*)"
    r"(?:\|[^<>]*)?)>"
)
"""Anything else between ``<`` and ``>`` is somebody's own, as in ``List<Job>``, and stays as it is."""
_USER = re.compile(r"<@([A-Z0-9]+)(?:\|([^<>]*))?>")
_CHANNEL = re.compile(r"<#([A-Z0-9]+)(?:\|([^<>]*))?>")
_ASIDE = re.compile(r"(?:!|aside\b)", re.IGNORECASE)
_INVISIBLE = frozenset("\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u2800\u3164\ufe0e\ufe0f\ufeff\uffa0")
"""Signs that show nothing although Unicode does not count them as blanks."""


@dataclass(frozen=True, slots=True)
class Needed:
    """The people and channels whose names the text does not carry."""

    users: frozenset[UserId]
    channels: frozenset[ChannelId]


def names_needed(raw: str) -> Needed:
    """Whose names must be asked for before the text can be read."""
    users = (UserId(user) for user, label in _USER.findall(raw) if not label)
    channels = (ChannelId(channel) for channel, label in _CHANNEL.findall(raw) if not label)
    return Needed(frozenset(users), frozenset(channels))


def to_plain(raw: str, users: Mapping[UserId, str], channels: Mapping[ChannelId, str]) -> str:
    """Slack's wire text as a person reads it. A name nobody told stays an id."""

    def read(found: re.Match[str]) -> str:
        inside, _, label = found[1].partition("|")
        return _unescape(_entity(inside, label, users, channels))

    pieces, last = [], 0
    for found in _ENTITY.finditer(raw):
        pieces += [_unescape(raw[last : found.start()]), read(found)]
        last = found.end()
    return "".join([*pieces, _unescape(raw[last:])])


def _entity(inside: str, label: str, users: Mapping[UserId, str], channels: Mapping[ChannelId, str]) -> str:
    match inside[:1]:
        case "@":
            return "@" + (label or users.get(UserId(inside[1:])) or inside[1:])
        case "#":
            return "#" + (label or channels.get(ChannelId(inside[1:])) or inside[1:])
        case "!":
            return _special(inside[1:], label)
        case _:
            return _link(inside, label)


def _special(inside: str, label: str) -> str:
    if inside.startswith(("subteam^", "date^")):
        return label or inside.partition("^")[2]
    return label if label.startswith("@") else f"@{label or inside}"


def _link(address: str, label: str) -> str:
    bare = address.removeprefix("mailto:").removeprefix("tel:")
    if not label or label in (address, bare) or address.split("://", 1)[-1].rstrip("/") == label.rstrip("/"):
        return bare if address.startswith(("mailto:", "tel:")) else address
    return f"{label} ({address})"


def _unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def from_plain(text: str) -> str:
    """Plain words, as a form gives them, in the wire form in which prompts are stored."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def is_blank(text: str) -> bool:
    """Whether a person would see nothing."""
    return all(_shows_nothing(sign) for sign in text)


def _shows_nothing(sign: str) -> bool:
    return sign.isspace() or sign in _INVISIBLE or unicodedata.category(sign) in ("Cc", "Cf", "Cs")


def mentions(raw: str, user: UserId) -> bool:
    """Whether somebody is mentioned anywhere in the text."""
    return any(found == user for found, _ in _USER.findall(raw))


def without_leading_mention(raw: str, user: UserId) -> str:
    """The text without the mention of this person that it begins with."""
    found = _USER.match(raw.lstrip())
    return raw.lstrip()[found.end() :].lstrip(" \t,:") if found and found[1] == user else raw


def is_aside(raw: str) -> bool:
    """Whether the text is marked as not meant for the agent: it begins with ``aside`` or ``!``."""
    return bool(_ASIDE.match(raw.lstrip()))


def mentions_somebody_else_first(raw: str, bot: UserId) -> bool:
    """Whether the text begins by speaking to another person, a group or the channel."""
    text = raw.lstrip()
    if text.startswith(("<!subteam^", "<!here", "<!channel", "<!everyone")):
        return True
    found = _USER.match(text)
    return found is not None and found[1] != bot
