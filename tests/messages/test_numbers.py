"""Numbers and dates in words."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from bot.messages.numbers import (
    change,
    dates,
    duration,
    gained,
    page_change,
    page_gain,
    percent,
    point_label,
    share_change,
)
from bot.model.visitors import Counts, Period
from tests.messages.visitor_samples import page


def period(first: str, last: str) -> Period:
    """Both days belong to it."""
    return Period(date.fromisoformat(first), date.fromisoformat(last) + timedelta(days=1))


@pytest.mark.parametrize(
    ("now", "was", "said"),
    [
        (120, 100, "+20%"),
        (80, 100, "−20%"),
        (0, 100, "−100%"),
        (100, 100, "±0%"),
        (1_001, 1_000, "±0%"),
        (500, 1, "+49,900%"),
        (5, 0, "new"),
        (0, 0, "±0%"),
    ],
)
def test_a_change_is_told_in_percent(now: int, was: int, said: str) -> None:
    assert change(now, was) == said


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.434, "43%"), (0.0, "0%"), (1.0, "100%"), (0.001, "under 1%"), (0.999, "over 99%"), (None, "–")],
)
def test_a_share_is_rounded_but_a_few_are_not_none(share: float | None, said: str) -> None:
    assert percent(share) == said


@pytest.mark.parametrize(
    ("now", "was", "said"),
    [(51, 50, "+1 point"), (49, 50, "−1 point"), (50, 50, "±0 points"), (75, 50, "+25 points")],
)
def test_the_share_of_ai_moves_by_points(now: int, was: int, said: str) -> None:
    assert share_change(Counts(0, now, 100), Counts(0, was, 100)) == said


def test_a_share_that_cannot_be_compared_moves_by_nothing() -> None:
    assert share_change(Counts(1, 1, 2), None) == ""
    assert share_change(Counts(1, 1, 2), Counts(0, 0, 0)) == ""


def test_points_are_the_difference_of_the_shares_as_they_are_shown() -> None:
    assert share_change(Counts(0, 504, 1_000), Counts(0, 496, 1_000)) == "±0 points"
    assert share_change(Counts(0, 506, 1_000), Counts(0, 494, 1_000)) == "+2 points"


def test_a_page_without_numbers_before_is_new() -> None:
    assert page_change(page("/a", (1, 2, 3))) == "new"
    assert page_gain(page("/a", (1, 2, 3))) == "+3 (new)"
    assert gained(page("/a", (1, 2, 3))) == 3


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        ("2026-11-20", "2026-11-20", "20 Nov 2026"),
        ("2026-11-14", "2026-11-20", "14–20 Nov 2026"),
        ("2026-10-01", "2026-10-31", "1–31 Oct 2026"),
        ("2026-09-30", "2026-10-06", "30 Sep – 6 Oct 2026"),
        ("2025-12-29", "2026-01-04", "29 Dec 2025 – 4 Jan 2026"),
        ("2025-11-01", "2026-11-30", "1 Nov 2025 – 30 Nov 2026"),
    ],
)
def test_a_period_names_the_days_that_belong_to_it(first: str, last: str, said: str) -> None:
    assert dates(period(first, last)) == said


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        ("2026-11-16", "2026-11-16", "Mon 16 Nov"),
        ("2026-11-16", "2026-11-22", "16–22 Nov"),
        ("2026-12-28", "2027-01-03", "28 Dec–3 Jan"),
    ],
)
def test_a_point_of_a_chart_has_a_short_label(first: str, last: str, said: str) -> None:
    assert point_label(period(first, last)) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "under a minute"),
        (29, "under a minute"),
        (60, "1 min"),
        (3_599, "1 h"),
        (4_800, "1 h 20 min"),
        (7_200, "2 h"),
        (180_000, "50 h"),
    ],
)
def test_a_length_of_time_is_told_in_minutes_and_hours(seconds: int, said: str) -> None:
    assert duration(timedelta(seconds=seconds)) == said
