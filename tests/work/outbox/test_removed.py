"""Removed from a public channel, the bot comes back only when somebody asks there."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.model.questions import SubscriptionState
from bot.work.ports import SlackUnclear
from tests.builders import ANA, CHANNEL
from tests.work.office import Office
from tests.work.weekly import digests, of_channel, subscribed, until


async def test_an_end_is_told_privately_and_the_channel_not_joined_again(office: Office) -> None:
    await office.started()
    office.slack.outside.add(CHANNEL)
    office.docs.finish()
    await office.settle(10)
    assert office.slack.joined == set()
    assert office.said() == []
    assert [user for user, _, _ in office.slack.direct] == [ANA]


async def test_a_scheduled_digest_pauses_its_subscription_and_tells_the_owner(office: Office) -> None:
    await subscribed(office)
    office.slack.outside.add(CHANNEL)
    office.slack.joined.clear()
    await until(office, datetime(2026, 11, 9, 9, 0, tzinfo=UTC))
    assert office.slack.joined == set()
    assert digests(office) == []
    assert (await of_channel(office)).state is SubscriptionState.PAUSED
    assert [user for user, _, _ in office.slack.direct] == [ANA]


async def test_a_digest_just_asked_for_brings_it_back(office: Office) -> None:
    office.slack.outside.add(CHANNEL)
    await office.visitors("digest now")
    await office.reading()
    assert office.slack.joined == {CHANNEL}
    assert len(digests(office)) == 1


async def test_an_end_in_doubt_is_not_looked_for_by_joining(office: Office) -> None:
    await office.started()
    office.slack.outside.add(CHANNEL)
    office.slack.trouble("post", SlackUnclear("cut"))
    office.docs.finish()
    await office.settle(30)
    assert office.slack.joined == set()
    assert [user for user, _, _ in office.slack.direct] == [ANA]
