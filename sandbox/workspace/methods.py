"""The methods of the Web API that the bot calls: https://docs.slack.dev/reference/methods"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.workspace import blocks as rules
from sandbox.workspace.messages import content_path, file_json, finish, new_file
from sandbox.workspace.options import PREFIXES
from sandbox.workspace.responses import BadTrigger
from sandbox.workspace.state import BOT_ID, BOT_USER, GROUPS, TEAM, Channel, Json, User
from sandbox.workspace.web_api import ApiError, CarryOut, Method, WebApi, complained, paginate

METHODS: dict[str, Method] = {}


def method(name: str, tier: int | None, *scopes: str) -> Callable[[CarryOut], CarryOut]:
    """Make a function a method of the Web API. A scope such as ``*:read`` is one for each kind of channel."""
    whole = [one.replace("*", prefix) for one in scopes for prefix in PREFIXES.values()]

    def register(carry_out: CarryOut) -> CarryOut:
        METHODS[name] = Method(carry_out, tier, tuple(dict.fromkeys(whole)))
        return carry_out

    return register


@method("auth.test", None)
async def auth_test(api: WebApi, _arguments: Json) -> Json:
    identity = {
        "url": f"{api.people.tickets.base_url}/",
        "team": TEAM["name"],
        "team_id": TEAM["id"],
    }
    bot = {
        "user": "docs-agent",
        "user_id": BOT_USER,
        "bot_id": BOT_ID,
        "is_enterprise_install": False,
    }
    return identity | bot


@method("apps.connections.open", 3)
async def open_connection(api: WebApi, _arguments: Json) -> Json:
    return {"url": api.people.bot_connection.sockets.new_url()}


@method("users.info", 4, "users:read")
async def users_info(api: WebApi, arguments: Json) -> Json:
    user = api.state.users.get(str(arguments.get("user") or ""))
    if user is None:
        raise ApiError("user_not_found")
    return {"user": _user_json(user) | _stranger(api, user)}


def _stranger(api: WebApi, user: User) -> Json:
    """Return ``is_stranger`` of a person of another organisation: whether they share no channel with the bot.

    https://docs.slack.dev/apis/slack-connect
    """
    if not user.is_external:
        return {}
    together = (
        room for room in api.state.channels.values() if {user.id, BOT_USER} <= set(room.members)
    )
    return {"is_stranger": not any(room.is_ext_shared for room in together)}


def _user_json(user: User) -> Json:
    return {
        "id": user.id,
        "team_id": user.team_id,
        "name": user.name,
        "real_name": user.real_name,
        "tz": user.tz,
        "is_bot": user.is_bot,
        "is_restricted": user.is_guest,
        "is_ultra_restricted": user.is_single_channel,
        "deleted": False,
        "profile": {
            "display_name": user.real_name,
            "real_name": user.real_name,
            "title": user.title,
        },
    }


@method("usergroups.list", 2, "usergroups:read")
async def list_groups(_api: WebApi, _arguments: Json) -> Json:
    groups = [
        {"id": group, "team_id": TEAM["id"], "handle": handle, "name": handle.capitalize()}
        for group, (handle, _) in GROUPS.items()
    ]
    return {"usergroups": groups}


@method("usergroups.users.list", 2, "usergroups:read")
async def group_members(_api: WebApi, arguments: Json) -> Json:
    group = GROUPS.get(str(arguments.get("usergroup") or ""))
    if group is None:
        raise ApiError("no_such_subteam")
    return {"users": list(group[1])}


@method("reactions.add", 3, "reactions:write")
async def add_reaction(api: WebApi, arguments: Json) -> Json:
    name, message = (
        arguments.get("name"),
        api.message(api.channel(arguments), arguments.get("timestamp")),
    )
    if not name:
        raise ApiError("invalid_name")
    if any(
        reaction["name"] == name and BOT_USER in reaction["users"]
        for reaction in message["reactions"]
    ):
        raise ApiError("already_reacted")
    api.people.react(BOT_USER, message, str(name))
    return {}


@method("reactions.remove", 2, "reactions:write")
async def remove_reaction(api: WebApi, arguments: Json) -> Json:
    name = str(arguments.get("name") or "")
    message = api.message(api.channel(arguments), arguments.get("timestamp"))
    mine = [one for one in message["reactions"] if one["name"] == name and BOT_USER in one["users"]]
    if not mine:
        raise ApiError("no_reaction")
    api.people.react(BOT_USER, message, name)
    return {}


@method("views.update", 4)
async def update_view(api: WebApi, arguments: Json) -> Json:
    """Replace an open modal: https://docs.slack.dev/reference/methods/views.update"""
    view: Any = arguments.get("view")
    if complaints := rules.view_complaints(view):
        raise ApiError("invalid_arguments", **complained(complaints))
    shown = api.state.views.get(str(arguments.get("view_id") or ""))
    if shown is None:
        raise ApiError("not_found")
    if arguments.get("hash") not in (None, shown["hash"]):
        raise ApiError("hash_conflict")
    return {"view": api.people.change_view(shown, view)}


@method("views.push", 4)
@method("views.open", 4)
async def open_view(api: WebApi, arguments: Json) -> Json:
    view: Any = arguments.get("view")
    if complaints := rules.view_complaints(view):
        raise ApiError("invalid_arguments", **complained(complaints))
    try:
        user, tab = api.people.tickets.use_trigger(str(arguments.get("trigger_id") or ""))
    except BadTrigger as bad:
        raise ApiError(str(bad)) from None
    return {"view": api.people.show_view(user, view, tab)}


@method("views.publish", 4)
async def publish_view(api: WebApi, arguments: Json) -> Json:
    user, view = str(arguments.get("user_id") or ""), arguments.get("view")
    if not api.people.app.has_home:
        raise ApiError("not_enabled")
    if complaints := rules.view_complaints(view, "home"):
        raise ApiError("invalid_arguments", **complained(complaints))
    if user not in api.state.users or user == BOT_USER:
        raise ApiError(
            "invalid_arguments", **complained(["invalid user id [json-pointer:/user_id]"])
        )
    before = api.state.homes.get(user) or {}
    if arguments.get("hash") not in (None, before.get("hash")):
        raise ApiError("hash_conflict")
    return {"view": api.people.publish_home(user, dict(view or {}))}


# chat.*


@method("chat.postMessage", None, "chat:write")
async def post_message(api: WebApi, arguments: Json) -> Json:
    anywhere = "chat:write.public" in (api.people.app.scopes or ())
    channel, thread = api.room_to_post(arguments, member=not anywhere)
    blocks, text = api.checked_blocks(arguments), str(arguments.get("text") or "")
    if not text and not blocks:
        raise ApiError("no_text")
    api.rates.count_post(channel.id)
    message = api.state.add_message(
        channel.id,
        user=BOT_USER,
        bot_id=BOT_ID,
        text=text[:40_000],
        blocks=blocks,
        thread_ts=thread,
        metadata=_metadata(arguments),
    )
    api.people.send_message_event(message)
    return {
        "channel": channel.id,
        "ts": message["ts"],
        "message": _message_json(message, metadata=True),
    }


def _metadata(arguments: Json) -> Json | None:
    metadata = arguments.get("metadata")
    if metadata is None:
        return None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("event_payload"), dict):
        raise ApiError("invalid_metadata_format")
    return metadata


@method("chat.update", 3, "chat:write")
async def update(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments)
    message = api.message(channel, arguments.get("ts"))
    if message["bot_id"] != BOT_ID:
        raise ApiError("cant_update_message")
    text, blocks = arguments.get("text"), api.checked_blocks(arguments)
    if len(str(text or "").encode()) > 4_000:
        raise ApiError("msg_too_long")
    if text is None and blocks is None:
        raise ApiError("no_text")
    if blocks and _has_rich_text(message["blocks"]) and not _has_rich_text(blocks):
        raise ApiError("block_mismatch")
    changed = text is not None and blocks is None and text != message["text"]
    message |= {"text": text if text is not None else message["text"], "blocks": blocks}
    message["edited"] = message["edited"] or changed
    if (metadata := _metadata(arguments)) is not None:
        message["metadata"] = metadata or None
    api.state.publish("message", message=message)
    return {"channel": channel.id, "ts": message["ts"], "text": message["text"]}


def _has_rich_text(blocks: list[Json] | None) -> bool:
    return any(block.get("type") == "rich_text" for block in blocks or [])


@method("chat.postEphemeral", 4, "chat:write")
async def post_ephemeral(api: WebApi, arguments: Json) -> Json:
    channel, user = api.channel(arguments), arguments.get("user")
    if user not in channel.members:
        raise ApiError("user_not_in_channel")
    text, blocks = str(arguments.get("text") or ""), api.checked_blocks(arguments)
    fields = {"text": text, "blocks": blocks, "thread_ts": arguments.get("thread_ts")}
    return {"message_ts": api.state.add_ephemeral(channel.id, user, **fields)["ts"]}


@method("chat.delete", 3, "chat:write")
async def delete(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments)
    message = api.message(channel, arguments.get("ts"))
    if message["bot_id"] != BOT_ID:
        raise ApiError("cant_delete_message")
    api.people.delete(BOT_USER, channel.id, message["ts"])
    return {"channel": channel.id, "ts": message["ts"]}


# conversations.*


@method("conversations.info", 3, "*:read")
async def info(api: WebApi, arguments: Json) -> Json:
    return {"channel": _channel_json(api.channel(arguments, member=False))}


def _channel_json(channel: Channel) -> Json:
    return {
        "id": channel.id,
        "name": channel.name,
        "is_channel": not channel.is_closed,
        "is_private": channel.is_private,
        "is_group": channel.is_private and not channel.is_mpim,
        "is_im": channel.is_im,
        "is_mpim": channel.is_mpim,
        "is_archived": channel.is_archived,
        "is_shared": channel.is_ext_shared,
        "is_ext_shared": channel.is_ext_shared,
        "is_org_shared": False,
        "is_member": BOT_USER in channel.members,
        "topic": {"value": channel.topic},
        "num_members": len(channel.members),
        **({"user": channel.user} if channel.is_im else {}),
    }


@method("conversations.join", 3, "channels:join")
async def join(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments, member=False)
    if channel.is_closed:
        raise ApiError("method_not_supported_for_channel_type")
    if channel.is_archived:
        raise ApiError("is_archived")
    if BOT_USER not in channel.members:
        api.people.add_member(channel, BOT_USER)
    return {"channel": _channel_json(channel)}


@method("conversations.open", 3, "im:write", "mpim:write")
async def open_conversation(api: WebApi, arguments: Json) -> Json:
    user = str(arguments.get("users") or "")
    if user not in api.state.users or user == BOT_USER:
        raise ApiError("user_not_found")
    return {"channel": {"id": api.state.im_of(user).id}}


@method("conversations.members", 4, "*:read")
async def members(api: WebApi, arguments: Json) -> Json:
    return paginate("members", list(api.channel(arguments, member=False).members), arguments)


@method("conversations.replies", 3, "*:history")
async def replies(api: WebApi, arguments: Json) -> Json:
    messages = api.state.thread(api.channel(arguments).id, str(arguments.get("ts")))
    if not messages:
        raise ApiError("thread_not_found")
    return _messages([messages[0], *_in_time_range(messages[1:], arguments)], arguments)


@method("conversations.history", 3, "*:history")
async def history(api: WebApi, arguments: Json) -> Json:
    messages = list(api.state.history(api.channel(arguments).id))
    return _messages(_in_time_range(messages, arguments), arguments)


def _in_time_range(messages: list[Json], arguments: Json) -> list[Json]:
    oldest, latest = float(arguments.get("oldest") or 0), float(arguments.get("latest") or 10**12)
    return [one for one in messages if oldest < float(one["ts"]) < latest]


def _messages(messages: list[Json], arguments: Json) -> Json:
    metadata = str(arguments.get("include_all_metadata", "")).lower() in ("1", "true")
    return paginate(
        "messages", [_message_json(one, metadata=metadata) for one in messages], arguments
    )


def _message_json(message: Json, *, metadata: bool) -> Json:
    """Return a message in Slack's JSON form; without ``metadata`` only the type of its metadata."""
    keys = ("ts", "thread_ts", "user", "bot_id", "text", "blocks", "subtype")
    event = {"type": "message", **{key: message[key] for key in keys if message[key] is not None}}
    event |= {key: message[key] for key in ("attachments", "files") if message.get(key)}
    if isinstance(message["edited"], dict):
        event["edited"] = message["edited"]
    if message["metadata"]:
        event_type = {"event_type": message["metadata"]["event_type"]}
        event["metadata"] = message["metadata"] if metadata else event_type
    return event


@method("files.info", 4, "files:read")
async def file_info(api: WebApi, arguments: Json) -> Json:
    file = api.state.files.get(str(arguments.get("file") or ""))
    if file is None or not file["done"] or not api.state.is_file_seen_by_bot(file["id"]):
        raise ApiError("file_not_found")
    return {"file": file_json(file) | {"file_access": "visible"}}


@method("files.delete", 3, "files:write")
async def delete_file(api: WebApi, arguments: Json) -> Json:
    """Delete a file of the bot's, also in the messages that show it.

    https://docs.slack.dev/reference/methods/files.delete
    """
    file = api.state.files.get(str(arguments.get("file") or ""))
    if file is None or not file["done"]:
        raise ApiError("file_not_found")
    if file["user"] != BOT_USER:
        raise ApiError("cant_delete_file")
    api.people.delete_file(file["id"])
    return {}


# files.*: an upload in three steps. https://docs.slack.dev/messaging/working-with-files


@method("files.getUploadURLExternal", 4, "files:write")
async def get_upload_url(api: WebApi, arguments: Json) -> Json:
    name, length = str(arguments.get("filename") or ""), str(arguments.get("length") or "")
    if not name or not length.isdecimal() or int(length) < 1:
        raise ApiError("invalid_arguments")
    file_id = new_file(api.state, name, BOT_USER)["id"]
    return {"file_id": file_id, "upload_url": f"{api.people.tickets.base_url}/upload/{file_id}"}


@method("files.completeUploadExternal", 4, "files:write")
async def complete_upload(api: WebApi, arguments: Json) -> Json:
    file_arguments = [one for one in arguments.get("files") or [] if isinstance(one, dict)]
    files = [_uploaded_file(api, str(one.get("id"))) for one in file_arguments]
    if not files:
        raise ApiError("invalid_arguments")
    # No channel means private; ``channels`` may name people.
    named = [
        str(arguments.get("channel_id") or ""),
        *str(arguments.get("channels") or "").split(","),
    ]
    asked = dict.fromkeys(_channel_id(api, name.strip()) for name in named if name.strip())
    rooms = [api.room_to_post(arguments | {"channel": channel}) for channel in asked]
    for room, _ in rooms:
        api.rates.count_post(room.id)
    for file, one in zip(files, file_arguments, strict=True):
        title = str(one.get("title") or file["name"])
        finish(file, title, api.people.tickets.base_url, api.state, api.options.folder)
    shared = [file_json(file) for file in files]
    text = str(arguments.get("initial_comment") or "")
    for room, thread in rooms:
        fields = {
            "user": BOT_USER,
            "bot_id": BOT_ID,
            "text": text,
            "thread_ts": thread,
            "files": shared,
        }
        api.people.send_message_event(api.state.add_message(room.id, **fields))
    return {"files": shared}


def _channel_id(api: WebApi, name: str) -> str:
    is_person = name in api.state.users and name != BOT_USER
    return api.state.im_of(name).id if is_person else name


def _uploaded_file(api: WebApi, file_id: str) -> Json:
    """Return a file that is uploaded and not completed; raise ApiError otherwise. Completing works once."""
    file = api.state.files.get(file_id)
    if file is None or file["done"] or not content_path(api.options.folder, file).exists():
        raise ApiError("file_not_found")
    return file
