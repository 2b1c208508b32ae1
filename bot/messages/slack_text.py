"""Conversion of Slack's message text to plain text.

https://docs.slack.dev/messaging/formatting-message-text, and for commands
https://docs.slack.dev/interactivity/implementing-slash-commands
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from bot.ids import ChannelId, UserId
from bot.messages.plain_text import visible

_ENTITY = re.compile(
    r"<((?:[@#][A-Z0-9]+|!(?:here|channel|everyone|(?:subteam|date)\^[^<>|]*)"
    r"|[A-Za-z][A-Za-z0-9+.-]*:[^<>|]*)(?:\|[^<>]*)?)>"
)
"""Slack's entities. Other text between ``<`` and ``>``, such as ``List<Job>``, does not match."""
_USER = re.compile(r"<@([A-Z0-9]+)(?:\|([^<>]*))?>")
_NAME = re.compile(r"<([@#])([A-Z0-9]+)(?:\|([^<>]*))?>")
_AFTER_MENTION = re.compile(r"\A(?:[ \t,]|:(?![a-z0-9_+'-]+:))*")
"""The characters between a mention and the text after it, but for the colon of an emoji
(``:tada:``).
"""
_ASIDE = re.compile(r"(?:!|aside\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class UnresolvedNames:
    """The users that a text mentions by id only, and its channels."""

    users: frozenset[UserId]
    channels: Mapping[ChannelId, str]
    """The names of the channels, or empty texts, by id."""


def unresolved_names(raw: str, most: int) -> UnresolvedNames:
    """Return the users and channels whose names ``to_plain`` lacks.

    They are the first ``most``, with all channels, since their names may be private.
    """
    labels = dict[tuple[str, str], str]()
    for sign, name, label in _NAME.findall(raw):
        if sign == "#" or not label:
            labels[sign, name] = label
    users = set[UserId]()
    channels = dict[ChannelId, str]()
    for (sign, name), label in islice(labels.items(), most):
        if sign == "@":
            users.add(UserId(name))
        else:
            channels[ChannelId(name)] = label
    return UnresolvedNames(frozenset(users), channels)


def channels_in(raw: str) -> frozenset[ChannelId]:
    """Return the channels that a text mentions."""
    return frozenset(ChannelId(name) for sign, name, _ in _NAME.findall(raw) if sign == "#")


def to_plain(raw: str, users: Mapping[UserId, str], channels: Mapping[ChannelId, str]) -> str:
    """Return Slack's text as a person reads it. Unknown names stay ids.

    A name in ``channels`` goes before the one that Slack wrote into the text.
    """
    parts = _ENTITY.split(raw)
    parts[1::2] = [_entity(entity, users, channels) for entity in parts[1::2]]
    # Each by itself: once joined, two parts may form an entity that nobody wrote.
    return "".join(_unescape(part) for part in parts)


def _unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _entity(entity: str, users: Mapping[UserId, str], channels: Mapping[ChannelId, str]) -> str:
    inside, _, label = entity.partition("|")
    match inside[:1]:
        case "@":
            return "@" + (label or users.get(UserId(inside[1:])) or inside[1:])
        case "#":
            return "#" + (channels.get(ChannelId(inside[1:])) or label or inside[1:])
        case "!":
            return _special(inside[1:], label)
        case _:
            return _link(inside, label)


def _special(inside: str, label: str) -> str:
    kind, _, of = inside.partition("^")
    if kind == "date":
        return label or of
    if kind == "subteam":
        return label or f"@{of}"
    return label if label.startswith("@") else f"@{label or inside}"


def _link(address: str, label: str) -> str:
    bare = address.removeprefix("mailto:").removeprefix("tel:")
    without_scheme = address.split("://", 1)[-1]
    if label and label not in (address, bare) and without_scheme.rstrip("/") != label.rstrip("/"):
        return f"{label} ({address})"
    return bare if address.startswith(("mailto:", "tel:")) else address


def from_plain(text: str) -> str:
    """Escape plain text from a form, as Slack escapes messages."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def is_blank(text: str) -> bool:
    """Return whether the text has no visible character."""
    return not visible(text).replace("\ufffd", "").strip()


def mentions(raw: str, user: UserId) -> bool:
    """Return whether the text mentions this user."""
    return any(mentioned == user for mentioned, _ in _USER.findall(raw))


def without_leading_mention(raw: str, user: UserId) -> str:
    """Return the text without a mention of this user at its start."""
    text = raw.lstrip()
    match = _USER.match(text)
    if match is None or match[1] != user:
        return raw
    return _AFTER_MENTION.sub("", text[match.end() :])


def is_aside(raw: str) -> bool:
    """Return whether the text is not for the agent.

    It starts with ``aside`` or ``!``.
    """
    return bool(_ASIDE.match(raw.lstrip()))


def mentions_somebody_else_first(raw: str, bot: UserId) -> bool:
    """Return whether the text starts with a mention of somebody else.

    That is another user, a group or the channel.
    """
    text = raw.lstrip()
    if text.startswith(("<!subteam^", "<!here", "<!channel", "<!everyone")):
        return True
    match = _USER.match(text)
    return match is not None and match[1] != bot
