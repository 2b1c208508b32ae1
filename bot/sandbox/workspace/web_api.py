"""The Web API methods that a bot of this kind uses, with Slack's own errors and limits.

https://docs.slack.dev/reference/methods
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from bot.sandbox.workspace import blocks as rules
from bot.sandbox.workspace.people import People
from bot.sandbox.workspace.state import APP_ID, BOT_ID, BOT_USER, TEAM, Channel, Json

Method = Callable[["WebApi", Json], Awaitable[Json]]


class ApiError(Exception):
    """``ok: false`` with a code of Slack's."""

    def __init__(self, code: str, **about: Any) -> None:
        super().__init__(code)
        self.code = code
        self.about = about


class Throttled(Exception):
    """429."""

    def __init__(self, seconds: float) -> None:
        super().__init__("ratelimited")
        self.seconds = seconds


class WebApi:
    """The methods over one workspace."""

    def __init__(self, people: People) -> None:
        self.people = people
        self.state = people.state
        self.options = people.options
        self._tokens: dict[str, tuple[float, float]] = {}

    async def call(self, name: str, arguments: Json) -> Json:
        """Carry out a method; raises ApiError or Throttled."""
        method = METHODS.get(name)
        if method is None:
            raise ApiError("unknown_method", req_method=name)
        return await method(self, arguments)

    def channel(self, arguments: Json, *, member: bool = True) -> Channel:
        """The channel named in the arguments, as the bot may see it."""
        found = self.state.channels.get(str(arguments.get("channel") or ""))
        if found is None or (found.is_private and BOT_USER not in found.members):
            raise ApiError("channel_not_found")
        if member and BOT_USER not in found.members:
            raise ApiError("not_in_channel")
        return found

    def pace(self, channel: Channel) -> None:
        """One message a second and channel, with a short burst (https://docs.slack.dev/apis/web-api/rate-limits)."""
        if not self.options.enforce_channel_rate:
            return
        now, burst = self.state.clock().timestamp(), self.options.channel_burst
        left, at = self._tokens.get(channel.id, (float(burst), now))
        left = min(left + now - at, burst)
        if left < 1:
            raise Throttled(1.0)
        self._tokens[channel.id] = (left - 1, now)

    def drawn(self, arguments: Json) -> list[Json] | None:
        """The blocks in the arguments, checked."""
        blocks = arguments.get("blocks")
        if not blocks:
            return None
        complaints = rules.message_complaints(blocks)
        if complaints:
            messages = [f"[ERROR] {complaint}" for complaint in complaints]
            raise ApiError("invalid_blocks", response_metadata={"messages": messages})
        if rules.too_long(blocks):
            raise ApiError("msg_blocks_too_long")
        for number, block in enumerate(blocks):
            block.setdefault("block_id", f"b{number}")
        checked: list[Json] = blocks
        return checked


async def api_test(_api: WebApi, _arguments: Json) -> Json:
    return {}


async def auth_test(_api: WebApi, _arguments: Json) -> Json:
    url = f"https://{TEAM['domain']}.slack.com/"
    about = {"url": url, "team": TEAM["name"], "team_id": TEAM["id"]}
    return about | {
        "user": "docs-agent",
        "user_id": BOT_USER,
        "bot_id": BOT_ID,
        "is_enterprise_install": False,
    }


async def post_message(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments)
    if channel.is_archived:
        raise ApiError("is_archived")
    blocks, text = api.drawn(arguments), str(arguments.get("text") or "")
    if not text and not blocks:
        raise ApiError("no_text")
    thread = arguments.get("thread_ts")
    if thread and api.state.message(channel.id, thread) is None:
        raise ApiError("thread_not_found")
    api.pace(channel)
    message = api.state.add_message(
        channel.id,
        user=BOT_USER,
        bot_id=BOT_ID,
        text=text[:40_000],
        blocks=blocks,
        thread_ts=thread,
        metadata=_metadata(arguments),
    )
    api.people.tell_bot_of(message)
    return {"channel": channel.id, "ts": message["ts"], "message": shown(message, metadata=True)}


def _metadata(arguments: Json) -> Json | None:
    metadata = arguments.get("metadata")
    if metadata is None:
        return None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("event_payload"), dict):
        raise ApiError("invalid_metadata_format")
    return metadata


async def update(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments)
    message = api.state.message(channel.id, str(arguments.get("ts")))
    if message is None:
        raise ApiError("message_not_found")
    if message["bot_id"] != BOT_ID:
        raise ApiError("cant_update_message")
    text, blocks = arguments.get("text"), api.drawn(arguments)
    if len(str(text or "").encode()) > 4_000:
        raise ApiError("msg_too_long")
    if text is None and blocks is None:
        raise ApiError("no_text")
    changed = text is not None and blocks is None and text != message["text"]
    message |= {"text": text if text is not None else message["text"], "blocks": blocks}
    message["edited"] = message["edited"] or changed
    if (metadata := _metadata(arguments)) is not None:
        message["metadata"] = metadata or None
    api.state.tell("message", message=message)
    return {"channel": channel.id, "ts": message["ts"], "text": message["text"]}


async def delete(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments)
    message = api.state.message(channel.id, str(arguments.get("ts")))
    if message is None:
        raise ApiError("message_not_found")
    if message["bot_id"] != BOT_ID:
        raise ApiError("cant_delete_message")
    del api.state.messages[channel.id][message["ts"]]
    api.state.tell("message_deleted", channel=channel.id, ts=message["ts"])
    return {"channel": channel.id, "ts": message["ts"]}


async def post_ephemeral(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments)
    if arguments.get("user") not in channel.members:
        raise ApiError("user_not_in_channel")
    note = api.state.add_ephemeral(
        channel.id,
        arguments["user"],
        text=str(arguments.get("text") or ""),
        blocks=api.drawn(arguments),
        thread_ts=arguments.get("thread_ts"),
    )
    return {"message_ts": note["ts"]}


async def permalink(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments, member=False)
    ts = str(arguments.get("message_ts"))
    if api.state.message(channel.id, ts) is None:
        raise ApiError("message_not_found")
    address = f"https://{TEAM['domain']}.slack.com/archives/{channel.id}/p{ts.replace('.', '')}"
    return {"channel": channel.id, "permalink": address}


def described(channel: Channel) -> Json:
    """A channel as Slack describes it."""
    return {
        "id": channel.id,
        "name": channel.name,
        "is_channel": not channel.is_im and not channel.is_private,
        "is_private": channel.is_private,
        "is_im": channel.is_im,
        "is_archived": channel.is_archived,
        "is_ext_shared": False,
        "is_member": BOT_USER in channel.members,
        "topic": {"value": channel.topic},
        "num_members": len(channel.members),
        **({"user": channel.user} if channel.is_im else {}),
    }


async def info(api: WebApi, arguments: Json) -> Json:
    return {"channel": described(api.channel(arguments, member=False))}


async def list_channels(api: WebApi, arguments: Json) -> Json:
    kinds = str(arguments.get("types") or "public_channel")
    seen = [
        described(channel)
        for channel in api.state.channels.values()
        if ("im" if channel.is_im else "private_channel" if channel.is_private else "public_channel") in kinds
        and (not channel.is_private or BOT_USER in channel.members)
    ]
    return paged(api, "channels", seen, arguments)


async def join(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments, member=False)
    if channel.is_im or channel.is_private:
        raise ApiError("method_not_supported_for_channel_type")
    if channel.is_archived:
        raise ApiError("is_archived")
    if BOT_USER not in channel.members:
        channel.members.append(BOT_USER)
        api.people.tell_channel(channel)
    return {"channel": described(channel)}


async def open_conversation(api: WebApi, arguments: Json) -> Json:
    user = str(arguments.get("users") or "")
    if user not in api.state.users or user == BOT_USER:
        raise ApiError("user_not_found")
    return {"channel": {"id": api.state.im_of(user).id}}


async def members(api: WebApi, arguments: Json) -> Json:
    return paged(api, "members", list(api.channel(arguments, member=False).members), arguments)


async def replies(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments)
    found = api.state.thread(channel.id, str(arguments.get("ts")))
    if not found:
        raise ApiError("thread_not_found")
    kept = [found[0], *(one for one in found[1:] if _within(one, arguments))]
    return paged(
        api, "messages", [shown(one, metadata=_wants_metadata(arguments)) for one in kept], arguments
    )


async def history(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments)
    kept = [one for one in api.state.history(channel.id) if _within(one, arguments)]
    return paged(
        api, "messages", [shown(one, metadata=_wants_metadata(arguments)) for one in kept], arguments
    )


def _within(message: Json, arguments: Json) -> bool:
    ts = float(message["ts"])
    return float(arguments.get("oldest") or 0) < ts < float(arguments.get("latest") or 10**12)


def _wants_metadata(arguments: Json) -> bool:
    return str(arguments.get("include_all_metadata", "")).lower() in ("1", "true")


def shown(message: Json, *, metadata: bool) -> Json:
    """A message as Slack shows it to the bot."""
    keys = ("ts", "thread_ts", "user", "bot_id", "text", "blocks", "subtype")
    told = {"type": "message", **{key: message[key] for key in keys if message[key] is not None}}
    if message["metadata"]:
        told["metadata"] = (
            message["metadata"] if metadata else {"event_type": message["metadata"]["event_type"]}
        )
    return told


def paged(_api: WebApi, name: str, items: list[Any], arguments: Json) -> Json:
    """One page of a list, with a cursor to the next."""
    limit = min(int(arguments.get("limit") or 100), 1000)
    cursor = str(arguments.get("cursor") or "")
    if cursor and not cursor.startswith("next:"):
        raise ApiError("invalid_cursor")
    start = int(cursor.removeprefix("next:") or 0)
    more = start + limit < len(items)
    following = f"next:{start + limit}" if more else ""
    return {
        name: items[start : start + limit],
        "has_more": more,
        "response_metadata": {"next_cursor": following},
    }


async def users_info(api: WebApi, arguments: Json) -> Json:
    user = api.state.users.get(str(arguments.get("user") or ""))
    if user is None:
        raise ApiError("user_not_found")
    return {"user": person(user)}


def person(user: Any) -> Json:
    """A person as Slack describes them."""
    return {
        "id": user.id,
        "team_id": TEAM["id"],
        "name": user.name,
        "real_name": user.real_name,
        "tz": user.tz,
        "is_bot": user.is_bot,
        "is_restricted": user.is_guest,
        "is_ultra_restricted": False,
        "deleted": False,
        "profile": {"display_name": user.name, "real_name": user.real_name, "title": user.title},
    }


async def users_list(api: WebApi, arguments: Json) -> Json:
    return paged(api, "members", [person(user) for user in api.state.users.values()], arguments)


async def bots_info(_api: WebApi, _arguments: Json) -> Json:
    return {"bot": {"id": BOT_ID, "app_id": APP_ID, "user_id": BOT_USER, "name": "docs-agent"}}


async def team_info(_api: WebApi, _arguments: Json) -> Json:
    return {"team": dict(TEAM)}


async def add_reaction(api: WebApi, arguments: Json) -> Json:
    message, mine = _reacted(api, arguments)
    if mine:
        raise ApiError("already_reacted")
    api.people.react(BOT_USER, message, str(arguments["name"]))
    return {}


async def remove_reaction(api: WebApi, arguments: Json) -> Json:
    message, mine = _reacted(api, arguments)
    if not mine:
        raise ApiError("no_reaction")
    api.people.react(BOT_USER, message, str(arguments["name"]))
    return {}


def _reacted(api: WebApi, arguments: Json) -> tuple[Json, bool]:
    """The message, and whether the bot has that reaction on it."""
    channel = api.channel(arguments)
    message = api.state.message(channel.id, str(arguments.get("timestamp")))
    if message is None:
        raise ApiError("message_not_found")
    if not arguments.get("name"):
        raise ApiError("invalid_name")
    mine = any(
        each["name"] == arguments["name"] and BOT_USER in each["users"] for each in message["reactions"]
    )
    return message, mine


async def open_view(api: WebApi, arguments: Json) -> Json:
    view = _checked_view(arguments)
    user = api.people.use_trigger(str(arguments.get("trigger_id") or ""))
    return {"view": api.people.show_view(user, view)}


async def update_view(api: WebApi, arguments: Json) -> Json:
    view = _checked_view(arguments)
    known = api.state.views.get(str(arguments.get("view_id") or ""))
    if known is None:
        raise ApiError("not_found")
    if arguments.get("hash") and arguments["hash"] != known["hash"]:
        raise ApiError("hash_conflict")
    return {"view": api.people.change_view(known, view)}


def _checked_view(arguments: Json) -> Json:
    view = arguments.get("view")
    complaints = rules.view_complaints(view)
    if complaints:
        messages = [f"[ERROR] {complaint}" for complaint in complaints]
        raise ApiError("invalid_arguments", response_metadata={"messages": messages})
    checked: Json = view  # type: ignore[assignment]
    return checked


async def open_connection(api: WebApi, _arguments: Json) -> Json:
    return {"url": api.people.line.new_socket_url()}


async def get_upload_url(api: WebApi, arguments: Json) -> Json:
    if not arguments.get("filename") or not arguments.get("length"):
        raise ApiError("invalid_arguments")
    file_id = api.state.new_id("F")
    url = f"{api.people.base_url}/upload/{file_id}"
    file = {"id": file_id, "name": arguments["filename"], "title": arguments["filename"], "size": 0}
    api.state.files[file_id] = file | {"mimetype": "text/plain", "url": f"/files/{file_id}", "done": False}
    return {"file_id": file_id, "upload_url": url}


async def complete_upload(api: WebApi, arguments: Json) -> Json:
    given = arguments.get("files") or []
    known = [api.state.files.get(str(one.get("id"))) for one in given]
    if not known or any(file is None or file["done"] for file in known):
        raise ApiError("file_not_found")
    files = [file for file in known if file is not None]
    for file, one in zip(files, given, strict=True):
        file |= {"done": True, "title": one.get("title") or file["name"]}
    if arguments.get("channel_id"):
        channel = api.channel({"channel": arguments["channel_id"]})
        api.state.add_message(
            channel.id,
            user=BOT_USER,
            bot_id=BOT_ID,
            text=str(arguments.get("initial_comment") or ""),
            files=[{**file, "permalink": f"{api.people.base_url}{file['url']}"} for file in files],
            thread_ts=arguments.get("thread_ts"),
        )
    return {"files": [{"id": file["id"], "title": file["title"]} for file in files]}


METHODS: dict[str, Method] = {
    "api.test": api_test,
    "auth.test": auth_test,
    "apps.connections.open": open_connection,
    "bots.info": bots_info,
    "chat.delete": delete,
    "chat.getPermalink": permalink,
    "chat.postEphemeral": post_ephemeral,
    "chat.postMessage": post_message,
    "chat.update": update,
    "conversations.history": history,
    "conversations.info": info,
    "conversations.join": join,
    "conversations.list": list_channels,
    "conversations.members": members,
    "conversations.open": open_conversation,
    "conversations.replies": replies,
    "files.completeUploadExternal": complete_upload,
    "files.getUploadURLExternal": get_upload_url,
    "reactions.add": add_reaction,
    "reactions.remove": remove_reaction,
    "team.info": team_info,
    "users.info": users_info,
    "users.list": users_list,
    "views.open": open_view,
    "views.update": update_view,
}


def decoded(arguments: Json) -> Json:
    """Arguments as values: over a form, lists and objects arrive as JSON."""
    read: Json = {}
    for key, value in arguments.items():
        if key in ("blocks", "metadata", "view", "files", "attachments") and isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                raise ApiError("invalid_arguments") from None
        read[key] = value
    return read
