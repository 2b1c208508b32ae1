"""The routes ``/livez``, ``/readyz`` and ``/metrics``. They show states and counts, never settings.

Each page is built at most once in two seconds, so that many requests cost no more than one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from time import monotonic

from aiohttp import web

from bot.ops.checks import Checks, Finding, run_checks

KEPT_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Page:
    """A response that is sent to everybody who asks within the same two seconds."""

    body: bytes
    content_type: str = "application/json"
    status: int = 200


class _KeptPage:
    """Builds a page at most once in ``KEPT_SECONDS``; requests at the same moment wait for the same page."""

    def __init__(self, build: Callable[[], Awaitable[Page]], clock: Callable[[], float]) -> None:
        self._build = build
        self._clock = clock
        self._built_at = 0.0
        self._page: asyncio.Future[Page] | None = None

    async def show(self, _request: web.Request) -> web.Response:
        """Return the page, which is new or less than two seconds old."""
        if self._page is None or (self._page.done() and self._clock() - self._built_at >= KEPT_SECONDS):
            self._built_at = self._clock()
            self._page = asyncio.ensure_future(self._build())
        # Shielded, because whoever leaves must not take the page from the others.
        page = await asyncio.shield(self._page)
        return web.Response(body=page.body, status=page.status, headers={"Content-Type": page.content_type})


def add_health_routes(
    server: web.Application,
    checks: Checks,
    metrics: Callable[[Sequence[Finding]], Awaitable[tuple[bytes, str]]],
    clock: Callable[[], float] = monotonic,
) -> None:
    """Add the routes for probes and for Prometheus. ``metrics`` gets what the checks found."""

    async def alive(_request: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def ready() -> Page:
        found = await run_checks(checks)
        well = all(each.ok or not each.required for each in found)
        told = {each.name: {"ok": each.ok, "about": each.seen} for each in found}
        return Page(json.dumps({"ok": well, "checks": told}).encode(), status=200 if well else 503)

    async def counted() -> Page:
        return Page(*await metrics(await run_checks(checks)))

    server.router.add_get("/livez", alive)
    server.router.add_get("/readyz", _KeptPage(ready, clock).show)
    server.router.add_get("/metrics", _KeptPage(counted, clock).show)
