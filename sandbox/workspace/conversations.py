"""The ``conversations.*`` methods: https://docs.slack.dev/reference/methods?family=conversations"""

from __future__ import annotations

from sandbox.workspace.state import BOT_USER, Channel, Json
from sandbox.workspace.web_api import ApiError, WebApi, message_json, paginate


def channel_json(channel: Channel) -> Json:
    """Return a channel in Slack's JSON form."""
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


async def info(api: WebApi, arguments: Json) -> Json:
    return {"channel": channel_json(api.channel(arguments, member=False))}


async def list_channels(api: WebApi, arguments: Json) -> Json:
    kinds = str(arguments.get("types") or "public_channel")
    seen = [
        channel_json(channel)
        for channel in api.state.channels.values()
        if channel.kind in kinds.split(",") and (not channel.is_closed or BOT_USER in channel.members)
    ]
    return paginate(api, "channels", seen, arguments)


async def join(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments, member=False)
    if channel.is_closed:
        raise ApiError("method_not_supported_for_channel_type")
    if channel.is_archived:
        raise ApiError("is_archived")
    if BOT_USER not in channel.members:
        channel.members.append(BOT_USER)
        api.people.publish_channel(channel)
    return {"channel": channel_json(channel)}


async def open_conversation(api: WebApi, arguments: Json) -> Json:
    user = str(arguments.get("users") or "")
    if user not in api.state.users or user == BOT_USER:
        raise ApiError("user_not_found")
    return {"channel": {"id": api.state.im_of(user).id}}


async def members(api: WebApi, arguments: Json) -> Json:
    return paginate(api, "members", list(api.channel(arguments, member=False).members), arguments)


async def replies(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments)
    found = api.state.thread(channel.id, str(arguments.get("ts")))
    if not found:
        raise ApiError("thread_not_found")
    kept = [found[0], *(one for one in found[1:] if _in_time_range(one, arguments))]
    return paginate(
        api, "messages", [message_json(one, metadata=_include_metadata(arguments)) for one in kept], arguments
    )


async def history(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments)
    kept = [one for one in api.state.history(channel.id) if _in_time_range(one, arguments)]
    return paginate(
        api, "messages", [message_json(one, metadata=_include_metadata(arguments)) for one in kept], arguments
    )


def _in_time_range(message: Json, arguments: Json) -> bool:
    ts = float(message["ts"])
    return float(arguments.get("oldest") or 0) < ts < float(arguments.get("latest") or 10**12)


def _include_metadata(arguments: Json) -> bool:
    return str(arguments.get("include_all_metadata", "")).lower() in ("1", "true")
