"""The routes ``/livez``, ``/readyz`` and ``/metrics``. They show states and counts, never settings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import structlog
from aiohttp import web

log = structlog.get_logger(__name__)
_LIMIT_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Check:
    """The state of one part of the process: whether it works, and a short description."""

    ok: bool
    about: str


Checks = Mapping[str, Callable[[], Awaitable[Check]]]


async def run_checks(checks: Checks) -> dict[str, Check]:
    """Run all checks concurrently and return their results. One that raises or takes too long has failed."""

    async def one(name: str, check: Callable[[], Awaitable[Check]]) -> Check:
        try:
            async with asyncio.timeout(_LIMIT_SECONDS):
                return await check()
        except Exception as error:
            # The response shows the error's type; the log has its traceback.
            log.warning("check_failed", check=name, exc_info=True)
            return Check(False, type(error).__name__)

    results = await asyncio.gather(*(one(name, check) for name, check in checks.items()))
    return dict(zip(checks, results, strict=True))


def add_health_routes(
    server: web.Application, checks: Checks, metrics: Callable[[], Awaitable[tuple[bytes, str]]]
) -> None:
    """Add the routes for probes and for Prometheus."""

    async def alive(_request: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def ready(_request: web.Request) -> web.Response:
        found = await run_checks(checks)
        well = all(check.ok for check in found.values())
        told = {name: {"ok": check.ok, "about": check.about} for name, check in found.items()}
        return web.json_response({"ok": well, "checks": told}, status=200 if well else 503)

    async def counted(_request: web.Request) -> web.Response:
        body, content_type = await metrics()
        return web.Response(body=body, headers={"Content-Type": content_type})

    server.router.add_get("/livez", alive)
    server.router.add_get("/readyz", ready)
    server.router.add_get("/metrics", counted)
