"""The Web API methods that the bot may call, by name. https://docs.slack.dev/reference/methods"""

from __future__ import annotations

from typing import Any

from sandbox.workspace import blocks as rules
from sandbox.workspace.chat import delete, permalink, post_ephemeral, post_message, update
from sandbox.workspace.conversations import (
    history,
    info,
    join,
    list_channels,
    members,
    open_conversation,
    replies,
)
from sandbox.workspace.files import complete_upload, file_info, get_upload_url
from sandbox.workspace.state import APP_ID, BOT_ID, BOT_USER, GROUPS, TEAM, Json
from sandbox.workspace.tickets import BadTrigger
from sandbox.workspace.web_api import ApiError, Method, WebApi, message_json, paginate


async def api_test(_api: WebApi, _arguments: Json) -> Json:
    return {}


async def auth_test(api: WebApi, _arguments: Json) -> Json:
    url = f"{api.people.tickets.base_url}/"
    about = {"url": url, "team": TEAM["name"], "team_id": TEAM["id"]}
    return about | {
        "user": "docs-agent",
        "user_id": BOT_USER,
        "bot_id": BOT_ID,
        "is_enterprise_install": False,
    }


async def users_info(api: WebApi, arguments: Json) -> Json:
    user = api.state.users.get(str(arguments.get("user") or ""))
    if user is None:
        raise ApiError("user_not_found")
    return {"user": user_json(user) | _stranger(api, user)}


def _stranger(api: WebApi, user: Any) -> Json:
    """Return ``is_stranger`` of a person of another organisation: whether they share no channel with the bot.

    https://docs.slack.dev/apis/slack-connect
    """
    if not user.is_external:
        return {}
    together = (room for room in api.state.channels.values() if {user.id, BOT_USER} <= set(room.members))
    return {"is_stranger": not any(room.is_ext_shared for room in together)}


def user_json(user: Any) -> Json:
    """Return a user in Slack's JSON form."""
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
        "profile": {"display_name": user.name, "real_name": user.real_name, "title": user.title},
    }


async def users_list(api: WebApi, arguments: Json) -> Json:
    return paginate(api, "members", [user_json(user) for user in api.state.users.values()], arguments)


async def bots_info(_api: WebApi, _arguments: Json) -> Json:
    return {"bot": {"id": BOT_ID, "app_id": APP_ID, "user_id": BOT_USER, "name": "docs-agent"}}


async def team_info(_api: WebApi, _arguments: Json) -> Json:
    return {"team": dict(TEAM)}


async def add_reaction(api: WebApi, arguments: Json) -> Json:
    message, mine = _message_and_own_reaction(api, arguments)
    if mine:
        raise ApiError("already_reacted")
    api.people.react(BOT_USER, message, str(arguments["name"]))
    return {}


async def remove_reaction(api: WebApi, arguments: Json) -> Json:
    message, mine = _message_and_own_reaction(api, arguments)
    if not mine:
        raise ApiError("no_reaction")
    api.people.react(BOT_USER, message, str(arguments["name"]))
    return {}


async def get_reactions(api: WebApi, arguments: Json) -> Json:
    message, _mine = _message_and_own_reaction(api, {**arguments, "name": "any"})
    reactions = [{**each, "count": len(each["users"])} for each in message["reactions"]]
    return {"type": "message", "message": message_json(message, metadata=False) | {"reactions": reactions}}


def _message_and_own_reaction(api: WebApi, arguments: Json) -> tuple[Json, bool]:
    """Return the message, and whether the bot has added that reaction."""
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
    try:
        user, tab = api.people.tickets.use_trigger(str(arguments.get("trigger_id") or ""))
    except BadTrigger as bad:
        raise ApiError(str(bad)) from None
    return {"view": api.people.show_view(user, view, tab)}


async def update_view(api: WebApi, arguments: Json) -> Json:
    view = _checked_view(arguments)
    known = api.state.views.get(str(arguments.get("view_id") or ""))
    if known is None:
        raise ApiError("not_found")
    if arguments.get("hash") and arguments["hash"] != known["hash"]:
        raise ApiError("hash_conflict")
    return {"view": api.people.change_view(known, view)}


async def push_view(api: WebApi, arguments: Json) -> Json:
    """Replace the open modal by the pushed one, so that closing it closes both."""
    return await open_view(api, arguments)


async def list_groups(_api: WebApi, _arguments: Json) -> Json:
    groups = [
        {"id": group, "team_id": TEAM["id"], "handle": handle, "name": handle, "user_count": len(members)}
        for group, (handle, members) in GROUPS.items()
    ]
    return {"usergroups": groups}


async def group_members(_api: WebApi, arguments: Json) -> Json:
    """https://docs.slack.dev/reference/methods/usergroups.users.list"""
    group = GROUPS.get(str(arguments.get("usergroup") or ""))
    if group is None:
        raise ApiError("no_such_subteam")
    return {"users": list(group[1])}


def _checked_view(arguments: Json) -> Json:
    view = arguments.get("view")
    complaints = rules.view_complaints(view)
    if complaints:
        messages = [f"[ERROR] {complaint}" for complaint in complaints]
        raise ApiError("invalid_arguments", response_metadata={"messages": messages})
    checked: Json = view  # type: ignore[assignment]
    return checked


async def open_connection(api: WebApi, _arguments: Json) -> Json:
    return {"url": api.people.bot_connection.sockets.new_url()}


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
    "files.info": file_info,
    "reactions.add": add_reaction,
    "reactions.get": get_reactions,
    "reactions.remove": remove_reaction,
    "team.info": team_info,
    "usergroups.list": list_groups,
    "usergroups.users.list": group_members,
    "users.info": users_info,
    "users.list": users_list,
    "views.open": open_view,
    "views.push": push_view,
    "views.update": update_view,
}
