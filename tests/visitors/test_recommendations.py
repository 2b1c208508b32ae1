"""A digest begins with what is worth doing, each with a button, and tells what came of it the week after."""

from __future__ import annotations

import json

import pytest

from tests.site import Site
from tests.talk import Talk
from tests.talk_people import Person, Shown
from tests.visitors.test_content_gaps import rows
from tests.work.readers import (
    DAY,
    MONDAY,
    WEEK,
    asked,
    digests,
    feedback_of,
    pressed,
    searches,
    subscribe,
    turns,
    until,
    votes_of,
)

ASKED_ABOUT = ("searches", "by-page", "feedback", "assistant")


@pytest.fixture
def readers(talk: Talk) -> Talk:
    """A conversation about docs whose readers searched, voted and asked."""
    talk.service.site.read("/quickstart", MONDAY, MONDAY + 6 * DAY, people=60, agents=40)
    no = "unanswered"
    talk.service.readers |= {
        "searches": searches(("rate limits", 41, 0), ("install", 90, 60), ("few", 9, 0)),
        "by-page": votes_of(("/bad", 3, 12), ("/good", 12, 3)),
        "feedback": feedback_of(("/bad", "contextual", "Step 3 fails")),
        "assistant": turns(
            ("Is there SSO?", None, no), ("is there sso", None, no), ("IS THERE SSO", None, no)
        ),
    }
    return talk


def worth(digest: Shown) -> list[str]:
    """Return the rows of a digest's list of work."""
    return [line for line in digest.splitlines() if line.startswith("• ")]


async def first_digest(talk: Talk) -> Shown:
    """Subscribe, and read the first digest."""
    await subscribe(talk)
    await until(talk, 9)
    [digest] = digests(talk)
    return digest


async def second_digest(talk: Talk) -> Shown:
    """Read all that there is, and then the digest of the second week."""
    talk.everything()
    await until(talk, 16)
    digest = digests(talk)[-1]
    talk.everything()
    return digest


async def press_first(talk: Talk, shown: Shown, by: Person | None = None) -> None:
    """Let somebody, Ben if none is given, press the first row's button and send the form as it is."""
    person, [row, *_] = by or talk.ben, rows(shown)
    await person.presses(row.buttons[0], on=row)
    assert await person.fills_in() == {}
    await talk.time.passes()


async def test_a_digest_begins_with_what_is_worth_doing(readers: Talk) -> None:
    assert worth(await first_digest(readers)) == [
        "• `rate limits`: searched 41 times, clicked 0",
        "• `/bad`: 12 of 15 votes not helpful: “Step 3 fails”",
        "• “Is there SSO?”: asked 3 times, no answer",
    ]


async def test_a_row_becomes_a_job_in_two_clicks_and_the_next_digest_tells_what_came_of_it(
    readers: Talk,
) -> None:
    await press_first(readers, await first_digest(readers))
    [prompt] = readers.agent_got()
    assert prompt.startswith("Readers searched the docs for “rate limits”: 41 searches, no click.")
    await readers.ends()
    digest = await second_digest(readers)
    assert not any(row.startswith("• `rate limits`") for row in worth(digest))
    [told] = [line for line in digest.splitlines() if "asked for" in line and "`" in line]
    assert told.startswith(":memo: *Pull request ready* · `rate limits`, asked for ")
    assert told.endswith("|Job 1>")


async def test_what_was_asked_for_in_vain_is_worth_doing_again(readers: Talk) -> None:
    await press_first(readers, await first_digest(readers))
    await readers.ends("failed", pr_link=None)
    digest = await second_digest(readers)
    assert worth(digest)[0].startswith("• `rate limits`")
    assert ":x: *Failed* · `rate limits`" in digest


async def test_a_digest_needs_six_calls_more_and_the_next_one_only_what_is_new(readers: Talk) -> None:
    await subscribe(readers)
    await until(readers, 9, 6)
    counted = {each: readers.service.calls.count(each) for each in ASKED_ABOUT}
    assert counted == {"searches": 2, "by-page": 1, "feedback": 1, "assistant": 2}
    await until(readers, 9)
    assert len(digests(readers)) == 1
    readers.service.calls.clear()
    await until(readers, 16)
    assert [readers.service.calls.count(each) for each in ASKED_ABOUT] == [1, 1, 1, 1]
    readers.everything()


@pytest.mark.parametrize("status", [403, 404])
async def test_what_the_service_does_not_give_is_left_out_and_keeps_no_digest_waiting(
    readers: Talk, status: int
) -> None:
    for each in ASKED_ABOUT:
        readers.service.says(each, status, times=2)
    digest = await first_digest(readers)
    assert "rate limits" not in digest
    assert "couldn't be read" not in digest


async def test_a_digest_says_what_could_not_be_read_and_is_not_late_for_it(readers: Talk) -> None:
    readers.service.says("by-page", 400, times=9)
    digest = await first_digest(readers)
    assert "• `rate limits`" in digest
    assert "Votes couldn't be read: " in digest


async def test_a_digest_of_a_section_has_its_pages_and_nothing_that_was_searched(readers: Talk) -> None:
    await subscribe(readers, "monday 09:00 UTC path /bad")
    await until(readers, 9)
    assert worth(digests(readers)[0]) == ["• `/bad`: 12 of 15 votes not helpful: “Step 3 fails”"]
    assert "searches" not in readers.service.calls


async def test_a_key_that_is_refused_is_said_and_never_that_the_service_does_not_give_it(
    readers: Talk,
) -> None:
    readers.service.says("searches", 401, times=99)
    await subscribe(readers)
    await until(readers, 9, 10)
    [digest] = digests(readers)
    assert " couldn't be read: the docs service doesn't accept the bot's key." in digest
    assert (digest.count("Searches"), digest.count("couldn't be read")) == (1, 1)
    assert "doesn't give" not in digest
    assert readers.errors() == {"key_refused"}


async def test_a_row_that_was_asked_for_at_an_answer_is_not_worth_doing_again_but_told(readers: Talk) -> None:
    await subscribe(readers)
    await press_first(readers, await asked(readers, "searches last week"), by=readers.ana)
    readers.everything()
    await until(readers, 9)
    [digest] = digests(readers)
    assert not any("rate limits" in row for row in worth(digest))
    assert "· `rate limits`, asked for " in digest
    readers.everything()


async def test_a_job_that_is_run_again_is_still_about_its_row_and_the_newest_is_told(readers: Talk) -> None:
    await press_first(readers, await first_digest(readers))
    await readers.ends("failed", pr_link=None)
    await readers.ben.presses("Run again")
    assert await readers.ben.fills_in() == {}
    await readers.time.passes()
    digest = await second_digest(readers)
    [told] = [line for line in digest.splitlines() if "`rate limits`" in line]
    assert "Job 2" in told
    assert not told.startswith("• ")


async def test_of_two_channels_only_the_one_that_asked_is_told_what_came_of_it(readers: Talk) -> None:
    await subscribe(readers, channel="partners")
    await press_first(readers, await first_digest(readers))
    assert "· `rate limits`, asked for " in await second_digest(readers)
    other = digests(readers, "partners")[-1]
    assert "• `/bad`" in other
    assert "rate limits" not in other


async def test_what_was_forgotten_is_not_told_and_its_button_says_so(readers: Talk) -> None:
    await readers.process.starts(keep_days=30)
    digest = await first_digest(readers)
    await press_first(readers, digest)
    await readers.ends()
    await readers.ana.types("/docs-visitors unsubscribe")
    await readers.time.passes(days=31)
    await subscribe(readers)
    [told] = await pressed(readers, "Write it", on=rows(digest)[0])
    assert "no longer have those numbers" in told
    await readers.time.passes(days=7)
    assert "asked for <" not in digests(readers)[-1]
    readers.everything()


async def test_what_readers_missed_is_read_after_the_pages_of_all_digests_that_share_the_calls(
    readers: Talk,
) -> None:
    both = {"acme": {"id": "acme-docs", "label": "Acme docs"}, "beta": {"id": "beta-docs", "label": "Beta"}}
    await readers.process.starts(docs_projects=json.dumps(both), analytics_calls_an_hour=10)
    readers.service.sites["beta-docs"] = beta = Site()
    beta.fill(750, MONDAY, MONDAY + 6 * DAY)
    beta.fill(750, WEEK, WEEK + 6 * DAY)
    for name in both:
        await subscribe(readers, f"monday 09:00 UTC project:{name}")
    await until(readers, 9, 3)
    assert readers.service.calls == ["visitors"] * 7
    await until(readers, 9)
    assert ["rate limits" in digest for digest in digests(readers)] == [True, True]
