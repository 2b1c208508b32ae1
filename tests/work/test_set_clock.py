"""The clock is set ahead and back: jobs go on at once, and nothing is done twice."""

from __future__ import annotations

import pytest

from tests.talk import Talk


@pytest.mark.parametrize("hours", [0, -400 * 24])
async def test_jobs_go_on_when_a_clock_is_set_back(talk: Talk, hours: int) -> None:
    talk.time.bot_is_ahead(hours=2)
    await talk.finished()
    await talk.started("Add a guide", by=talk.ben)
    talk.time.bot_is_ahead(hours=hours)
    await talk.time.passes(5)
    await talk.started("Add a tutorial")
    await talk.ends()
    await talk.time.passes(20)
    assert len(talk.channel()) == len(talk.all_replies()) == 3
    assert "Pull request ready" in talk.job(3)


async def test_uses_of_a_clock_ahead_do_not_count_for_hours(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    talk.time.bot_is_ahead(hours=2)
    await talk.finished()
    talk.time.bot_is_ahead(hours=0)
    await talk.started("Add a guide", by=talk.ben)
    await talk.time.passes(3_700)
    assert talk.agent_got() == ["Add a quickstart", "Add a guide"]
    talk.everything()


async def test_unclear_post_is_found_though_the_clock_is_set_back(talk: Talk) -> None:
    talk.time.bot_is_ahead(hours=2)
    talk.faults.loses_the_answer("chat.postMessage")
    await talk.ana.asks("Add a quickstart")
    await talk.time.passes(0.5)
    talk.time.bot_is_ahead(hours=0)
    await talk.time.passes(minutes=1)
    assert len(talk.channel()) == 1
    assert talk.agent_got() == ["Add a quickstart"]


@pytest.mark.parametrize(("before", "after"), [(0, -2), (6, 0)])
async def test_missed_messages_are_read_though_the_clock_is_set_back(
    talk: Talk, before: int, after: int
) -> None:
    talk.time.bot_is_ahead(hours=before)
    await talk.finished()
    await talk.ana.says("help", "dm")
    await talk.time.passes()
    talk.process.dies()
    await talk.ana.replies("Mention Python 3.11")
    await talk.ana.says("Add a page on keys", "dm")
    await talk.time.passes(minutes=20)
    talk.time.bot_is_ahead(hours=after)
    await talk.process.starts()
    await talk.time.passes(minutes=3)
    assert sorted(talk.agent_got()) == [
        "Add a page on keys",
        "Add a quickstart",
        "Mention Python 3.11",
    ]
    talk.everything()


async def test_job_is_not_polled_for_hours_about_a_doubt_of_a_clock_ahead(talk: Talk) -> None:
    await talk.finished()
    talk.time.bot_is_ahead(hours=4)
    talk.service.says("follow_up", 500)
    await talk.ana.types("/docs-followup 1 Make it shorter")
    await talk.time.passes(2)
    talk.time.bot_is_ahead(hours=0)
    await talk.time.passes(minutes=11)
    polls = talk.service.polls
    await talk.time.passes(hours=1)
    assert talk.service.polls == polls
    talk.everything()
