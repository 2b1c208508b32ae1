"""The events that the bot gets. https://docs.slack.dev/reference/events"""

from __future__ import annotations

import secrets

from sandbox.workspace.app import App
from sandbox.workspace.bot_connection import BotConnection
from sandbox.workspace.scopes import PREFIXES
from sandbox.workspace.state import APP_ID, BOT_USER, TEAM, Json, State


class EventSender:
    """Sends the bot the events that its app may hear of, of the channels in which it is a member."""

    def __init__(self, state: State, bot_connection: BotConnection, app: App) -> None:
        self._state = state
        self._app = app
        self._bot_connection = bot_connection

    def send_message(self, message: Json) -> None:
        """Send the bot a ``message`` event if it is a member, and ``app_mention`` if it is mentioned."""
        channel = message["channel"]
        event = self.message_fields(message) | {"channel": channel, "event_ts": message["ts"]}
        root = self._state.message(channel, message["thread_ts"] or "")
        self.send(channel, event | ({"parent_user_id": root["user"]} if root else {}))
        # Reports differ on whether a mention in a group direct message comes twice. Here it does not.
        is_told_twice = self._state.channels[channel].kind not in ("im", "mpim")
        if f"<@{BOT_USER}>" in message["text"] and is_told_twice and not message["bot_id"]:
            self.send(channel, {**event, "type": "app_mention"})

    def send_change(self, message: Json, before: Json, about: Json) -> None:
        """Send the bot what a message was and is, with ``about`` it.

        https://docs.slack.dev/reference/events/message/message_changed
        """
        event = {"type": "message", "subtype": "message_changed", "channel": message["channel"]}
        event["message"] = self.message_fields(message) | about
        event["previous_message"] = self.message_fields(before)
        self.send(message["channel"], event | {"ts": self._state.new_ts(), "hidden": True})

    def send_deletion(self, message: Json) -> None:
        """Send the bot a message that was deleted.

        https://docs.slack.dev/reference/events/message/message_deleted
        """
        event = {"type": "message", "subtype": "message_deleted", "channel": message["channel"]}
        event |= {"deleted_ts": message["ts"], "previous_message": self.message_fields(message)}
        self.send(message["channel"], event | {"ts": self._state.new_ts(), "hidden": True})

    def message_fields(self, message: Json) -> Json:
        """Return a message in the form that events and interactions have."""
        keys = ("user", "bot_id", "text", "ts", "thread_ts", "subtype", "blocks")
        spoken = {"type": "message", **{key: message[key] for key in keys if message.get(key) is not None}}
        if message["bot_id"]:
            spoken["app_id"] = message.get("app_id") or APP_ID
        if message.get("attachments"):
            spoken["attachments"] = message["attachments"]
        if message["files"]:
            spoken |= {"subtype": "file_share", "files": message["files"]}
        return spoken

    def send(self, channel: str, event: Json) -> None:
        """Send the bot an event of a channel, if it is a member and its app may hear of it."""
        room, name = self._state.channels[channel], str(event["type"])
        if name == "message":
            prefix = PREFIXES[room.kind]
            name, event = f"message.{prefix}", event | {"channel_type": prefix.removesuffix("s")}
        if BOT_USER not in room.members or not self._app.hears(name):
            return
        self._bot_connection.send_event(
            {
                "type": "event_callback",
                "token": "sandbox",
                "team_id": TEAM["id"],
                "api_app_id": APP_ID,
                "event": event,
                "event_id": f"Ev{secrets.token_hex(6).upper()}",
                "event_time": int(self._state.clock().timestamp()),
                "authorizations": [{"team_id": TEAM["id"], "user_id": BOT_USER, "is_bot": True}],
                "is_ext_shared_channel": room.is_ext_shared,
            }
        )
