"""The clock is set ahead and back: jobs go on at once, and nothing is done twice."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.features import take_message
from bot.jobs.catch_up import Gap
from bot.ports import SlackUnclear, ts_at
from tests.builders import BEN
from tests.jobs.test_catch_up import prompts, read_on
from tests.talk import Talk
from tests.work.office import Office

HOUR = timedelta(hours=1)


@pytest.mark.parametrize("back", [2 * HOUR, 400 * 24 * HOUR])
async def test_a_bot_whose_clock_was_ahead_posts_starts_and_tells_ends_when_it_is_set_back(
    office: Office, back: timedelta
) -> None:
    await office.set_clock(2 * HOUR)
    await office.finished("Add a quickstart")
    await office.started("Add a guide", user=BEN)
    await office.set_clock(-back)
    await office.settle()
    asked = await office.started("Add a tutorial")
    office.docs.finish()
    await office.settle(20)
    assert len([post for post in office.slack.posts if post.thread is None]) == 3
    assert len(office.said()) == 3
    assert (await office.job(asked.job)).pr_link is not None


async def test_uses_of_the_quota_do_not_count_for_hours_when_the_clock_is_set_back(office: Office) -> None:
    office.limit(1)
    await office.set_clock(2 * HOUR)
    await office.finished("Add a quickstart")
    await office.set_clock(-2 * HOUR)
    await office.started("Add a guide", user=BEN)
    await office.pass_time(3_700)
    assert len(office.docs.jobs) == 2


async def test_a_post_of_unclear_outcome_is_found_though_the_clock_is_set_back(office: Office) -> None:
    await office.set_clock(2 * HOUR)
    office.slack.lose_answer.append(SlackUnclear("no answer"))
    await office.ask("Add a quickstart")
    await office.rounds()
    await office.set_clock(-2 * HOUR)
    await office.settle()
    assert len([post for post in office.slack.posts if post.thread is None]) == 1


async def test_what_was_missed_does_not_wait_until_the_clock_is_where_slacks_is(office: Office) -> None:
    slacks_time = office.clock() + 2 * HOUR
    office.missed("Add a page", direct=True, ts=ts_at(slacks_time - timedelta(minutes=1)))
    await take_message(office.context, office.missed("help", direct=True, ts=ts_at(slacks_time)))
    await read_on(office)
    await office.settle()
    assert await prompts(office) == ["Add a page"]
    assert len(office.docs.jobs) == 1


async def test_what_was_missed_is_read_at_once_when_the_clock_was_set_back_before_a_gap_ends(
    office: Office,
) -> None:
    await office.finished("Add a quickstart")
    await office.reply("Mention Python 3.11")
    await office.settle()
    office.clock.pass_seconds(6 * 3_600)
    gap = Gap(office.context)
    gap.begin()
    office.clock.pass_seconds(-6 * 3_600)
    await gap.end()
    assert "unread" in (await office.store.find_due(office.clock)).queues


async def test_a_job_is_not_polled_for_hours_about_a_doubt_that_a_clock_ahead_put_off(talk: Talk) -> None:
    await talk.finished()
    talk.time.is_set(hours=4)
    talk.service.says("follow_up", 500)
    await talk.ana.types("/docs-followup 1 Make it shorter")
    await talk.time.passes(2)
    talk.time.is_set(hours=-4)
    await talk.time.passes(minutes=11)
    polls = talk.service.polls
    await talk.time.passes(hours=1)
    assert talk.service.polls == polls
    talk.everything()
