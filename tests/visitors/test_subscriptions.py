"""Subscriptions to the digest: first post, list, changes and end."""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from tests.defects import known_defect
from tests.talk import Talk
from tests.talk_people import Shown
from tests.work.readers import digests, until


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
    assert "Every Tuesday at 08:30 (Berlin) this channel gets a digest" in post
    await until(talk, 3, 7, 28)
    assert digests(talk) == []
    await until(talk, 3, 7, 31)
    assert len(digests(talk)) == 1


async def test_digest_before_the_end_of_the_week_has_the_last(talk: Talk) -> None:
    post = await subscribe(talk, "monday 09:00 Australia/Sydney")
    assert "The first comes on 9 Nov at 09:00 and covers 26 Oct – 1 Nov 2026." in post
    await until(talk, 8, 22, 0)
    assert "26 Oct–1 Nov" in digests(talk)[0]


async def test_unknown_zone_is_utc(talk: Talk) -> None:
    asker = talk.newcomer("Noz", tz="")
    await asker.types("/docs-visitors subscribe friday 10:00")
    await talk.time.passes(5)
    assert "(UTC)" in talk.channel()[0]
    asker.reads()


async def test_refused_first_post_pauses_the_subscription(talk: Talk) -> None:
    await talk.ana.types("/docs-visitors subscribe monday 09:00 UTC", channel="docs-secret")
    await talk.time.passes(5)
    note = talk.ana.reads()[-1]
    assert "is paused: I'm not a member. Type `/invite @docs-agent` there." in note
    listed = await talk.ana.answer_to("/docs-visitors subscriptions", channel="docs-secret")
    assert "Paused. `/docs-visitors resume` starts it again." in listed


async def test_list_has_three_runs_in_the_subscriptions_zone(talk: Talk) -> None:
    await subscribe(talk, "monday 09:00 Asia/Kolkata path /api")
    listed = await answer(talk, "subscriptions")
    assert "Every Monday at 09:00 (Kolkata)" in listed
    assert "`/api`" in listed
    assert "Next: 9 Nov 09:00, 16 Nov 09:00, 23 Nov 09:00" in listed
    assert "Last: none yet" in listed


async def test_unsubscribing_ends_the_digest(talk: Talk) -> None:
    await subscribe(talk)
    assert "no longer gets a digest" in await answer(talk, "unsubscribe")
    assert "gets no digest" in await answer(talk, "unsubscribe")
    await until(talk, 9, 9, 0)
    assert digests(talk) == []


@pytest.mark.parametrize(("path", "other"), [("/api", "Monday"), ("/", "Friday")])
async def test_unsubscribing_a_path_ends_that_digest_alone(
    talk: Talk, path: str, other: str
) -> None:
    await subscribe(talk)
    await subscribe(talk, "friday 16:30 UTC path /api")
    assert "still gets 1 other" in await answer(talk, f"unsubscribe path {path}")
    assert re.findall(r"Every (\w+day)", await answer(talk, "subscriptions")) == [other]
    assert "no such digest" in await answer(talk, f"unsubscribe {path}")


async def test_unsubscribing_asks_about_several_digests(talk: Talk) -> None:
    await subscribe(talk)
    await subscribe(talk, "friday 16:30 UTC path /api")
    question = await answer(talk, "unsubscribe")
    assert question == "This channel has 2 such digests. Which one?"
    assert question.buttons == ["Whole site", "/api"]
    await talk.ana.presses("Whole site", on=question)
    await talk.time.passes(1)
    assert "still gets 1 other" in talk.ana.reads()[-1]
    assert "`/api`" in await answer(talk, "subscriptions")


async def test_paused_digest_comes_again_after_resume(talk: Talk) -> None:
    await subscribe(talk)
    assert "`/docs-visitors resume` starts it again" in await answer(talk, "pause")
    assert "no such digest" in await answer(talk, "pause")
    assert "Paused." in await answer(talk, "subscriptions")
    await until(talk, 9, 9, 0)
    assert digests(talk) == []
    assert "The next digest comes on 16 Nov at 09:00." in await answer(talk, "resume")
    assert "no such digest" in await answer(talk, "resume")
    await until(talk, 16, 9, 0)
    assert len(digests(talk)) == 1


async def test_pause_asks_about_several_digests(talk: Talk) -> None:
    await subscribe(talk)
    await subscribe(talk, "friday 16:30 UTC path /api")
    await talk.ana.presses("/api", on=await answer(talk, "pause"))
    await talk.time.passes(1)
    assert "is paused" in talk.ana.reads()[-1]
    assert "The next digest comes on 6 Nov at 16:30." in await answer(talk, "resume")


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


@known_defect("EST stays at winter time when New York's clocks change.")
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
