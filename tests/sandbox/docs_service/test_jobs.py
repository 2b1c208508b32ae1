"""The life of a job: created, worked on, ended, followed up, archived."""

from __future__ import annotations

import aiohttp

from sandbox.docs_service import DocsService, DocsServiceOptions
from tests.sandbox.docs_service.caller import Caller, HeldClock


async def test_a_follow_up_makes_the_job_active_again_and_goes_on_with_its_pull_request(
    caller: Caller, clock: HeldClock
) -> None:
    job_id = (await caller.ask("Add a quickstart for the Python SDK")).json["id"]
    clock.forward(7)
    first = (await caller.job(job_id)).json["prLink"]
    reply = await caller.follow_up(job_id, "Mention Python 3.11")
    assert (reply.status, reply.json["status"], reply.json["prLink"]) == (200, "active", None)
    clock.forward(7)
    assert (await caller.job(job_id)).json["prLink"] == first
    page = (await caller.request("GET", "/acme/acme-docs/pull/1")).text
    assert "wants to merge 2 commits" in page
    assert "This also holds for Python 3.11." in page


async def test_an_archived_job_refuses_follow_ups(caller: Caller, clock: HeldClock) -> None:
    job_id = (await caller.ask("Archive this")).json["id"]
    clock.forward(7)
    job = (await caller.job(job_id)).json
    assert (job["status"], job["archivedAt"]) == ("archived", "2026-10-14T09:30:07.000Z")
    reply = await caller.follow_up(job_id, "Mention Python 3.11")
    assert (reply.status, reply.json) == (
        400,
        {"error": "this job is archived and takes no more messages"},
    )


async def test_a_person_archives_a_job_on_its_page(caller: Caller, clock: HeldClock) -> None:
    job_id = (await caller.ask("Explain webhooks")).json["id"]
    assert "Archive this job" in (await caller.request("GET", f"/acme-docs/job/{job_id}")).text
    reply = await caller.request("POST", f"/acme-docs/job/{job_id}/archive")
    assert (reply.status, reply.headers["Location"]) == (303, f"/acme-docs/job/{job_id}")
    clock.forward(7)
    job = (await caller.job(job_id)).json
    assert (job["status"], job["prLink"]) == ("archived", None)


async def test_a_service_started_again_in_its_folder_finishes_what_it_had_begun(
    options: DocsServiceOptions, clock: HeldClock
) -> None:
    async with aiohttp.ClientSession() as session:
        service = DocsService(options, clock)
        job_id = (await Caller(session, await service.start()).ask("Explain webhooks")).json["id"]
        await service.stop()
        clock.forward(7)
        service = DocsService(options, clock)
        caller = Caller(session, await service.start())
        reply = await caller.job(job_id)
        await service.stop()
    assert reply.json["status"] == "completed"
    assert reply.json["prLink"] == f"{caller.base_url}/acme/acme-docs/pull/1"
