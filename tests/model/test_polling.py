"""A job is polled often at ages at which earlier jobs of its project ended, and seldom at others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model import PollPace

PACE = PollPace(10.0, 60.0)
EVEN = 0.5
"""The random number that leaves a wait as it is."""
durations = st.lists(st.floats(0, 1e6, allow_nan=False), min_size=20, max_size=60)
ages = st.floats(0, 1e6, allow_nan=False)
chances = st.floats(0, 1, exclude_max=True)


def test_a_few_ends_are_no_history() -> None:
    assert PACE.learned([300.0] * 19) == PACE
    assert PACE.learned([300.0] * 20) != PACE


def test_a_job_is_polled_often_at_the_age_at_which_jobs_end_and_seldom_before() -> None:
    pace = PACE.learned([260.0 + number for number in range(80)])
    assert pace.wait_seconds(30, EVEN) == 60
    assert pace.wait_seconds(280, EVEN) == 10
    assert PACE.wait_seconds(30, EVEN) == 10 < PACE.wait_seconds(280, EVEN)


def test_a_wait_ends_before_many_jobs_do() -> None:
    pace = PACE.learned([300.0] * 100)
    before = 300.0 * 0.85 - 5.0
    assert before <= 200 + pace.wait_seconds(200, EVEN) <= before + 15


def test_two_sizes_of_jobs_leave_a_gap_that_is_polled_seldom() -> None:
    pace = PACE.learned([60.0] * 50 + [900.0] * 50)
    near, gap, far = (pace.wait_seconds(age, EVEN) for age in (50, 300, 880))
    assert (near, gap) == (10, 60)
    assert far < 20


@given(durations, st.floats(1e6 * 1.2, 1e8))
def test_a_job_that_is_older_than_all_before_is_polled_as_usual(lasted: list[float], age: float) -> None:
    assert PACE.learned(lasted).wait_seconds(age, EVEN) == pytest.approx(PACE.wait_seconds(age, EVEN), abs=1)


@given(durations, ages, chances, st.floats(0.1, 100), st.floats(1, 50))
def test_no_history_breaks_the_bounds(
    lasted: list[float], age: float, chance: float, least: float, times: float
) -> None:
    pace = PollPace(least, least * times).learned(lasted)
    assert least * 0.9 - 1e-6 <= pace.wait_seconds(age, chance) <= least * times * 1.1 + 1e-6


@given(st.lists(st.floats(20, 500), min_size=20, max_size=40), st.floats(0, 600), st.floats(0, 60))
def test_the_expected_delay_is_what_those_who_ended_would_have_waited(
    lasted: list[float], age: float, wait: float
) -> None:
    history = PACE.learned(lasted).history
    assert history is not None
    waited = sum(age + wait - end for end in history.ends if age < end <= age + wait)
    assert history.delay_seconds(age, wait) == pytest.approx(waited, abs=1e-6)
    assert history.later(age) == sum(end > age for end in history.ends)
