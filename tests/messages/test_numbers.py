"""Numbers and dates in words."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from bot.messages.numbers import (
    change,
    dates,
    gained,
    page_change,
    page_gain,
    percent,
    point_label,
)
from bot.model.visitors import Period
from tests.messages.visitor_samples import page


def period(first: str, last: str) -> Period:
    """Both days belong to it."""
    return Period(date.fromisoformat(first), date.fromisoformat(last) + timedelta(days=1))


@pytest.mark.parametrize(
    ("now", "was", "said"),
    [
        (150, 100, "+50%"),
        (60, 100, "−40%"),
        (0, 100, "−100%"),
        (100, 100, ""),
        (5, 3, ""),
        (142, 100, ""),
        (1_200, 1_000, "+20%"),
        (1_100, 1_000, ""),
        (500, 1, "+49,900%"),
        (10, 0, "new"),
        (9, 0, ""),
        (0, 0, ""),
    ],
)
def test_a_change_is_told_in_percent_where_it_is_beyond_chance(now: int, was: int, said: str) -> None:
    assert change(now, was) == said


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.434, "43%"), (0.0, "0%"), (1.0, "100%"), (0.001, "under 1%"), (0.999, "over 99%"), (None, "–")],
)
def test_a_share_is_rounded_but_a_few_are_not_none(share: float | None, said: str) -> None:
    assert percent(share) == said


def test_a_page_without_numbers_before_is_new() -> None:
    assert page_change(page("/a", (10, 20, 30))) == "new"
    assert page_change(page("/a", (10, 20, 30)), whole=False) == ""
    assert page_gain(page("/a", (10, 20, 30))) == "+30 (new)"
    assert page_gain(page("/a", (1, 2, 3))) == "–"
    assert gained(page("/a", (1, 2, 3))) == 3


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        ("2026-11-20", "2026-11-20", "20 Nov 2026"),
        ("2026-11-14", "2026-11-20", "14–20 Nov 2026"),
        ("2026-10-01", "2026-10-31", "1–31 Oct 2026"),
        ("2026-09-30", "2026-10-06", "30 Sep – 6 Oct 2026"),
        ("2025-12-29", "2026-01-04", "29 Dec 2025 – 4 Jan 2026"),
        ("2025-01-01", "2025-12-31", "2025"),
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
