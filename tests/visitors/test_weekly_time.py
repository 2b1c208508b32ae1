"""Weekly wall times over clock changes, against a slow search of every minute."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.visitors.model.subscriptions import Weekday, WeeklyTime

_MINUTE = timedelta(minutes=1)
_BEGIN = datetime(2000, 1, 1, tzinfo=UTC)
_SECONDS = int((datetime(2037, 1, 1, tzinfo=UTC) - _BEGIN).total_seconds())
_CHANGES = [(2001, 3), (2007, 11), (2009, 6), (2011, 12), (2015, 8), (2021, 3)]
_CHANGES += [(2026, month) for month in (2, 3, 4, 10, 11)]
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
        lambda month, minutes: (
            datetime(month[0], month[1], 1, tzinfo=UTC) + timedelta(minutes=minutes)
        ),
        st.sampled_from(_CHANGES),
        st.integers(0, 31 * 24 * 60),
    ),
)


@pytest.mark.parametrize(
    ("zone", "weekly", "after", "expected"),
    [
        ("Europe/Berlin", "0 09:00", "2026-03-22 12:00", "03-23 09:00 +0100, 03-30 09:00 +0200"),
        ("America/New_York", "0 09:00", "2026-10-25 12:00", "10-26 09:00 -0400, 11-02 09:00 -0500"),
        ("Asia/Kathmandu", "0 09:00", "2026-03-22 12:00", "03-23 09:00 +0545, 03-30 09:00 +0545"),
        (
            "Africa/Casablanca",
            "0 09:00",
            "2026-02-08 12:00",
            "02-09 09:00 +0100, 02-16 09:00 +0000",
        ),
        # Left out by the clocks: it comes as much later as they jumped.
        ("Europe/Berlin", "6 02:30", "2026-03-22 12:00", "03-29 03:30 +0200, 04-05 02:30 +0200"),
        ("America/New_York", "6 02:30", "2026-03-01 12:00", "03-08 03:30 -0400, 03-15 02:30 -0400"),
        (
            "Australia/Lord_Howe",
            "6 02:15",
            "2026-09-27 12:00",
            "10-04 02:45 +1100, 10-11 02:15 +1100",
        ),
        # Twice in a night: the first one counts.
        ("Europe/Berlin", "6 02:30", "2026-10-18 12:00", "10-25 02:30 +0200, 11-01 02:30 +0100"),
        (
            "Australia/Lord_Howe",
            "6 01:45",
            "2026-03-29 12:00",
            "04-05 01:45 +1100, 04-12 01:45 +1030",
        ),
        ("Europe/Berlin", "6 02:30", "2026-10-25 01:00", "11-01 02:30 +0100"),
        # A Friday that the country left out is made up on the next day.
        ("Pacific/Apia", "4 09:00", "2011-12-24 00:00", "12-31 09:00 +1400, 01-06 09:00 +1400"),
        ("Pacific/Apia", "4 09:00", "2011-12-30 18:00", "12-31 09:00 +1400"),
    ],
)
def test_weekly_time_follows_the_wall_clock(
    zone: str, weekly: str, after: str, expected: str
) -> None:
    weekday, at = weekly.split()
    begin = datetime.fromisoformat(after).replace(tzinfo=UTC)
    runs, moment = list[datetime](), begin
    for _ in expected.split(","):
        moment = WeeklyTime(int(weekday), time.fromisoformat(at), zone).next_after(moment)
        runs.append(moment)
    assert (
        ", ".join(run.astimezone(ZoneInfo(zone)).strftime("%m-%d %H:%M %z") for run in runs)
        == expected
    )


@example(
    WeeklyTime(Weekday.MONDAY, time(9), "Europe/Berlin"), datetime(2026, 11, 23, 8, tzinfo=UTC)
)
@given(WEEKLY, MOMENTS)
def test_slow_walk_along_the_wall_clock_finds_the_same(
    weekly: WeeklyTime, moment: datetime
) -> None:
    assert weekly.next_after(moment) == _slow_next_after(weekly, moment)


def _wall(zone: str, day: date) -> dict[datetime, datetime]:
    """Return the wall time of every minute around a day, with its first moment."""
    there, wall = ZoneInfo(zone), dict[datetime, datetime]()
    moment = datetime(day.year, day.month, day.day, tzinfo=UTC) - timedelta(days=1, hours=3)
    for _ in range(60 * (24 * 3 + 6)):
        wall.setdefault(moment.astimezone(there).replace(tzinfo=None), moment)
        moment += _MINUTE
    return wall


def _slow_next_after(weekly: WeeklyTime, moment: datetime) -> datetime:
    """Search every day around the moment, without any rule of clock changes."""
    around = [
        moment.astimezone(ZoneInfo(weekly.zone)).date() + timedelta(days=day)
        for day in range(-8, 10)
    ]
    times = [_slow_on(weekly, day) for day in around if day.weekday() == weekly.weekday]
    return min(time for time in times if time > moment)


def _slow_on(weekly: WeeklyTime, day: date) -> datetime:
    wall, meant = _wall(weekly.zone, day), datetime.combine(day, weekly.time_of_day)
    if meant in wall:
        return wall[meant]
    before = max(time for time in wall if time < meant)
    return wall[before] + (meant - before)
