"""The HTML pages are complete, escape all values and load nothing from other servers."""

from __future__ import annotations

import re

import pytest

from tests.sandbox.docs_service.caller import Caller, HeldClock

SCRIPT = "Add a page about <script>alert(1)</script> and ![x](http://elsewhere.example/x.png)"


async def test_the_pull_request_shows_its_branch_commits_and_diff(
    caller: Caller, clock: HeldClock
) -> None:
    job_id = (await caller.ask("Fix the typo on the webhooks page")).json["id"]
    clock.forward(7)
    await caller.job(job_id)
    page = (await caller.request("GET", "/acme/acme-docs/pull/1")).text
    assert "<h1>Fix the typo on the webhooks page" in page
    assert f"agent/{job_id.replace('_', '-')}" in page
    assert "1 file changed" in page
    assert re.search(r'<span class="removed">-[^<]*recieve', page)
    assert re.search(r'<span class="added">\+[^<]*receive', page)


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
