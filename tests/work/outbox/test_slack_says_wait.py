"""What Slack limits waits as long as Slack asks, and nothing else waits with it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.model.ids import ChannelId, JobNumber
from bot.model.outbox import Method
from bot.work.jobs.prepare import prepare_prompts
from bot.work.jobs.thread import redraw_face
from bot.work.outbox.deliver import deliver_due
from bot.work.ports import SlackThrottled, SlackUnclear
from tests.builders import CHANNEL
from tests.work.office import Office

ELSEWHERE = ChannelId("C0ELSEWHERE")


async def ask(office: Office, *channels: ChannelId) -> None:
    """Ask for a job in each channel; their faces are to be posted."""
    for channel in channels:
        await office.ask("Add a page", channel=channel)
    await prepare_prompts(office.context)


def channels(office: Office) -> list[ChannelId]:
    return [post.channel for post in office.slack.posts]


async def test_a_limit_of_the_channel_holds_that_channel_only(office: Office) -> None:
    office.slack.trouble("post", SlackThrottled(1.0, Method.POST))
    await ask(office, CHANNEL)
    await deliver_due(office.context)
    await ask(office, ELSEWHERE)
    office.clock.pass_seconds(0.9)
    await deliver_due(office.context)
    assert channels(office) == [ELSEWHERE]
    office.clock.pass_seconds(0.2)
    await deliver_due(office.context)
    assert channels(office) == [ELSEWHERE, CHANNEL]


@pytest.mark.parametrize("was_unclear", [False, True])
async def test_a_delivery_that_slack_limited_goes_out_as_soon_as_it_comes_due(
    office: Office, was_unclear: bool
) -> None:
    def passing() -> datetime:
        office.clock.pass_seconds(0.001)
        return office.clock()

    office.context = replace(office.context, clock=passing)
    await ask(office, CHANNEL)
    if was_unclear:
        office.slack.trouble("post", SlackUnclear())
        await deliver_due(office.context)
        await come_due(office)
        office.slack.trouble("find_posted", SlackThrottled(5.0, Method.SEARCH_CHANNEL))
    else:
        office.slack.trouble("post", SlackThrottled(5.0, Method.POST))
    await deliver_due(office.context)
    await come_due(office)
    office.context = replace(office.context, clock=office.clock)
    await deliver_due(office.context)
    assert channels(office) == [CHANNEL]


async def come_due(office: Office) -> None:
    """Let it be just after the time for which the workers' next check is scheduled."""
    due = await office.store.find_due(office.clock)
    assert due.next_at is not None
    office.clock.at = due.next_at + timedelta(microseconds=1)


async def test_a_limit_of_the_workspace_holds_all_posts_and_no_edits(office: Office) -> None:
    await office.started()
    office.slack.trouble("post", SlackThrottled(20.0, Method.POST))
    await ask(office, CHANNEL)
    await deliver_due(office.context)
    began, drawn = office.clock(), len(office.slack.edits[office.slack.root().ts])
    await ask(office, ELSEWHERE)
    await office.store.write(lambda tx: redraw_face(tx, JobNumber(1), office.clock()))
    office.clock.at = began + timedelta(seconds=19)
    await deliver_due(office.context)
    assert channels(office) == [CHANNEL]
    assert len(office.slack.edits[office.slack.root().ts]) == drawn + 1
    office.clock.at = began + timedelta(seconds=21)
    await deliver_due(office.context)
    assert sorted(channels(office)) == sorted([CHANNEL, CHANNEL, ELSEWHERE])


async def test_a_limit_of_edits_holds_edits_as_long_as_slack_says_and_posts_go_on(office: Office) -> None:
    await office.finished()
    drawn = len(office.slack.edits[office.slack.root().ts])
    office.slack.trouble("edit", SlackThrottled(30.0, Method.EDIT))
    await office.store.write(lambda tx: redraw_face(tx, JobNumber(1), office.clock()))
    await deliver_due(office.context)
    began = office.clock()
    await office.started("Add a glossary", channel=ELSEWHERE)
    assert ELSEWHERE in channels(office)
    office.clock.at = began + timedelta(seconds=29)
    await deliver_due(office.context)
    assert len(office.slack.edits[office.slack.root().ts]) == drawn
    office.clock.at = began + timedelta(seconds=30)
    await deliver_due(office.context)
    assert len(office.slack.edits[office.slack.root().ts]) == drawn + 1
