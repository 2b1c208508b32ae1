"""Status messages of open jobs while the docs service fails, or refuses the bot, for long."""

from __future__ import annotations

import httpx
import pytest

from tests.talk import Talk

WARNING = ":warning:"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (httpx.ConnectError("down"), "The docs service hasn't given a usable answer since <!date^"),
        (httpx.Response(500), "The docs service hasn't given a usable answer since <!date^"),
        (httpx.Response(503), "The docs service hasn't given a usable answer since <!date^"),
        (
            httpx.Response(401, json={"error": "no"}),
            "The docs service has refused the bot since <!date^",
        ),
        (
            httpx.Response(403, json={"error": "no"}),
            "The docs service has refused the bot since <!date^",
        ),
    ],
)
async def test_status_has_a_warning_after_ten_minutes_of_failures(
    talk: Talk, answer: httpx.Response | Exception, text: str
) -> None:
    await talk.process.starts(admins=talk.chika.id)
    await talk.started()
    talk.service.odd["job-1"] = lambda: answer
    await talk.time.passes(minutes=9)
    assert WARNING not in talk.status()
    await talk.time.passes(minutes=4)
    assert text in talk.status()
    talk.service.odd.clear()
    await talk.time.passes(minutes=15)
    assert WARNING not in talk.status()
    assert talk.replies() == []
    assert talk.errors() == ({"key_refused"} if talk.chika.reads() else set())


async def test_rate_limit_is_no_trouble(talk: Talk) -> None:
    await talk.started()
    talk.service.says("get", 429, seconds=30, times=500)
    await talk.time.passes(minutes=20)
    assert WARNING not in talk.everything()


async def test_new_job_has_no_warning_about_an_old_failure(talk: Talk) -> None:
    await talk.started()
    talk.service.cannot_be_reached("get", times=500)
    await talk.time.passes(60)
    talk.service.instead.clear()
    await talk.ends()
    await talk.time.passes(7_200)
    await talk.started("Add another page")
    assert WARNING not in talk.everything()
