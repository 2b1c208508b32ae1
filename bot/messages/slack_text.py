"""Conversion of Slack's message text to plain text.

https://docs.slack.dev/messaging/formatting-message-text, and for commands
https://docs.slack.dev/interactivity/implementing-slash-commands
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType

from bot.ids import ChannelId, UserId
from bot.messages.plain_text import visible

_ENTITY = re.compile(
    r"<((?:[@#][A-Z0-9]+|!(?:here|channel|everyone|(?:subteam|date)\^[^<>|]*)"
    r"|[A-Za-z][A-Za-z0-9+.-]*:[^<>|]*)(?:\|[^<>]*)?)>"
)
"""Slack's entities. Other text between ``<`` and ``>``, such as ``List<Job>``, does not match."""
_USER = re.compile(r"<@([A-Z0-9]+)(?:\|([^<>]*))?>")
_NAME = re.compile(r"<([@#])([A-Z0-9]+)(?:\|([^<>]*))?>")
_GROUP = re.compile(r"<!subteam\^[A-Z0-9]+>")
_AFTER_MENTION = re.compile(r"\A(?:[ \t,]|:(?![a-z0-9_+'-]+:))*")
"""The characters between a mention and the text after it, but for the colon of an emoji
(``:tada:``).
"""
_ASIDE = re.compile(r"(?:!|aside\b)", re.IGNORECASE)
_QUOTED_OR_CODE = re.compile(
    r"^&gt;&gt;&gt;.*|^[ \t]*&gt;[^\n]*|```.*?(?:```|\Z)|(?<![\w`])`[^`\n]+`(?![\w`])",
    re.MULTILINE | re.DOTALL,
)
"""Quoted lines, all lines after ``>>>``, and code. A backtick within a word begins no code."""

_WORD = re.compile(r"\S+")
_QUOTATION_MARKS = "\"'“”„‟«»‹›‘’‚‛"
_NO_GROUPS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class UnresolvedNames:
    """The users that a text mentions by id only, and its channels."""

    users: frozenset[UserId]
    channels: Mapping[ChannelId, str]
    """The names of the channels, or empty texts, by id."""
    has_groups: bool = False
    """Whether the text mentions user groups by id only."""


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
    return UnresolvedNames(frozenset(users), channels, _GROUP.search(raw) is not None)


def entities_in(raw: str) -> list[str]:
    """Return Slack's entities in the text: mentions, channels and links."""
    return [f"<{entity}>" for entity in _ENTITY.findall(raw)]


def channels_in(raw: str) -> frozenset[ChannelId]:
    """Return the channels that a text mentions."""
    return frozenset(ChannelId(name) for sign, name, _ in _NAME.findall(raw) if sign == "#")


def to_plain(
    raw: str,
    users: Mapping[UserId, str],
    channels: Mapping[ChannelId, str],
    groups: Mapping[str, str] = _NO_GROUPS,
) -> str:
    """Return Slack's text as a person reads it. Unknown names of users and channels stay ids.

    A name in ``channels`` goes before the one that Slack wrote into the text. ``groups``: the
    handles of user groups. An unknown one is "a group".
    """
    if "<" not in raw and "&" not in raw:
        return raw
    parts = _ENTITY.split(raw)
    parts[1::2] = [_entity(entity, users, channels, groups) for entity in parts[1::2]]
    # Each by itself: once joined, two parts may form an entity that nobody wrote.
    return "".join(_unescape(part) for part in parts)


def _unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _entity(
    entity: str,
    users: Mapping[UserId, str],
    channels: Mapping[ChannelId, str],
    groups: Mapping[str, str],
) -> str:
    inside, _, label = entity.partition("|")
    match inside[:1]:
        case "@":
            return "@" + (label or users.get(UserId(inside[1:])) or inside[1:])
        case "#":
            return "#" + (channels.get(ChannelId(inside[1:])) or label or inside[1:])
        case "!":
            return _special(inside[1:], label, groups)
        case _:
            return _link(inside, label)


def _special(inside: str, label: str, groups: Mapping[str, str]) -> str:
    kind, _, of = inside.partition("^")
    if kind == "date":
        return label or of
    if kind == "subteam":
        handle = groups.get(of)
        return label or (f"@{handle}" if handle else "a group")
    return label if label.startswith("@") else f"@{label or inside}"


def _link(address: str, label: str) -> str:
    bare = address.removeprefix("mailto:").removeprefix("tel:")
    if not label or label in (address, bare):
        return bare
    scheme, _, rest = address.partition("://")
    if rest.rstrip("/") == label.rstrip("/"):
        # Slack makes a link of each name that ends like a domain: README.md, example.com.
        return label if scheme == "http" else address
    return f"{label} ({address})"


def from_plain(text: str) -> str:
    """Escape plain text from a form, as Slack escapes messages."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def without_quotation_marks(text: str) -> str:
    """Return a text without the quotation marks at the ends of its words: ``path “/api”``."""
    return _WORD.sub(lambda word: word[0].strip(_QUOTATION_MARKS), text)


def is_blank(text: str) -> bool:
    """Return whether the text has no visible character."""
    return not visible(text).replace("\ufffd", "").strip()


def mentions(raw: str, user: UserId) -> bool:
    """Return whether the text mentions this user, outside of quotes and code."""
    if f"<@{user}" not in raw:
        return False
    own_words = _QUOTED_OR_CODE.sub(" ", raw)
    return any(mentioned == user for mentioned, _ in _USER.findall(own_words))


def without_leading_mention(raw: str, user: UserId) -> str:
    """Return the text without a mention of this user at its start."""
    text = raw.lstrip()
    match = _USER.match(text)
    if match is None or match[1] != user:
        return raw
    return _AFTER_MENTION.sub("", text[match.end() :])


def after_mentions(raw: str, user: UserId) -> Iterator[str]:
    """Yield the text after each mention of this user."""
    for match in _USER.finditer(raw):
        if match[1] == user:
            yield raw[match.end() :]


def without_outer_mentions(raw: str, user: UserId) -> str:
    """Return the text without mentions of this user at its start and its end."""
    text = without_leading_mention(raw, user)
    mentions_of_user = [match for match in _USER.finditer(text) if match[1] == user]
    if mentions_of_user and not text[mentions_of_user[-1].end() :].strip(" \t\n?!.,"):
        last = mentions_of_user[-1]
        return text[: last.start()].rstrip(" \t,") + text[last.end() :]
    return text


def is_aside(raw: str) -> bool:
    """Return whether the text is not for the agent.

    It starts with ``aside`` or ``!``.
    """
    return bool(_ASIDE.match(raw.lstrip()))
