"""A job that cannot be read backs off by itself; the project is held when the service itself is unwell."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest

from tests.services import DocsService
from tests.talk import Talk

Answer = Callable[[], httpx.Response | Exception]
BAD: dict[str, Answer] = {
    "500": lambda: httpx.Response(500, json={"error": "this job is broken"}),
    "not JSON": lambda: httpx.Response(200, text="{"),
    "web page": lambda: httpx.Response(200, text="<html>", headers={"content-type": "text/html"}),
    "no id": lambda: httpx.Response(200, json={"status": "completed"}),
    "not storable": lambda: httpx.Response(200, json={"id": "job-1\x00", "status": "completed"}),
    "redirect": lambda: httpx.Response(302, headers={"location": "https://elsewhere.example"}),
    "400": lambda: httpx.Response(400, json={"error": "no"}),
    "timeout": lambda: httpx.ReadTimeout("slow"),
}
WHOLE: dict[str, Answer] = {
    "429": lambda: httpx.Response(429),
    "503": lambda: httpx.Response(503),
    "refused": lambda: httpx.ConnectError("refused"),
}


async def started(talk: Talk, count: int) -> None:
    """Start jobs 1 to ``count``; the service calls them ``job-1`` and so on."""
    for number in range(count):
        await talk.ana.asks(f"Add page {number}")
    await talk.time.passes(2 * count + 2)
    talk.everything()


def breaks(service: DocsService, count: int, answer: Answer = BAD["500"]) -> None:
    """Let the polls of jobs 1 to ``count`` get this answer."""
    service.odd |= {f"job-{number}": answer for number in range(1, count + 1)}


@pytest.mark.parametrize("answer", BAD.values(), ids=BAD.keys())
async def test_bad_job_delays_no_other(talk: Talk, answer: Answer) -> None:
    await started(talk, 3)
    breaks(talk.service, 1, answer)
    await talk.time.passes(4)
    await talk.ben.asks("Add another page")
    await talk.time.passes(3)
    assert talk.service.prompts[-1] == ("job-4", "Add another page")
    await talk.ends()
    assert "Working on it" in talk.job(1)
    assert "Pull request ready" in talk.job(2)
    talk.service.odd.clear()
    await talk.time.passes(60)
    assert "Pull request ready" in talk.job(1)
    talk.everything()


async def test_bad_job_is_polled_less_and_less_often(talk: Talk) -> None:
    await started(talk, 2)
    breaks(talk.service, 1)
    talk.service.polled.clear()
    await talk.time.passes(days=1)
    assert talk.service.polled.count("job-1") < 45
    talk.everything()


@pytest.mark.parametrize("answer", WHOLE.values(), ids=WHOLE.keys())
async def test_error_of_the_whole_service_holds_the_project(talk: Talk, answer: Answer) -> None:
    await started(talk, 5)
    breaks(talk.service, 1, answer)
    talk.service.polled.clear()
    while "job-1" not in talk.service.polled:
        await talk.time.passes(0.05)
    await talk.ben.asks("Add another page")
    await talk.time.passes(0.2)
    assert len(talk.agent_got()) == 5
    talk.service.odd.clear()
    await talk.time.passes(minutes=16)
    assert len(talk.agent_got()) == 6
    talk.everything()


@pytest.mark.parametrize("answer", [httpx.Response(500), httpx.ConnectError("refused")])
async def test_failed_create_holds_its_project(
    talk: Talk, answer: httpx.Response | Exception
) -> None:
    talk.service.answer_instead("create", answer)
    await talk.ana.asks("Add a quickstart")
    await talk.time.passes(0.1)
    await talk.ben.asks("Add another page")
    await talk.time.passes(0.1)
    assert talk.service.calls.count("create") == 1
    await talk.time.passes(10)
    assert "Add another page" in talk.agent_got()
    talk.everything()


async def test_failed_follow_up_delays_no_other_job(talk: Talk) -> None:
    await started(talk, 1)
    talk.service.says("follow_up", 500)
    await talk.ana.types("/docs-followup 1 Add more")
    await talk.time.passes(0.1)
    await talk.ben.asks("Add another page")
    await talk.time.passes(4)
    assert talk.agent_got()[-1] == "Add another page"
    talk.everything()


@pytest.mark.parametrize("bad", ["500", "redirect"])
async def test_job_unreadable_for_seven_days_is_given_up(talk: Talk, bad: str) -> None:
    await started(talk, 1)
    breaks(talk.service, 1, BAD[bad])
    await talk.time.passes(days=8)
    [message] = [reply for reply in talk.replies() if "no usable answer" in reply]
    assert "The docs service gave no usable answer about Job 1 for" in message
    talk.service.polled.clear()
    await talk.time.passes(days=1)
    assert talk.service.polled == []
    talk.everything()


async def test_bad_job_is_polled_within_the_hour(talk: Talk) -> None:
    await started(talk, 1)
    breaks(talk.service, 1)
    await talk.time.passes(days=2)
    talk.service.polled.clear()
    began_at = talk.time.at
    while not talk.service.polled:
        await talk.time.passes(minutes=5)
    assert talk.time.at - began_at <= timedelta(hours=1)
    talk.everything()
