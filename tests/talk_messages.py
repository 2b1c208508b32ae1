"""Messages that nobody types: pasted tables, forwards, other apps, and what Slack does to channels.

`tests.talk_people` has the acts of people. Here a message is put into the workspace as Slack stores
it, and its events are delivered as Slack's Events API sends them:
https://docs.slack.dev/reference/events/message
"""

from __future__ import annotations

import secrets
from typing import Any

from sandbox.workspace.state import APP_ID, BOT_USER, TEAM, Json
from tests.talk import Talk

BOT = f"<@{BOT_USER}>"
"""A mention of the bot, as Slack writes it into texts and blocks."""
STATUS_APP = {"user": "U0STATUS", "bot_id": "B0STATUS", "app_id": "A0STATUS"}
"""The author of messages of another app."""
_ONLY_IN_MESSAGE_EVENTS = ("channel_type", "parent_user_id")


async def deliver_event(talk: Talk, event: Json) -> None:
    """Deliver an event of Slack to the bot."""
    talk.slack.line.send_event(
        {
            "type": "event_callback",
            "token": "t",
            "team_id": TEAM["id"],
            "api_app_id": APP_ID,
            "event": event,
            "event_id": f"Ev{secrets.token_hex(6).upper()}",
            "event_time": int(talk.time().timestamp()),
            "authorizations": [{"team_id": TEAM["id"], "user_id": BOT_USER, "is_bot": True}],
        }
    )
    await talk.hears()


async def post(talk: Talk, text: str, channel: str = "docs", **fields: Any) -> Json:
    """Post a message that mentions the bot, by Ana unless ``user`` is given, and deliver both its events.

    Args:
        talk: The conversation.
        text: The text as Slack stores it: mentions and links in angle brackets.
        channel: The name of the channel.
        fields: Fields of the message besides its text, such as ``attachments`` or ``blocks``.
    """
    room, user = talk.room(channel), fields.pop("user", talk.ana.id)
    talk.note(f"{user} posts in {channel}: {text}")
    message = talk.slack.state.add_message(room.id, user=user, text=text)
    message |= fields
    event = {
        "type": "message",
        "channel": room.id,
        "channel_type": "channel",
        "user": user,
        "text": text,
        "ts": message["ts"],
        "event_ts": message["ts"],
        **fields,
    }
    await deliver_event(talk, event)
    mention = {key: each for key, each in event.items() if key not in _ONLY_IN_MESSAGE_EVENTS}
    await deliver_event(talk, mention | {"type": "app_mention"})
    return message


def section(text: str) -> Json:
    """Return a block with a text."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def pasted_table(*rows: tuple[str, ...]) -> Json:
    """Return the attachment of a table that somebody pasted into a message."""
    cells = [[{"type": "raw_text", "text": text} for text in row] for row in rows]
    return {
        "id": 1,
        "fallback": "[no preview available]",
        "blocks": [{"type": "table", "rows": cells}],
    }


def forwarded_blocks(*blocks: Json) -> Json:
    """Return the attachment of a forwarded message whose words are in blocks, as those of apps are."""
    return {
        "is_share": True,
        "is_msg_unfurl": True,
        "author_name": "Helpdesk",
        "text": "",
        "fallback": "[no preview available]",
        "message_blocks": [{"message": {"blocks": list(blocks)}}],
    }


def forwarded_file(text: str, name: str) -> Json:
    """Return the attachment of a forwarded message with a file in Slack's own storage."""
    file = {
        "id": "F0FORWARD",
        "name": name,
        "title": name,
        "mimetype": "text/markdown",
        "size": 7,
        "mode": "hosted",
        "is_external": False,
        "url_private": "https://files.slack.com/files-pri/T1-F1",
        "url_private_download": "https://files.slack.com/files-pri/T1-F1/download",
    }
    return {"is_share": True, "author_name": "Ben", "text": text, "files": [file]}


async def edit_mention(talk: Talk, message: Json, text: str) -> None:
    """Let the author edit a mention; Slack sends the change, and the mention again with ``edited``."""
    [author] = [person for person in (talk.ana, talk.ben) if person.id == message["user"]]
    await author.edits(message, text)
    event = {
        "type": "app_mention",
        "user": author.id,
        "channel": message["channel"],
        "text": message["text"],
        "ts": message["ts"],
        "edited": message["edited"],
        "event_ts": message["edited"]["ts"],
    }
    await deliver_event(talk, event)


async def change_channel_id(talk: Talk, name: str) -> None:
    """Give a channel a new id, as when a private channel is shared with another organisation.

    Source: https://docs.slack.dev/reference/events/channel_id_changed
    """
    state, old = talk.slack.state, talk.room(name).id
    new = f"{old}2"
    talk.note(f"#{name} gets the id {new}")
    channel = state.channels.pop(old)
    channel.id = new
    state.channels[new] = channel
    state.messages[new] = state.messages.pop(old, {})
    for message in state.messages[new].values():
        message["channel"] = new
    event = {"type": "channel_id_changed", "old_channel_id": old, "new_channel_id": new}
    await deliver_event(talk, event | {"event_ts": state.new_ts()})
