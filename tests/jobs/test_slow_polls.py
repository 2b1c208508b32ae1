"""Slow answers about some jobs delay the ends of no others."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from tests.talk import Talk

SLOW = 12


async def test_hanging_polls_delay_no_end_of_another_job(talk: Talk) -> None:
    await talk.process.starts(waiting_per_person=SLOW + 1)
    for number in range(SLOW + 1):
        await talk.ana.asks(f"Add page {number}")
    await talk.time.passes(20)
    for _ in range(SLOW):
        talk.service.hangs("get")
    talk.service.finish()
    await talk.time.passes(10)
    assert sum("Pull request ready" in status for status in talk.channel()) == 1
    talk.everything()


async def test_slow_answer_is_read_at_the_second_poll(talk: Talk) -> None:
    talk.process.timeouts = replace(talk.process.timeouts, poll_seconds=0.05)
    await talk.started()
    slow = [talk.service.hangs("get") for _ in range(2)]
    await talk.time.passes(10)
    await talk.stuck_work_ends()  # the first poll gives up
    await talk.time.passes(60)
    await asyncio.sleep(0.1)  # the second waits longer
    slow[1].comes(id="job-1", status="completed", prLink="https://code.example/acme/docs/pull/1")
    await talk.time.passes()
    assert "Pull request ready" in talk.status()
    talk.everything()
