"""How many calls Slack takes, for each method and workspace: https://docs.slack.dev/apis/web-api/rate-limits"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from datetime import datetime

from sandbox.workspace.options import WorkspaceOptions

TIERS: Mapping[str, int] = {
    "api.test": 4,
    "apps.connections.open": 3,
    "bots.info": 3,
    "chat.delete": 3,
    "chat.postEphemeral": 4,
    "chat.update": 3,
    "conversations.history": 3,
    "conversations.info": 3,
    "conversations.join": 3,
    "conversations.list": 2,
    "conversations.members": 4,
    "conversations.open": 3,
    "conversations.replies": 3,
    "files.completeUploadExternal": 4,
    "files.getUploadURLExternal": 4,
    "files.info": 4,
    "reactions.add": 3,
    "reactions.get": 3,
    "reactions.remove": 2,
    "team.info": 3,
    "usergroups.list": 2,
    "usergroups.users.list": 2,
    "users.info": 4,
    "users.list": 2,
    "views.open": 4,
    "views.push": 4,
    "views.update": 4,
}
"""The tier of each method: https://docs.slack.dev/reference/methods

The methods that are not here have limits of their own, of several hundred calls a minute."""


class Throttled(Exception):
    """A call is rejected with 429; ``seconds`` is its Retry-After."""

    def __init__(self, seconds: float) -> None:
        super().__init__("ratelimited")
        self.seconds = seconds


class RateLimits:
    """The calls of the last minute, by method, and the messages to each channel."""

    def __init__(self, options: WorkspaceOptions, clock: Callable[[], datetime]) -> None:
        self._options = options
        self._clock = clock
        self._calls: defaultdict[str, deque[float]] = defaultdict(deque)
        self._posts: dict[str, tuple[float, float]] = {}

    def calls_a_minute(self, method: str) -> int:
        """Return how many calls of a method the workspace takes within any minute."""
        tier = TIERS.get(method)
        given = self._options
        return given.special_calls_a_minute if tier is None else given.tier_calls_a_minute[tier - 2]

    def count_call(self, method: str) -> None:
        """Count a call; raise Throttled, until the oldest is a minute ago, if there were too many."""
        now, calls, minute_seconds = self._now(), self._calls[method], self._options.minute_seconds
        while calls and calls[0] <= now - minute_seconds:
            calls.popleft()
        if self._options.enforce_rates and len(calls) >= self.calls_a_minute(method):
            raise Throttled(calls[0] + minute_seconds - now)
        calls.append(now)

    def count_post(self, channel: str) -> None:
        """Count a message; raise Throttled above one per second and channel, after a burst."""
        now, burst = self._now(), self._options.channel_burst
        left, at = self._posts.get(channel, (float(burst), now))
        left = min(left + now - at, burst)
        if self._options.enforce_rates and left < 1:
            raise Throttled(1.0)
        self._posts[channel] = (left - 1, now)

    def _now(self) -> float:
        return self._clock().timestamp()
