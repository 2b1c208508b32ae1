"""Calls of a method keep to Slack's limit a minute and use all of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.paces import Paces
from bot.ports import Method
from tests.builders import CHANNEL, NOW

MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)
SLACK_TAKES = {
    Method.POST: 300,
    **dict.fromkeys((Method.EDIT, Method.REACT, Method.OPEN), 50),
    **dict.fromkeys((Method.SEARCH_CHANNEL, Method.SEARCH_THREAD), 50),
    **dict.fromkeys((Method.BEGIN_UPLOAD, Method.END_UPLOAD, Method.WHISPER), 100),
}
"""Calls in any minute, by the tier of the method; for posts Slack documents "several hundred"."""


def take(paces: Paces, method: Method, seconds: float) -> bool:
    """Call a method so many seconds after the beginning, outside of channels that have a pace."""
    return paces.take(None, [method], NOW + seconds * SECOND)


@given(st.sampled_from(sorted(Method)), st.lists(st.floats(0, 20, allow_nan=False), max_size=40))
def test_minute_has_no_more_calls_than_slack_takes(method: Method, pauses: list[float]) -> None:
    paces, at, made = Paces(), 0.0, list[float]()
    for pause in pauses:
        at += pause
        while take(paces, method, at):
            made.append(at)
    for begun in made:
        assert sum(1 for call in made if begun <= call < begun + 60) <= SLACK_TAKES[method]


@pytest.mark.parametrize("method", sorted(Method))
def test_caller_that_never_waits_gets_the_whole_pace(method: Method) -> None:
    paces, at, made = Paces(), 0.0, 0
    while at < 600:
        while take(paces, method, at):
            made += 1
        wait = paces.seconds_to_next(NOW + at * SECOND)
        assert wait is not None
        at += wait
    assert made >= 9.5 * SLACK_TAKES[method] * 0.8


@pytest.mark.parametrize("minutes", [1, 5, 120])
def test_pace_of_a_clock_ahead_holds_nothing(minutes: int) -> None:
    paces, ahead = Paces(), NOW + timedelta(minutes=minutes)
    assert paces.take(CHANNEL, [Method.POST], ahead)
    paces.hold(Method.EDIT, 30, ahead)
    assert paces.take(CHANNEL, [Method.POST], NOW)
    assert take(paces, Method.EDIT, 0)
