"""What the bot may do after an interaction: open a modal by its trigger, and answer outside the Web API.

https://docs.slack.dev/interactivity/handling-user-interaction
"""

from __future__ import annotations

import secrets
from contextvars import ContextVar

from sandbox.workspace import blocks as rules
from sandbox.workspace.options import WorkspaceOptions
from sandbox.workspace.state import BOT_ID, BOT_USER, Json, State

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
        self._triggers[trigger] = (user, acting_tab.get(), self._now() + self._options.trigger_seconds, False)
        return trigger

    def use_trigger(self, trigger: str) -> tuple[str, str]:
        """Mark a trigger id as used; return its user and tab. Raise BadTrigger if it is not valid."""
        known = self._triggers.get(trigger)
        if known is None:
            raise BadTrigger("invalid_trigger_id")
        user, tab, expires, used = known
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
        about = {"user": user, "channel": channel, "expires": expires, "container": container or {}}
        self._response_urls[token] = about | {"left": self._options.response_url_uses}
        return f"{self.base_url}/response/{token}"

    def use_response_url(self, token: str) -> Json:
        """Count a use of a response URL and return its origin; raise BadResponseUrl if it is not valid."""
        known = self._response_urls.get(token)
        # An unknown token is from before a restart, so treat it as expired.
        if known is None or self._now() > known["expires"]:
            raise BadResponseUrl("expired_url")
        if known["left"] < 1:
            raise BadResponseUrl("used_url")
        known["left"] -= 1
        return known


class BotResponses:
    """Shows the bot's responses to one person or to the channel."""

    def __init__(self, state: State, options: WorkspaceOptions) -> None:
        self._state = state
        self._options = options

    def show(self, answer: Json, user: str, channel: str) -> None:
        """Add a message; only this person sees it unless its ``response_type`` is ``in_channel``."""
        content = self._content(answer) | {"thread_ts": answer.get("thread_ts")}
        if not content["text"] and not content["blocks"]:
            return
        if answer.get("response_type") == "in_channel":
            self._state.add_message(channel, user=BOT_USER, bot_id=BOT_ID, **content)
        else:
            self._state.add_ephemeral(channel, user, **content)

    def _content(self, answer: Json) -> Json:
        blocks = rules.checked(answer.get("blocks"), self._options)
        return {"text": str(answer.get("text") or ""), "blocks": blocks}

    def respond(self, said: Json, origin: Json) -> None:
        """Handle a post to a response URL; ``origin`` is the interaction that the URL was created for.

        The URL of a command has no message to replace, so a post to it always adds a message:
        https://github.com/slackapi/bolt-js/issues/2287 Raise BlocksRefused for blocks that Slack rejects.
        """
        content, container = self._content(said), origin["container"]
        if not (said.get("replace_original") and self._replace(container, content)):
            self.show(said, origin["user"], origin["channel"])

    def _replace(self, container: Json, content: Json) -> bool:
        """Replace the original message; return False if it does not exist."""
        if container.get("type") == "ephemeral":
            kind, found = "ephemeral", self._state.ephemerals.get(str(container.get("id")))
        else:
            kind = "message"
            found = self._state.message(str(container.get("channel")), str(container.get("ts")))
        if found is not None:
            found |= content
            self._state.publish(kind, **{kind: found})
        return found is not None
