"""A row with a value of a newer version, or a zone that the machine does not know, stops no other row."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from tests.talk import Talk
from tests.work.readers import DAY, FIRST, LAST, digests, subscribe


async def two_ask(talk: Talk) -> None:
    """Let Ana and Ben ask in two channels at the same moment."""
    await talk.ana.asks("Write Keys")
    await talk.ben.asks("Write Two", "partners")


def unreadable(talk: Talk) -> set[str]:
    """Read the log, and return the tables of rows that could not be read."""
    lines = [json.loads(line) for line in talk.log()]
    return {line["table"] for line in lines if line["event"] == "row_not_readable"}


async def test_prompt_of_a_newer_version_is_retried_and_stops_no_other(talk: Talk) -> None:
    await two_ask(talk)
    talk.newer_version_writes("prompts.kind", "newer")
    await talk.time.passes(20)
    assert talk.agent_got() == ["Write Two"]
    talk.newer_version_writes("prompts.kind", "start")
    await talk.time.passes(20)
    assert talk.agent_got() == ["Write Two"], "its lease has not run out"
    await talk.time.passes(100)
    assert talk.agent_got() == ["Write Two", "Write Keys"]
    assert unreadable(talk) == {"prompts"}
    talk.everything()


async def test_delivery_of_a_newer_version_stops_no_other(talk: Talk) -> None:
    talk.faults.cannot_be_reached("chat.postMessage", times=2)
    await two_ask(talk)
    await talk.time.passes(0.5)
    talk.newer_version_writes("deliveries.message", '{"newer": 1}')
    await talk.time.passes(20)
    assert talk.agent_got() == ["Write Two"]
    assert unreadable(talk) == {"deliveries"}
    talk.everything()


async def test_job_of_a_newer_version_stops_no_poll_and_no_list(talk: Talk) -> None:
    await two_ask(talk)
    await talk.time.passes()
    talk.newer_version_writes("jobs.state", "newer")
    await talk.ends()
    await talk.time.passes(60)
    [end] = talk.replies(channel="partners")
    assert "*Write Two* is done" in end
    assert "Write Two" in await talk.ben.answer_to("/docs-agent jobs", "partners")
    assert unreadable(talk) == {"jobs"}
    talk.everything()


@pytest.mark.parametrize("column", ["questions.query", "readings.end_day"])
async def test_question_of_a_newer_version_stops_no_other(talk: Talk, column: str) -> None:
    talk.service.site.fill(5, FIRST, LAST)
    for day in (FIRST, LAST):
        await talk.ana.types(f"/docs-visitors {day} compare none")
    talk.newer_version_writes(column, "{}")
    for _ in range(10):
        with suppress(ValueError):  # of the question that needs this very row
            await talk.time.passes(2)
    assert "1 Nov 2026" in talk.ana.reads()[-1]
    talk.log()


async def test_unknown_zones_stop_no_digest_of_others(talk: Talk) -> None:
    for row in range(25):
        await subscribe(talk, f"monday 08:30 UTC path /{row}")
    await talk.time.passes(60)
    talk.newer_version_writes("subscriptions.zone", "Europe/Newborg", all_rows=True)
    await subscribe(talk)
    talk.service.site.fill(5, FIRST + 7 * DAY, LAST + 7 * DAY)
    talk.time.is_set(days=7, minutes=-5)
    await talk.time.passes(minutes=10)
    assert len(digests(talk)) == 1
    assert unreadable(talk) == {"subscriptions"}
    talk.everything()


async def test_pull_request_of_a_newer_version_hides_no_other_job_on_the_page(talk: Talk) -> None:
    await talk.ana.asks("Shorten the rate limits page")
    await talk.ben.asks("Shorten the webhooks page", "partners")
    talk.newer_version_writes("jobs.pull_request", '{"newer": 1}')
    answer = await talk.ana.answer_to("/docs-agent Add a table to the webhooks page", "partners")
    assert "Job 2" in answer
    assert unreadable(talk) == {"jobs"}
    talk.everything()
