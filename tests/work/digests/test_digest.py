"""The weekly digest: one for each subscription and week, at wall time, whatever happens in between."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from bot.model.ids import ChannelId
from bot.model.jobs import JobState
from bot.model.misses import Source
from bot.model.questions import SubscriptionState
from bot.slack.client import refused
from bot.store.schema import snapshots
from tests.builders import ANA, BEN, NOW, PROJECT, add_job, rows_of
from tests.work.office import RESPONSE_URL, Office
from tests.work.weekly import DAY, MONDAY, WEEK, digests, of_channel, subscribed, until


async def test_a_digest_tells_the_week_against_the_week_before_and_the_agents_work(office: Office) -> None:
    office.docs.site.read("/quickstart", MONDAY, MONDAY + 6 * DAY, people=60, agents=40)
    office.docs.site.read("/quickstart", WEEK, MONDAY - DAY, people=50, agents=50)
    await subscribed(office)
    for state, minutes in ((JobState.PULL_REQUEST, 4), (JobState.FAILED, 2), (JobState.NO_PULL_REQUEST, 30)):
        asked_at = datetime(2026, 11, 5, 12, 0, tzinfo=UTC)
        ended_at = asked_at + timedelta(minutes=minutes)
        await add_job(
            office.store,
            asked_at=asked_at,
            state=state,
            iteration_started_at=asked_at,
            ended_at=ended_at,
            root_ts=f"1700000000.{minutes:06}",
        )
    await until(office, datetime(2026, 11, 9, 9, 0, tzinfo=UTC))
    [digest] = digests(office)
    assert "2–8 Nov 2026" in digest
    assert "*100 visitors* · 60 people · 40 AI agents" in digest
    assert "3 jobs were asked for" in digest
    assert "1 pull request" in digest
    assert "4\xa0min" in digest
    assert "Worth doing this week:\n• `/quickstart`: the most read that no job has named" in digest
    assert (await of_channel(office)).last_result == "posted"


async def test_a_digest_names_what_waits_for_review_in_its_channel_and_project_the_oldest_first(
    office: Office,
) -> None:
    ready: dict[str, Any] = {"state": JobState.PULL_REQUEST, "pr_link": "https://code.example/pull/1"}
    for number in range(1, 6):
        await add_job(office.store, text=f"Fix page {number}", ended_at=NOW, **ready)
    await add_job(office.store, text="Elsewhere", channel=ChannelId("C0OTHER"), **ready)
    await add_job(office.store, text="Another project", project="other-docs", **ready)
    await add_job(office.store, text="Reviewed", review="reviewed", **ready)
    await office.types("/docs-agent", "reviewers <!subteam^S1|@docs-team>")
    await office.visitors("digest now")
    await office.reading(10)
    lines = digests(office)[0].splitlines()
    [begins] = [at for at, line in enumerate(lines) if line == "*To review*, <!subteam^S1>:"]
    named = [re.findall(r"“(.*?)”", line) for line in lines[begins + 1 : begins + 4]]
    assert named == [["Fix page 1"], ["Fix page 2"], ["Fix page 3"]]
    assert lines[begins + 4].startswith("… and 2 more")


async def test_a_digest_costs_its_pages_and_the_history_that_is_missing_and_no_call_more(
    office: Office,
) -> None:
    pages = 613
    for weeks in range(9):
        office.docs.site.fill(pages, MONDAY - weeks * 7 * DAY, MONDAY - weeks * 7 * DAY + 6 * DAY, seed=weeks)
    await subscribed(office)
    await until(office, datetime(2026, 11, 9, 9, 0, tzinfo=UTC))
    assert len(digests(office)) == 1
    assert len(office.docs.site.calls) == 2 * ceil(pages / 250) + 6 + 1
    office.docs.site.calls.clear()
    office.docs.site.fill(pages, MONDAY + 7 * DAY, MONDAY + 13 * DAY, seed=77)
    await until(office, datetime(2026, 11, 16, 9, 0, tzinfo=UTC))
    assert len(digests(office)) == 2
    assert len(office.docs.site.calls) == ceil(pages / 250)


async def test_one_fetch_serves_every_digest_and_question_of_a_week(office: Office) -> None:
    office.docs.site.fill(20, MONDAY - 7 * DAY, MONDAY + 6 * DAY)
    await subscribed(office)
    for section in ("/page-1", "/page-2", "/page-3"):
        await office.visitors(f"subscribe monday 09:00 UTC path {section}")
    await office.reading(10)
    await until(office, datetime(2026, 11, 9, 9, 0, tzinfo=UTC))
    await office.reading(10)
    assert len(digests(office)) == 4
    await office.visitors("last week")
    await office.reading(10)
    windows = [call[:2] for call in office.docs.site.calls if call[2] == 250]
    assert len(windows) == len(set(windows)) == 2


async def test_a_coming_digest_is_read_ahead_and_leaves_people_their_share(office: Office) -> None:
    office.docs.site.fill(1_000, MONDAY, MONDAY + 6 * DAY)
    office.budget(10, page_size=100)
    await subscribed(office)
    await until(office, datetime(2026, 11, 9, 4, 0, tzinfo=UTC))
    await office.reading(10)
    assert len(office.docs.calls) == 7
    await office.visitors("2026-09-01 compare none")
    await office.reading(5)
    assert len(office.answers()) == 1
    for hour in range(5, 9):
        await until(office, datetime(2026, 11, 9, hour, 1, tzinfo=UTC))
    await until(office, datetime(2026, 11, 9, 9, 2, tzinfo=UTC))
    await office.reading(10, step_seconds=30)
    [digest] = digests(office)
    assert " · 1,000 pages" in digest


async def test_what_was_missed_while_down_is_made_up_within_a_day(office: Office) -> None:
    await subscribed(office)
    await until(office, datetime(2026, 11, 10, 3, 0, tzinfo=UTC))
    assert len(digests(office)) == 1
    assert (await of_channel(office)).next_run_at == datetime(2026, 11, 16, 9, 0, tzinfo=UTC)


async def test_what_is_older_than_a_day_is_skipped_with_a_line(office: Office) -> None:
    await subscribed(office)
    await until(office, datetime(2026, 11, 11, 3, 0, tzinfo=UTC))
    assert digests(office) == []
    assert "skipped: the bot wasn't running" in (await office.visitors("subscriptions")).text
    await until(office, datetime(2026, 11, 16, 9, 0, tzinfo=UTC))
    assert len(digests(office)) == 1


async def test_a_channel_that_refuses_for_good_pauses_and_tells_its_owner_once(office: Office) -> None:
    await subscribed(office)
    office.slack.trouble("post", refused("is_archived"))
    await until(office, datetime(2026, 11, 9, 9, 0, tzinfo=UTC))
    [(owner, told, _)] = office.slack.direct
    assert owner == ANA
    assert "is paused" in told.text
    assert (await of_channel(office)).state is SubscriptionState.PAUSED
    await until(office, datetime(2026, 11, 16, 9, 0, tzinfo=UTC))
    await until(office, datetime(2026, 11, 23, 9, 0, tzinfo=UTC))
    assert (digests(office), len(office.slack.direct)) == ([], 1)
    await subscribed(office)
    await until(office, datetime(2026, 11, 30, 9, 0, tzinfo=UTC))
    assert len(digests(office)) == 1


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("token_revoked", "Slack doesn't accept my token any more"),
        ("missing_scope", "I lack a right in Slack"),
    ],
)
async def test_a_token_that_must_be_mended_pauses_no_subscription(
    office: Office, code: str, why: str
) -> None:
    await subscribed(office)
    office.slack.trouble("post", refused(code))
    await until(office, datetime(2026, 11, 9, 9, 0, tzinfo=UTC))
    subscription = await of_channel(office)
    assert subscription.state is SubscriptionState.ACTIVE
    assert f"Last: not posted: {why} (" in (await office.visitors("subscriptions")).text
    [(owner, told, _)] = office.slack.direct
    assert owner == ANA
    assert f"couldn't be posted: {why}." in told.text


async def test_a_service_that_is_down_in_the_morning_is_waited_for(office: Office) -> None:
    office.docs.site.fill(5, MONDAY, MONDAY + 6 * DAY)
    await subscribed(office)
    office.docs.answer_instead("visitors", *(httpx.Response(503) for _ in range(60)))
    office.clock.at = datetime(2026, 11, 9, 9, 0, tzinfo=UTC)
    await office.reading(60, step_seconds=60)
    assert digests(office) == []
    office.docs.instead.clear()
    await office.reading(80, step_seconds=60)
    [digest] = digests(office)
    assert " pages\n1. " in digest


async def failures(office: Office) -> Counter[int]:
    """How many calls about visitors have failed, by snapshot."""
    of_visitors = select(snapshots.c.id, snapshots.c.attempts).where(snapshots.c.source == Source.VISITORS)
    rows = await rows_of(office.store, of_visitors)
    return Counter({row["id"]: row["attempts"] for row in rows})


async def test_a_week_that_fails_while_it_is_read_ahead_costs_few_calls_until_it_is_well(
    office: Office,
) -> None:
    office.docs.site.fill(5, MONDAY, MONDAY + 6 * DAY)
    await subscribed(office)
    await office.visitors("subscribe monday 09:30 UTC path /page-1")
    office.docs.answer_instead("visitors", *(httpx.Response(503) for _ in range(2_000)))
    office.clock.at, begun_at = (datetime(2026, 11, 9, 3, 0, tzinfo=UTC),) * 2
    an_hour = []
    for hour in range(8):
        before = await failures(office)
        while office.clock() < begun_at + timedelta(hours=hour + 1):
            await office.reading(1, step_seconds=60)
        an_hour.append(dict(await failures(office) - before))
    assert max(count for counts in an_hour for count in counts.values()) <= 6, an_hour
    used = 2_000 - len(office.docs.instead["visitors"])
    assert used == sum(count for counts in an_hour for count in counts.values()), "each call is counted"
    office.docs.instead.clear()
    await office.reading(40, step_seconds=60)
    assert len(digests(office)) == 2


async def test_a_week_that_cannot_be_read_for_a_day_is_told_to_the_owner_once(office: Office) -> None:
    await subscribed(office)
    office.docs.answer_instead("visitors", *(httpx.Response(401, json={}) for _ in range(500)))
    office.clock.at = datetime(2026, 11, 9, 9, 0, tzinfo=UTC)
    await office.reading(160, step_seconds=2_000)
    assert digests(office) == []
    [(owner, told, _)] = office.slack.direct
    assert owner == ANA
    assert "There was no docs digest" in told.text
    assert "doesn't accept the bot's key" in told.text
    used = 500 - len(office.docs.instead["visitors"])
    assert used < 130


async def test_when_the_budget_ends_the_digest_comes_with_what_was_read(office: Office) -> None:
    office.docs.site.fill(900, MONDAY, MONDAY + 6 * DAY)
    office.budget(1, page_size=100)
    await subscribed(office)
    office.clock.at = datetime(2026, 11, 9, 9, 0, tzinfo=UTC)
    await office.reading(50, step_seconds=300)
    [digest] = digests(office)
    assert "Only the first" in digest


async def test_a_week_that_ended_a_moment_ago_is_read_once_however_long_that_takes(office: Office) -> None:
    """East of UTC a digest may come before the week counts as settled; its numbers are not begun anew."""
    office.docs.site.read("/page-0", MONDAY - 21 * DAY, MONDAY - DAY, people=21)
    office.docs.site.fill(900, MONDAY, MONDAY + 6 * DAY)
    office.budget(10, page_size=100)
    await subscribed(office, "monday 09:00 Asia/Tokyo")
    office.clock.at = datetime(2026, 11, 9, 0, 0, tzinfo=UTC)
    await office.reading(70, step_seconds=120)
    [digest] = digests(office)
    assert " · 900 pages" in digest
    [curve] = [line for line in digest.splitlines() if "visitors by week" in line]
    assert "2–8 Nov " in curve
    whole = [call for call in office.docs.site.calls if call[0] == MONDAY and call[2] > 1]
    assert len(whole) == 9


async def test_a_digest_can_be_asked_for_now_and_the_weekly_one_still_comes(office: Office) -> None:
    await subscribed(office)
    await office.visitors("digest now", user=BEN)
    await office.reading(10)
    assert len(digests(office)) == 1
    assert "26 Oct – 1 Nov 2026" in digests(office)[0]
    await until(office, datetime(2026, 11, 9, 9, 0, tzinfo=UTC))
    assert len(digests(office)) == 2


async def test_a_digest_now_that_cannot_be_made_is_explained_to_who_asked(office: Office) -> None:
    office.docs.answer_instead("visitors", *(httpx.Response(403, json={}) for _ in range(50)))
    await office.visitors("digest now", user=BEN)
    await office.reading(10)
    [(url, told)] = office.slack.private
    assert url == RESPONSE_URL.get_secret_value()
    assert "doesn't let the bot's key read them" in told.text


async def test_a_digest_whose_subscription_ends_while_it_is_read_is_not_posted(office: Office) -> None:
    await subscribed(office)
    office.docs.answer_instead("visitors", httpx.Response(429, headers={"retry-after": "600"}))
    await until(office, datetime(2026, 11, 9, 9, 0, tzinfo=UTC))
    assert digests(office) == []
    await office.visitors("unsubscribe")
    office.clock.pass_seconds(700)
    await office.reading(12)
    assert len(office.posted()) == 1, "the first post alone"


async def test_a_digest_now_does_not_wait_for_a_curve_that_the_budget_has_no_room_for(
    office: Office,
) -> None:
    office.docs.site.fill(5, WEEK - 7 * DAY, MONDAY - DAY)
    office.budget(4)
    await office.visitors("last week")
    await office.reading(5)
    await office.visitors("digest now", user=BEN)
    began_at = office.clock.at
    while not digests(office) and office.clock.at < began_at + timedelta(minutes=5):
        await office.reading(1)
    assert office.clock.at < began_at + timedelta(seconds=30)
    assert "leaves out" in digests(office)[0]


async def test_the_suggested_page_is_one_that_nobody_has_worked_on_lately(office: Office) -> None:
    office.docs.site.read("/quickstart", MONDAY, MONDAY + 6 * DAY, people=60, agents=40)
    office.docs.site.read("/install", MONDAY, MONDAY + 6 * DAY, people=30, agents=20)
    await add_job(
        office.store, text="Improve the page “/quickstart”.", asked_at=datetime(2026, 11, 3, tzinfo=UTC)
    )
    assert office.context.projects.default.id == PROJECT
    await subscribed(office)
    await until(office, datetime(2026, 11, 9, 9, 0, tzinfo=UTC))
    assert digests(office)[0].splitlines()[2].startswith("• `/install`: ")
