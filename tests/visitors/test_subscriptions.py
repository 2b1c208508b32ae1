"""Subscriptions to the digest: first post, list, changes and end."""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from tests.talk import Talk
from tests.talk_people import Shown
from tests.work.readers import DAY, TODAY, digests, until


async def subscribe(talk: Talk, text: str = "monday 09:00 UTC") -> Shown:
    """Subscribe the channel and read the first post."""
    before = len(talk.channel())
    await talk.ana.types(f"/docs-visitors subscribe {text}")
    await talk.time.passes(5)
    talk.ana.reads()
    [post] = talk.channel()[before:]
    return post


async def answer(talk: Talk, text: str) -> Shown:
    return await talk.ana.answer_to(f"/docs-visitors {text}")


async def test_subscription_has_a_first_post_and_its_owners_zone(talk: Talk) -> None:
    first = await answer(talk, "subscribe tuesday 8:30")
    assert "every Tuesday at 08:30 (Berlin)" in first
    await talk.time.passes(5)
    [post] = talk.channel()
    assert "Every Tuesday at 08:30 (Berlin) a digest of who read the docs comes here" in post
    await until(talk, 3, 7, 28)
    assert digests(talk) == []
    await until(talk, 3, 7, 31)
    assert len(digests(talk)) == 1


@pytest.mark.parametrize(
    ("weekly", "first", "week", "ends"),
    [
        ("monday 09:00 Australia/Sydney", "9 Nov at 09:00", "2–8 Nov 2026", "11:00"),
        ("monday 09:00 Pacific/Auckland", "9 Nov at 09:00", "2–8 Nov 2026", "13:00"),
        ("monday 11:00 Australia/Sydney", "9 Nov at 11:00", "2–8 Nov 2026", None),
        ("monday 09:00 America/Los_Angeles", "today at 09:00", "26 Oct – 1 Nov 2026", None),
        ("sunday 18:00 America/Los_Angeles", "on 8 Nov at 18:00", "26 Oct – 1 Nov 2026", None),
        ("friday 16:00 Europe/Berlin", "on 6 Nov at 16:00", "26 Oct – 1 Nov 2026", None),
    ],
)
async def test_digest_covers_the_last_week_that_is_over_where_the_reader_is(
    talk: Talk, weekly: str, first: str, week: str, ends: str | None
) -> None:
    post = await subscribe(talk, weekly)
    assert f"{first} and covers {week}." in post
    assert ("that week ends at" in post) == (ends is not None)
    if ends:
        assert f"At the docs service that week ends at {ends} here" in post
    await until(talk, 10, 3)
    digest, *_ = digests(talk)
    assert digest.startswith(f"*Your docs, {week.removesuffix(' 2026').replace(' – ', '–')}*")


async def test_week_that_is_not_over_at_the_service_is_not_compared(talk: Talk) -> None:
    """Monday 09:00 in Sydney is Sunday 22:00 in UTC, in which the service counts days."""
    read = talk.service.site.read
    read("/a", TODAY - 28 * DAY, TODAY - DAY, people=50)
    read("/a", TODAY, TODAY + 6 * DAY, people=500)
    await subscribe(talk, "monday 09:00 Australia/Sydney")
    await until(talk, 8, 22, 0)
    [digest] = digests(talk)
    assert digest.splitlines()[1].startswith("500 readers so far · ")
    assert not [word for word in ("more than", "fewer than", "*Up*") if word in digest]
    assert "Not compared with 26 Oct – 1 Nov 2026" in digest


async def test_digest_that_is_moved_shortly_before_its_time_comes_once(talk: Talk) -> None:
    await subscribe(talk, "monday 09:00 UTC")
    await until(talk, 9, 7, 0)
    await subscribe(talk, "tuesday 09:00 UTC")
    await until(talk, 10, 8, 57)
    assert digests(talk) == []
    await until(talk, 10, 9, 1)
    assert len(digests(talk)) == 1


async def test_unknown_zone_is_utc(talk: Talk) -> None:
    asker = talk.newcomer("Noz", tz="")
    await asker.types("/docs-visitors subscribe friday 10:00")
    await talk.time.passes(5)
    assert "(UTC)" in talk.channel()[0]
    asker.reads()


async def test_refused_first_post_pauses_the_subscription(talk: Talk) -> None:
    talk.faults.refuses("chat.postMessage", "restricted_action")
    await talk.ana.types("/docs-visitors subscribe monday 09:00 UTC")
    await talk.time.passes(5)
    assert "is paused: I'm not allowed to post there." in talk.ana.reads()[-1]
    listed = await talk.ana.answer_to("/docs-visitors subscriptions")
    assert "Paused. `/docs-visitors resume` starts it again." in listed


async def test_first_post_refused_for_the_token_leaves_the_subscription(talk: Talk) -> None:
    talk.faults.refuses("chat.postMessage", "token_revoked")
    await talk.ana.types("/docs-visitors subscribe monday 09:00 UTC")
    await talk.time.passes(5)
    note = talk.ana.reads()[-1]
    assert "I couldn't post in <#C01DOCS> for the weekly docs digest: Slack doesn't accept" in note
    assert "the next digest is tried at its time." in note
    assert "Next: 9 Nov 09:00" in await talk.ana.answer_to("/docs-visitors subscriptions")
    talk.log()


async def test_wish_for_another_time_is_answered_by_the_list_and_how_to_change_it(
    talk: Talk,
) -> None:
    await subscribe(talk)
    await talk.ana.says("@docs-agent change the digest to 10am")
    await talk.time.passes(60)
    [listed] = talk.ana.reads()
    assert "Every Monday at 09:00" in listed
    assert "To change a time, subscribe to the same pages again" in listed
    assert talk.agent_got() == []


async def test_list_has_three_runs_in_the_subscriptions_zone(talk: Talk) -> None:
    await subscribe(talk, "monday 09:00 Asia/Kolkata path /api")
    listed = await answer(talk, "subscriptions")
    assert "Every Monday at 09:00 (Kolkata)" in listed
    assert "`/api`" in listed
    assert "Next: 9 Nov 09:00, 16 Nov 09:00, 23 Nov 09:00" in listed
    assert "Last: none yet" in listed


async def test_unsubscribing_ends_the_digest(talk: Talk) -> None:
    await subscribe(talk)
    assert "No digest comes here any more." in await answer(talk, "unsubscribe")
    assert "No digest comes here. `/docs-visitors subscribe`" in await answer(talk, "unsubscribe")
    await until(talk, 9, 9, 0)
    assert digests(talk) == []


@pytest.mark.parametrize(("path", "other"), [("/api", "Monday"), ("/", "Friday")])
async def test_unsubscribing_a_path_ends_that_digest_alone(
    talk: Talk, path: str, other: str
) -> None:
    await subscribe(talk)
    await subscribe(talk, "friday 16:30 UTC path /api")
    assert "That digest is ended. 1 other comes here" in await answer(
        talk, f"unsubscribe path {path}"
    )
    assert re.findall(r"Every (\w+day)", await answer(talk, "subscriptions")) == [other]
    assert "No such digest" in await answer(talk, f"unsubscribe {path}")


async def test_words_without_a_path_are_about_all_digests(talk: Talk) -> None:
    await subscribe(talk)
    await subscribe(talk, "friday 16:30 UTC path /api")
    assert "2 digests are paused. `/docs-visitors resume`" in await answer(talk, "pause")
    assert (await answer(talk, "subscriptions")).count("Paused.") == 2
    again = await answer(talk, "resume")
    assert "2 digests come again, the first on 6 Nov at 16:30." in again
    assert "No digest comes here any more." in await answer(talk, "unsubscribe")
    await until(talk, 9, 9, 0)
    assert digests(talk) == []


async def test_paused_digest_comes_again_after_resume(talk: Talk) -> None:
    await subscribe(talk)
    assert "`/docs-visitors resume` starts it again" in await answer(talk, "pause")
    assert "No such digest" in await answer(talk, "pause")
    assert "Paused." in await answer(talk, "subscriptions")
    await until(talk, 9, 9, 0)
    assert digests(talk) == []
    assert "The next digest comes on 16 Nov at 09:00." in await answer(talk, "resume")
    assert "No such digest" in await answer(talk, "resume")
    await until(talk, 16, 9, 0)
    assert len(digests(talk)) == 1


async def test_direct_messages_get_the_first_post_alone(talk: Talk) -> None:
    await talk.ana.types("/docs-visitors subscribe monday 09:00 UTC", "dm")
    await talk.time.passes(5)
    [post] = talk.ana.reads()
    assert "a digest of who read the docs comes here" in post
    assert "channel" not in post


@pytest.mark.parametrize("words", ["subscribe monday 09:00", "digest now"])
async def test_channel_without_the_bot_gets_the_refusal_there(talk: Talk, words: str) -> None:
    note = await talk.ana.answer_to(f"/docs-visitors {words}", channel="docs-secret")
    assert "I'm not in this channel, so I can't post here. Type `/invite @docs-agent`" in note
    listed = await talk.ana.answer_to("/docs-visitors subscriptions", channel="docs-secret")
    assert "No digest comes here yet." in listed
    await talk.time.passes(30)
    assert talk.ana.reads() == talk.channel("docs-secret") == []


async def test_same_digest_comes_once_a_minute(talk: Talk) -> None:
    await talk.ana.types("/docs-visitors digest now")
    assert "on its way already" in await talk.ben.answer_to("/docs-visitors digest now")
    await talk.time.passes(20)
    again = await talk.ben.answer_to("/docs-visitors digest now")
    assert "|That digest> came just now. Ask again in a minute for a new one." in again
    assert len(digests(talk)) == 1
    await talk.time.passes(60)
    await talk.ben.types("/docs-visitors digest now")
    await talk.ben.types("/docs-visitors digest now path /api")
    await talk.time.passes(20)
    assert len(digests(talk)) == 3
    talk.everything()


async def test_unsubscribing_with_unknown_words_ends_nothing(talk: Talk) -> None:
    await subscribe(talk)
    for text in ("unsubscribe tuesday", "unsubscribe 09:00", "digest monday", "digest now UTC"):
        refusal = await answer(talk, text)
        assert "Only `path /api` can follow here." in refusal
    await talk.time.passes(10)
    assert "Every Monday at 09:00" in await answer(talk, "subscriptions")
    assert digests(talk) == []


async def test_subscribing_again_changes_the_time(talk: Talk) -> None:
    await subscribe(talk)
    await until(talk, 9, 9, 0)
    post = await subscribe(talk, "thursday 10:00 UTC")
    assert "The first comes on 19 Nov at 10:00 and covers 9–15 Nov 2026." in post
    assert "Next: 19 Nov 10:00, 26 Nov 10:00" in await answer(talk, "subscriptions")
    await until(talk, 12, 10, 0)
    assert len(digests(talk)) == 1
    await until(talk, 19, 10, 0)
    assert len(digests(talk)) == 2


async def test_zone_of_winter_time_follows_the_clocks_or_is_asked_about(talk: Talk) -> None:
    talk.time.is_set(days=128)  # 10 March 2027; clocks in New York change on the 14th
    await talk.ana.types("/docs-visitors subscribe tuesday 09:00 EST")
    await talk.time.passes(5)
    talk.time.is_set(days=6)
    await talk.time.passes(hours=8)
    zone = ZoneInfo("America/New_York")
    posted_at = [float(digest.message["ts"]) for digest in digests(talk)]
    talk.everything()
    assert {datetime.fromtimestamp(at, zone).hour for at in posted_at} <= {9}
