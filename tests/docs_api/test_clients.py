"""Several projects behind one client: each key goes to its own address."""

from __future__ import annotations

from datetime import date

import httpx
import pytest
from pydantic import SecretStr

from bot.docs_api import DocsClient, DocsClients, NotConfigured
from tests.docs_api.builders import JOB, FakeService, visitors_json

DAY, NEXT = date(2026, 11, 2), date(2026, 11, 3)


def service(name: str, *answers: httpx.Response) -> tuple[FakeService, DocsClient]:
    """Return a docs service with an address and a key of its own, and its client."""
    fake = FakeService(*answers)
    client = DocsClient.open(
        base_url=f"https://{name}.example", api_key=SecretStr(f"key-of-{name}"), transport=fake
    )
    return fake, client


async def test_each_call_goes_to_the_address_of_its_project_with_its_key_alone() -> None:
    services = {
        name: service(name, *[httpx.Response(200, json=JOB)] * 3, httpx.Response(200, json=visitors_json()))
        for name in ("acme", "beta")
    }
    docs = DocsClients({name: client for name, (_, client) in services.items()})
    for name in services:
        await docs.create_job(name, "Add a page")
        await docs.get_job(name, "job-1")
        await docs.send_follow_up(name, "job-1", "Add two")
        await docs.visitors(name, date_from=DAY, date_to=NEXT, limit=10, offset=0)
    await docs.aclose()
    for name, (fake, _) in services.items():
        assert {request.url.host for request in fake.requests} == {f"{name}.example"}
        assert {request.headers["Authorization"] for request in fake.requests} == {f"Bearer key-of-{name}"}
        assert len(fake.requests) == 4
        assert all(name in request.url.path for request in fake.requests)


async def test_a_call_about_any_other_project_sends_nothing_anywhere() -> None:
    fake, client = service("acme", httpx.Response(200, json=JOB))
    docs = DocsClients({"acme": client})
    with pytest.raises(NotConfigured):
        await docs.create_job("gone", "Add a page")
    with pytest.raises(NotConfigured):
        await docs.get_job("gone", "job-1")
    with pytest.raises(NotConfigured):
        await docs.send_follow_up("gone", "job-1", "Add two")
    with pytest.raises(NotConfigured):
        await docs.visitors("gone", date_from=DAY, date_to=NEXT, limit=10, offset=0)
    await docs.aclose()
    assert fake.requests == []
