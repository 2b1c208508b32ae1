"""Weekly wall times over clock changes, against a slow search that walks the clock on the wall."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model.weekly_time import Weekday, WeeklyTime

_MINUTE = timedelta(minutes=1)
_WEEK = timedelta(days=7)
_BEGIN = datetime(2000, 1, 1, tzinfo=UTC)
_SECONDS = int((datetime(2037, 1, 1, tzinfo=UTC) - _BEGIN).total_seconds())
_CHANGES = [
    (2001, 3),
    (2007, 11),
    (2009, 6),
    (2011, 12),
    (2015, 8),
    (2021, 3),
    (2026, 2),
    (2026, 3),
    (2026, 4),
    (2026, 10),
    (2026, 11),
]
"""Months in which many clocks change, so that not every example lies in a quiet week."""

ZONES = st.sampled_from(sorted(available_timezones()))
WALL_TIMES = st.one_of(
    st.builds(time, st.integers(0, 23), st.integers(0, 59)),
    st.builds(time, st.sampled_from([23, 0, 1, 2, 3]), st.sampled_from([0, 1, 15, 30, 45, 59])),
)
WEEKLY = st.builds(WeeklyTime, st.sampled_from(Weekday), WALL_TIMES, ZONES)
MOMENTS = st.one_of(
    st.integers(0, _SECONDS).map(lambda second: _BEGIN + timedelta(seconds=second)),
    st.builds(
        lambda month, minutes: datetime(month[0], month[1], 1, tzinfo=UTC) + timedelta(minutes=minutes),
        st.sampled_from(_CHANGES),
        st.integers(0, 31 * 24 * 60),
    ),
)


def _runs(zone: str, weekday: Weekday, at: time, after: datetime, count: int) -> list[str]:
    """The next so many, as the clock on the wall shows them."""
    weekly = WeeklyTime(weekday, at, zone)
    there = ZoneInfo(zone)
    return [found.astimezone(there).strftime("%m-%d %H:%M %z") for found in weekly.next_few(after, count)]


@pytest.mark.parametrize(
    ("zone", "after", "shown"),
    [
        ("Europe/Berlin", date(2026, 3, 22), ["03-23 09:00 +0100", "03-30 09:00 +0200"]),
        ("Europe/Berlin", date(2026, 10, 18), ["10-19 09:00 +0200", "10-26 09:00 +0100"]),
        ("America/New_York", date(2026, 3, 1), ["03-02 09:00 -0500", "03-09 09:00 -0400"]),
        ("America/New_York", date(2026, 10, 25), ["10-26 09:00 -0400", "11-02 09:00 -0500"]),
        ("Australia/Lord_Howe", date(2026, 3, 29), ["03-30 09:00 +1100", "04-06 09:00 +1030"]),
        ("Australia/Lord_Howe", date(2026, 9, 27), ["09-28 09:00 +1030", "10-05 09:00 +1100"]),
        ("Asia/Kolkata", date(2026, 3, 22), ["03-23 09:00 +0530", "03-30 09:00 +0530"]),
        ("Asia/Kathmandu", date(2026, 3, 22), ["03-23 09:00 +0545", "03-30 09:00 +0545"]),
        ("Africa/Casablanca", date(2026, 2, 8), ["02-09 09:00 +0100", "02-16 09:00 +0000"]),
        ("Africa/Casablanca", date(2026, 3, 15), ["03-16 09:00 +0000", "03-23 09:00 +0100"]),
    ],
)
def test_nine_on_monday_stays_nine_on_monday_when_the_clocks_change(
    zone: str, after: date, shown: list[str]
) -> None:
    start = datetime(after.year, after.month, after.day, 12, tzinfo=UTC)
    assert _runs(zone, Weekday.MONDAY, time(9), start, 2) == shown


@pytest.mark.parametrize(
    ("zone", "at", "after", "shown"),
    [
        (
            "Europe/Berlin",
            time(2, 30),
            datetime(2026, 3, 22, tzinfo=UTC),
            ["03-22 02:30 +0100", "03-29 03:30 +0200", "04-05 02:30 +0200"],
        ),
        (
            "America/New_York",
            time(2, 30),
            datetime(2026, 3, 1, tzinfo=UTC),
            ["03-01 02:30 -0500", "03-08 03:30 -0400", "03-15 02:30 -0400"],
        ),
        (
            "Australia/Lord_Howe",
            time(2, 15),
            datetime(2026, 9, 26, tzinfo=UTC),
            ["09-27 02:15 +1030", "10-04 02:45 +1100", "10-11 02:15 +1100"],
        ),
    ],
)
def test_a_time_that_the_clocks_leave_out_comes_as_much_later_as_they_jumped(
    zone: str, at: time, after: datetime, shown: list[str]
) -> None:
    assert _runs(zone, Weekday.SUNDAY, at, after, 3) == shown


@pytest.mark.parametrize(
    ("zone", "at", "after", "shown"),
    [
        (
            "Europe/Berlin",
            time(2, 30),
            datetime(2026, 10, 18, 12, tzinfo=UTC),
            ["10-25 02:30 +0200", "11-01 02:30 +0100"],
        ),
        (
            "America/New_York",
            time(1, 30),
            datetime(2026, 10, 25, 12, tzinfo=UTC),
            ["11-01 01:30 -0400", "11-08 01:30 -0500"],
        ),
        (
            "Australia/Lord_Howe",
            time(1, 45),
            datetime(2026, 3, 29, 12, tzinfo=UTC),
            ["04-05 01:45 +1100", "04-12 01:45 +1030"],
        ),
    ],
)
def test_a_time_that_comes_twice_counts_once_the_first_time(
    zone: str, at: time, after: datetime, shown: list[str]
) -> None:
    assert _runs(zone, Weekday.SUNDAY, at, after, 2) == shown


def test_between_the_two_times_of_one_night_the_next_is_a_week_away() -> None:
    between = datetime(2026, 10, 25, 1, tzinfo=UTC)
    assert _runs("Europe/Berlin", Weekday.SUNDAY, time(2, 30), between, 1) == ["11-01 02:30 +0100"]


def test_a_day_that_a_country_left_out_is_made_up_on_the_next() -> None:
    start = datetime(2011, 12, 24, tzinfo=UTC)
    assert _runs("Pacific/Apia", Weekday.FRIDAY, time(9), start, 3) == [
        "12-31 09:00 +1400",
        "01-06 09:00 +1400",
        "01-13 09:00 +1400",
    ]


def test_on_the_day_that_makes_up_for_another_the_hour_still_counts() -> None:
    early = datetime(2011, 12, 30, 18, tzinfo=UTC)
    assert _runs("Pacific/Apia", Weekday.FRIDAY, time(9), early, 1) == ["12-31 09:00 +1400"]


def test_the_very_moment_is_past() -> None:
    weekly = WeeklyTime(Weekday.MONDAY, time(9), "Europe/Berlin")
    now = datetime(2026, 11, 23, 8, tzinfo=UTC)
    assert weekly.next_after(now - timedelta(microseconds=1)) == now
    assert weekly.next_after(now) == now + _WEEK


@given(WEEKLY, MOMENTS)
def test_the_next_is_later_and_at_most_eight_days_away(weekly: WeeklyTime, moment: datetime) -> None:
    # Eight, not seven: clocks that go back in between make that week longer, by three hours at most.
    assert moment < weekly.next_after(moment) <= moment + timedelta(days=8)


@given(WEEKLY, MOMENTS)
def test_the_wall_shows_the_weekday_and_the_time_that_were_asked_for(
    weekly: WeeklyTime, moment: datetime
) -> None:
    shown = weekly.next_after(moment).astimezone(ZoneInfo(weekly.zone))
    if (shown.weekday(), shown.time()) != (weekly.weekday, weekly.at):
        days = (shown.date() - timedelta(days=back) for back in (0, 1))
        meant = next(day for day in days if day.weekday() == weekly.weekday)
        assert datetime.combine(meant, weekly.at) not in _wall(weekly.zone, meant)


@given(WEEKLY, MOMENTS)
def test_each_week_has_exactly_one(weekly: WeeklyTime, moment: datetime) -> None:
    found = weekly.next_few(moment, 6)
    weeks = [_monday(each, weekly.zone) for each in found]
    assert weeks == [weeks[0] + number * _WEEK for number in range(6)]


@given(WEEKLY, MOMENTS, st.integers(0, 999))
def test_wherever_one_looks_from_the_next_is_the_same(
    weekly: WeeklyTime, moment: datetime, permille: int
) -> None:
    found = weekly.next_after(moment)
    assert weekly.next_after(moment + (found - moment) * permille / 1000) == found


@given(WEEKLY, MOMENTS)
def test_a_slow_walk_along_the_wall_finds_the_same(weekly: WeeklyTime, moment: datetime) -> None:
    assert weekly.next_after(moment) == _slow_next_after(weekly, moment)


def _monday(moment: datetime, zone: str) -> date:
    day = moment.astimezone(ZoneInfo(zone)).date()
    return day - timedelta(days=day.weekday())


def _wall(zone: str, day: date) -> dict[datetime, datetime]:
    """What the wall shows, minute by minute around a day, and when it shows it first."""
    there, shown = ZoneInfo(zone), dict[datetime, datetime]()
    moment = datetime(day.year, day.month, day.day, tzinfo=UTC) - timedelta(days=1, hours=3)
    for _ in range(60 * (24 * 3 + 6)):
        shown.setdefault(moment.astimezone(there).replace(tzinfo=None), moment)
        moment += _MINUTE
    return shown


def _slow_next_after(weekly: WeeklyTime, moment: datetime) -> datetime:
    """Look at every day around the moment, without any rule of how clocks change."""
    around = [moment.astimezone(ZoneInfo(weekly.zone)).date() + timedelta(days=day) for day in range(-8, 10)]
    times = [_slow_on(weekly, day) for day in around if day.weekday() == weekly.weekday]
    return min(found for found in times if found > moment)


def _slow_on(weekly: WeeklyTime, day: date) -> datetime:
    wall, meant = _wall(weekly.zone, day), datetime.combine(day, weekly.at)
    if meant in wall:
        return wall[meant]
    before = max(shown for shown in wall if shown < meant)
    return wall[before] + (meant - before)
