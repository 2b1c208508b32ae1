"""Invalid requests get the right status and a JSON error, and change nothing."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import datetime

import aiohttp
import pytest

from sandbox.docs_service import DocsService, DocsServiceOptions
from tests.sandbox.docs_service.caller import JSON, Caller, HeldClock

JOBS = "/v2/agent/acme-docs/job"


@pytest.mark.parametrize("key", [None, "", "wrong", "sandbox_key2", "ключ"])
async def test_without_a_good_key_nothing_works(caller: Caller, key: str | None) -> None:
    other = caller.with_key(key)
    for reply in (await other.ask("Hello"), await other.visitors(), await other.job("job_1")):
        assert reply.status == 401
        assert list(reply.json) == ["error"]
        assert reply.headers["WWW-Authenticate"] == "Bearer"


async def test_another_project_is_unknown(caller: Caller) -> None:
    job_id = (await caller.ask("Explain webhooks")).json["id"]
    assert (await caller.ask("Hello", "other-docs")).status == 404
    assert (await caller.job(job_id, "other-docs")).status == 404
    assert (await caller.visitors(project="other-docs")).status == 404


BODIES = [
    (b'{"prompt": ""}', JSON, 400),
    (b"{}", JSON, 400),
    (b'["prompt"]', JSON, 400),
    (b"", JSON, 400),
    (b'{"prompt": "a"', JSON, 400),
    (b'{"prompt": "\\ud800"}', JSON, 400),
    (b'{"prompt": "\xff"}', JSON, 400),
    ('{"prompt": "a"}'.encode("utf-16"), JSON, 400),
    (b"[" * 100_000, JSON, 400),
    (b'{"prompt": "a"}', "text/plain", 415),
    (b'{"prompt": "a"}', "application/json; charset=latin-1", 415),
    (b"prompt=a", "application/x-www-form-urlencoded", 415),
    (b'{"prompt": "' + b"a" * 1_048_576 + b'"}', JSON, 413),
]


@pytest.mark.parametrize(("body", "content_type", "status"), BODIES)
async def test_a_wrong_body_is_refused(
    caller: Caller, body: bytes, content_type: str, status: int
) -> None:
    job_id = (await caller.ask("Explain webhooks")).json["id"]
    for path in (JOBS, f"{JOBS}/{job_id}/message"):
        headers = {"Content-Type": content_type}
        reply = await caller.request("POST", path, data=io.BytesIO(body), headers=headers)
        assert reply.status == status
        assert list(reply.json) == ["error"]
    start = await caller.request("GET", "/")
    assert start.text.count('class="status active"') == 1


QUERIES: list[tuple[str, int]] = [
    ("limit=0", 400),
    ("limit=251", 400),
    ("limit=250", 200),
    ("limit=", 400),
    ("limit=٣", 400),
    ("limit=5&limit=6", 400),
    ("limit=" + "9" * 5000, 400),
    ("offset=-1", 400),
    ("offset=" + "9" * 30, 200),
    ("dateFrom=2026-02-30", 400),
    ("dateFrom=", 400),
    ("dateFrom=2026-10-01T12:00:00Z", 200),
    ("dateFrom=2026-10-01T12:00:00.5%2B05:30", 200),
    ("dateFrom=2026-10-02&dateTo=2026-10-02", 400),
    ("dateTo=0000-01-01", 400),
    ("dateTo=0001-01-01T00:00%2B23:59", 200),
]


@pytest.mark.parametrize(("query", "status"), QUERIES)
async def test_the_query_for_visitors_is_checked(caller: Caller, query: str, status: int) -> None:
    assert (await caller.visitors(f"?{query}")).status == status


async def test_uses_are_shared_remembered_and_come_back_after_an_hour(
    options: DocsServiceOptions, clock: HeldClock
) -> None:
    service = DocsService(replace(options, uses_an_hour=3), clock)
    async with aiohttp.ClientSession() as session:
        caller = Caller(session, await service.start())
        job_id = (await caller.ask("Explain webhooks")).json["id"]
        clock.forward(600)
        await caller.follow_up(job_id, "Mention Python 3.11")
        assert (await caller.ask("")).status == 400
        assert (await caller.ask("Explain errors")).status == 201
        refused = await caller.follow_up(job_id, "Mention Python 3.12")
        assert (refused.status, refused.headers["Retry-After"]) == (429, "3000")
        assert (await caller.job(job_id)).status == 200
    await service.stop()
    service = DocsService(service.options, clock)
    async with aiohttp.ClientSession() as session:
        caller = Caller(session, await service.start())
        clock.forward(2999)
        assert (await caller.ask("Explain errors")).status == 429
        clock.forward(1)
        assert (await caller.ask("Explain errors")).status == 201
        assert (await caller.ask("Explain errors")).headers["Retry-After"] == "600"
    await service.stop()


async def test_the_log_tells_what_was_asked_and_answered_without_the_prompt(caller: Caller) -> None:
    job_id = (await caller.ask("secret words")).json["id"]
    await caller.job("job_unknown")
    await caller.request("GET", "/v2/nowhere")
    log = await caller.log()
    assert [(one["method"], one["status"], one["operation"], one["job_id"]) for one in log] == [
        ("POST", 201, "create", job_id),
        ("GET", 404, "get", "job_unknown"),
        ("GET", 404, None, None),
    ]
    assert datetime.fromisoformat(log[0]["at"]).utcoffset() is not None
    assert (
        log[0]["prompt_sha256"]
        == "90e132a8e71a48078f8c7dd31c62b6518c497b07863ec1e70403b906e5e202d5"
    )
    assert "secret words" not in str(log)
