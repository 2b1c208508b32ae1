"""After an outage of the docs service the polls that failed come forward, and not all at once."""

from __future__ import annotations

from collections import Counter

import httpx
import pytest

from tests.talk import Talk

JOBS = 20
DOWN = (httpx.ConnectError("refused"), httpx.Response(503), httpx.Response(500))


async def outage(talk: Talk, answer: httpx.Response | Exception, **length: float) -> None:
    """Let every poll fail for so long, and end every job meanwhile."""
    talk.service.answer_instead("get", *[answer] * 100_000)
    await talk.time.passes(**length)
    talk.service.finish()
    talk.service.instead.clear()


@pytest.mark.parametrize("answer", DOWN)
@pytest.mark.parametrize("hours", [1, 7])
async def test_only_job_is_read_within_minutes_of_an_outage(
    talk: Talk, answer: httpx.Response | Exception, hours: int
) -> None:
    await talk.started()
    await outage(talk, answer, hours=hours)
    await talk.time.passes(minutes=6)
    assert "Pull request ready" in talk.status()
    talk.everything()


async def test_first_answer_brings_the_other_polls_forward(talk: Talk) -> None:
    await talk.process.starts(waiting_per_person=100)
    for number in range(JOBS):
        await talk.ana.asks(f"Add page number {number}")
    await talk.time.passes(60)
    assert len(talk.service.jobs) == JOBS
    await outage(talk, DOWN[0], minutes=100)
    talk.service.polled.clear()
    while not talk.service.polled:
        await talk.time.passes(seconds=5)
    polled_at: Counter[int] = Counter()
    for second in range(0, 40, 2):
        before = len(talk.service.polled)
        await talk.time.passes(seconds=2)
        polled_at[second] += len(talk.service.polled) - before
    assert len(set(talk.service.polled)) == JOBS
    assert max(polled_at.values()) <= JOBS / 4, "they are spread over seconds"
    assert sum("Pull request ready" in status for status in talk.channel()) == JOBS
    talk.everything()


async def test_job_that_fails_by_itself_is_not_polled_more_often(talk: Talk) -> None:
    await talk.started("Add a page on keys")
    await talk.started("Add a page on webhooks")
    talk.service.odd["job-1"] = lambda: httpx.Response(500)
    await talk.time.passes(hours=3)
    talk.service.polled.clear()
    await talk.time.passes(hours=3)
    assert talk.service.polled.count("job-1") <= 5
    assert talk.service.polled.count("job-2") >= 3
    talk.everything()


async def test_next_process_brings_the_polls_of_an_outage_forward(talk: Talk) -> None:
    for number in range(3):
        await talk.started(f"Add page number {number}")
    talk.service.answer_instead("get", *[DOWN[0]] * 100_000)
    await talk.time.passes(hours=2)
    talk.process.dies()
    talk.service.finish()
    talk.service.instead.clear()
    await talk.process.starts()
    await talk.time.passes(minutes=6)
    assert sum("Pull request ready" in status for status in talk.channel()) == 3
    talk.everything()
