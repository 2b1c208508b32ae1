"""The Web API: the table of methods, and the checks of every call: scopes, rates, channels, blocks."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sandbox.workspace import blocks as rules
from sandbox.workspace.options import PREFIXES, WorkspaceOptions
from sandbox.workspace.people import People
from sandbox.workspace.state import BOT_USER, Channel, Json

CarryOut = Callable[["WebApi", Json], Awaitable[Json]]
_PAGE = 1000


class ApiError(Exception):
    """A method fails with ``ok: false`` and this error code of Slack's."""

    def __init__(self, code: str, **fields: Any) -> None:
        super().__init__(code)
        self.code = code
        self.about = fields


class Throttled(Exception):
    """A call is rejected with 429; ``seconds`` is its Retry-After."""

    def __init__(self, seconds: float) -> None:
        super().__init__("ratelimited")
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class Method:
    """A method that the bot may call: https://docs.slack.dev/reference/methods

    ``tier`` is that of its rate limit; None is a limit of its own, of several hundred calls a minute. One
    with several ``scopes`` needs that of the kind of conversation that it is about.
    """

    carry_out: CarryOut
    tier: int | None
    scopes: tuple[str, ...]

    def missing_scopes(self, kinds: Collection[str], provided: Collection[str]) -> list[str]:
        """Return the scopes that a call lacks, in the order of Slack's reference; empty if it may be made.

        ``kinds`` are those of the conversations that the call is about. Without any, one scope is enough.
        """
        if len(self.scopes) > 1 and kinds:
            prefixes = tuple(f"{PREFIXES[kind]}:" for kind in kinds)
            return [
                scope
                for scope in self.scopes
                if scope.startswith(prefixes) and scope not in provided
            ]
        return list(self.scopes) if self.scopes and not set(self.scopes) & set(provided) else []


class RateLimits:
    """The calls of the last minute, by method, and the messages to each channel.

    https://docs.slack.dev/apis/web-api/rate-limits
    """

    def __init__(self, options: WorkspaceOptions, clock: Callable[[], datetime]) -> None:
        self._options = options
        self._clock = clock
        self._calls: defaultdict[str, deque[float]] = defaultdict(deque)
        self._posts: dict[str, tuple[float, float]] = {}

    def count_call(self, name: str, tier: int | None) -> None:
        """Count a call; raise Throttled, until the oldest is a minute ago, if there were too many."""
        options = self._options
        most = (
            options.special_calls_a_minute
            if tier is None
            else options.tier_calls_a_minute[tier - 2]
        )
        now, calls = self._clock().timestamp(), self._calls[name]
        while calls and calls[0] <= now - options.minute_seconds:
            calls.popleft()
        if options.enforce_rates and len(calls) >= most:
            raise Throttled(calls[0] + options.minute_seconds - now)
        calls.append(now)

    def count_post(self, channel: str) -> None:
        """Count a message; raise Throttled above one per second and channel, after a burst."""
        now, burst = self._clock().timestamp(), self._options.channel_burst
        tokens, at = self._posts.get(channel, (float(burst), now))
        tokens = min(tokens + now - at, burst)
        if self._options.enforce_rates and tokens < 1:
            raise Throttled(1.0)
        self._posts[channel] = (tokens - 1, now)


class WebApi:
    """Calls Web API methods on one workspace."""

    def __init__(self, people: People, methods: Mapping[str, Method]) -> None:
        self.people = people
        self._methods = methods
        self.state = people.state
        self.options = people.options
        self.rates = RateLimits(people.options, people.state.clock)

    async def call(self, name: str, arguments: Json) -> Json:
        """Call a method and return its response; raise ApiError or Throttled.

        A call without a scope is refused: https://docs.slack.dev/reference/scopes
        """
        method = self._methods.get(name)
        if method is None:
            raise ApiError("unknown_method", req_method=name)
        self.rates.count_call(name, method.tier)
        provided = self.people.app.scopes
        if provided is not None and (
            missing := method.missing_scopes(self._kinds(name, arguments), provided)
        ):
            raise ApiError(
                "missing_scope", needed=",".join(missing), provided=",".join(sorted(provided))
            )
        return await method.carry_out(self, arguments)

    def _kinds(self, name: str, arguments: Json) -> list[str]:
        """Return the kinds of the conversations that a call is about, of those that the bot can see."""
        if name == "conversations.open" and arguments.get("users"):
            return ["mpim" if "," in str(arguments["users"]) else "im"]
        room = self._visible_channel(arguments)
        return [room.kind] if room else []

    def _visible_channel(self, arguments: Json) -> Channel | None:
        """Return the channel in the arguments, or None if the bot cannot see it."""
        channel = self.state.channels.get(str(arguments.get("channel") or ""))
        hidden = channel is not None and channel.is_closed and BOT_USER not in channel.members
        return None if hidden else channel

    def channel(self, arguments: Json, *, member: bool = True) -> Channel:
        """Return the channel in the arguments; raise ApiError if the bot cannot see it or is no member."""
        channel = self._visible_channel(arguments)
        if channel is None:
            raise ApiError("channel_not_found")
        if member and BOT_USER not in channel.members:
            raise ApiError("not_in_channel")
        return channel

    def room_to_post(self, arguments: Json, *, member: bool = True) -> tuple[Channel, str | None]:
        """Return the channel and the thread of a post; raise ApiError if nothing can be posted there.

        A reply to a deleted message is posted outside of threads, without an error:
        https://github.com/slack-go/slack/issues/1571
        """
        room, thread = self.channel(arguments, member=member), arguments.get("thread_ts")
        if room.is_archived:
            raise ApiError("is_archived")
        if thread and self.state.message(room.id, thread) is None:
            return room, None
        return room, thread

    def message(self, channel: Channel, ts: object) -> Json:
        """Return a message; raise ApiError if there is none."""
        message = self.state.message(channel.id, str(ts))
        if message is None:
            raise ApiError("message_not_found")
        return message

    def checked_blocks(self, arguments: Json) -> list[Json] | None:
        """Return the blocks in the arguments, or None; raise ApiError if Slack would reject them."""
        try:
            return rules.checked(arguments.get("blocks"), self.options)
        except rules.BlocksRefused as refused:
            raise ApiError(str(refused), **complained(refused.complaints)) from None


def complained(complaints: Collection[str]) -> Json:
    """Return complaints as Slack's errors carry them."""
    return {"response_metadata": {"messages": [f"[ERROR] {complaint}" for complaint in complaints]}}


def paginate(name: str, items: list[Any], arguments: Json) -> Json:
    """Return one page of a list, with a cursor to the next."""
    limit = min(int(arguments.get("limit") or 100), _PAGE)
    cursor = str(arguments.get("cursor") or "")
    if cursor and not cursor.startswith("next:"):
        raise ApiError("invalid_cursor")
    start = int(cursor.removeprefix("next:") or 0)
    more = start + limit < len(items)
    return {
        name: items[start : start + limit],
        "has_more": more,
        "response_metadata": {"next_cursor": f"next:{start + limit}" if more else ""},
    }


def decode_arguments(arguments: Json) -> Json:
    """Return the arguments with lists and objects decoded, which a form sends as JSON text."""
    read = dict(arguments)
    for key in {"blocks", "metadata", "view", "files", "attachments"} & arguments.keys():
        if isinstance(arguments[key], str):
            try:
                read[key] = json.loads(arguments[key])
            except ValueError:
                bad = "invalid_blocks_format" if key == "blocks" else "invalid_arguments"
                raise ApiError(bad) from None
    return read
