"""Faults on request, for tests: what goes wrong with the next calls of a method."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from aiohttp import web

from sandbox.workspace.state import Json


@dataclass
class Fault:
    """``kind`` is one of 429, 429_no_header, 500, 502_html, lost_answer, slow, or ``error:<code>``.

    ``method`` is a method of the Web API, ``upload`` (the bytes of a file), ``response_url``, or ``*``.
    After ``lost_answer`` and ``slow`` the call has been carried out. ``until`` ends it, however often it
    has come by then (``time.monotonic``).
    """

    method: str
    kind: str
    times: int = 1
    seconds: float = 1.0
    until: float | None = None

    @property
    def before(self) -> bool:
        """Whether the call is not carried out."""
        return self.kind not in ("lost_answer", "slow")

    async def answer(
        self, request: web.Request, entry: Json, done: web.StreamResponse | None = None
    ) -> web.StreamResponse:
        """What the bot gets instead of ``done``."""
        entry["fault"] = self.kind
        match self.kind:
            case "429" | "429_no_header":
                headers = {"Retry-After": str(max(1, round(self.seconds)))} if self.kind == "429" else {}
                return web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers=headers)
            case "500":
                return web.json_response({"ok": False, "error": "internal_error"}, status=500)
            case "502_html":
                page = "<html><body>Bad gateway</body></html>"
                return web.Response(status=502, text=page, content_type="text/html")
            case "lost_answer":
                if request.transport is not None:
                    request.transport.abort()
                return web.Response(status=500)
            case "slow":
                await asyncio.sleep(self.seconds)
                return web.json_response({"ok": True}) if done is None else done
            case kind:
                entry |= {"ok": False, "error": kind.removeprefix("error:")}
                return web.json_response({"ok": False, "error": kind.removeprefix("error:")})


class Faults:
    """What has been ordered and not happened yet."""

    def __init__(self) -> None:
        self._next: list[Fault] = []

    def order(self, wanted: list[Json]) -> None:
        """Let these go wrong next: so many ``times``, or every one while it ``lasts`` (seconds)."""
        self._next += [
            Fault(
                str(one["method"]),
                str(one["fault"]),
                int(one.get("times", 1)),
                float(one.get("seconds", 1.0)),
                time.monotonic() + float(one["lasts"]) if one.get("lasts") else None,
            )
            for one in wanted
        ]

    def clear(self) -> None:
        """Let nothing go wrong any more."""
        self._next.clear()

    def take(self, method: str) -> Fault | None:
        """The fault of this call, if one was ordered for it."""
        now = time.monotonic()
        self._next = [fault for fault in self._next if fault.until is None or fault.until > now]
        for fault in self._next:
            if fault.method in (method, "*"):
                fault.times -= fault.until is None
                if fault.times <= 0:
                    self._next.remove(fault)
                return fault
        return None
