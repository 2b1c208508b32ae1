"""The pages for an operator's tools: liveness, readiness with causes, and metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from bot.health.checks import (
    LIMIT_SECONDS,
    Checks,
    Finding,
    Health,
    add_health_routes,
    run_checks,
)
from bot.health.metrics import Metrics


def constant(name: str, ok: bool, text: str, *, required: bool = True) -> Checks:
    """Return a check with a constant finding."""

    async def check() -> Sequence[Finding]:
        return [Finding(name, ok, text, required=required)]

    return {name: check}


async def broken() -> Sequence[Finding]:
    raise ConnectionError("postgres://u:canary@h/d")


async def hanging() -> Sequence[Finding]:
    await asyncio.Event().wait()
    raise AssertionError


def client(checks: Checks) -> TestClient[web.Request, web.Application]:
    async def page(findings: Sequence[Finding]) -> tuple[bytes, str]:
        metrics = Metrics()
        metrics.replace({"check_ok": {finding.name: finding.ok for finding in findings}})
        return metrics.page()

    server = web.Application()
    add_health_routes(server, Health(checks, page))
    return TestClient(TestServer(server))


async def test_process_is_ready_when_every_part_is_well() -> None:
    async with client(
        constant("database", True, "answers") | constant("socket", True, "connected")
    ) as http:
        answer = await http.get("/readyz")
        assert answer.status == 200
        assert await answer.json() == {
            "ok": True,
            "checks": {
                "database": {"ok": True, "about": "answers"},
                "socket": {"ok": True, "about": "connected"},
            },
        }


@pytest.mark.parametrize(("required", "status"), [(True, 503), (False, 200)])
async def test_broken_required_part_alone_makes_the_process_unready(
    required: bool, status: int
) -> None:
    checks = constant("database", True, "answers") | constant(
        "socket", False, "not connected", required=required
    )
    async with client(checks) as http:
        answer = await http.get("/readyz")
        assert answer.status == status
        assert (await answer.json())["checks"]["socket"]["ok"] is False
        assert (await http.get("/livez")).status == 200


async def test_check_that_breaks_or_hangs_is_named() -> None:
    async with client({"database": broken}) as http:
        answer = await http.get("/readyz")
        page = await answer.text()
    assert answer.status == 503
    assert "ConnectionError" in page
    assert "canary" not in page
    [finding] = await run_checks({"database": hanging}, limit_seconds=0.01)
    assert (finding.ok, finding.seen) == (False, "no answer within 0.01 s")
    assert LIMIT_SECONDS < 2.0


async def test_metrics_page_gets_the_findings_of_the_checks() -> None:
    async with client(constant("socket", False, "not connected")) as http:
        answer = await http.get("/metrics")
        page = await answer.text()
    assert answer.content_type == "text/plain"
    assert 'docs_bot_check_ok{check="socket"} 0.0' in page
    assert "process_resident_memory_bytes" in page
