"""Subscriptions to the digest are proven, listed, changed and ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime

from bot.model.ids import ChannelId, UserId
from bot.model.questions import SubscriptionState, Weekday
from bot.slack.client import refused
from tests.builders import ANA
from tests.fakes import FakeSlack
from tests.work.office import RESPONSE_URL, Office
from tests.work.weekly import digests, of_channel, subscribed, until


async def test_subscribing_is_proven_by_a_post_and_takes_the_zone_of_who_asks(office: Office) -> None:
    office.slack.zones[ANA] = "Europe/Berlin"
    said = await office.visitors("subscribe tuesday 8:30")
    assert "every Tuesday at 08:30 (your time zone)" in said.text
    await office.reading(5)
    [post] = office.posted()
    assert "Every Tuesday at 08:30 (Berlin) this channel gets a digest" in post
    subscription = await of_channel(office)
    assert subscription.state is SubscriptionState.ACTIVE
    assert subscription.next_run_at == datetime(2026, 11, 3, 7, 30, tzinfo=UTC)


async def test_a_time_before_the_week_is_over_in_utc_is_about_the_week_before(
    office: Office,
) -> None:
    await subscribed(office, "monday 09:00 Australia/Sydney")
    assert "The first comes on 9 Nov at 09:00 and covers 26 Oct – 1 Nov." in office.posted()[0]
    await until(office, datetime(2026, 11, 8, 22, 0, tzinfo=UTC))
    assert "26 Oct – 1 Nov 2026" in digests(office)[0]


async def test_a_zone_that_slack_does_not_tell_is_utc_and_shown(office: Office) -> None:
    office.slack.trouble("user_zone", refused("user_not_found"))
    await subscribed(office, "friday 10:00")
    assert "(UTC)" in office.posted()[0]


async def test_a_channel_that_refuses_the_first_post_is_not_subscribed_and_the_way_is_told(
    office: Office,
) -> None:
    office.slack.trouble("post", refused("channel_not_found"))
    await office.visitors("subscribe monday 09:00 UTC")
    await office.reading(5)
    [(url, told)] = office.slack.private
    assert url == RESPONSE_URL.get_secret_value()
    assert "wasn't set up: I'm not a member" in told.text
    assert "/invite @docs-agent" in told.text
    assert "This channel has no digest yet" in (await office.visitors("subscriptions")).text


async def test_subscriptions_are_listed_with_three_runs_in_their_own_zone(office: Office) -> None:
    await subscribed(office, "monday 09:00 Asia/Kolkata path /api")
    text = (await office.visitors("subscriptions")).text
    assert "Every Monday at 09:00 (Kolkata)" in text
    assert "`/api`" in text
    assert "Next: 9 Nov 09:00, 16 Nov 09:00, 23 Nov 09:00" in text
    assert "Last: none yet" in text


async def test_unsubscribing_ends_it(office: Office) -> None:
    await subscribed(office)
    assert "no longer gets a digest" in (await office.visitors("unsubscribe")).text
    assert "gets no digest" in (await office.visitors("unsubscribe")).text
    await until(office, datetime(2026, 11, 9, 9, 0, tzinfo=UTC))
    assert digests(office) == []


async def test_unsubscribing_a_section_ends_that_one_alone_and_says_so(office: Office) -> None:
    await subscribed(office)
    await office.visitors("subscribe friday 16:30 UTC path /api")
    await office.reading(5)
    assert "still gets 1 other" in (await office.visitors("unsubscribe path /api")).text
    assert (await of_channel(office)).section is None
    assert "no such digest" in (await office.visitors("unsubscribe /api")).text


async def test_unsubscribing_asks_which_of_several_is_to_end(office: Office) -> None:
    await subscribed(office)
    await office.visitors("subscribe friday 16:30 UTC path /api")
    await office.reading(5)
    asked = await office.visitors("unsubscribe")
    assert asked.text == "This channel gets 2 digests. Which one ends?"
    whole, api = asked.blocks[-1]["elements"][0]["options"]
    assert (whole["text"]["text"], api["text"]["text"]) == ("Whole site", "/api")
    elsewhere = await office.press("unsubscribe", whole["value"], channel=ChannelId("C0OTHER"))
    assert "gets no digest" in str(elsewhere.message)
    ended = await office.press("unsubscribe", whole["value"])
    assert "still gets 1 other" in str(ended.message)
    assert (await of_channel(office)).section == "/api"


async def test_the_whole_sites_digest_can_be_ended_by_its_path(office: Office) -> None:
    await subscribed(office)
    assert "`/docs-visitors unsubscribe path /` ends it." in office.posted()[0]
    await office.visitors("subscribe friday 16:30 UTC path /api")
    await office.reading(5)
    await office.visitors("unsubscribe path /")
    assert (await of_channel(office)).section == "/api"


async def test_words_that_unsubscribing_does_not_know_end_nothing(office: Office) -> None:
    await subscribed(office)
    for words in ("unsubscribe tuesday", "unsubscribe 09:00", "digest monday", "digest now UTC"):
        said = (await office.visitors(words)).text
        assert "Only `path /api` for a section may follow here." in said
        assert "`/docs-visitors unsubscribe path /api`" in said
    await office.reading(5)
    assert (await of_channel(office)).state is SubscriptionState.ACTIVE
    assert digests(office) == []


async def test_subscribing_again_changes_the_time_and_does_not_repeat_a_week(office: Office) -> None:
    await subscribed(office)
    await until(office, datetime(2026, 11, 9, 9, 0, tzinfo=UTC))
    await subscribed(office, "thursday 10:00 UTC")
    assert "The first comes on 19 Nov at 10:00 and covers 9–15 Nov." in office.posted()[-1]
    listed = (await office.visitors("subscriptions")).text
    assert "Next: 19 Nov 10:00, 26 Nov 10:00" in listed
    await until(office, datetime(2026, 11, 12, 10, 0, tzinfo=UTC))
    assert len(digests(office)) == 1
    await until(office, datetime(2026, 11, 19, 10, 0, tzinfo=UTC))
    assert len(digests(office)) == 2


class SlowSlack(FakeSlack):
    """A workspace in which something else happens while somebody is looked up."""

    meanwhile: Callable[[], Awaitable[object]] | None = None

    async def user_zone(self, user: UserId) -> str | None:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile:
            await meanwhile()
        return await super().user_zone(user)


async def test_a_subscription_changed_while_its_zone_is_asked_for_keeps_the_zone_it_was_given(
    office: Office,
) -> None:
    slack = SlowSlack(zones={ANA: "Europe/Berlin"})
    office.context = replace(office.context, messenger=slack)
    await office.visitors("subscribe monday 09:00")
    slack.meanwhile = lambda: office.visitors("subscribe tuesday 10:00 America/New_York")
    await office.reading(10)
    weekly = (await of_channel(office)).weekly
    assert (weekly.weekday, weekly.zone) == (Weekday.TUESDAY, "America/New_York")
    assert [post.message.text.split(" this channel")[0] for post in slack.posts] == [
        "Every Tuesday at 10:00 (New York)"
    ]
