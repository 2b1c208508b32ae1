"""A digest begins with what is worth doing, each with a button, and tells what came of it the week after."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from bot.messages.blocks import Action
from bot.model.ids import ChannelId, UserId
from tests.builders import BEN, CHANNEL
from tests.work.office import Office
from tests.work.sites import ACME, BETA, open_sites
from tests.work.visitors.test_misses import asked, buttons_of, feedback_of, form_of, searches, turns, votes_of
from tests.work.weekly import DAY, MONDAY, WEEK, digests, subscribed, until

FIRST, SECOND = datetime(2026, 11, 9, 9, tzinfo=UTC), datetime(2026, 11, 16, 9, tzinfo=UTC)
ASKED_ABOUT = ("searches", "by-page", "feedback", "assistant")


@pytest.fixture
def readers(office: Office) -> Office:
    """The docs have readers who searched, voted and asked."""
    office.docs.site.read("/quickstart", MONDAY, MONDAY + 6 * DAY, people=60, agents=40)
    no = "unanswered"
    office.docs.readers |= {
        "searches": searches(("rate limits", 41, 0), ("install", 90, 60), ("few", 9, 0)),
        "by-page": votes_of(("/bad", 3, 12), ("/good", 12, 3)),
        "feedback": feedback_of(("/bad", "contextual", "Step 3 fails")),
        "assistant": turns(
            ("Is there SSO?", None, no), ("is there sso", None, no), ("IS THERE SSO", None, no)
        ),
    }
    return office


def worth(office: Office, digest: int = -1) -> list[str]:
    """The rows of a digest's list of work."""
    return [line for line in digests(office)[digest].splitlines() if line.startswith("• ")]


async def press_first(office: Office, user: UserId = BEN) -> None:
    """Press the button of the first row of the newest digest, and send the form as it is."""
    value = buttons_of(office.slack.posts[-1].message)[0]
    text, state = await form_of(office, value)
    assert await office.submits("ask", state, user=user, prompt=text) is None
    await office.settle()


async def test_a_digest_begins_with_what_is_worth_doing(readers: Office) -> None:
    await subscribed(readers)
    await until(readers, FIRST)
    assert worth(readers) == [
        "• `rate limits`: searched 41 times, clicked 0",
        "• `/bad`: 12 of 15 votes not helpful: “Step 3 fails”",
        "• “Is there SSO?”: asked 3 times, no answer",
    ]


async def test_a_row_becomes_a_job_in_two_clicks_and_the_next_digest_tells_what_came_of_it(
    readers: Office,
) -> None:
    await subscribed(readers)
    await until(readers, FIRST)
    await press_first(readers)
    [prompt] = readers.sent()
    assert prompt.startswith("Readers searched the docs for “rate limits”: 41 searches, no click.")
    readers.docs.finish()
    await readers.settle()
    await until(readers, SECOND)
    assert not any(row.startswith("• `rate limits`") for row in worth(readers))
    [told] = [line for line in digests(readers)[-1].splitlines() if "asked for" in line and "`" in line]
    assert told.startswith(":memo: *Pull request ready* · `rate limits`, asked for ")
    assert told.endswith("|Job 1>")


async def test_what_was_asked_for_in_vain_is_worth_doing_again(readers: Office) -> None:
    await subscribed(readers)
    await until(readers, FIRST)
    await press_first(readers)
    readers.docs.finish("failed", None)
    await readers.settle()
    await until(readers, SECOND)
    assert worth(readers)[0].startswith("• `rate limits`")
    assert ":x: *Failed* · `rate limits`" in digests(readers)[-1]


async def test_a_digest_tells_only_of_jobs_of_its_channel(readers: Office) -> None:
    await subscribed(readers)
    await until(readers, FIRST)
    text, state = await form_of(readers, buttons_of(readers.slack.posts[-1].message)[0])
    await readers.submits("ask", state, prompt=text, channel=ChannelId("C0OTHER"))
    await readers.settle()
    await until(readers, SECOND)
    assert "rate limits" not in digests(readers)[-1]


async def test_a_digest_needs_six_calls_more_and_the_next_one_only_what_is_new(readers: Office) -> None:
    await subscribed(readers)
    await until(readers, FIRST - timedelta(hours=3))
    assert {each: readers.docs.calls.count(each) for each in ASKED_ABOUT} == {
        "searches": 2,
        "by-page": 1,
        "feedback": 1,
        "assistant": 2,
    }
    await until(readers, FIRST)
    assert len(digests(readers)) == 1
    readers.docs.calls.clear()
    await until(readers, SECOND)
    assert [readers.docs.calls.count(each) for each in ASKED_ABOUT] == [1, 1, 1, 1]


@pytest.mark.parametrize("status", [403, 404])
async def test_what_the_service_does_not_give_is_left_out_and_keeps_no_digest_waiting(
    readers: Office, status: int
) -> None:
    for each in ASKED_ABOUT:
        readers.docs.answer_instead(each, *[httpx.Response(status, json={"error": "no"})] * 2)
    await subscribed(readers)
    await until(readers, FIRST)
    [digest] = digests(readers)
    assert "rate limits" not in digest
    assert "couldn't be read" not in digest


async def test_a_digest_says_what_could_not_be_read_and_is_not_late_for_it(readers: Office) -> None:
    readers.docs.answer_instead("by-page", *[httpx.Response(400, json={"error": "no"})] * 9)
    await subscribed(readers)
    await until(readers, FIRST - timedelta(minutes=1))
    await until(readers, FIRST)
    assert readers.clock() < FIRST + timedelta(seconds=30)
    [digest] = digests(readers)
    assert "• `rate limits`" in digest
    assert "Votes couldn't be read: " in digest


async def test_a_digest_of_a_section_has_its_pages_and_nothing_that_was_searched(readers: Office) -> None:
    await readers.visitors("subscribe monday 09:00 UTC path /bad")
    await readers.reading(5)
    await until(readers, FIRST)
    assert worth(readers) == ["• `/bad`: 12 of 15 votes not helpful: “Step 3 fails”"]
    assert "searches" not in readers.docs.calls


async def test_a_key_that_is_refused_is_said_and_never_that_the_service_does_not_give_it(
    readers: Office,
) -> None:
    readers.docs.answer_instead("searches", *[httpx.Response(401, json={"error": "no"})] * 99)
    await subscribed(readers)
    await until(readers, FIRST)
    await until(readers, FIRST + timedelta(hours=1))
    [digest] = digests(readers)
    assert " couldn't be read: the docs service doesn't accept the bot's key." in digest
    assert (digest.count("Searches"), digest.count("couldn't be read")) == (1, 1)
    assert "doesn't give" not in digest


async def test_a_row_that_was_asked_for_at_an_answer_is_not_worth_doing_again_but_told(
    readers: Office,
) -> None:
    await subscribed(readers)
    told = await asked(readers, "searches last week")
    assert "rate limits" in told
    _, state = await form_of(readers, buttons_of(readers.slack.private[-1][1])[0])
    assert await readers.submits("ask", state, prompt="Write about rate limits") is None
    await readers.settle()
    await until(readers, FIRST)
    assert not any("rate limits" in row for row in worth(readers))
    assert "· `rate limits`, asked for " in digests(readers)[-1]


async def test_a_job_that_is_run_again_is_still_about_its_row_and_the_newest_is_told(readers: Office) -> None:
    await subscribed(readers)
    await until(readers, FIRST)
    await press_first(readers)
    await readers.ends("failed", None)
    await readers.run_again()
    await readers.settle()
    assert (await readers.job(2)).about == (await readers.job(1)).about
    await until(readers, SECOND)
    assert not any("rate limits" in row for row in worth(readers))
    assert [line for line in digests(readers)[-1].splitlines() if "`rate limits`" in line] == [
        line for line in digests(readers)[-1].splitlines() if "Job 2" in line and "`rate limits`" in line
    ]


async def test_of_two_channels_only_the_one_that_asked_is_told_what_came_of_it(readers: Office) -> None:
    other = ChannelId("C0OTHER")
    await subscribed(readers)
    await readers.types("/docs-visitors", "subscribe monday 09:00 UTC", channel=other)
    await readers.reading(5)
    await until(readers, FIRST)
    [here] = [post.message for post in readers.slack.posts[-2:] if post.channel == CHANNEL]
    text, state = await form_of(readers, buttons_of(here)[0])
    assert await readers.submits("ask", state, prompt=text) is None
    await readers.settle()
    await until(readers, SECOND)
    assert len(digests(readers)) == 4
    last = {post.channel: post.message.text for post in readers.slack.posts if post.thread is None}
    assert "· `rate limits`, asked for " in last[CHANNEL]
    assert "• `/bad`" in last[other]
    assert "rate limits" not in last[other]


async def test_a_button_of_a_digest_whose_words_were_forgotten_says_so(readers: Office) -> None:
    await subscribed(readers)
    await until(readers, FIRST)
    value = buttons_of(readers.slack.posts[-1].message)[0]
    readers.clock.pass_seconds(31 * 86_400)
    await readers.store.write(lambda tx: tx.retention.forget_before(readers.clock(), 100))
    pressed = await readers.press(Action.IMPROVE_MISS, value)
    assert pressed.modal is None
    assert pressed.message is not None
    assert "no longer have those numbers" in pressed.message.text


async def test_a_job_whose_texts_were_forgotten_is_not_told(readers: Office) -> None:
    await subscribed(readers)
    await until(readers, FIRST)
    await press_first(readers)
    await readers.ends()
    readers.clock.at = SECOND - timedelta(hours=1)
    await readers.store.write(lambda tx: tx.retention.forget_before(readers.clock(), 100))
    assert (await readers.job()).about is None
    await until(readers, SECOND)
    assert "asked for <" not in digests(readers)[-1]


async def test_what_readers_missed_is_read_after_the_pages_of_all_digests_that_share_the_calls(
    readers: Office,
) -> None:
    sites = await open_sites(readers)
    await sites.serve(ACME, replace(BETA, counted_with=ACME.id))
    sites.beta.site.fill(300, MONDAY, MONDAY + 6 * DAY)
    sites.beta.site.fill(300, WEEK, WEEK + 6 * DAY)
    sites.beta.readers |= readers.docs.readers
    readers.budget(10, page_size=100)
    for name in ("acme", "beta"):
        await readers.visitors(f"subscribe monday 09:00 UTC project:{name}")
    await readers.reading(5)
    await until(readers, FIRST - timedelta(hours=6))
    assert readers.docs.calls + sites.beta.calls == ["visitors"] * 7
    for hours in (5, 4, 3):
        await until(readers, FIRST - timedelta(hours=hours) + timedelta(minutes=1))
    await until(readers, FIRST)
    assert readers.clock() < FIRST + timedelta(seconds=30)
    told = [text for text in readers.posted() if "in the week" in text]
    assert ["rate limits" in text for text in told] == [True, True]
