"""The JSON API and event stream of the web page; requests from other origins are rejected."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any

from aiohttp import web

from sandbox.faults import Faults
from sandbox.workspace.people import People, Refused
from sandbox.workspace.responses import acting_tab
from sandbox.workspace.state import BOT_USER, GROUPS, TEAM, Channel, Json

Action = Callable[[Json], Awaitable[Json] | Json | None]
Viewer = tuple[str, str]
"""A person and the tab of their browser."""


def _of(body: Json, names: str) -> list[Any]:
    return [body[name] for name in names.split()]


class PageApi:
    """The handlers of the web page's requests."""

    def __init__(
        self,
        people: People,
        shortcuts: Sequence[Json],
        docs_url: str | None,
        faults: Mapping[str, Faults],
    ) -> None:
        """Take the faults of each service by the key that names the calls in an order of its faults."""
        self._people = people
        self._state = people.state
        self._shortcuts = shortcuts
        self._docs_url = docs_url
        self._faults = faults
        self.takes_part = asyncio.Event()
        """Cleared while the workspace's past is acted out; people's actions on the page wait until then."""
        self.takes_part.set()

    def add_routes(self, server: web.Application) -> None:
        """Add the routes under ``/page/``."""
        server.router.add_get("/page/state", self._get_state)
        server.router.add_get("/page/events", self._get_events)
        for name, act in self._actions().items():
            server.router.add_post(f"/page/{name}", self._json_handler(act))

    def _json_handler(self, act: Action) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            try:
                body = await request.json()
                acting_tab.set(str(body.get("tab") or ""))
                await self.takes_part.wait()
                result = act(body)
                result = await result if isawaitable(result) else result
                return web.json_response({"ok": True} | (result or {}))
            except Refused as refusal:
                return web.json_response(
                    {"ok": False, "error": refusal.code, "detail": refusal.detail}
                )
            except (KeyError, ValueError, TypeError, AttributeError) as error:
                return web.json_response(
                    {"ok": False, "error": "invalid", "detail": str(error)}, status=400
                )

        return handle

    def _actions(self) -> dict[str, Action]:
        """A person's actions on the page, by the name of their path; each takes the fields of the body."""
        people = self._people

        def message(body: Json) -> Json:
            files = [(str(file["name"]), str(file["content"])) for file in body.get("files") or ()]
            where = body["user"], body["channel"]
            message = people.say(*where, body["text"], body.get("thread_ts"), files=files)
            return {"ts": message["ts"]}

        return {
            "message": message,
            "edit": lambda body: people.edit(*_of(body, "user channel ts text")),
            "delete": lambda body: people.delete(*_of(body, "user channel ts")),
            "reaction": lambda body: people.react(
                body["user"], people.message(*_of(body, "channel ts")), body["name"]
            ),
            "command": lambda body: people.command(*_of(body, "user channel command text")),
            "action": lambda body: people.press(*_of(body, "user container action state")),
            "view_submit": lambda body: people.submit_view(
                body["user"], body["view_id"], body["state"]["values"]
            ),
            "home": lambda body: people.open_home(body["user"]),
            "view_close": lambda body: people.close_view(*_of(body, "user view_id")),
            "shortcut": lambda body: people.shortcut(*_of(body, "user callback_id channel ts")),
            "join": lambda body: people.join(*_of(body, "user channel")),
            "invite": lambda body: people.invite(*_of(body, "user channel invitee")),
            "faults": self._waiting,
            "fault": self._order,
            "calm": self._calm,
            "hang_up": self._hang_up,
        }

    def _waiting(self, _body: Json) -> Json:
        """Return the faults that will still happen, of both services."""
        return {"waiting": [one for faults in self._faults.values() for one in faults.waiting()]}

    def _order(self, body: Json) -> Json:
        """Order a fault of the workspace (``method``) or of the docs service (``match``)."""
        order = {key: value for key, value in body.items() if key not in ("tab", "user")}
        self._faults[next((key for key in self._faults if key in order), "method")].order([order])
        return self._waiting(body)

    def _calm(self, body: Json) -> Json:
        """Forget all faults that have not happened yet."""
        for faults in self._faults.values():
            faults.clear()
        return self._waiting(body)

    async def _hang_up(self, body: Json) -> Json:
        """Close the bot's sockets without a warning."""
        await self._people.bot_connection.sockets.disconnect(warn=False)
        return self._waiting(body)

    async def _get_state(self, request: web.Request) -> web.Response:
        return web.json_response(self.seen_by(self._viewer(request), request.query.get("tab", "")))

    def _viewer(self, request: web.Request) -> str:
        user = request.query.get("user", "")
        return user if user in self._state.users and user != BOT_USER else "U01ANA"

    def seen_by(self, user: str, tab: str = "") -> Json:
        """Return the whole state that the page shows to this person in a tab."""
        rooms = [
            channel for channel in self._state.channels.values() if self._can_see(user, channel)
        ]
        notes = [note for note in self._state.ephemerals.values() if note["user"] == user]
        views = self._state.views.values()
        return {
            "team": {"id": TEAM["id"], "name": TEAM["name"]},
            "me": user,
            "users": [vars(person) for person in self._state.users.values()],
            "groups": {key: handle for key, (handle, _) in GROUPS.items()},
            "channels": [self._channel(user, room) for room in rooms],
            "commands": list(self._people.commands.values()),
            "shortcuts": self._shortcuts,
            "links": {"docs_service": self._docs_url},
            "bot": self._bot(),
            "messages": {
                room.id: list(self._state.messages.get(room.id, {}).values()) for room in rooms
            },
            "ephemerals": {
                room.id: [note for note in notes if note["channel"] == room.id] for room in rooms
            },
            "views": [view for view in views if view["user"] == user and view["tab"] in ("", tab)],
            "seq": self._state.seq,
        }

    def _can_see(self, user: str, channel: Channel) -> bool:
        if self._state.users[user].is_external:
            return user in channel.members
        return user in channel.members or not channel.is_closed

    def _channel(self, user: str, channel: Channel) -> Json:
        return vars(channel) | {
            "is_member": user in channel.members,
            "bot_is_member": BOT_USER in channel.members,
        }

    def _bot(self) -> Json:
        return {
            "user_id": BOT_USER,
            "connected": self._people.bot_connection.is_reachable(),
            "mode": self._people.bot_connection.mode,
        }

    def _event_for(self, user: str, tab: str, event: Json) -> Json | None:
        """Return the event as this person sees it in a tab, or None if it is not visible there."""
        kind = event["type"]
        if kind in ("view", "view_closed", "notice"):
            asked_in = event["view"]["tab"] if kind == "view" else event.get("tab", "")
            return event if event["user"] == user and asked_in in ("", tab) else None
        if kind == "home":
            return event if event["user"] == user else None
        if kind == "ephemeral":
            return event if event["ephemeral"]["user"] == user else None
        if kind == "channel":
            room = self._state.channels.get(event["channel_id"])
            if room is None or not self._can_see(user, room):
                return None
            return {"seq": event["seq"], "type": "channel", "channel": self._channel(user, room)}
        channel = event["message"]["channel"] if kind == "message" else event.get("channel")
        room = self._state.channels.get(channel or "")
        return event if channel is None or (room and self._can_see(user, room)) else None

    async def _get_events(self, request: web.Request) -> web.StreamResponse:
        # Browsers let any site open a WebSocket here, so compare the Origin header.
        if request.headers.get("Origin") not in (None, f"http://{request.host}"):
            raise web.HTTPForbidden
        user, tab = self._viewer(request), request.query.get("tab", "")
        socket = web.WebSocketResponse(heartbeat=25)
        await socket.prepare(request)
        waiting: asyncio.Queue[Json] = asyncio.Queue()
        self._state.watchers.add(waiting.put_nowait)
        sender = asyncio.create_task(
            self._send(socket, (user, tab), waiting, int(request.query.get("since", 0)))
        )
        try:
            async for _ in socket:
                continue
        finally:
            self._state.watchers.discard(waiting.put_nowait)
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)
        return socket

    async def _send(
        self,
        socket: web.WebSocketResponse,
        viewer: Viewer,
        waiting: asyncio.Queue[Json],
        since: int,
    ) -> None:
        events = list(self._state.events)
        if since < self._state.seq and (not events or events[0]["seq"] > since + 1):
            await socket.send_json({"type": "resync", "seq": self._state.seq})
        else:
            for event in events:
                if event["seq"] > since:
                    await self._send_one(socket, viewer, event)
        await socket.send_json({"type": "bot", "bot": self._bot(), "seq": self._state.seq})
        while True:
            await self._send_one(socket, viewer, await waiting.get())

    async def _send_one(self, socket: web.WebSocketResponse, viewer: Viewer, event: Json) -> None:
        visible: Any = self._event_for(*viewer, event)
        if visible is not None:
            await socket.send_json(visible)
