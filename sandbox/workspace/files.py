"""The ``files.*`` methods: an upload in three steps. https://docs.slack.dev/messaging/working-with-files"""

from __future__ import annotations

import mimetypes
from pathlib import Path

from sandbox.workspace.state import BOT_ID, BOT_USER, Channel, Json
from sandbox.workspace.web_api import ApiError, WebApi

_PREVIEW_LINES = 6
_PREVIEW_BYTES = 4_000


def content_path(folder: Path, file: Json) -> Path:
    """Return the path of a file's content on disk."""
    return folder / "files" / str(file["id"])


async def get_upload_url(api: WebApi, arguments: Json) -> Json:
    """https://docs.slack.dev/reference/methods/files.getUploadURLExternal"""
    name, length = str(arguments.get("filename") or ""), str(arguments.get("length") or "")
    if not name or not length.isdecimal() or int(length) < 1:
        raise ApiError("invalid_arguments")
    file_id = api.state.new_id("F")
    mimetype = mimetypes.guess_type(name)[0] or "application/octet-stream"
    api.state.files[file_id] = {
        "id": file_id,
        "name": name,
        "title": name,
        "size": 0,
        "mimetype": mimetype,
        "filetype": Path(name).suffix.removeprefix(".").lower() or "text",
        "user": BOT_USER,
        "done": False,
    }
    return {"file_id": file_id, "upload_url": f"{api.people.tickets.base_url}/upload/{file_id}"}


async def complete_upload(api: WebApi, arguments: Json) -> Json:
    """https://docs.slack.dev/reference/methods/files.completeUploadExternal"""
    given = [one for one in arguments.get("files") or [] if isinstance(one, dict)]
    files = [_uploaded_file(api, str(one.get("id"))) for one in given]
    if not files:
        raise ApiError("invalid_arguments")
    rooms, thread = _target_channels(api, arguments), arguments.get("thread_ts")
    for room in rooms:
        _check(api, room, thread)
    for room in rooms:
        api.rates.count_post(room.id)
    for file, one in zip(files, given, strict=True):
        _finish(api, file, str(one.get("title") or file["name"]))
    for room in rooms:
        _share(api, room, files, str(arguments.get("initial_comment") or ""), thread)
    return {"files": [file_json(file) for file in files]}


def _uploaded_file(api: WebApi, file_id: str) -> Json:
    """Return a file that is uploaded and not completed; raise ApiError otherwise. Completing works once."""
    file = api.state.files.get(file_id)
    if file is None or file["done"] or not content_path(api.options.folder, file).exists():
        raise ApiError("file_not_found")
    return file


def _target_channels(api: WebApi, arguments: Json) -> list[Channel]:
    """Return the channels to share files in; ``channels`` may name people. No channel means private."""
    named = [str(arguments.get("channel_id") or ""), *str(arguments.get("channels") or "").split(",")]
    asked = [name.strip() for name in named if name.strip()]
    ids = [api.state.im_of(name).id if _is_person(api, name) else name for name in asked]
    return [api.channel({"channel": each}) for each in dict.fromkeys(ids)]


def _is_person(api: WebApi, name: str) -> bool:
    return name in api.state.users and name != BOT_USER


def _check(api: WebApi, room: Channel, thread: str | None) -> None:
    if room.is_archived:
        raise ApiError("is_archived")
    if thread and api.state.message(room.id, thread) is None:
        raise ApiError("thread_not_found")


def _finish(api: WebApi, file: Json, title: str) -> None:
    address = f"{api.people.tickets.base_url}/files/{file['id']}"
    at = int(api.state.clock().timestamp())
    file |= {"done": True, "title": title, "permalink": address, "url_private": address, "created": at}
    if str(file["mimetype"]).startswith("text/"):
        file |= _preview(content_path(api.options.folder, file))


def _preview(path: Path) -> Json:
    """Return Slack's preview of a text file: its first lines and the number of further lines."""
    content = path.read_bytes()
    lines = content[:_PREVIEW_BYTES].decode("utf-8", "replace").splitlines()[:_PREVIEW_LINES]
    all_lines = content.count(b"\n") + (not content.endswith(b"\n"))
    return {"preview": "\n".join(lines), "lines": all_lines, "lines_more": max(0, all_lines - len(lines))}


def _share(api: WebApi, room: Channel, files: list[Json], text: str, thread: str | None) -> None:
    about = {"text": text, "thread_ts": thread, "files": [file_json(file) for file in files]}
    api.people.send_message_event(api.state.add_message(room.id, user=BOT_USER, bot_id=BOT_ID, **about))


def file_json(file: Json) -> Json:
    """Return a file in Slack's JSON form."""
    return {key: value for key, value in file.items() if key != "done"}


async def file_info(api: WebApi, arguments: Json) -> Json:
    """https://docs.slack.dev/reference/methods/files.info"""
    file = api.state.files.get(str(arguments.get("file") or ""))
    if file is None or not file["done"]:
        raise ApiError("file_not_found")
    return {"file": file_json(file)}
