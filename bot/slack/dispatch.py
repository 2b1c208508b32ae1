"""Find the listener of a request by the kind and the name of what it is about.

Bolt's own ``app.command``, ``app.action`` and ``app.event`` try one listener after the other, and build the
arguments of each one for that: 0.3 ms for a message, and Slack sends every message of the bot's channels.
This middleware looks into a table. It comes before Bolt's authorization, which has nothing to find out: the
bot serves one workspace, and its token is known.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Any

from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

Body = dict[str, Any]
INTAKE_SECONDS = 2.5
"""How long a request may take until it is stored. Slack waits for three seconds for its acknowledgement.

https://docs.slack.dev/interactivity/handling-user-interaction
"""
Listener = Callable[[Body], Awaitable[Body | None]]
"""Takes a payload of Slack, and returns what its acknowledgement says; None for nothing."""


class Kind(StrEnum):
    """What a request is about. https://docs.slack.dev/reference/interaction-payloads"""

    COMMAND = "command"
    BUTTON = "button"
    FORM = "form"
    SHORTCUT = "shortcut"
    EVENT = "event"


class Dispatch(AsyncMiddleware):
    """Passes each request to its listener, and acknowledges it when the listener has ended.

    If the listener raises an exception, Bolt passes that to the app's error handler and responds with status
    500, so that Slack delivers an event again. What has no listener is left to Bolt.
    """

    def __init__(self) -> None:
        self._named: dict[tuple[Kind, str], Listener] = {}
        self._others: dict[Kind, Listener] = {}

    def add(self, kind: Kind, name: str, listener: Listener) -> None:
        """Add the listener of a command, button, form, shortcut or event. Raises ValueError for a second."""
        if (kind, name) in self._named:
            raise ValueError(f"the {kind} {name!r} has two listeners")
        self._named[kind, name] = listener

    def add_for_others(self, kind: Kind, listener: Listener) -> None:
        """Add the listener for all of this kind whose name has none."""
        self._others[kind] = listener

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,  # noqa: ARG002 - Bolt passes it by name
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 - Bolt's name
    ) -> BoltResponse | None:
        """Process a request as Bolt's middleware.

        https://docs.slack.dev/tools/bolt-python/concepts/global-middleware
        """
        listener = self._listener_of(req.body)
        if listener is None:
            return await next()
        return BoltResponse(status=200, body=await listener(req.body) or "")

    def _listener_of(self, body: Body) -> Listener | None:
        about = _about(body)
        return (self._named.get(about) or self._others.get(about[0])) if about else None


def _about(body: Body) -> tuple[Kind, str] | None:
    if "command" in body:
        return Kind.COMMAND, body["command"]
    match body.get("type"):
        case "event_callback":
            return Kind.EVENT, body["event"]["type"]
        case "app_rate_limited":  # the only event that has no other within it
            return Kind.EVENT, "app_rate_limited"
        case "block_actions":
            return Kind.BUTTON, body["actions"][0]["action_id"]
        case "view_submission":
            return Kind.FORM, body["view"]["callback_id"]
        case "shortcut" | "message_action":
            return Kind.SHORTCUT, body["callback_id"]
        case _:
            return None
