"""The ``files.*`` methods: an upload in three steps. https://docs.slack.dev/messaging/working-with-files"""

from __future__ import annotations

from sandbox.workspace.attachments import content_path, file_json, finish, new_file
from sandbox.workspace.state import BOT_ID, BOT_USER, Channel, Json
from sandbox.workspace.web_api import ApiError, WebApi


async def get_upload_url(api: WebApi, arguments: Json) -> Json:
    """https://docs.slack.dev/reference/methods/files.getUploadURLExternal"""
    name, length = str(arguments.get("filename") or ""), str(arguments.get("length") or "")
    if not name or not length.isdecimal() or int(length) < 1:
        raise ApiError("invalid_arguments")
    file_id = new_file(api.state, name, BOT_USER)["id"]
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
    finish(file, title, api.people.tickets.base_url, api.state, api.options.folder)


def _share(api: WebApi, room: Channel, files: list[Json], text: str, thread: str | None) -> None:
    about = {"text": text, "thread_ts": thread, "files": [file_json(file) for file in files]}
    api.people.send_message_event(api.state.add_message(room.id, user=BOT_USER, bot_id=BOT_ID, **about))


async def file_info(api: WebApi, arguments: Json) -> Json:
    """https://docs.slack.dev/reference/methods/files.info"""
    file = api.state.files.get(str(arguments.get("file") or ""))
    if file is None or not file["done"]:
        raise ApiError("file_not_found")
    return {"file": file_json(file)}
