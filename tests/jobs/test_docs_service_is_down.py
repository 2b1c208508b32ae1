"""A docs service that fails: `status`, `limits` and a new job's status message show it."""

from __future__ import annotations

import httpx
import pytest

from tests.talk import Talk

DOWN = "hasn't answered since"
UNREAD = "hasn't answered about it since"


@pytest.mark.parametrize("failure", [httpx.ConnectError("down"), httpx.Response(503)])
async def test_status_limits_and_a_new_job_show_a_failing_service(
    talk: Talk, failure: httpx.Response | Exception
) -> None:
    await talk.started()
    before = talk.status()
    talk.service.odd["job-1"] = lambda: failure
    await talk.time.passes(minutes=3)
    assert talk.status() == before
    assert UNREAD in await talk.ana.answer_to("/docs-agent status 1")
    assert DOWN in await talk.ana.answer_to("/docs-agent limits")
    talk.service.cannot_be_reached("create", times=500)
    await talk.ben.asks("Add a guide")
    await talk.time.passes(1)
    assert "It waits: I can't reach the docs service. I'll try again soon" in talk.job(2)
    talk.service.odd.clear()
    talk.service.instead.clear()
    await talk.time.passes(minutes=15)
    assert "Working on it" in talk.job(2)
    assert "I can't reach" not in talk.job(2)
    assert UNREAD not in await talk.ana.answer_to("/docs-agent status 1")
    assert DOWN not in await talk.ana.answer_to("/docs-agent limits")
    assert talk.replies() == []


async def test_follow_up_shows_that_it_waits_for_the_service(talk: Talk) -> None:
    await talk.started()
    talk.service.odd["job-1"] = lambda: httpx.Response(503)
    talk.service.cannot_be_reached("follow_up", times=500)
    await talk.time.passes(minutes=3)
    await talk.ana.types("/docs-followup 1 Mention Python 3.11")
    await talk.time.passes(1)
    assert "A follow-up waits: I can't reach the docs service" in talk.status()
    talk.service.odd.clear()
    talk.service.instead.clear()
    await talk.time.passes(minutes=10)
    assert "A follow-up waits" not in talk.status()
    assert talk.agent_got() == ["Add a quickstart", "Mention Python 3.11"]
    talk.everything()


@pytest.mark.parametrize("status", [401, 403])
async def test_new_job_shows_that_the_key_is_refused(talk: Talk, status: int) -> None:
    await talk.started()
    talk.service.odd["job-1"] = lambda: httpx.Response(status, json={"error": "no"})
    await talk.time.passes(minutes=3)
    await talk.ben.asks("Add a guide")
    await talk.time.passes(1)
    assert "It waits: the docs service refuses the bot's key" in talk.job(2)
    talk.service.odd.clear()
    await talk.time.passes(hours=1)
    assert "Working on it" in talk.job(2)
    assert talk.errors() == {"key_refused"}
    talk.everything()


async def test_rate_limit_is_not_shown_as_a_failure(talk: Talk) -> None:
    await talk.started()
    talk.service.says("get", 429, seconds=30, times=500)
    await talk.time.passes(minutes=20)
    assert DOWN not in await talk.ana.answer_to("/docs-agent limits")
    assert "I can't reach" not in talk.everything()


async def test_an_old_failure_is_not_shown(talk: Talk) -> None:
    await talk.started()
    talk.service.cannot_be_reached("get", times=500)
    await talk.time.passes(60)
    talk.service.instead.clear()
    await talk.ends()
    await talk.time.passes(7_200)
    await talk.started("Add another page")
    assert DOWN not in await talk.ana.answer_to("/docs-agent limits")
    assert "I can't reach" not in talk.everything()
