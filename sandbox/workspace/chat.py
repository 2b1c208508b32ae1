"""The ``chat.*`` methods: https://docs.slack.dev/reference/methods?family=chat"""

from __future__ import annotations

from sandbox.workspace.state import BOT_ID, BOT_USER, Channel, Json
from sandbox.workspace.web_api import ApiError, WebApi, message_json


async def post_message(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments, member="chat:write.public" not in api.people.app.scopes)
    if channel.is_archived:
        raise ApiError("is_archived")
    blocks, text = api.checked_blocks(arguments), str(arguments.get("text") or "")
    if not text and not blocks:
        raise ApiError("no_text")
    thread = arguments.get("thread_ts")
    if thread and api.state.message(channel.id, thread) is None:
        raise ApiError("thread_not_found")
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
    return {"channel": channel.id, "ts": message["ts"], "message": message_json(message, metadata=True)}


def _metadata(arguments: Json) -> Json | None:
    metadata = arguments.get("metadata")
    if metadata is None:
        return None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("event_payload"), dict):
        raise ApiError("invalid_metadata_format")
    return metadata


def _own_message(api: WebApi, channel: Channel, arguments: Json, *, otherwise: str) -> Json:
    """Return the message that ``ts`` names. Raises ApiError, with ``otherwise`` if it is not the bot's."""
    message = api.state.message(channel.id, str(arguments.get("ts")))
    if message is None:
        raise ApiError("message_not_found")
    if message["bot_id"] != BOT_ID:
        raise ApiError(otherwise)
    return message


async def update(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments)
    message = _own_message(api, channel, arguments, otherwise="cant_update_message")
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


async def delete(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments)
    message = _own_message(api, channel, arguments, otherwise="cant_delete_message")
    del api.state.messages[channel.id][message["ts"]]
    api.state.publish("message_deleted", channel=channel.id, ts=message["ts"])
    return {"channel": channel.id, "ts": message["ts"]}


async def post_ephemeral(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments)
    if arguments.get("user") not in channel.members:
        raise ApiError("user_not_in_channel")
    note = api.state.add_ephemeral(
        channel.id,
        arguments["user"],
        text=str(arguments.get("text") or ""),
        blocks=api.checked_blocks(arguments),
        thread_ts=arguments.get("thread_ts"),
    )
    return {"message_ts": note["ts"]}


async def permalink(api: WebApi, arguments: Json) -> Json:
    channel = api.channel(arguments, member=False)
    ts = str(arguments.get("message_ts"))
    if api.state.message(channel.id, ts) is None:
        raise ApiError("message_not_found")
    address = f"{api.people.tickets.base_url}/archives/{channel.id}/p{ts.replace('.', '')}"
    return {"channel": channel.id, "permalink": address}
