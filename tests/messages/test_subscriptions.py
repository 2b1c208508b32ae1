"""What is said about subscriptions to the weekly digest."""

from __future__ import annotations

from datetime import UTC, datetime, time

import pytest

from bot.commands.visitors_options import WeeklyWords, parse_weekly
from bot.messages import digests as say
from bot.messages.blocks import fits
from bot.model.ids import Refusal
from bot.model.outbox import NotPosted
from bot.model.questions import SubscriptionState, Weekday
from tests.builders import ANA, NOW
from tests.messages.slack_limits import Allowed, problems_of
from tests.messages.visitor_samples import WEEK, subscription

RUN = datetime(2026, 11, 9, 8, 0, tzinfo=UTC)
LATE = "they couldn't be read in time"


def test_the_first_post_tells_the_channel_what_will_come_and_how_to_end_it() -> None:
    assert say.first_post(subscription(), RUN, WEEK, now=NOW).text == (
        "Every Monday at 09:00 (Berlin) this channel gets a digest of who read the docs, "
        f"set up by <@{ANA}>. The first comes on 9 Nov at 09:00 and covers 26 Oct – 1 Nov. "
        "`/docs-visitors subscribe` changes the time, `/docs-visitors unsubscribe path /` ends it."
    )


def test_a_subscription_of_a_section_says_which() -> None:
    assert (
        "for pages under `/api`, set up by"
        in say.first_post(subscription(section="/api"), RUN, WEEK, now=NOW).text
    )
    assert "`/api`" in say.subscribing(Weekday.MONDAY, time(9), "UTC", "/api").text
    assert "`/api`" in say.digest_coming("/api").text
    assert "`/api`" in say.listed([subscription(section="/api")], NOW).text


def test_what_to_type_about_a_section_names_it_so_that_no_other_is_meant() -> None:
    told = subscription(section="/api*", state=SubscriptionState.PAUSED)
    first = say.first_post(told, RUN, WEEK, now=RUN).text
    assert "The first comes today at 09:00" in first
    assert "`/docs-visitors subscribe path /api*` changes the time" in first
    assert "`/docs-visitors unsubscribe path /api*` ends it." in first
    assert "`/docs-visitors digest now path /api*` tries this one again" in say.missed(told, WEEK, LATE).text
    again = "`/docs-visitors subscribe monday 09:00 Europe/Berlin path /api*`"
    archived = NotPosted(Refusal.ARCHIVED, told.channel, NOW)
    assert f"{again} starts it again there" in say.paused(told, archived, "docs-agent").text
    assert "as before starts it again" in say.listed([told], NOW).text
    assert parse_weekly(again.strip("`").removeprefix("/docs-visitors subscribe ")) == WeeklyWords(
        told.weekly.weekday, told.weekly.at, told.weekly.zone, "/api*"
    )


@pytest.mark.parametrize(("zone", "said"), [(None, "your time zone"), ("Asia/Kolkata", "Kolkata")])
def test_subscribing_says_in_which_zone(zone: str | None, said: str) -> None:
    text = say.subscribing(Weekday.FRIDAY, time(16, 30), zone, None).text
    assert text == f"Setting up a digest every Friday at 16:30 ({said})…"


def test_unsubscribing_says_whether_there_was_something_to_end() -> None:
    assert "no longer gets a digest" in say.unsubscribed(1).text
    assert "gets no digest" in say.unsubscribed(0).text
    assert "no such digest" in say.unsubscribed(0, 2).text


@pytest.mark.parametrize(("left", "said"), [(1, "still gets 1 other:"), (3, "still gets 3 others:")])
def test_unsubscribing_one_of_several_says_that_others_still_come(left: int, said: str) -> None:
    text = say.unsubscribed(1, left).text
    assert said in text
    assert "any more" not in text


def test_the_list_shows_the_next_three_runs_in_local_time_and_the_last_result() -> None:
    told = subscription(last_result="posted", last_run_at=NOW)
    assert say.listed([told], NOW).text.splitlines() == [
        f"*Every Monday at 09:00 (Berlin)*, by <@{ANA}>",
        "Next: 9 Nov 09:00, 16 Nov 09:00, 23 Nov 09:00",
        "Last: posted (<!date^1793610000^{date_short_pretty} at {time}|2026-11-02 09:00 UTC>)",
    ]


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (SubscriptionState.PAUSED, "Paused, because Slack didn't let me post here."),
        (SubscriptionState.PROVING, "The first post is on its way."),
        (SubscriptionState.NEW, "The first post is on its way."),
    ],
)
def test_what_does_not_run_yet_or_any_more_has_no_next_run(state: SubscriptionState, said: str) -> None:
    text = say.listed([subscription(state=state)], NOW).text
    assert said in text
    assert "Next:" not in text
    assert text.endswith("Last: none yet")


@pytest.mark.parametrize("length", [300, 665, 2_000])
def test_a_list_of_long_sections_stays_within_a_message(length: int) -> None:
    section = "/" + "&" * (length - 1)
    long = subscription(section=section, state=SubscriptionState.PAUSED, last_result="&" * 200)
    message = say.listed([long] * 12, NOW)
    assert problems_of(message, Allowed({ANA})) == []
    assert fits(message)
    shown = message.text.count("Every Monday")
    assert 5 <= shown < 12
    assert message.text.endswith(f"… and {12 - shown} more.")
