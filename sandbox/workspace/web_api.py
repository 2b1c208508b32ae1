"""Helpers for the Web API methods: arguments, scopes, channels, block checks, pages, errors."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from sandbox.workspace import blocks as rules
from sandbox.workspace.people import People
from sandbox.workspace.rates import RateLimits
from sandbox.workspace.scopes import PREFIXES, missing_scopes
from sandbox.workspace.state import BOT_USER, Channel, Json

Method = Callable[["WebApi", Json], Awaitable[Json]]


class ApiError(Exception):
    """A method fails with ``ok: false`` and this error code of Slack's."""

    def __init__(self, code: str, **about: Any) -> None:
        super().__init__(code)
        self.code = code
        self.about = about


class WebApi:
    """Calls Web API methods on one workspace."""

    def __init__(self, people: People, methods: Mapping[str, Method]) -> None:
        self.people = people
        self.methods = methods
        self.state = people.state
        self.options = people.options
        self.rates = RateLimits(people.options, people.state.clock)

    async def call(self, name: str, arguments: Json) -> Json:
        """Call a method and return its response; raise ApiError or Throttled."""
        method = self.methods.get(name)
        if method is None:
            raise ApiError("unknown_method", req_method=name)
        self.rates.count_call(name)
        self._check_scopes(name, arguments)
        return await method(self, arguments)

    def _check_scopes(self, name: str, arguments: Json) -> None:
        """Raise ApiError if the app lacks a scope for this call (https://docs.slack.dev/reference/scopes)."""
        provided = self.people.app.scopes
        if missing := missing_scopes(name, self._kinds(name, arguments), provided):
            raise ApiError("missing_scope", needed=",".join(missing), provided=",".join(sorted(provided)))

    def _kinds(self, name: str, arguments: Json) -> list[str]:
        """Return the kinds of the conversations that a call is about, of those that the bot can see."""
        if name == "conversations.list":
            asked = str(arguments.get("types") or "public_channel").split(",")
            return [each.strip() for each in asked if each.strip() in PREFIXES]
        if name == "conversations.open" and arguments.get("users"):
            return ["mpim" if "," in str(arguments["users"]) else "im"]
        room = self._visible_channel(arguments)
        return [room.kind] if room else []

    def _visible_channel(self, arguments: Json) -> Channel | None:
        """Return the channel in the arguments, or None if the bot cannot see it."""
        found = self.state.channels.get(str(arguments.get("channel") or ""))
        hidden = found is not None and found.is_closed and BOT_USER not in found.members
        return None if hidden else found

    def channel(self, arguments: Json, *, member: bool = True) -> Channel:
        """Return the channel in the arguments; raise ApiError if the bot cannot see it or is no member."""
        found = self._visible_channel(arguments)
        if found is None:
            raise ApiError("channel_not_found")
        if member and BOT_USER not in found.members:
            raise ApiError("not_in_channel")
        return found

    def checked_blocks(self, arguments: Json) -> list[Json] | None:
        """Return the blocks in the arguments, or None; raise ApiError if Slack would reject them."""
        blocks = arguments.get("blocks")
        if not blocks:
            return None
        if rules.refused_kinds(blocks, self.options.refused_blocks):
            raise ApiError(self.options.refused_blocks_error)
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


def message_json(message: Json, *, metadata: bool) -> Json:
    """Return a message in Slack's JSON form."""
    keys = ("ts", "thread_ts", "user", "bot_id", "text", "blocks", "subtype")
    told = {"type": "message", **{key: message[key] for key in keys if message[key] is not None}}
    if message.get("attachments"):
        told["attachments"] = message["attachments"]
    if message["files"]:
        told["files"] = message["files"]
    if isinstance(message["edited"], dict):
        told["edited"] = message["edited"]
    if message["metadata"]:
        told["metadata"] = (
            message["metadata"] if metadata else {"event_type": message["metadata"]["event_type"]}
        )
    return told


def paginate(_api: WebApi, name: str, items: list[Any], arguments: Json) -> Json:
    """Return one page of a list, with a cursor to the next."""
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


def decode_arguments(arguments: Json) -> Json:
    """Return the arguments with lists and objects decoded, which a form sends as JSON text."""
    read: Json = {}
    for key, value in arguments.items():
        if key in ("blocks", "metadata", "view", "files", "attachments") and isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                bad = "invalid_blocks_format" if key == "blocks" else "invalid_arguments"
                raise ApiError(bad) from None
        read[key] = value
    return read
