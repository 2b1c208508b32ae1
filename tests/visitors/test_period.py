"""Periods of days: their comparison, their points in a chart and their end in a time zone."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.visitors.model.periods import Period, day_start, last_full_week
from tests.talk import Talk
from tests.work.readers import asked

OCTOBER = Period(date(2026, 10, 1), date(2026, 11, 1))
DAY = timedelta(days=1)
LATE = datetime(2026, 11, 21, 23, 30, tzinfo=UTC)
"""A Saturday; in Tokyo it is Sunday already."""
DAYS = st.dates(date(2000, 1, 1), date(2037, 12, 31))
PERIODS = st.builds(
    lambda first, days: Period(first, first + timedelta(days=days)), DAYS, st.integers(1, 366)
)
MOMENTS = st.integers(0, 38 * 366 * 86_400).map(
    lambda second: datetime(2000, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
)
ZONES = st.sampled_from(sorted(available_timezones())).map(ZoneInfo)


@pytest.mark.parametrize("end", [date(2026, 10, 1), date(2026, 9, 30)])
def test_period_is_never_empty(end: date) -> None:
    with pytest.raises(ValueError, match="the end comes before the beginning"):
        Period(date(2026, 10, 1), end)


def test_period_is_compared_with_the_same_weekdays_before() -> None:
    for first, days, begins in [
        (date(2026, 11, 16), 7, date(2026, 11, 9)),
        (date(2026, 11, 23), 1, date(2026, 11, 16)),
        (date(2026, 11, 10), 10, date(2026, 10, 27)),
    ]:
        before = Period(first, first + days * DAY).before()
        assert (before.first, before.days) == (begins, days)


@given(PERIODS)
def test_compared_period_ends_before_the_period_begins(period: Period) -> None:
    before = period.before()
    assert before.end <= period.first
    if before.days == period.days and period.first.day != 1:
        assert before.first.weekday() == period.first.weekday()
        assert (period.first - before.end).days < 7


@pytest.mark.parametrize(
    ("period", "before"),
    [
        (OCTOBER, Period(date(2026, 9, 1), date(2026, 10, 1))),
        (Period(date(2026, 1, 1), date(2026, 2, 1)), Period(date(2025, 12, 1), date(2026, 1, 1))),
        (Period(date(2026, 7, 1), date(2026, 10, 1)), Period(date(2026, 4, 1), date(2026, 7, 1))),
        (Period(date(2025, 1, 1), date(2026, 1, 1)), Period(date(2024, 1, 1), date(2025, 1, 1))),
        # Three months that are no quarter.
        (Period(date(2026, 6, 1), date(2026, 9, 1)), Period(date(2026, 2, 23), date(2026, 5, 26))),
    ],
)
def test_month_quarter_or_year_is_compared_with_the_one_before(
    period: Period, before: Period
) -> None:
    assert period.before() == before


@given(PERIODS)
def test_points_of_a_chart_are_equal_days_or_weeks(period: Period) -> None:
    steps = period.chart_points()
    assert min(period.days, 2) <= len(steps) <= 20
    assert len({step.days for step in steps}) == 1
    assert all(one.end == other.first for one, other in pairwise(steps))
    if steps[0].days > 1:
        assert {step.first.weekday() for step in steps} == {0}
        assert 0 <= (steps[-1].end - period.end).days < 7
        assert -7 < (steps[0].first - period.first).days < steps[0].days


@pytest.mark.parametrize(
    ("days", "count", "length"), [(2, 2, 1), (20, 20, 1), (21, 4, 7), (28, 5, 7), (366, 17, 21)]
)
def test_long_periods_are_cut_into_weeks(days: int, count: int, length: int) -> None:
    steps = Period(date(2026, 1, 1), date(2026, 1, 1) + timedelta(days=days)).chart_points()
    assert (len(steps), steps[-1].days) == (count, length)


@pytest.mark.parametrize(
    ("zone", "over_at"),
    [
        ("UTC", datetime(2026, 11, 1, tzinfo=UTC)),
        ("Europe/Berlin", datetime(2026, 10, 31, 23, tzinfo=UTC)),
        ("Asia/Kathmandu", datetime(2026, 10, 31, 18, 15, tzinfo=UTC)),
        ("America/New_York", datetime(2026, 11, 1, 4, tzinfo=UTC)),
        ("Pacific/Kiritimati", datetime(2026, 10, 31, 10, tzinfo=UTC)),
    ],
)
def test_period_is_over_at_midnight_of_its_zone(zone: str, over_at: datetime) -> None:
    there = ZoneInfo(zone)
    assert OCTOBER.is_over(over_at, there)
    assert not OCTOBER.is_over(over_at - timedelta(microseconds=1), there)


def test_period_is_final_three_hours_after_its_end() -> None:
    there, midnight = ZoneInfo("Europe/Berlin"), datetime(2026, 10, 31, 23, tzinfo=UTC)
    assert not OCTOBER.is_final(midnight + timedelta(hours=2, minutes=59), there)
    assert OCTOBER.is_final(midnight + timedelta(hours=3), there)


@example(date(2026, 3, 29), ZoneInfo("Asia/Beirut"))
@example(date(2026, 11, 1), ZoneInfo("America/Havana"))
@given(st.dates(date(2012, 1, 1), date(2037, 12, 31)), ZONES)
def test_day_begins_at_the_end_of_the_day_before(day: date, zone: ZoneInfo) -> None:
    # From 2012 on: before, clocks in Newfoundland went back over midnight, and Samoa left out a day.
    begun = day_start(day, zone)
    assert begun.astimezone(zone).date() == day
    assert (begun - timedelta(microseconds=1)).astimezone(zone).date() == day - timedelta(days=1)


@given(MOMENTS, ZONES)
def test_last_full_week_is_over(now: datetime, zone: ZoneInfo) -> None:
    week = last_full_week(now.astimezone(zone).date())
    assert (week.first.weekday(), week.days) == (0, 7)
    assert week.is_over(now, zone)
    assert not Period(week.end, week.end + 7 * DAY).is_over(now, zone)


SECTIONS = {
    "/api": {"/api", "/api/", "/api/keys"},
    "/api/": {"/api", "/api/", "/api/keys"},
    "/api*": {"/api", "/api/", "/api/keys", "/apiary"},
    "/": {
        "/",
        "/ap",
        "/api",
        "/api/",
        "/api/keys",
        "/apiary",
        "/API/keys",
        "/guides/api",
        "/a_b",
        "/axb/c",
    },
    "/a%b": set[str](),
    "/a_b": {"/a_b"},
}
"""The pages of each section."""


async def test_section_has_its_path_and_all_below_it(talk: Talk) -> None:
    for page in SECTIONS["/"]:
        talk.service.site.read(page, date(2026, 10, 26), date(2026, 11, 1), people=1)
    for section, pages in SECTIONS.items():
        answer = await asked(talk, f"{section} top 20 compare none")
        assert set(re.findall(r"^\d+\. `([^`]+)`", answer, re.MULTILINE)) == pages, section
