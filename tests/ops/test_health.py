"""What an operator's tools see: alive, ready or not and why, and counts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from prometheus_client.parser import text_string_to_metric_families

from bot.ops.health import KEPT_SECONDS, Check, Checks, add_health_routes, run_checks
from bot.ops.metrics import Backlog, Metrics


def saying(ok: bool, about: str) -> Callable[[], Awaitable[Check]]:
    async def check() -> Check:
        return Check(ok, about)

    return check


async def broken() -> Check:
    raise ConnectionError("postgres://u:canary@h/d")


def client(checks: Checks, metrics: Metrics | None = None) -> TestClient[web.Request, web.Application]:
    counts = metrics or Metrics()

    async def page() -> tuple[bytes, str]:
        return counts.page()

    server = web.Application()
    add_health_routes(server, checks, page)
    return TestClient(TestServer(server))


async def test_it_is_ready_when_every_part_is_well() -> None:
    async with client({"database": saying(True, "answers"), "socket": saying(True, "connected")}) as http:
        answer = await http.get("/readyz")
        assert answer.status == 200
        assert await answer.json() == {
            "ok": True,
            "checks": {
                "database": {"ok": True, "about": "answers"},
                "socket": {"ok": True, "about": "connected"},
            },
        }


async def test_one_part_that_is_not_well_makes_it_not_ready_but_leaves_it_alive() -> None:
    async with client(
        {"database": saying(True, "answers"), "socket": saying(False, "not connected")}
    ) as http:
        assert (await http.get("/readyz")).status == 503
        assert (await http.get("/livez")).status == 200


async def test_a_check_that_breaks_is_named_without_what_the_error_quotes() -> None:
    async with client({"database": broken}) as http:
        answer = await http.get("/readyz")
        told = await answer.text()
    assert answer.status == 503
    assert "ConnectionError" in told
    assert "canary" not in told


async def test_every_check_is_made_even_when_one_breaks() -> None:
    found = await run_checks({"first": broken, "second": saying(True, "answers")})
    assert {name: check.ok for name, check in found.items()} == {"first": False, "second": True}


async def test_prometheus_can_read_what_was_counted() -> None:
    metrics = Metrics()
    metrics.count("delivery", "sent")
    metrics.count("delivery", "sent")
    metrics.observe_run("poll", 0.3, failed=False)
    metrics.observe_run("poll", 0.3, failed=True)
    metrics.set_backlog(Backlog(3, -1.0, waiting_prompts=4, uses=99, analytics_calls=7, key_is_refused=True))
    async with client({}, metrics) as http:
        answer = await http.get("/metrics")
        page = await answer.text()
    samples = {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    }
    assert answer.content_type == "text/plain"

    def value(name: str, **labels: str) -> float:
        return samples[name, frozenset(labels.items())]

    assert value("docs_bot_events_total", what="delivery", how="sent") == 2
    assert value("docs_bot_round_seconds_count", round="poll") == 2
    assert value("docs_bot_round_failures_total", round="poll") == 1
    assert value("docs_bot_open_jobs") == 3
    assert value("docs_bot_analytics_calls_last_hour") == 7
    assert value("docs_bot_waiting_prompts") == 4
    assert value("docs_bot_uses_last_hour") == 99
    assert value("docs_bot_key_refused") == 1
    assert value("docs_bot_oldest_delivery_seconds") == 0, "what is due in the future is not late"


class CountedPage:
    """A page of metrics that counts how often it is built; ``error`` comes instead."""

    def __init__(self, error: Exception | None = None) -> None:
        self.built = 0
        self.error = error

    async def __call__(self) -> tuple[bytes, str]:
        self.built += 1
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        return str(self.built).encode(), "text/plain"


async def test_a_page_is_built_once_in_two_seconds_and_at_once_for_many() -> None:
    page, now, server = CountedPage(), [100.0], web.Application()
    add_health_routes(server, {}, page, clock=lambda: now[0])
    async with TestClient(TestServer(server)) as http:

        async def seen() -> str:
            return await (await http.get("/metrics")).text()

        assert set(await asyncio.gather(*(seen() for _ in range(20)))) == {"1"}
        now[0] += KEPT_SECONDS - 0.1
        assert await seen() == "1"
        now[0] += 0.2
        assert await seen() == "2"


async def test_metrics_that_cannot_be_built_are_told_without_what_the_error_quotes() -> None:
    page, server = CountedPage(ConnectionError("postgres://u:canary@h/d")), web.Application()
    add_health_routes(server, {}, page)
    async with TestClient(TestServer(server)) as http:
        answers = [await http.get("/metrics") for _ in range(5)]
        assert {(one.status, await one.text()) for one in answers} == {(503, "ConnectionError")}
    assert page.built == 1


def test_two_bots_in_one_process_count_apart() -> None:
    first, second = Metrics(), Metrics()
    first.count("prompt", "sent")
    assert b'how="sent"' in first.page()[0]
    assert b'how="sent"' not in second.page()[0]


async def test_the_socket_is_counted_where_there_is_one() -> None:
    metrics = Metrics()
    assert b"docs_bot_socket" not in metrics.page()[0]
    for connected, sockets in ((True, 2), (False, 11)):
        metrics.set_socket(connected, sockets)
        page = metrics.page()[0].decode()
        assert f"docs_bot_socket_connected {float(connected)}" in page
        assert f"docs_bot_sockets {float(sockets)}" in page
