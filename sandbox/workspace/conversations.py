"""``conversations.*``: https://docs.slack.dev/reference/methods?family=conversations"""

from __future__ import annotations

from sandbox.workspace.state import BOT_USER, Channel, Json
from sandbox.workspace.web_api import ApiError, WebApi, paged, shown


def described(channel: Channel) -> Json:
    """A channel as Slack describes it."""
    return {
        "id": channel.id,
        "name": channel.name,
        "is_channel": not channel.is_im and not channel.is_private,
        "is_private": channel.is_private,
        "is_group": channel.is_private,
        "is_im": channel.is_im,
        "is_mpim": False,
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
