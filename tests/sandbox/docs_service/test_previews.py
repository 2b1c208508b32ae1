"""Previews of branches: built, shown, broken, and renewed by what the agent does next."""

from __future__ import annotations

from tests.sandbox.docs_service.caller import Caller, HeldClock, Reply


async def opened(caller: Caller, clock: HeldClock) -> str:
    job: str = (await caller.ask("Fix the typo on the webhooks page")).json["id"]
    clock.forward(7)
    branch: str = (await caller.job(job)).json["source"]["ref"]
    return branch


async def asked(caller: Caller, branch: str) -> Reply:
    return await caller.request("POST", "/v1/project/preview/acme-docs", json={"branch": branch})


async def build(caller: Caller, begun: Reply) -> Reply:
    return await caller.request("GET", f"/v1/project/update-status/{begun.json['statusId']}")


async def shown(caller: Caller, begun: Reply, page: str = "") -> Reply:
    return await caller.request(
        "GET", begun.json["previewUrl"].removeprefix(caller.base_url) + page
    )


async def test_a_preview_shows_the_branch_once_it_is_built(
    caller: Caller, clock: HeldClock
) -> None:
    begun = await asked(caller, await opened(caller, clock))
    assert begun.status == 202
    assert [(await build(caller, begun)).json["status"], (await shown(caller, begun)).status] == [
        "queued",
        404,
    ]
    clock.forward(4)
    assert (await build(caller, begun)).json["status"] == "in_progress"
    clock.forward(5)
    done = (await build(caller, begun)).json
    assert done["status"] == "success"
    [changed] = done["commit"]["filesChanged"]["modified"]
    page = await shown(caller, begun, f"/{changed.removesuffix('.md')}")
    assert (page.status, "<article" in page.text) == (200, True)
    assert (await shown(caller, begun, "/no/such/page")).status == 404


async def test_a_build_that_fails_says_why_and_shows_nothing(
    caller: Caller, clock: HeldClock
) -> None:
    branch = await opened(caller, clock)
    await caller.order_fault(match="preview", fault="broken_build")
    begun = await asked(caller, branch)
    clock.forward(9)
    done = (await build(caller, begun)).json
    assert done["status"] == "failure"
    assert "never closed" in done["logs"][-1]
    assert (await shown(caller, begun)).status == 404


async def test_what_cannot_be_previewed_is_refused(caller: Caller, clock: HeldClock) -> None:
    branch = await opened(caller, clock)
    assert [(await asked(caller, name)).status for name in ("main", "no-such-branch", "")] == [
        400
    ] * 3
    assert (await asked(caller.with_key(None), branch)).status == 401
    assert (await caller.request("GET", "/v1/project/update-status/no-such")).status == 404


async def test_five_previews_a_minute_may_be_asked_for(caller: Caller, clock: HeldClock) -> None:
    branch = await opened(caller, clock)
    assert [(await asked(caller, branch)).status for _ in range(6)] == [202] * 5 + [429]
    clock.forward(60)
    assert (await asked(caller, branch)).status == 202
