"""No minute has more calls of a method than Slack takes, and nobody waits longer than that needs."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model.ids import ChannelId, MessageTs, UserId
from bot.model.outbox import DeliveryKind, Method, Pace, Place, calls_of, pace_of, place_of
from tests.builders import NOW

MINUTE = timedelta(minutes=1)
SLACK_TAKES = {
    Method.POST: 300,
    Method.EDIT: 50,
    Method.REACT: 50,
    Method.OPEN: 50,
    Method.SEARCH_CHANNEL: 50,
    Method.SEARCH_THREAD: 50,
    Method.BEGIN_UPLOAD: 100,
    Method.END_UPLOAD: 100,
    Method.WHISPER: 100,
}
"""Calls in any minute, by the tier of the method; of posting Slack says "several hundred"."""


@given(st.sampled_from(sorted(Method)), st.lists(st.floats(0, 20, allow_nan=False), max_size=40))
def test_no_minute_has_more_calls_than_slack_takes(method: Method, pauses: list[float]) -> None:
    pace, now, free_at, made = pace_of(method), NOW, NOW, []
    for pause in pauses:
        now += timedelta(seconds=pause)
        room = pace.room(free_at, now)
        free_at = pace.after_calls(free_at, now, room)
        made += [now] * room
    for begun in made:
        assert sum(1 for at in made if begun <= at < begun + MINUTE) <= SLACK_TAKES[method]


@pytest.mark.parametrize("method", sorted(Method))
def test_who_calls_whenever_there_is_room_calls_at_the_whole_pace(method: Method) -> None:
    pace, now, free_at, made = pace_of(method), NOW, NOW, 0
    while now < NOW + 10 * MINUTE:
        room = pace.room(free_at, now)
        free_at = pace.after_calls(free_at, now, room)
        made += room
        now += pace.interval
    assert made == pytest.approx(10 * MINUTE / pace.interval + pace.burst, abs=2)


def test_a_held_pace_allows_one_call_at_the_time_and_no_burst_after_it() -> None:
    pace = Pace(5, timedelta(seconds=2))
    until = NOW + timedelta(seconds=30)
    held = pace.held(until)
    assert pace.room(held, until - timedelta(microseconds=1)) == 0
    assert pace.room(held, until) == 1
    assert pace.room(held, until + timedelta(seconds=2)) == 2


def test_a_search_counts_beside_the_call_that_it_is_for() -> None:
    file = (Method.SEARCH_CHANNEL, Method.BEGIN_UPLOAD, Method.END_UPLOAD)
    assert calls_of(DeliveryKind.FILE, by_url=False, unconfirmed=True) == file


def test_a_reading_counts_once_for_all_posts_that_it_looks_for() -> None:
    thread, channel = MessageTs("1.1"), ChannelId("C1")
    ends = {place_of(DeliveryKind.REPLY, channel, UserId(f"U{n}"), thread, None) for n in range(9)}
    assert [place and place.calls for place in ends] == [(Method.SEARCH_THREAD,)]
    assert Place.direct(UserId("U1")).calls == (Method.OPEN, Method.SEARCH_CHANNEL)
