"""The HTML pages are complete, escape all values and load nothing from other servers."""

from __future__ import annotations

import re

import pytest

from tests.sandbox.docs_service.caller import Caller, HeldClock

SCRIPT = "Add a page about <script>alert(1)</script> and ![x](http://elsewhere.example/x.png)"


async def test_the_pull_request_shows_its_branch_commits_and_diff(caller: Caller, clock: HeldClock) -> None:
    job_id = (await caller.ask("Fix the typo on the webhooks page")).json["id"]
    clock.forward(7)
    await caller.job(job_id)
    page = (await caller.request("GET", "/acme/acme-docs/pull/1")).text
    assert "<h1>Fix the typo on the webhooks page" in page
    assert f"agent/{job_id.replace('_', '-')}" in page
    assert "1 file changed" in page
    assert re.search(r'<span class="removed">-[^<]*recieve', page)
    assert re.search(r'<span class="added">\+[^<]*receive', page)


async def test_every_link_on_the_pages_leads_somewhere(caller: Caller, clock: HeldClock) -> None:
    await caller.ask("Add a quickstart for the Python SDK")
    clock.forward(7)
    visited: dict[str, int] = {}
    waiting = ["/"]
    while waiting:
        path = waiting.pop()
        if path in visited or path.startswith(("data:", "#")):
            continue
        reply = await caller.with_key(None).request("GET", path)
        visited[path] = reply.status
        if "text/html" in reply.headers["Content-Type"]:
            found = re.findall(r'(?:href|action)="([^"]*)"', reply.text)
            forms = ("/archive", "/merge", "/close")
            waiting += [link.replace("&amp;", "&") for link in found if not link.endswith(forms)]
    assert set(visited.values()) == {200}
    assert "/acme/acme-docs/pull/1" in visited


@pytest.mark.parametrize("path", ["/", "/acme/acme-docs/pull/1", "/acme-docs/job/{id}"])
async def test_what_a_prompt_says_is_only_text(caller: Caller, clock: HeldClock, path: str) -> None:
    job_id = (await caller.ask(SCRIPT)).json["id"]
    clock.forward(7)
    reply = await caller.request("GET", path.format(id=job_id))
    assert reply.status == 200
    assert "&lt;script&gt;" in reply.text
    assert "<script" not in reply.text
    assert "<img" not in reply.text
    assert not re.search(r'(?:src|href|action)="(?:https?:)?//', reply.text)
    assert "default-src 'none'" in reply.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/acme/acme-docs/pull/9",
        "/acme/acme-docs/pull/99999999999999999999",
        "/acme/nobody/pull/1",
        "/acme-docs/job/job_1",
        "/acme/acme-docs/etc/passwd",
    ],
)
async def test_a_wrong_address_gets_a_page_that_says_so(caller: Caller, path: str) -> None:
    reply = await caller.request("GET", path)
    assert (reply.status, "There is nothing at this address" in reply.text) == (404, True)
