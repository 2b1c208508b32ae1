"""A digest begins with what is worth doing, each with a button, and tells what came of it the week after."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from bot.model.ids import ChannelId, UserId
from tests.builders import BEN
from tests.work.office import Office
from tests.work.visitors.test_misses import buttons_of, feedback_of, form_of, searches, turns, votes_of
from tests.work.weekly import DAY, MONDAY, digests, subscribed, until

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
