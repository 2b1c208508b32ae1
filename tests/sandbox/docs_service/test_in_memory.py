"""The docs service without files and without a server, for tests of a bot in the same process."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import web

from sandbox.docs_service import DocsService, DocsServiceOptions
from sandbox.docs_service.runner import HeldAuthor
from sandbox.docs_service.store import Outcome, WorkDone
from sandbox.docs_service.wire import Branch
from tests.sandbox.docs_service.caller import HeldClock

JOBS = "/v2/agent/acme-docs/job"
_KEY = {"Authorization": "Bearer sandbox_key", "Content-Type": "application/json"}


@pytest.fixture
def service(clock: HeldClock) -> Any:
    options = DocsServiceOptions(None, other_projects=("beta-docs",), uses_an_hour=2)
    service = DocsService(options, clock, author=HeldAuthor, new_id=lambda: "job-1")
    yield service
    service.close()


async def answer(
    service: DocsService, method: str, path: str, headers: dict[str, str] = _KEY, **body: Any
) -> tuple[int, dict[str, Any]]:
    """Return the status and the body of an answer."""
    sent = json.dumps(body).encode() if body else b""
    response = await service.answer(method, path, headers, sent)
    return response.status, json.loads(response.text or "")


async def test_held_job_ends_as_it_is_told(service: DocsService, clock: HeldClock) -> None:
    status, created = await answer(service, "POST", JOBS, prompt="Add a quickstart")
    assert (status, created["id"], created["status"]) == (201, "job-1", "active")
    clock.forward(86_400 * 365)
    assert (await answer(service, "GET", f"{JOBS}/job-1"))[1]["status"] == "active"
    [job] = service.jobs
    link = "https://code.example/acme/docs/pull/1"
    service.end_job(job, WorkDone(Outcome.CHANGED, "Done.", link=link))
    _, ended = await answer(service, "GET", f"{JOBS}/job-1")
    assert (ended["status"], ended["prLink"]) == ("completed", link)


async def test_requests_are_checked_as_by_the_server(service: DocsService) -> None:
    assert (await answer(service, "POST", JOBS, {}, prompt="Add a page"))[0] == 401
    assert (await answer(service, "POST", JOBS, prompt=""))[0] == 400
    assert (await answer(service, "POST", JOBS, prompt="é" * 1_000_000))[0] == 413
    assert (await answer(service, "PUT", JOBS, prompt="Add a page"))[0] == 405
    assert (await answer(service, "GET", "/v2/nothing"))[0] == 404
    statuses = [(await answer(service, "POST", JOBS, prompt="Add a page"))[0] for _ in range(3)]
    assert statuses == [201, 201, 429]
    assert [entry["status"] for entry in service.log][:4] == [401, 400, 413, 405]


async def test_job_belongs_to_its_project(service: DocsService) -> None:
    await answer(service, "POST", JOBS.replace("acme", "beta"), prompt="Add a page")
    assert (await answer(service, "GET", f"{JOBS}/job-1"))[0] == 404
    assert (await answer(service, "GET", f"{JOBS}/job-1".replace("acme", "beta")))[0] == 200
    assert (await answer(service, "GET", f"{JOBS}/job-1".replace("acme", "other")))[0] == 404


@pytest.mark.parametrize("fault", ["lost_answer", "cut_answer"])
async def test_fault_drops_the_connection_after_the_work(service: DocsService, fault: str) -> None:
    service.faults.order([{"match": "create", "fault": fault}])
    with pytest.raises(ConnectionError):
        await answer(service, "POST", JOBS, prompt="Add a page")
    assert [job.id for job in service.jobs] == ["job-1"]


async def test_scripted_answer_comes_after_the_checks(service: DocsService) -> None:
    async def preview(_request: web.Request, body: Branch) -> dict[str, str]:
        return {"statusId": "1", "previewUrl": f"https://preview.example/{body.branch}"}

    path = "/v1/project/preview/acme-docs"
    assert (await answer(service, "POST", path, branch="main"))[0] == 400, "no commit, no branch"
    service.scripted["preview"] = preview
    assert (await answer(service, "POST", path, {}, branch="main"))[0] == 401
    assert (await answer(service, "POST", path, other="main"))[0] == 400
    assert await answer(service, "POST", path, branch="main") == (
        202,
        {"statusId": "1", "previewUrl": "https://preview.example/main"},
    )
