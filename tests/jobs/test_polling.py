"""A job is polled by its age alone: often at first, then at a share of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.jobs.model.quota import PollPace

EVEN = 0.5
"""The random number that leaves a wait as it is."""


@pytest.mark.parametrize(("age", "wait"), [(0, 10), (200, 10), (600, 30), (1_200, 60), (86_400, 60)])
def test_wait_between_polls_grows_with_the_age(age: float, wait: float) -> None:
    assert PollPace(10.0, 60.0).wait_seconds(age, EVEN) == pytest.approx(wait)


@given(st.floats(0, 1e6), st.floats(0, 1, exclude_max=True), st.floats(0.1, 100), st.floats(1, 50))
def test_wait_between_polls_is_bounded(age: float, chance: float, least: float, times: float) -> None:
    wait = PollPace(least, least * times).wait_seconds(age, chance)
    assert least * 0.9 - 1e-6 <= wait <= least * times * 1.1 + 1e-6
