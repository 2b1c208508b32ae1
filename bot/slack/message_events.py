"""Messages and their changes: the events of Slack, and the messages of a conversation, as typed values."""

from __future__ import annotations

from collections.abc import Collection

from bot.ids import ChannelId, MessageTs, UserId
from bot.messages import slack_text
from bot.ports import Changed, Mention, Origin, Said, ThreadReply, message_key
from bot.slack.content import read_content
from bot.slack.payloads import Payload, to_ts

_HUMAN_SUBTYPES = frozenset({None, "file_share", "thread_broadcast", "me_message"})
"""Subtypes of messages by people; all others are edits, bots or notices.

https://docs.slack.dev/reference/events/message
"""


CHANGES = frozenset({"message_changed", "message_deleted"})
"""Subtypes of events about a message that is there already, which ``changed`` reads."""


def spoken(
    event: Payload, bot: UserId, bots: Collection[UserId] = frozenset()
) -> ThreadReply | Mention | None:
    """Return a person's reply in a thread, mention or direct message; None for any other event and the bot's.

    A mention arrives as two events (``app_mention`` and ``message``), which get the same key. In a group
    direct message it may arrive as ``message`` alone, so there the text decides whether it is one.
    ``bots``: the apps and bot users whose mentions count, also in threads.
    """
    if event.get("user") == bot:
        return None
    if event.get("bot_id") and bots:
        return _mention_by_bot(event, bot, bots)
    if event.get("bot_id") or not event.get("user") or event.get("subtype") not in _HUMAN_SUBTYPES:
        return None
    origin = _origin(event)
    content = read_content(event)
    if origin.thread:
        parent = event.get("parent_user_id")
        return ThreadReply(origin, content, parent=UserId(parent) if parent else None)
    kind = event.get("channel_type")
    is_meant = kind == "im" or (kind == "mpim" and slack_text.mentions(content.text, bot))
    return Mention(origin, content) if is_meant or event["type"] == "app_mention" else None


def _mention_by_bot(event: Payload, bot: UserId, bots: Collection[UserId]) -> Mention | None:
    """Return a mention by one of these apps or bot users, for which the id in ``bots`` stands."""
    app = event.get("app_id") or (event.get("bot_profile") or {}).get("app_id")
    by_bot = next(
        (UserId(user) for user in (event.get("user"), app) if user and user in bots), None
    )
    if by_bot is None or not event.get("channel") or not event.get("ts"):
        return None
    content = read_content(event)
    if not slack_text.mentions(content.text, bot):
        return None
    if event.get("subtype") not in (*_HUMAN_SUBTYPES, "bot_message"):
        return None
    return Mention(_origin({**event, "user": by_bot}), content)


def changed(event: Payload, bot: UserId) -> Changed | None:
    """Return the edit of a message by its author, or its deletion; None for any other event and the bot's.

    Slack also sends a change for messages that only got a preview of a link. A deleted message with replies
    stays, as a tombstone. https://docs.slack.dev/reference/events/message/message_changed
    """
    before, now = event.get("previous_message") or {}, event.get("message") or {}
    match event.get("subtype"):
        case "message_deleted":
            now = {"subtype": "tombstone", "ts": event.get("deleted_ts")}
        case "message_changed" if now.get("ts"):
            pass
        case _:
            return None
    event_fields = {**before, "ts": now["ts"], "channel": event["channel"]}
    if before.get("bot_id") or bot in (before.get("user"), now.get("user")) or not now["ts"]:
        return None
    was = read_content(before).text if before else None
    if now.get("subtype") == "tombstone":
        return Changed(
            _origin(event_fields | {"user": before.get("user") or ""}), None, event["ts"], was
        )
    content = read_content(now)
    if not _edited_by_author(now) or was == content.text:
        return None
    return Changed(_origin(event_fields | now), content, event["ts"], was)


def changed_after(since: MessageTs, message: Payload) -> Changed | None:
    """Return the edit of a message by its author after ``since``, or its deletion; None if there is neither.

    A deleted message that began a thread has no time of deletion.
    """
    if message.get("subtype") == "tombstone":
        return Changed(_origin({**message, "user": ""}), None, message["ts"])
    edited = _edited_by_author(message)
    at = str(edited.get("ts") or "")
    return Changed(_origin(message), read_content(message), at) if at > since else None


def _edited_by_author(message: Payload) -> Payload:
    """Return who edited a person's message, and when, if that was its author; otherwise nothing."""
    edited, user = message.get("edited") or {}, message.get("user")
    is_human = user and not message.get("bot_id") and message.get("subtype") in _HUMAN_SUBTYPES
    return edited if is_human and edited.get("user") == user else {}


def said(message: Payload) -> Said | None:
    """Return a message of a thread that a person or a bot wrote; None for Slack's notices."""
    by_bot = bool(message.get("bot_id")) or message.get("subtype") == "bot_message"
    user = message.get("user")
    if not by_bot and (not user or message.get("subtype") not in _HUMAN_SUBTYPES):
        return None
    return Said(
        MessageTs(message["ts"]), UserId(user) if user else None, read_content(message).text, by_bot
    )


def _origin(event: Payload) -> Origin:
    channel, ts = ChannelId(event["channel"]), MessageTs(event["ts"])
    key, thread = message_key(channel, ts), to_ts(event.get("thread_ts"))
    # The message that begins a thread names itself as its thread.
    return Origin(key, UserId(event["user"]), channel, thread if thread != ts else None, ts)
