"""What Slack hands out for a short time: trigger ids and response URLs."""

from __future__ import annotations

import secrets

from sandbox.workspace.options import WorkspaceOptions
from sandbox.workspace.state import Json, State


class BadTrigger(Exception):
    """A trigger id that opens nothing; the code says why."""


class BadResponseUrl(Exception):
    """A response URL that takes no more posts: ``expired_url`` or ``used_url``."""


class Tickets:
    """Trigger ids open one dialogue within seconds; response URLs take a few posts within half an hour.

    https://docs.slack.dev/interactivity/handling-user-interaction
    """

    def __init__(self, state: State, options: WorkspaceOptions) -> None:
        self.base_url = ""
        self._state = state
        self._options = options
        self._triggers: dict[str, tuple[str, float, bool]] = {}
        self._response_urls: dict[str, Json] = {}

    def _now(self) -> float:
        return self._state.clock().timestamp()

    def trigger(self, user: str) -> str:
        """A new trigger id for what this person did."""
        trigger = f"{secrets.randbelow(10**12)}.{secrets.randbelow(10**10)}.{secrets.token_hex(8)}"
        self._triggers[trigger] = (user, self._now() + self._options.trigger_seconds, False)
        return trigger

    def use_trigger(self, trigger: str) -> str:
        """Whose it is; BadTrigger when it is unknown, used or too old."""
        known = self._triggers.get(trigger)
        if known is None:
            raise BadTrigger("invalid_trigger_id")
        user, expires, used = known
        if used:
            raise BadTrigger("exchanged_trigger_id")
        if self._now() > expires:
            raise BadTrigger("expired_trigger_id")
        self._triggers[trigger] = (user, expires, True)
        return user

    def response_url(self, user: str, channel: str, container: Json | None = None) -> str:
        """A new response URL for what this person did there."""
        token = secrets.token_urlsafe(16)
        expires = self._now() + self._options.response_url_seconds
        about = {"user": user, "channel": channel, "expires": expires, "container": container or {}}
        self._response_urls[token] = about | {"left": self._options.response_url_uses}
        return f"{self.base_url}/response/{token}"

    def use_response_url(self, token: str) -> Json:
        """What the token stands for, one use less; BadResponseUrl when it is too old or was used up."""
        known = self._response_urls.get(token)
        # One that is not known was given out before a restart, and is as good as expired.
        if known is None or self._now() > known["expires"]:
            raise BadResponseUrl("expired_url")
        if known["left"] < 1:
            raise BadResponseUrl("used_url")
        known["left"] -= 1
        return known
