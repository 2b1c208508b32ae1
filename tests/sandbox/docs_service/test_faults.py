"""Fault injection: each fault has its own effect, as often as ordered, for the ordered operation only."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest

from sandbox.docs_service import DocsService, DocsServiceOptions
from tests.sandbox.docs_service.caller import JSON, Caller, HeldClock


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("500", 500),
        ("502_html", 502),
        ("429", 429),
        ("429_no_header", 429),
        ("401", 401),
        ("403", 403),
        ("404", 404),
    ],
)
async def test_a_fault_answers_and_does_nothing(caller: Caller, fault: str, status: int) -> None:
    await caller.order_fault(match="create", fault=fault)
    reply = await caller.ask("Explain webhooks")
    assert reply.status == status
    assert (reply.json is None) == (fault == "502_html")
    assert ("Retry-After" in reply.headers) == (fault == "429")
    assert "No job yet" in (await caller.request("GET", "/")).text
    assert (await caller.ask("Explain webhooks")).status == 201


async def test_a_lost_answer_is_carried_out(caller: Caller) -> None:
    await caller.order_fault(match="create", fault="lost_answer")
    with pytest.raises(aiohttp.ClientConnectionError):
        await caller.ask("Explain webhooks")
    log = await caller.log()
    assert (log[0]["status"], log[0]["fault"]) == (201, "lost_answer")
    assert (await caller.job(log[0]["job_id"])).status == 200


async def test_a_time_out_is_never_answered_and_nothing_is_done(caller: Caller) -> None:
    await caller.order_fault(match="create", fault="timeout", seconds=0.01)
    with pytest.raises(aiohttp.ClientConnectionError):
        await caller.ask("Explain webhooks")
    assert (await caller.log())[0]["status"] is None
    assert "No job yet" in (await caller.request("GET", "/")).text


async def test_a_stale_answer_shows_the_job_as_it_was(caller: Caller, clock: HeldClock) -> None:
    job_id = (await caller.ask("Explain webhooks")).json["id"]
    clock.forward(7)
    done = (await caller.job(job_id)).json
    await caller.order_fault(match="get", fault="stale_status")
    assert (await caller.job(job_id)).json["status"] == "active"
    await caller.follow_up(job_id, "Add an example in Go")
    await caller.order_fault(match="get", fault="stale_status")
    assert (await caller.job(job_id)).json == done
    assert (await caller.job(job_id)).json["status"] == "active"


async def test_odd_answers_can_be_chosen(caller: Caller) -> None:
    job_id = (await caller.ask("Explain webhooks")).json["id"]
    await caller.order_fault(match="get", fault="odd_status", value="dreaming")
    assert (await caller.job(job_id)).json["status"] == "dreaming"
    await caller.order_fault(match="get", fault="bad_pr_link", value="nonsense")
    assert (await caller.job(job_id)).json["prLink"] == "nonsense"
    await caller.order_fault(match="visitors", fault="broken_json")
    with pytest.raises(ValueError, match=r"line 1 column"):
        await caller.visitors()


async def test_request_without_sender_ends_before_the_files_are_closed(
    options: DocsServiceOptions, caplog: pytest.LogCaptureFixture
) -> None:
    service, others = DocsService(options), asyncio.all_tasks()
    async with aiohttp.ClientSession() as session:
        caller = Caller(session, await service.start())
        await caller.order_fault(match="visitors", fault="slow", seconds=1.5)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(caller.visitors(), 0.1)
        assert await caller.log() == []  # the service has noticed the end of the connection by then
    await service.stop()
    await asyncio.gather(*asyncio.all_tasks() - others, return_exceptions=True)
    assert caplog.text == ""


@pytest.mark.parametrize(
    "body",
    [
        "[]",
        '{"next": [{"match": "all", "fault": "500"}]}',
        '{"next": [{"match": "get", "fault": "fire"}]}',
        '{"next": [{"match": "get", "fault": "500", "times": 0}]}',
        '{"next": [{"match": "get", "fault": "500", "seconds": -1}]}',
        '{"next": [{"match": "get", "fault": "500", "tims": 1}]}',
    ],
)
async def test_an_order_that_makes_no_sense_is_refused(caller: Caller, body: str) -> None:
    reply = await caller.request(
        "POST", "/sandbox/faults", data=body, headers={"Content-Type": JSON}
    )
    assert reply.status == 400
    assert list(reply.json) == ["error"]
