"""What the page asks and is told; JSON from the same origin only."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from sandbox.workspace.people import People, Refused
from sandbox.workspace.state import BOT_USER, TEAM, Channel, Json

Do = Callable[[Json], Awaitable[Json]]


class PageApi:
    """The page's side of the workspace."""

    def __init__(self, people: People, shortcuts: list[Json], docs_service_url: str | None) -> None:
        self._people = people
        self._state = people.state
        self._shortcuts = shortcuts
        self._docs_service_url = docs_service_url

    def add_routes(self, server: web.Application) -> None:
        """Everything under ``/page/``."""
        server.router.add_get("/page/state", self._get_state)
        server.router.add_get("/page/events", self._get_events)
        server.router.add_get("/page/health", self._get_health)
        for name, do in self._doings().items():
            server.router.add_post(f"/page/{name}", self._posted(do))

    def _posted(self, do: Do) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            # A page elsewhere must not act in this workspace through somebody's browser.
            if request.content_type != "application/json":
                return web.json_response({"ok": False, "error": "json_only"}, status=415)
            try:
                asked = await request.json()
                return web.json_response(await do(asked))
            except Refused as refusal:
                return web.json_response({"ok": False, "error": refusal.code, "detail": refusal.detail})
            except (KeyError, ValueError, TypeError, AttributeError) as error:
                return web.json_response({"ok": False, "error": "invalid", "detail": str(error)}, status=400)

        return handle

    def _doings(self) -> dict[str, Do]:
        people = self._people

        async def message(asked: Json) -> Json:
            said = people.say(
                asked["user"],
                asked["channel"],
                asked["text"],
                asked.get("thread_ts"),
                bool(asked.get("broadcast")),
            )
            return {"ok": True, "ts": said["ts"]}

        async def edit(asked: Json) -> Json:
            people.edit(asked["user"], asked["channel"], asked["ts"], asked["text"])
            return {"ok": True}

        async def delete(asked: Json) -> Json:
            people.delete(asked["user"], asked["channel"], asked["ts"])
            return {"ok": True}

        async def reaction(asked: Json) -> Json:
            found = self._state.message(asked["channel"], asked["ts"])
            if found is None:
                raise Refused("message_not_found")
            people.react(asked["user"], found, asked["name"])
            return {"ok": True}

        async def command(asked: Json) -> Json:
            return await people.command(
                asked["user"], asked["channel"], asked["command"], asked.get("text", "")
            )

        async def action(asked: Json) -> Json:
            return await people.press(asked["user"], asked["container"], asked["action"], asked.get("state"))

        async def view_submit(asked: Json) -> Json:
            return await people.submit_view(asked["user"], asked["view_id"], asked["state"]["values"])

        async def view_close(asked: Json) -> Json:
            people.close_view(asked["user"], asked["view_id"])
            return {"ok": True}

        async def shortcut(asked: Json) -> Json:
            return await people.shortcut(
                asked["user"], asked["callback_id"], asked.get("channel"), asked.get("ts")
            )

        async def channel(asked: Json) -> Json:
            made = people.create(asked["user"], asked["name"], is_private=bool(asked.get("is_private")))
            return {"ok": True, "channel": made.id}

        async def join(asked: Json) -> Json:
            people.join(asked["user"], asked["channel"])
            return {"ok": True}

        async def invite(asked: Json) -> Json:
            people.invite(asked["user"], asked["channel"], asked["invitee"])
            return {"ok": True}

        return {
            each.__name__: each
            for each in (
                *(message, edit, delete, reaction, command, action, view_submit, view_close, shortcut),
                *(channel, join, invite),
            )
        }

    async def _get_health(self, _request: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def _get_state(self, request: web.Request) -> web.Response:
        return web.json_response(self.seen_by(self._viewer(request)))

    def _viewer(self, request: web.Request) -> str:
        user = request.query.get("user", "")
        return user if user in self._state.users and user != BOT_USER else "U01ANA"

    def seen_by(self, user: str) -> Json:
        """Everything that a reload needs, as this person sees it."""
        rooms = [channel for channel in self._state.channels.values() if self._sees(user, channel)]
        return {
            "team": {"id": TEAM["id"], "name": TEAM["name"]},
            "me": user,
            "users": [vars(each) for each in self._state.users.values()],
            "channels": [self._channel(user, room) for room in rooms],
            "commands": [
                {
                    "command": each["command"],
                    "description": each.get("description", ""),
                    "usage_hint": each.get("usage_hint", ""),
                }
                for each in self._people.commands.values()
            ],
            "shortcuts": self._shortcuts,
            "links": {"docs_service": self._docs_service_url},
            "bot": self._bot(),
            "messages": {room.id: list(self._state.messages.get(room.id, {}).values()) for room in rooms},
            "ephemerals": {
                room.id: [
                    note
                    for note in self._state.ephemerals.values()
                    if note["user"] == user and note["channel"] == room.id
                ]
                for room in rooms
            },
            "views": [view for view in self._state.views.values() if view["user"] == user],
            "seq": self._state.seq,
        }

    def _sees(self, user: str, channel: Channel) -> bool:
        return user in channel.members or not (channel.is_private or channel.is_im)

    def _channel(self, user: str, channel: Channel) -> Json:
        return vars(channel) | {
            "is_member": user in channel.members,
            "bot_is_member": BOT_USER in channel.members,
        }

    def _bot(self) -> Json:
        return {"user_id": BOT_USER, "connected": self._people.line.is_up(), "mode": self._people.line.mode}

    def _for(self, user: str, event: Json) -> Json | None:
        """The event as this person's page is told it; None when it is not for them."""
        kind = event["type"]
        if kind in ("view", "view_closed", "notice"):
            return event if event["user"] == user else None
        if kind == "ephemeral":
            return event if event["ephemeral"]["user"] == user else None
        if kind == "channel":
            room = self._state.channels[event["channel_id"]]
            if not self._sees(user, room):
                return None
            return {"seq": event["seq"], "type": "channel", "channel": self._channel(user, room)}
        channel = event["message"]["channel"] if kind == "message" else event.get("channel")
        if channel is not None and not self._sees(user, self._state.channels[channel]):
            return None
        return event

    async def _get_events(self, request: web.Request) -> web.StreamResponse:
        # Browsers let any page open a socket anywhere; only this workspace's own may listen.
        if request.headers.get("Origin", "").partition("://")[2] not in ("", request.host):
            raise web.HTTPForbidden
        user = self._viewer(request)
        socket = web.WebSocketResponse(heartbeat=25)
        await socket.prepare(request)
        waiting: asyncio.Queue[Json] = asyncio.Queue()
        self._state.watchers.add(waiting.put_nowait)
        sender = asyncio.create_task(self._send(socket, user, waiting, int(request.query.get("since", 0))))
        try:
            async for _ in socket:
                continue
        finally:
            self._state.watchers.discard(waiting.put_nowait)
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)
        return socket

    async def _send(
        self, socket: web.WebSocketResponse, user: str, waiting: asyncio.Queue[Json], since: int
    ) -> None:
        kept = list(self._state.events)
        if since < self._state.seq and (not kept or kept[0]["seq"] > since + 1):
            await socket.send_json({"type": "resync", "seq": self._state.seq})
        else:
            for event in kept:
                if event["seq"] > since:
                    await self._send_one(socket, user, event)
        await socket.send_json({"type": "bot", "bot": self._bot(), "seq": self._state.seq})
        while True:
            await self._send_one(socket, user, await waiting.get())

    async def _send_one(self, socket: web.WebSocketResponse, user: str, event: Json) -> None:
        told: Any = self._for(user, event)
        if told is not None:
            await socket.send_json(told)
