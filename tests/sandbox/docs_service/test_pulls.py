"""Pull requests as GitHub's API tells them, merged and closed on their pages."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from sandbox.docs_service.options import GITHUB_TOKEN
from tests.sandbox.docs_service.caller import Caller, HeldClock, Reply

PAGE = "/acme/acme-docs/pull/1"
API = "/api/v3/repos/acme/acme-docs/pulls/1"


async def told(
    caller: Caller, path: str = API, token: str | None = GITHUB_TOKEN, etag: str = ""
) -> Reply:
    headers = {"If-None-Match": etag} if etag else {}
    return await caller.with_key(token).request("GET", path, headers=headers)


async def opened(
    caller: Caller, clock: HeldClock, prompt: str = "Fix the typo on the webhooks page"
) -> str:
    job: str = (await caller.ask(prompt)).json["id"]
    clock.forward(7)
    await caller.job(job)
    return job


async def press(caller: Caller, button: str, page: str = PAGE, origin: str | None = None) -> int:
    headers = {"Origin": origin or caller.base_url}
    return (await caller.request("POST", f"{page}/{button}", headers=headers)).status


async def test_a_pull_request_is_told_with_what_really_changed(
    caller: Caller, clock: HeldClock
) -> None:
    job = await opened(caller, clock)
    pull = (await told(caller)).json
    page = (await caller.request("GET", PAGE)).text
    shown = re.search(r'<span class="plus">\+(\d+)</span> <span class="minus">−(\d+)</span>', page)
    assert shown is not None
    assert (pull["additions"], pull["deletions"], pull["changed_files"]) == (
        int(shown[1]),
        int(shown[2]),
        1,
    )
    assert pull["html_url"] == (await caller.job(job)).json["prLink"]
    assert (pull["state"], pull["merged"], pull["merged_by"], pull["closed_at"]) == (
        "open",
        False,
        None,
        None,
    )
    assert pull["head"]["ref"] == (await caller.job(job)).json["source"]["ref"]


async def test_what_is_merged_is_in_what_comes_after_and_stays_as_it_was(
    caller: Caller, clock: HeldClock
) -> None:
    job = await opened(caller, clock)
    before = (await told(caller)).json
    assert await press(caller, "merge") == 303
    assert await press(caller, "close") == 303  # it has ended already
    after = (await told(caller)).json
    assert (after["state"], after["merged"], after["merged_by"]) == (
        "closed",
        True,
        {"login": "ana-b"},
    )
    assert after["merged_at"] == after["closed_at"] == "2026-10-14T09:30:07.000Z"
    assert "Merged" in (await caller.request("GET", PAGE)).text
    await caller.follow_up(job, "Add a page about retries")
    clock.forward(7)
    await opened(caller, clock)
    assert (await told(caller)).json["additions"] == before["additions"]
    assert (
        await caller.request("GET", "/acme/acme-docs/pull/2")
    ).status == 404  # nothing left to mend


async def test_a_call_that_finds_nothing_new_is_free_with_a_token(
    caller: Caller, clock: HeldClock
) -> None:
    await opened(caller, clock)
    first = await told(caller)
    again = await told(caller, etag=first.headers["Etag"])
    assert (again.status, again.text) == (304, "")
    assert (
        again.headers["X-RateLimit-Remaining"] == first.headers["X-RateLimit-Remaining"] == "4999"
    )
    await press(caller, "merge")
    assert (await told(caller, etag=first.headers["Etag"])).status == 200


async def test_files_are_listed_by_pages_with_the_patches_of_git(
    caller: Caller, clock: HeldClock
) -> None:
    job = await opened(caller, clock, "Add a page about retries")
    await caller.follow_up(job, "Add a page about webhooks")
    clock.forward(7)
    await caller.job(job)
    pull, listed = (await told(caller)).json, await told(caller, f"{API}/files")
    files = listed.json
    assert len(files) == pull["changed_files"] > 1
    assert sum(file["additions"] for file in files) == pull["additions"]
    assert all(file["changes"] == file["additions"] + file["deletions"] for file in files)
    for file in files:
        lines = file["patch"].split("\n")
        assert lines[0].startswith("@@ -")
        assert sum(line.startswith("+") for line in lines) == file["additions"]
    first = await told(caller, f"{API}/files?per_page=1")
    assert first.json == files[:1]
    assert '?per_page=1&page=2>; rel="next"' in first.headers["Link"]
    assert f'&page={len(files)}>; rel="last"' in first.headers["Link"]
    last = await told(caller, f"{API}/files?per_page=1&page={len(files)}")
    assert last.json == files[-1:]
    assert 'rel="next"' not in last.headers["Link"]
    assert (await told(caller, f"{API}/files?per_page=none&page=99")).json == []
    assert (await told(caller, f"{API}/files", etag=listed.headers["Etag"])).status == 304
    assert (await told(caller, "/api/v3/repos/acme/acme-docs/pulls/9/files")).status == 404
    assert (await caller.request("GET", f"{PAGE}/files")).status == 200


async def test_two_commits_are_compared_as_github_does(caller: Caller, clock: HeldClock) -> None:
    job = await opened(caller, clock, "Add a page about retries")
    before = (await told(caller)).json
    await caller.follow_up(job, "Add a page about webhooks")
    clock.forward(7)
    after = (await told(caller)).json
    path = "/api/v3/repos/acme/acme-docs/compare/"
    ahead = (await told(caller, f"{path}{before['head']['sha']}...{after['head']['sha']}")).json
    assert (ahead["status"], ahead["ahead_by"], ahead["behind_by"]) == ("ahead", 1, 0)
    grown = sum(file["additions"] - file["deletions"] for file in ahead["files"])
    assert grown == sum(
        sign * (pull["additions"] - pull["deletions"]) for sign, pull in ((1, after), (-1, before))
    )
    behind = (await told(caller, f"{path}{after['head']['sha']}...{before['head']['sha']}")).json
    assert (behind["status"], behind["files"]) == ("behind", [])
    same = (await told(caller, f"{path}{after['head']['sha']}...{after['head']['sha']}")).json
    assert (same["status"], same["commits"]) == ("identical", [])
    for ends in ("main", f"{'0' * 40}...{after['head']['sha']}", "a...b"):
        assert (await told(caller, path + ends)).status == 404


async def test_sixty_calls_an_hour_are_free_of_tokens(caller: Caller, clock: HeldClock) -> None:
    await opened(caller, clock)
    for _ in range(60):
        assert (await told(caller, token=None)).status == 200
    refused = await told(caller, token=None)
    assert (refused.status, refused.headers["X-RateLimit-Remaining"]) == (403, "0")
    clock.forward(int(refused.headers["X-RateLimit-Reset"]) - clock.now.timestamp() + 1)
    assert (await told(caller, token=None)).status == 200
    assert datetime.fromtimestamp(int(refused.headers["X-RateLimit-Reset"]), UTC) < clock.now


@pytest.mark.parametrize(
    ("path", "token", "status"),
    [
        (API, "sandbox_key", 401),
        ("/api/v3/repos/acme/acme-docs/pulls/2", GITHUB_TOKEN, 404),
        ("/api/v3/repos/acme/acme-docs/pulls/x", GITHUB_TOKEN, 404),
        ("/api/v3/repos/acme/nothing/pulls/1", GITHUB_TOKEN, 404),
        ("/api/v3/repos/evil/acme-docs/pulls/1", GITHUB_TOKEN, 404),
    ],
)
async def test_what_is_not_there_or_not_for_them_is_refused_as_github_does(
    caller: Caller, clock: HeldClock, path: str, token: str, status: int
) -> None:
    await opened(caller, clock)
    refused = await told(caller, path, token)
    assert refused.status == status
    assert refused.json["status"] == str(status)
    assert refused.json["message"]
