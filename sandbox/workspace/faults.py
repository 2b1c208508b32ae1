"""Fault injection for tests: make the next calls of a method fail in a chosen way."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from aiohttp import web

from sandbox.workspace.state import Json


@dataclass
class Fault:
    """A fault for the next ``times`` calls of a method, or for all calls until ``until``.

    ``kind`` is one of 429, 429_no_header, 500, 502_html, lost_answer, slow, or ``error:<code>``.
    ``method`` is a method of the Web API, ``upload`` (the bytes of a file), ``response_url``, ``socket`` (the
    handshake of a Socket Mode connection), or ``*`` for any of them.
    With ``lost_answer`` and ``slow`` the call is carried out. ``seconds`` is the delay of ``slow`` or the
    Retry-After of ``429``. ``until`` is a time of ``time.monotonic``; with it ``times`` is ignored.
    """

    method: str
    kind: str
    times: int = 1
    seconds: float = 1.0
    until: float | None = None

    @property
    def skips_call(self) -> bool:
        """Return whether the call is not carried out."""
        return self.kind not in ("lost_answer", "slow")

    async def answer(
        self, request: web.Request, entry: Json, done: web.StreamResponse | None = None
    ) -> web.StreamResponse:
        """Return the response that the bot gets instead of ``done``."""
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
    """The faults that have not happened yet."""

    def __init__(self) -> None:
        self._next: list[Fault] = []

    def order(self, entries: list[Json]) -> None:
        """Add faults; each is for the next ``times`` calls, or for all calls within ``lasts`` seconds."""
        self._next += [
            Fault(
                str(one["method"]),
                str(one["fault"]),
                int(one.get("times", 1)),
                float(one.get("seconds", 1.0)),
                time.monotonic() + float(one["lasts"]) if one.get("lasts") else None,
            )
            for one in entries
        ]

    def waiting(self) -> list[Json]:
        """Return the remaining faults as JSON values."""
        return [{"method": one.method, "fault": one.kind, "times": one.times} for one in self._next]

    def clear(self) -> None:
        """Remove all faults."""
        self._next.clear()

    def take(self, method: str) -> Fault | None:
        """Return the fault for a call of this method and count it, or None."""
        now = time.monotonic()
        self._next = [fault for fault in self._next if fault.until is None or fault.until > now]
        for fault in self._next:
            if fault.method in (method, "*"):
                fault.times -= fault.until is None
                if fault.times <= 0:
                    self._next.remove(fault)
                return fault
        return None
