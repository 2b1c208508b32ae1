"""The routes ``/livez``, ``/readyz`` and ``/metrics``. They show states and counts, never settings.

Each page is built at most once in two seconds, so that many requests cost no more than one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from time import monotonic

from aiohttp import web

from bot.logs import LogSeldom

LIMIT_SECONDS = 1.5
"""How long the parts of a page may take, so that it comes within two seconds."""
KEPT_SECONDS = 2.0
_broken = LogSeldom("check_failed")


@dataclass(frozen=True, slots=True)
class Check:
    """The state of one part: whether it works, and a short description.

    ``required``: whether the process is not ready without it.
    """

    ok: bool
    about: str
    required: bool = True


Checks = Mapping[str, Callable[[], Awaitable[Check]]]


async def run_checks(checks: Checks, limit_seconds: float = LIMIT_SECONDS) -> dict[str, Check]:
    """Run all checks concurrently and return their results. One that raises or takes too long has failed."""

    async def one(name: str, check: Callable[[], Awaitable[Check]]) -> Check:
        try:
            async with asyncio.timeout(limit_seconds):
                return await check()
        except TimeoutError:
            return Check(False, f"no answer within {limit_seconds:g} s")
        except Exception as error:
            # The page shows the error's type, and the log has its traceback.
            _broken.warning(name, exc_info=True)
            return Check(False, type(error).__name__)

    results = await asyncio.gather(*(one(name, check) for name, check in checks.items()))
    return dict(zip(checks, results, strict=True))


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
    metrics: Callable[[Mapping[str, Check]], Awaitable[tuple[bytes, str]]],
    clock: Callable[[], float] = monotonic,
) -> None:
    """Add the routes for probes and for Prometheus. ``metrics`` gets what the checks found."""

    async def alive(_request: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def ready() -> Page:
        found = await run_checks(checks)
        well = all(check.ok or not check.required for check in found.values())
        told = {name: {"ok": check.ok, "about": check.about} for name, check in found.items()}
        return Page(json.dumps({"ok": well, "checks": told}).encode(), status=200 if well else 503)

    async def counted() -> Page:
        return Page(*await metrics(await run_checks(checks)))

    server.router.add_get("/livez", alive)
    server.router.add_get("/readyz", _KeptPage(ready, clock).show)
    server.router.add_get("/metrics", _KeptPage(counted, clock).show)
