"""A job is polled by its age alone: often at first, then at a share of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.jobs.service_health import poll_wait_seconds
from bot.settings import Settings

EVEN = 0.5
"""The random number that leaves a wait as it is."""


@pytest.mark.parametrize(
    ("age", "wait"), [(0, 10), (200, 10), (600, 30), (1_200, 60), (86_400, 60)]
)
def test_wait_between_polls_grows_with_the_age(age: float, wait: float) -> None:
    assert poll_wait_seconds(Settings(), age, EVEN) == pytest.approx(wait)


@given(st.floats(0, 1e6), st.floats(0, 1, exclude_max=True), st.floats(0.1, 100), st.floats(1, 50))
def test_wait_between_polls_is_bounded(
    age: float, chance: float, least: float, times: float
) -> None:
    settings = Settings(poll_min_seconds=least, poll_max_seconds=min(least * times, 3_600.0))
    wait = poll_wait_seconds(settings, age, chance)
    assert least * 0.9 - 1e-6 <= wait <= least * times * 1.1 + 1e-6
