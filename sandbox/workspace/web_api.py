"""What every Web API method works with: the channel, the pace, the checks, the errors."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from sandbox.workspace import blocks as rules
from sandbox.workspace.people import People
from sandbox.workspace.state import BOT_USER, Channel, Json

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

    def __init__(self, people: People, methods: Mapping[str, Method]) -> None:
        self.people = people
        self.methods = methods
        self.state = people.state
        self.options = people.options
        self._tokens: dict[str, tuple[float, float]] = {}

    async def call(self, name: str, arguments: Json) -> Json:
        """Carry out a method; raises ApiError or Throttled."""
        method = self.methods.get(name)
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


def shown(message: Json, *, metadata: bool) -> Json:
    """A message as Slack shows it to the bot."""
    keys = ("ts", "thread_ts", "user", "bot_id", "text", "blocks", "subtype")
    told = {"type": "message", **{key: message[key] for key in keys if message[key] is not None}}
    if message["files"]:
        told["files"] = message["files"]
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


def decoded(arguments: Json) -> Json:
    """Arguments as values: over a form, lists and objects arrive as JSON."""
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
