"""The bot's rights after an interaction: open a modal by its trigger, and post to a response URL.

https://docs.slack.dev/interactivity/handling-user-interaction
"""

from __future__ import annotations

import secrets
from contextvars import ContextVar

from sandbox.workspace.options import WorkspaceOptions
from sandbox.workspace.state import Json, State

acting_tab: ContextVar[str] = ContextVar("acting_tab", default="")
"""The browser tab whose request is being carried out; empty if it is none of a tab."""


class BadTrigger(Exception):
    """A trigger id is unknown, used or expired; the message is Slack's error code."""


class BadResponseUrl(Exception):
    """A response URL accepts no more posts: ``expired_url`` or ``used_url``."""


class Tickets:
    """A trigger id opens one modal within seconds; a response URL accepts a few posts within 30 minutes.

    https://docs.slack.dev/interactivity/handling-user-interaction
    """

    def __init__(self, state: State, options: WorkspaceOptions) -> None:
        self.base_url = ""
        self._state = state
        self._options = options
        self._triggers: dict[str, tuple[str, str, float, bool]] = {}
        self._response_urls: dict[str, Json] = {}

    def _now(self) -> float:
        return self._state.clock().timestamp()

    def trigger(self, user: str) -> str:
        """Return a new trigger id for an action of this person."""
        trigger = f"{secrets.randbelow(10**12)}.{secrets.randbelow(10**10)}.{secrets.token_hex(8)}"
        self._triggers[trigger] = (
            user,
            acting_tab.get(),
            self._now() + self._options.trigger_seconds,
            False,
        )
        return trigger

    def use_trigger(self, trigger: str) -> tuple[str, str]:
        """Mark a trigger id as used; return its user and tab. Raise BadTrigger if it is not valid."""
        trigger_state = self._triggers.get(trigger)
        if trigger_state is None:
            raise BadTrigger("invalid_trigger_id")
        user, tab, expires, used = trigger_state
        if used:
            raise BadTrigger("exchanged_trigger_id")
        if self._now() > expires:
            raise BadTrigger("expired_trigger_id")
        self._triggers[trigger] = (user, tab, expires, True)
        return user, tab

    def response_url(self, user: str, channel: str, container: Json | None = None) -> str:
        """Return a new response URL for an action of this person in this channel."""
        token = secrets.token_urlsafe(16)
        expires = self._now() + self._options.response_url_seconds
        fields = {
            "user": user,
            "channel": channel,
            "expires": expires,
            "container": container or {},
        }
        self._response_urls[token] = fields | {"left": self._options.response_url_uses}
        return f"{self.base_url}/response/{token}"

    def use_response_url(self, token: str) -> Json:
        """Count a use of a response URL and return its origin; raise BadResponseUrl if it is not valid."""
        response_url = self._response_urls.get(token)
        # An unknown token is from before a restart, so treat it as expired.
        if response_url is None or self._now() > response_url["expires"]:
            raise BadResponseUrl("expired_url")
        if response_url["left"] < 1:
            raise BadResponseUrl("used_url")
        response_url["left"] -= 1
        return response_url
