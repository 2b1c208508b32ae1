"""A digest after an outage of twelve hours says what is true, and recommends whatever could be read."""

from __future__ import annotations

import re

import pytest

from tests.talk import Talk
from tests.talk_people import Shown
from tests.visitors.test_recommendations import readers  # noqa: F401 - a fixture
from tests.work.readers import DAY, MONDAY, WEEK, digests, subscribe, until

ROWS = {
    "searches": "*Readers didn't find* “rate limits” · searched 41 times, nothing opened",
    "feedback_by_page": "*Readers dislike* `/bad` · 12 of 15 votes",
    "feedback": "“Step 3 fails”",
    "assistant": "*Readers asked* “Is there SSO?” · 3 questions, no answer",
    "visitors": "readers, about as many as the week before (",
}
"""What each source adds to the digest."""
NAMES = {
    "searches": "Searches",
    "feedback_by_page": "Votes",
    "feedback": "Comments",
    "assistant": "Questions",
    "visitors": "Readers",
}
FAILS = "couldn't be read: the docs service didn't give a usable answer."


async def is_down_from_two_to_two(talk: Talk) -> None:
    """Subscribe for Monday at nine, and let no process run from two hours before the reading until 14:00."""
    talk.service.site.read("/quickstart", MONDAY - 28 * DAY, WEEK - DAY, people=60, agents=40)
    talk.service.site.read("/quickstart", WEEK, MONDAY - DAY, people=62, agents=40)
    await subscribe(talk)
    await until(talk, 9, 2)
    await talk.process.stops()
    talk.time.is_set(hours=12)
    await talk.process.starts()


@pytest.fixture
async def late(readers: Talk) -> Talk:  # noqa: F811
    """Return a conversation in which the bot has been down for twelve hours."""
    await is_down_from_two_to_two(readers)
    return readers


def missing_in(digest: Shown) -> list[str]:
    """Return the sentences about missing numbers."""
    return re.findall(r"[^.\n]*couldn't be read[^.]*\.", digest)


@pytest.mark.parametrize("left", [0, 1, 100])
@pytest.mark.parametrize("failing", [None, *ROWS])
async def test_digest_after_an_outage_has_all_that_can_be_read(
    late: Talk, left: int, failing: str | None
) -> None:
    """``left``: the calls that the service still answers in this hour. ``failing``: the source that fails."""
    if failing:
        late.service.says(failing, 503, times=1_000)
    late.service.analytics_left = left
    await late.time.passes(minutes=20)
    late.service.analytics_left = None
    await late.time.passes(minutes=40)
    if failing == "visitors":
        assert digests(late) == [], "the readers are waited for"
        await late.time.passes(hours=3)
    [digest] = digests(late)
    shown = {name for name, row in ROWS.items() if row in digest}
    without = {failing, "feedback"} if failing == "feedback_by_page" else {failing}
    assert shown == set(ROWS) - without
    assert missing_in(digest) == ([f"{NAMES[failing]} {FAILS}"] if failing else [])


@pytest.mark.parametrize("left", [1, 10])
async def test_digest_names_the_limit_only_where_it_is_the_reason(late: Talk, left: int) -> None:
    """The service answers so many calls and then no more; the visitors' take nine."""
    late.service.analytics_left = left
    await late.time.passes(hours=4)
    [digest] = digests(late)
    limit = "couldn't be read: the docs service takes no more calls for a while."
    assert ROWS["visitors"] in digest or left == 1
    missing = missing_in(digest)
    if left == 10:
        assert ROWS["searches"] in digest
        assert missing == [f"Votes, comments and questions {limit}"]
    else:
        assert "readers ·" in digest
        assert f"Searches, votes, comments and questions {limit}" in missing


async def test_owner_gets_the_reason_if_nothing_can_be_read(late: Talk) -> None:
    late.service.analytics_left = 0
    for _ in range(23):
        await late.time.passes(hours=1)
    assert digests(late) == late.ana.reads() == []
    await late.time.passes(hours=1)
    await late.time.passes(hours=1)
    [note] = late.ana.reads()
    reason = (
        "couldn't be read: the docs service takes no more calls for a while. The next one comes"
    )
    assert f"The numbers of 2–8 Nov 2026 {reason}" in note


async def test_source_that_recovers_before_the_digest_is_in_it(readers: Talk) -> None:  # noqa: F811
    """The numbers are read six hours ahead; what failed then is tried again until the digest's time."""
    for kind in ROWS:
        readers.service.says(kind, 503, times=10_000)
    await subscribe(readers)
    await until(readers, 9, 8, 58)
    readers.service.instead.clear()
    await readers.time.passes(minutes=3)
    [digest] = digests(readers)
    assert all(row in digest for name, row in ROWS.items() if name != "visitors")
    assert "100 readers" in digest
    assert missing_in(digest) == []
