"""The weekly digest: one for each subscription and week, at wall time, with faults in between."""

from __future__ import annotations

import re
import tracemalloc
from math import ceil

import pytest

from tests.talk import Talk
from tests.talk_people import Shown
from tests.work.readers import DAY, MONDAY, WEEK, all_numbers, digests, files, subscribe, until


async def listed(talk: Talk) -> Shown:
    return await talk.ana.answer_to("/docs-visitors subscriptions")


async def test_digest_compares_the_week_with_the_week_before(talk: Talk) -> None:
    read = talk.service.site.read
    read("/quickstart", MONDAY - 14 * DAY, WEEK - DAY, people=50, agents=50)
    read("/quickstart", WEEK, MONDAY - DAY, people=50, agents=60)
    read("/quickstart", MONDAY, MONDAY + 6 * DAY, people=60, agents=40)
    await subscribe(talk)
    await until(talk, 9)
    [digest] = digests(talk)
    assert digest.splitlines() == [
        "*Your docs, 2–8 Nov*",
        "100 readers, about as many as the week before (110) · 4 in 10 are AI agents",
        "Unique visitors, approximate, so they don't add up · next one Mon 16 Nov, 09:00",
    ]
    assert digest.buttons == ["All numbers"]
    assert "posted" in await listed(talk)
    read("/quickstart", MONDAY + 7 * DAY, MONDAY + 13 * DAY, people=200, agents=200)
    await until(talk, 16)
    assert (
        "400 readers, 300% more than the week before (100) · 5 in 10 are AI agents"
        in digests(talk)[-1]
    )


async def test_digest_names_a_risen_a_fallen_and_a_new_page(talk: Talk) -> None:
    read = talk.service.site.read
    read("/old", WEEK - 7 * DAY, WEEK - DAY, people=40)
    for page, was, now in (
        ("/up", 40, 160),
        ("/up/less", 40, 90),
        ("/down", 160, 40),
        ("/new", 0, 30),
    ):
        read(page, WEEK, MONDAY - DAY, people=was)
        read(page, MONDAY, MONDAY + 6 * DAY, people=now)
    await subscribe(talk)
    await until(talk, 9)
    [digest] = digests(talk)
    assert "\n*Up* `/up` 40 → 160   *Down* `/down` 160 → 40   *New* `/new` 30\n" in digest


async def test_all_numbers_are_a_reply_in_the_thread_of_the_digest(talk: Talk) -> None:
    for weeks in range(9):
        first = MONDAY - weeks * 7 * DAY
        talk.service.site.fill(30, first, first + 6 * DAY, seed=weeks)
    await subscribe(talk)
    await until(talk, 9)
    [digest] = digests(talk)
    numbers = await all_numbers(talk, digest)
    assert talk.ben.reads() == []
    assert numbers.startswith("*All numbers of 2–8 Nov 2026*\n*")
    assert "Unique visitors by week (Mon–Sun): 14–20 Sep People" in numbers
    assert "*Top 20 of 30 pages*" in numbers
    assert numbers.buttons[0] == "All pages as CSV"
    await talk.ben.presses("All pages as CSV", on=numbers)
    await talk.time.passes(20)
    assert any(note.message.get("files") for note in talk.ben.reads())
    assert await files(talk) == []


async def test_all_numbers_are_posted_once(talk: Talk) -> None:
    talk.service.site.fill(3, MONDAY, MONDAY + 6 * DAY)
    await subscribe(talk)
    await until(talk, 9)
    [digest] = digests(talk)
    await talk.ben.presses("All numbers", on=digest)
    await talk.chika.presses("All numbers", on=digest)
    await talk.time.passes(5)
    await talk.ben.presses("All numbers", on=digest)
    assert talk.chika.reads() == ["All numbers are on their way into this digest's thread."]
    [numbers] = talk.replies(2)
    [note] = talk.ben.reads()
    address = f"archives/{digest.message['channel']}/p{numbers.message['ts'].replace('.', '')}"
    assert f"{address}?thread_ts={digest.message['ts']}" in note
    assert "|in this digest's thread>" in note


async def test_digest_has_the_jobs_to_review(talk: Talk) -> None:
    for number in range(1, 6):
        await talk.started(f"Fix page {number}")
        await talk.ends()
    talk.everything()
    await talk.ana.types("/docs-visitors digest now")
    await talk.time.passes(30)
    [line] = [line for line in digests(talk)[0].splitlines() if "review" in line]
    oldest = rf"the oldest is <.*\|Fix page 1> \(<@{talk.ana.id}>, 1.min\)"
    assert re.fullmatch(rf"\*Waiting for review: 5\*, {oldest}", line)
    await talk.ana.presses("See all")
    assert "Fix page 5" in talk.ana.reads()[-1]
    talk.everything()


async def test_digest_costs_only_its_pages_and_missing_history(talk: Talk) -> None:
    pages, site = 613, talk.service.site
    for weeks in range(9):
        first = MONDAY - weeks * 7 * DAY
        site.fill(pages, first, first + 6 * DAY, seed=weeks)
    await subscribe(talk)
    await until(talk, 9)
    assert len(digests(talk)) == 1
    assert len(site.calls) == 2 * ceil(pages / 250) + 6 + 1
    site.calls.clear()
    site.fill(pages, MONDAY + 7 * DAY, MONDAY + 13 * DAY, seed=77)
    await until(talk, 16)
    assert len(digests(talk)) == 2
    assert len(site.calls) == ceil(pages / 250) + 1


async def test_digests_and_questions_of_a_week_share_calls(talk: Talk) -> None:
    talk.service.site.fill(20, MONDAY - 7 * DAY, MONDAY + 6 * DAY)
    await subscribe(talk)
    for section in ("/page-1", "/page-2", "/page-3"):
        await subscribe(talk, f"monday 09:00 UTC path {section}")
    await until(talk, 9)
    assert len(digests(talk)) == 4
    await talk.ana.types("/docs-visitors last week")
    await talk.time.passes(10)
    windows = [call[:2] for call in talk.service.site.calls if call[2] == 250]
    assert len(windows) == len(set(windows)) == 2
    talk.ana.reads()


async def test_digest_of_an_outage_comes_within_a_day(talk: Talk) -> None:
    await subscribe(talk)
    await talk.process.stops()
    await until(talk, 10, 3)
    await talk.process.starts()
    await talk.time.passes(60)
    assert len(digests(talk)) == 1
    assert "Next: 16 Nov 09:00" in await listed(talk)


async def test_digest_older_than_a_day_is_skipped(talk: Talk) -> None:
    await subscribe(talk)
    await talk.process.stops()
    await until(talk, 11, 3)
    await talk.process.starts()
    await talk.time.passes(60)
    assert digests(talk) == []
    assert "skipped: the bot wasn't running" in await listed(talk)
    await until(talk, 16)
    assert len(digests(talk)) == 1


async def test_archived_channel_pauses_the_digest_with_one_note(talk: Talk) -> None:
    await subscribe(talk)
    talk.faults.refuses("chat.postMessage", "is_archived")
    await until(talk, 9)
    [note] = talk.ana.reads()
    assert "is paused" in note
    await until(talk, 16)
    await until(talk, 23)
    assert digests(talk) == talk.ana.reads() == []
    await subscribe(talk)
    await until(talk, 30)
    assert len(digests(talk)) == 1


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("token_revoked", "Slack doesn't accept my token any more"),
        ("missing_scope", "I lack a right in Slack"),
    ],
)
async def test_broken_token_pauses_no_subscription(talk: Talk, code: str, reason: str) -> None:
    await subscribe(talk)
    talk.faults.refuses("chat.postMessage", code)
    await until(talk, 9)
    subscriptions = await listed(talk)
    assert f"Last: not posted: {reason} (" in subscriptions
    assert "Next: 16 Nov 09:00" in subscriptions
    [note] = talk.ana.reads()
    assert f"for the weekly docs digest: {reason}." in note
    talk.log()


async def test_digest_waits_for_a_failing_service(talk: Talk) -> None:
    talk.service.site.fill(5, MONDAY, MONDAY + 6 * DAY)
    await subscribe(talk)
    talk.service.says("visitors", 503, times=2_000)
    await until(talk, 9, 9, 30)
    assert digests(talk) == []
    talk.service.instead.clear()
    await talk.time.passes(hours=1)
    [digest] = digests(talk)
    assert " readers" in digest


async def test_owner_gets_one_note_about_an_unreadable_week(talk: Talk) -> None:
    await subscribe(talk)
    talk.service.says("visitors", 401, times=5_000)
    for day in (9, 10, 11, 12):
        await until(talk, day)
    assert digests(talk) == []
    [note] = talk.ana.reads()
    assert "There was no docs digest" in note
    assert "doesn't accept the bot's key" in note
    assert talk.service.calls.count("visitors") < 130
    assert talk.errors() == {"key_refused", "digest_missed"}


async def test_digest_beyond_the_budget_has_the_first_pages(talk: Talk) -> None:
    await talk.process.starts(analytics_calls_an_hour=1)
    talk.service.site.fill(3_500, MONDAY, MONDAY + 6 * DAY)
    await subscribe(talk)
    await until(talk, 9, 3)
    await until(talk, 9, 13)
    [digest] = digests(talk)
    assert re.search(r"The pages after the first \d,\d{3} couldn't be read: all analytics", digest)
    missing = "Searches, votes, comments and questions couldn't be read: all analytics calls of"
    assert missing in digest


async def test_requested_digest_keeps_the_weekly_one(talk: Talk) -> None:
    await subscribe(talk)
    await talk.ben.types("/docs-visitors digest now")
    await talk.time.passes(30)
    assert digests(talk)[0].startswith("*Your docs, 26 Oct–1 Nov*")
    talk.ben.reads()
    await until(talk, 9)
    assert len(digests(talk)) == 2


async def test_digest_reads_no_long_prompt_whole(talk: Talk) -> None:
    await talk.finished()
    talk.newer_version_writes("jobs.text", "quickstart " * 1_000_000)
    tracemalloc.start()
    try:
        await talk.ben.types("/docs-visitors digest now", "general")
        await talk.time.passes(30)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 10_000_000
    assert len(digests(talk, "general")) == len(talk.ben.reads()) == 1


async def test_failed_requested_digest_is_explained(talk: Talk) -> None:
    talk.service.says("visitors", 403, times=50)
    await talk.ben.types("/docs-visitors digest now")
    await talk.time.passes(60)
    assert "doesn't let the bot's key read them" in talk.ben.reads()[-1]
    assert digests(talk) == []
    assert talk.errors() == {"digest_missed"}


async def test_digest_of_an_ended_subscription_is_not_posted(talk: Talk) -> None:
    await subscribe(talk)
    talk.service.says("visitors", 429, seconds=600, times=60)
    await until(talk, 9)
    assert digests(talk) == []
    await talk.ana.types("/docs-visitors unsubscribe")
    talk.service.instead.clear()
    await talk.time.passes(hours=1)
    assert digests(talk) == []
    talk.ana.reads()
