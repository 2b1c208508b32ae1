"""Slack's payloads as our typed requests. Pure; a payload that lacks what it must have raises KeyError."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr

from bot.commands.command import Invocation, Press, ShortcutUse, Submission
from bot.model import ChannelId, MessageTs, RequestKey, UserId
from bot.work.jobs.spoken import Mention, ThreadReply

Payload = Mapping[str, Any]

_HUMAN_SUBTYPES = frozenset({None, "file_share", "thread_broadcast", "me_message"})
"""https://docs.slack.dev/reference/events/message: everything else is an edit, a bot or a notice."""


def _url(payload: Payload) -> SecretStr | None:
    url = payload.get("response_url")
    return SecretStr(url) if url else None


def invocation(body: Payload) -> Invocation:
    """https://docs.slack.dev/interactivity/implementing-slash-commands"""
    return Invocation(
        key=RequestKey(f"command:{body['trigger_id']}"),
        command=body["command"],
        text=body.get("text") or "",
        channel=ChannelId(body["channel_id"]),
        user=UserId(body["user_id"]),
        response_url=_url(body),
    )


def press(body: Payload, action: Payload) -> Press:
    """https://docs.slack.dev/reference/interaction-payloads/block_actions-payload"""
    container = body.get("container") or {}
    channel = (body.get("channel") or {}).get("id") or container.get("channel_id") or ""
    ts = container.get("message_ts")
    return Press(
        key=RequestKey(f"press:{body['trigger_id']}"),
        action_id=action["action_id"],
        value=str(action.get("value") or (action.get("selected_option") or {}).get("value") or ""),
        channel=ChannelId(channel),
        user=UserId(body["user"]["id"]),
        message_ts=MessageTs(ts) if ts else None,
        response_url=_url(body),
    )


def submission(body: Payload) -> Submission:
    """https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload"""
    view = body["view"]
    values = (view.get("state") or {}).get("values") or {}
    fields = {action: _field(given) for block in values.values() for action, given in block.items()}
    return Submission(
        key=RequestKey(f"view:{view['id']}"),
        callback_id=view["callback_id"],
        fields=fields,
        private=view.get("private_metadata") or "",
        user=UserId(body["user"]["id"]),
    )


def _field(given: Payload) -> str | None:
    chosen = given.get("selected_option")
    if chosen:
        return str(chosen["value"])
    for name in ("value", "selected_conversation", "selected_channel", "selected_user"):
        if given.get(name) is not None:
            return str(given[name])
    return None


def shortcut_use(body: Payload) -> ShortcutUse:
    """https://docs.slack.dev/reference/interaction-payloads/shortcuts-interaction-payload"""
    message = body["message"]
    thread = message.get("thread_ts")
    return ShortcutUse(
        key=RequestKey(f"shortcut:{body['trigger_id']}"),
        callback_id=body["callback_id"],
        channel=ChannelId(body["channel"]["id"]),
        user=UserId(body["user"]["id"]),
        message_ts=MessageTs(message["ts"]),
        thread_ts=MessageTs(thread) if thread else None,
        text=message.get("text") or "",
        response_url=_url(body),
    )


def spoken(event: Payload) -> ThreadReply | Mention | None:
    """What a person said, if it may concern us: a reply in a thread, a mention, a direct message.

    One mention arrives as two events (``app_mention`` and ``message``); both get the same key.
    """
    if event.get("bot_id") or not event.get("user") or event.get("subtype") not in _HUMAN_SUBTYPES:
        return None
    channel, ts = ChannelId(event["channel"]), MessageTs(event["ts"])
    key, thread = RequestKey(f"message:{channel}:{ts}"), event.get("thread_ts")
    is_im = event.get("channel_type") == "im"
    user, text = UserId(event["user"]), event.get("text") or ""
    if thread and thread != ts:
        files = len(event.get("files") or ())
        parent = UserId(event["parent_user_id"]) if event.get("parent_user_id") else None
        return ThreadReply(key, channel, MessageTs(thread), ts, user, text, files, is_im, parent)
    if is_im or event["type"] == "app_mention":
        return Mention(key, channel, ts, user, text, is_im)
    return None
