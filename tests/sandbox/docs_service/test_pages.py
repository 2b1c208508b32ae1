"""The HTML pages are complete, escape all values and load nothing from other servers."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.docs_service.diff import RowKind, compare
from tests.sandbox.docs_service.caller import Caller, HeldClock

SCRIPT = "Add a page about <script>alert(1)</script> and ![x](http://elsewhere.example/x.png)"


async def test_the_pull_request_shows_its_branch_commits_and_diff(caller: Caller, clock: HeldClock) -> None:
    job_id = (await caller.ask("Fix the typo on the webhooks page")).json["id"]
    clock.forward(7)
    await caller.job(job_id)
    page = (await caller.request("GET", "/acme-docs/pull/1")).text
    assert "<h1>Fix the typo on the webhooks page" in page
    assert f"agent/{job_id.replace('_', '-')}" in page
    assert "1 file changed" in page
    removed, added = (re.search(rf'<tr class="{kind}">(.*?)</tr>', page) for kind in ("removed", "added"))
    assert removed is not None
    assert added is not None
    assert re.findall(r'"number">(\d*)<', removed[1] + added[1]) == ["3", "", "", "3"]
    assert ("recieve" in removed[1], "receive" in added[1]) == (True, True)
    assert '<article class="preview"><h1>Webhooks</h1>' in page


async def test_every_link_on_the_pages_leads_somewhere(caller: Caller, clock: HeldClock) -> None:
    job_id = (await caller.ask("Add a quickstart for the Python SDK")).json["id"]
    clock.forward(7)
    await caller.follow_up(job_id, "Mention Python 3.11")
    clock.forward(7)
    visited: dict[str, int] = {}
    waiting = ["/"]
    while waiting:
        path = waiting.pop()
        if path in visited:
            continue
        reply = await caller.with_key(None).request("GET", path)
        visited[path] = reply.status
        if "text/html" in reply.headers["Content-Type"]:
            found = re.findall(r'(?:href|action)="([^"]*)"', reply.text)
            waiting += [link.replace("&amp;", "&") for link in found if not link.endswith("/archive")]
        waiting = [link for link in waiting if not link.startswith("data:")]
    assert set(visited.values()) == {200}
    assert len(visited) > 25
    assert any(path.startswith("/acme-docs/commit/") for path in visited)


@pytest.mark.parametrize("path", ["/", "/acme-docs/pull/1", "/acme-docs/job/{id}"])
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
        "/acme-docs/pull/9",
        "/acme-docs/pull/99999999999999999999",
        "/nobody/pull/1",
        "/acme-docs/job/job_1",
        "/acme-docs/tree/etc/passwd",
        "/acme-docs/tree/..%2F..%2F..",
        "/acme-docs/tree?ref=..%2Fmain",
        "/acme-docs/tree?ref=%00",
        "/acme-docs/commit/" + "0" * 40,
    ],
)
async def test_a_wrong_address_gets_a_page_that_says_so(caller: Caller, path: str) -> None:
    reply = await caller.request("GET", path)
    assert (reply.status, "There is nothing at this address" in reply.text) == (404, True)


async def test_the_job_page_shows_the_work_and_its_end(caller: Caller, clock: HeldClock) -> None:
    job_id = (await caller.ask("Fail on purpose")).json["id"]
    during = (await caller.request("GET", f"/acme-docs/job/{job_id}")).text
    assert "The agent is working, about 6 s more." in during
    clock.forward(7)
    after = (await caller.request("GET", f"/acme-docs/job/{job_id}")).text
    assert "The prompt asked the agent to fail." in after
    assert "refresh" not in after


files = st.lists(st.sampled_from(["a", "b", "c", "", "x y", "\u2028", "\x0c"]), max_size=14)


@given(files, files)
def test_a_diff_turns_the_old_file_into_the_new_one(old: list[str], new: list[str]) -> None:
    before, after = ("".join(line + "\n" for line in lines) for lines in (old, new))
    found = compare({"f": before}, {"f": after})
    if before == after:
        assert found == []
        return
    rows = [row for hunk in found[0].hunks for row in hunk.rows]
    made, taken = [], 0
    for row in rows:
        if row.old is not None:
            made += old[taken : row.old - 1]
            taken = row.old
            assert old[row.old - 1] == row.text
        if row.kind is not RowKind.REMOVED:
            made.append(row.text)
            assert row.new == len(made)
    assert made + old[taken:] == new
