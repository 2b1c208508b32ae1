"""Messages and their changes, from events and from conversations, as typed values."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from bot.ids import ChannelId, MessageTs, UserId
from bot.messages import slack_text
from bot.ports import Changed, Mention, Origin, Said, ThreadReply, message_key
from bot.slack.block_text import mapping, string
from bot.slack.content import read_content
from bot.slack.payloads import Payload, to_ts

_HUMAN_SUBTYPES = frozenset({"", "file_share", "thread_broadcast", "me_message"})
"""Subtypes of messages by people, most of which have none; others are edits, bots or notices.

https://docs.slack.dev/reference/events/message
"""
_APP_SUBTYPES = _HUMAN_SUBTYPES | {"bot_message"}
MADE_PRIVATE_SUBTYPE = "channel_convert_to_private"
"""Subtype of Slack's notice in a channel that is private from then on."""
CHANGE_SUBTYPES = frozenset({"message_changed", "message_deleted"})
"""Subtypes of the events that ``read_change`` reads."""


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a message."""

    user: UserId
    """A person, a bot user, or the app as ALLOWED_BOTS names it."""
    app: str | None = None
    """The app that posted with the token of ``user``; None if nobody but the person did."""
    is_listed: bool = False
    """Whether it is an app of ALLOWED_BOTS."""


def author_of(message: Payload, bots: Collection[UserId]) -> Author | None:
    """Return the author of a message; None for Slack's notices, and for posts without a user.

    An app posts under its bot user, or under a person with that person's token. Only the profile
    of the user shows the difference.

    Args:
        bots: The apps and bot users of ALLOWED_BOTS.
    """
    user = string(message.get("user"))
    subtype = string(message.get("subtype"))
    if not message.get("bot_id"):
        return Author(UserId(user)) if user and subtype in _HUMAN_SUBTYPES else None
    app = string(message.get("app_id"))
    app = app or string(mapping(message.get("bot_profile")).get("app_id"))
    for name in (user, app):
        if name and name in bots:
            return Author(UserId(name), is_listed=True) if subtype in _APP_SUBTYPES else None
    if not user or subtype not in _HUMAN_SUBTYPES:
        return None
    return Author(UserId(user), app=app or string(message["bot_id"]))


def read_message(
    event: Payload, bot: UserId, bots: Collection[UserId] = frozenset()
) -> ThreadReply | Mention | None:
    """Return a person's reply in a thread, mention or direct message; None for other events.

    A mention arrives as two events (``app_mention`` and ``message``), which get the same key. In a
    group direct message it may arrive as ``message`` alone, so there the text decides.

    Args:
        bot: The bot's own user, whose messages do not count.
        bots: The apps and bot users whose mentions count, also in threads.
    """
    author = author_of(event, bots)
    if author is None or event.get("user") == bot:
        return None
    origin = _origin(event, author)
    if origin.thread and not author.is_listed:
        parent = event.get("parent_user_id")
        root_author = UserId(parent) if parent else None
        version = _version_of(author, event)
        return ThreadReply(origin, read_content(event), root_author, version=version)
    kind = event.get("channel_type")
    if author.is_listed or kind == "mpim":
        is_sure = event["type"] == "app_mention" and not author.is_listed
        content = read_content(event)
        is_meant = is_sure or slack_text.mentions(content.text, bot)
        return Mention(origin, content, version=_version_of(author, event)) if is_meant else None
    if event["type"] != "app_mention" and kind != "im":
        return None
    return Mention(origin, read_content(event), version=_version_of(author, event))


def read_change(
    event: Payload, bot: UserId, bots: Collection[UserId] = frozenset()
) -> Changed | None:
    """Return the edit of a message by its author, or its deletion; None for other events.

    Messages of the bot and of the apps in ``bots`` do not count. Slack also sends a change for a
    message that only got a preview of a link. A deleted message with replies stays, as a tombstone.
    https://docs.slack.dev/reference/events/message/message_changed
    """
    before = mapping(event.get("previous_message"))
    now = mapping(event.get("message"))
    match event.get("subtype"):
        case "message_deleted":
            now = {"subtype": "tombstone", "ts": event.get("deleted_ts")}
        case "message_changed" if now.get("ts"):
            pass
        case _:
            return None
    if bot in (before.get("user"), now.get("user")) or not now["ts"]:
        return None
    was = author_of(before, bots)
    if was is not None and was.is_listed:
        return None
    message = {**before, "ts": now["ts"], "channel": event["channel"]}
    text = read_content(before).text if before else None
    if now.get("subtype") == "tombstone":
        nobody = Author(UserId(string(before.get("user"))))
        return Changed(_origin(message, nobody), None, event["ts"], text)
    author = author_of(now, bots)
    content = read_content(now)
    version = _version_of(author, now) if author else ""
    if author is None or not version or text == content.text:
        return None
    return Changed(_origin({**message, **now}, author), content, version, text)


def read_change_after(
    since: MessageTs, message: Payload, bots: Collection[UserId] = frozenset()
) -> Changed | None:
    """Return the edit of a message by its author after ``since``, or its deletion, if any.

    A deleted message that began a thread has no time of deletion.
    """
    if message.get("subtype") == "tombstone":
        return Changed(_origin(message, Author(UserId(""))), None, message["ts"])
    author = author_of(message, bots)
    version = _version_of(author, message) if author else ""
    if author is None or version <= since:
        return None
    return Changed(_origin(message, author), read_content(message), version)


def read_current(message: Payload) -> Changed:
    """Return a person's message as it reads now, with the time of its last edit."""
    author = author_of(message, ()) or Author(UserId(""))
    return Changed(_origin(message, author), read_content(message), _version_of(author, message))


def _version_of(author: Author, message: Payload) -> str:
    """Return the time of a message's last edit by its author; an empty text for none."""
    edited = mapping(message.get("edited"))
    is_own = edited.get("user") == author.user and not author.is_listed
    return string(edited.get("ts")) if is_own else ""


def read_said(message: Payload) -> Said | None:
    """Return a message of a thread that a person or a bot wrote; None for Slack's notices."""
    author = author_of(message, ())
    if author is None and not message.get("bot_id"):
        return None
    user = author.user if author else None
    return Said(MessageTs(message["ts"]), user, read_content(message).text)


def _origin(message: Payload, author: Author) -> Origin:
    channel = ChannelId(message["channel"])
    ts = MessageTs(message["ts"])
    thread = to_ts(message.get("thread_ts"))
    return Origin(
        key=message_key(channel, ts),
        user=author.user,
        channel=channel,
        # The message that begins a thread names itself as its thread.
        thread=thread if thread != ts else None,
        message_ts=ts,
        app=author.app,
    )
