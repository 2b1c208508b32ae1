"""Messages on the wire: the events of them that the bot gets, their files, and the entities in their text."""

from __future__ import annotations

import mimetypes
import re
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from sandbox.workspace.bot_connection import BotConnection
from sandbox.workspace.options import PREFIXES, App
from sandbox.workspace.state import APP_ID, BOT_USER, GROUPS, TEAM, Channel, Json, State

_PREVIEW_LINES = 6
_PREVIEW_BYTES = 4_000


def content_path(folder: Path, file: Json) -> Path:
    """Return the path of a file's content on disk."""
    return folder / "files" / str(file["id"])


def new_file(state: State, name: str, user: str) -> Json:
    """Add a file of a person or the bot, without content yet, and return it."""
    file_id = state.new_id("F")
    made: Json = {
        "id": file_id,
        "name": name,
        "title": name,
        "size": 0,
        "mimetype": mimetypes.guess_type(name)[0] or "application/octet-stream",
        "filetype": Path(name).suffix.removeprefix(".").lower() or "text",
        "user": user,
        "done": False,
    }
    state.files[file_id] = made
    state.shelf.put("file", file_id, made)
    return made


def share(state: State, folder: Path, base_url: str, user: str, name: str, text: str) -> Json:
    """Store a file that a person attaches to a message, and return it in Slack's JSON form."""
    file = new_file(state, name, user)
    path = content_path(folder, file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    finish(file, name, base_url, state, folder)
    return file_json(file)


def finish(file: Json, title: str, base_url: str, state: State, folder: Path) -> None:
    """Complete an uploaded file: it gets its addresses, and text a preview."""
    at, content = int(state.clock().timestamp()), content_path(folder, file)
    private = f"{base_url}/files-pri/{TEAM['id']}-{file['id']}"
    file |= {"done": True, "title": title, "size": content.stat().st_size}
    file |= {"permalink": f"{base_url}/files/{file['id']}", "created": at}
    file |= {"mode": "hosted", "is_external": False, "url_private": private}
    file["url_private_download"] = f"{private}/download"
    if str(file["mimetype"]).startswith("text/"):
        file |= _preview(content)
    state.shelf.put("file", str(file["id"]), file)


def _preview(path: Path) -> Json:
    """Return Slack's preview of a text file: its first lines and the number of further lines."""
    content = path.read_bytes()
    lines = content[:_PREVIEW_BYTES].decode("utf-8", "replace").splitlines()[:_PREVIEW_LINES]
    all_lines = content.count(b"\n") + (not content.endswith(b"\n"))
    return {
        "preview": "\n".join(lines),
        "lines": all_lines,
        "lines_more": max(0, all_lines - len(lines)),
    }


def file_json(file: Json) -> Json:
    """Return a file in Slack's JSON form."""
    return {key: value for key, value in file.items() if key != "done"}


def _files_in_event(files: list[Json], channel: Channel) -> list[Json]:
    """Return the files of a message as events have them: in shared channels ids alone.

    https://docs.slack.dev/apis/slack-connect
    """
    if not channel.is_ext_shared:
        return files
    access = "check_file_info"
    return [{"id": file["id"], "mode": "file_access", "file_access": access} for file in files]


def forwarded(state: State, base_url: str, message: Json) -> Json:
    """Return the attachment of a forwarded message.

    https://docs.slack.dev/reference/objects/attachment-object
    """
    author = state.users.get(message["user"])
    # An app's words stand in its blocks alone.
    text = "" if message["blocks"] else message["text"]
    attachment: Json = {
        "is_share": True,
        "is_msg_unfurl": True,
        "author_name": author.real_name if author else "App",
        "channel_id": message["channel"],
        "ts": message["ts"],
        "text": text,
        "fallback": text or "[no preview available]",
        "from_url": f"{base_url}/archives/{message['channel']}/p{message['ts'].replace('.', '')}",
    }
    if message["blocks"]:
        attachment["message_blocks"] = [
            {
                "team": TEAM["id"],
                "channel": message["channel"],
                "ts": message["ts"],
                "message": {"blocks": message["blocks"]},
            }
        ]
    if message["files"]:
        attachment["files"] = message["files"]
    return attachment


def pasted_table(rows: Sequence[Sequence[str]]) -> Json:
    """Return the attachment of a table that a person pastes into a message.

    https://docs.slack.dev/reference/block-kit/blocks/table-block
    """
    cells = [[{"type": "raw_text", "text": cell} for cell in row] for row in rows]
    return {
        "id": 1,
        "fallback": "[no preview available]",
        "blocks": [{"type": "table", "rows": cells}],
    }


_NAMED = re.compile(
    r"(?<![\w@])@([\w.-]*\w)|(?<![\w#&])#([\w-]*\w)|(https?://[^\s<>|]*[^\s<>|.,;:!?)\]}'\"])"
)
_BROADCASTS = {"here", "channel", "everyone"}


class EntityEncoder:
    """Replaces names, channels and URLs in typed text by entities."""

    def __init__(self, state: State) -> None:
        self._state = state

    def as_message(self, text: str) -> str:
        """Return the text for a message: mentions as in ``<@U01ANA>``."""
        return self._wire(text, lambda user_id, _name: f"<@{user_id}>", is_message=True)

    def as_command(self, text: str) -> str:
        """Return the text for a command with ``should_escape``: mentions as in ``<@U01ANA|ana>``."""
        return self._wire(text, lambda user_id, name: f"<@{user_id}|{name}>", is_message=False)

    def _wire(self, text: str, user: Callable[[str, str], str], *, is_message: bool) -> str:
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

        def entity(match: re.Match[str]) -> str:
            name, channel, url = match.groups()
            if url:
                return f"<{url}>"
            if name:
                person = next((one for one in self._state.users.values() if one.name == name), None)
                if person:
                    return user(person.id, person.name)
                group = next((key for key, (handle, _) in GROUPS.items() if handle == name), None)
                if group:
                    # In messages a group comes without its name.
                    return f"<!subteam^{group}>" if is_message else f"<!subteam^{group}|@{name}>"
                return f"<!{name}>" if is_message and name in _BROADCASTS else match[0]
            room = next((one for one in self._state.channels.values() if one.name == channel), None)
            return f"<#{room.id}|{'' if room.is_closed else room.name}>" if room else match[0]

        return _NAMED.sub(entity, escaped)


class EventSender:
    """Sends the bot the events of its app's scopes, from the channels in which it is a member."""

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

    def send_change(self, message: Json, before: Json, fields: Json) -> None:
        """Send the bot a message before and after its change, with the fields ``about``.

        https://docs.slack.dev/reference/events/message/message_changed
        """
        event = {"type": "message", "subtype": "message_changed", "channel": message["channel"]}
        event["message"] = self.message_fields(message) | fields
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
        spoken = {
            "type": "message",
            **{key: message[key] for key in keys if message.get(key) is not None},
        }
        if message["bot_id"]:
            spoken["app_id"] = message.get("app_id") or APP_ID
        if message.get("attachments"):
            spoken["attachments"] = message["attachments"]
        if message["files"]:
            room = self._state.channels[message["channel"]]
            files = _files_in_event(message["files"], room)
            spoken |= {"subtype": "file_share", "files": files}
        return spoken

    def send(self, channel: str, event: Json) -> None:
        """Send the bot an event of a channel, if it is a member and its app has the scope."""
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
