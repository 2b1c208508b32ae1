"""The events that the bot gets. https://docs.slack.dev/reference/events"""

from __future__ import annotations

import secrets

from sandbox.workspace.bot_connection import BotConnection
from sandbox.workspace.state import APP_ID, BOT_USER, TEAM, Json, State


class EventSender:
    """Sends the bot the events of the channels in which it is a member."""

    def __init__(self, state: State, bot_connection: BotConnection) -> None:
        self._state = state
        self._bot_connection = bot_connection

    def send_message(self, message: Json) -> None:
        """Send the bot a ``message`` event if it is a member, and ``app_mention`` if it is mentioned."""
        channel = message["channel"]
        event = self.message_fields(message) | {"channel": channel, "event_ts": message["ts"]}
        about: Json = {"channel_type": self._channel_type(channel)}
        if message["thread_ts"]:
            root = self._state.message(channel, message["thread_ts"])
            about["parent_user_id"] = (root or {}).get("user")
        self.send(channel, event | about)
        # Reports differ on whether a mention in a group direct message comes twice. Here it does not.
        is_told_twice = about["channel_type"] not in ("im", "mpim")
        if f"<@{BOT_USER}>" in message["text"] and is_told_twice and not message["bot_id"]:
            self.send(channel, {**event, "type": "app_mention"})

    def message_fields(self, message: Json) -> Json:
        """Return a message in the form that events and interactions have."""
        keys = ("user", "bot_id", "text", "ts", "thread_ts", "subtype", "blocks")
        spoken = {"type": "message", **{key: message[key] for key in keys if message.get(key) is not None}}
        if message["bot_id"]:
            spoken["app_id"] = APP_ID
        if message["files"]:
            spoken |= {"subtype": "file_share", "files": message["files"]}
        return spoken

    def _channel_type(self, channel: str) -> str:
        room = self._state.channels[channel]
        if room.is_mpim:
            return "mpim"
        return "im" if room.is_im else "group" if room.is_private else "channel"

    def send(self, channel: str, event: Json) -> None:
        """Send the bot an event of a channel, if it is a member."""
        if BOT_USER not in self._state.channels[channel].members:
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
                "is_ext_shared_channel": self._state.channels[channel].is_ext_shared,
            }
        )
