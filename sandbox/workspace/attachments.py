"""Files and forwarded messages, as messages carry them. https://docs.slack.dev/messaging/working-with-files"""

from __future__ import annotations

import mimetypes
from pathlib import Path

from sandbox.workspace.state import TEAM, Json, State

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
    return made


def share(state: State, folder: Path, base_url: str, user: str, name: str, text: str) -> Json:
    """Store a file that a person attaches to a message, and return it in Slack's JSON form."""
    file = new_file(state, name, user)
    path = content_path(folder, file)
    path.parent.mkdir(parents=True, exist_ok=True)
    file["size"] = path.write_bytes(text.encode())
    finish(file, name, base_url, state, folder)
    return file_json(file)


def finish(file: Json, title: str, base_url: str, state: State, folder: Path) -> None:
    """Complete an uploaded file: it gets its addresses, and text a preview."""
    at = int(state.clock().timestamp())
    private = f"{base_url}/files-pri/{TEAM['id']}-{file['id']}"
    file |= {"done": True, "title": title, "permalink": f"{base_url}/files/{file['id']}", "created": at}
    file |= {"mode": "hosted", "is_external": False, "url_private": private}
    file["url_private_download"] = f"{private}/download"
    if str(file["mimetype"]).startswith("text/"):
        file |= _preview(content_path(folder, file))


def _preview(path: Path) -> Json:
    """Return Slack's preview of a text file: its first lines and the number of further lines."""
    content = path.read_bytes()
    lines = content[:_PREVIEW_BYTES].decode("utf-8", "replace").splitlines()[:_PREVIEW_LINES]
    all_lines = content.count(b"\n") + (not content.endswith(b"\n"))
    return {"preview": "\n".join(lines), "lines": all_lines, "lines_more": max(0, all_lines - len(lines))}


def file_json(file: Json) -> Json:
    """Return a file in Slack's JSON form."""
    return {key: value for key, value in file.items() if key != "done"}


def forwarded(state: State, base_url: str, message: Json) -> Json:
    """Return the attachment of a forwarded message.

    https://docs.slack.dev/reference/objects/attachment-object
    """
    return {
        "is_share": True,
        "is_msg_unfurl": True,
        "author_name": state.users[message["user"]].real_name,
        "channel_id": message["channel"],
        "ts": message["ts"],
        "text": message["text"],
        "fallback": message["text"],
        "from_url": f"{base_url}/archives/{message['channel']}/p{message['ts'].replace('.', '')}",
    }
