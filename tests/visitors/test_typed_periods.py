"""Periods as people type them, read in the zone of the numbers with the clock held."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.visitors import periods
from bot.visitors.periods import MOST_DAYS, BadPeriod, Period, UnknownPeriod


def today(now: datetime, zone: ZoneInfo) -> date:
    return now.astimezone(zone).date()


def parse_period(text: str, now: datetime, zone: ZoneInfo) -> Period:
    return periods.parse_period(text, today(now, zone))


NOW = datetime(2026, 11, 21, 23, 30, tzinfo=UTC)
"""Saturday evening in London, Sunday morning in Tokyo."""
LONDON, TOKYO = ZoneInfo("Europe/London"), ZoneInfo("Asia/Tokyo")
TODAY = date(2026, 11, 21)
ZONES = st.sampled_from(sorted(available_timezones())).map(ZoneInfo)
MOMENTS = st.integers(0, 30 * 366 * 86_400).map(
    lambda second: datetime(2005, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
)
PIECES = st.sampled_from(
    (
        *("7", "28", "d", "days", "today", "last", "this", "week", "month", "oct", "May", "2026", "31"),
        *("since", "monday", "Q3", "q", "year", "quarter", "1st", "Feb", "29", "1 Oct"),
        *("2026-10", "2026-02-31", "0000", "9999-12-31", "9999-12", "..", "...", "–", "to", "-", " "),
        *("٣", "９", "\0", "`", "İ", "\ud800"),
    )
)
TYPED = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.lists(PIECES).map("".join),
    st.lists(PIECES).map(" ".join),
)


def _read(text: str, zone: ZoneInfo = LONDON, now: datetime = NOW) -> tuple[str, str]:
    """The first and the last day of what is understood."""
    period = parse_period(text, now, zone)
    return period.first.isoformat(), period.last.isoformat()


def _read_or_why(text: str) -> Period | str:
    """What is understood, else why nothing is."""
    try:
        return parse_period(text, NOW, LONDON)
    except BadPeriod as refused:
        return str(refused)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("7d", "2026-11-14", "2026-11-20"),
        ("28d", "2026-10-24", "2026-11-20"),
        ("366d", "2025-11-20", "2026-11-20"),
        ("today", "2026-11-21", "2026-11-21"),
        ("yesterday", "2026-11-20", "2026-11-20"),
        ("this week", "2026-11-16", "2026-11-21"),
        ("last 7 days", "2026-11-14", "2026-11-20"),
        ("the past 28 days", "2026-10-24", "2026-11-20"),
        ("last week", "2026-11-09", "2026-11-15"),
        ("this month", "2026-11-01", "2026-11-21"),
        ("last month", "2026-10-01", "2026-10-31"),
        ("October", "2026-10-01", "2026-10-31"),
        ("sept", "2026-09-01", "2026-09-30"),
        ("November", "2026-11-01", "2026-11-21"),
        ("December", "2025-12-01", "2025-12-31"),
        ("October 2025", "2025-10-01", "2025-10-31"),
        ("February 2024", "2024-02-01", "2024-02-29"),
        ("2026-10", "2026-10-01", "2026-10-31"),
        ("2026-2", "2026-02-01", "2026-02-28"),
        ("2026-11", "2026-11-01", "2026-11-21"),
        ("2026-10-05", "2026-10-05", "2026-10-05"),
        ("2024-02-29", "2024-02-29", "2024-02-29"),
        ("2026-11-21", "2026-11-21", "2026-11-21"),
        ("2026-10-01..2026-10-31", "2026-10-01", "2026-10-31"),
        ("2026-10-05..2026-10-05", "2026-10-05", "2026-10-05"),
        ("2026-09..2026-10", "2026-09-01", "2026-10-31"),
        ("2026-10-15..2026-11", "2026-10-15", "2026-11-21"),
        ("Sep..Oct", "2026-09-01", "2026-10-31"),
        ("2026-10-15..today", "2026-10-15", "2026-11-21"),
        ("last month to yesterday", "2026-10-01", "2026-11-20"),
        ("October 2025..November 2025", "2025-10-01", "2025-11-30"),
        ("2025-11-21..2026-11-21", "2025-11-21", "2026-11-21"),
        # A month that begins a range is the one that leads to its end.
        ("Nov..Feb", "2025-11-01", "2026-02-28"),
        ("Sep..Oct 2025", "2025-09-01", "2025-10-31"),
        ("Dec..2026-01-15", "2025-12-01", "2026-01-15"),
        ("Oct..yesterday", "2026-10-01", "2026-11-20"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("this year", "2026-01-01", "2026-11-21"),
        ("2025", "2025-01-01", "2025-12-31"),
        ("Q3", "2026-07-01", "2026-09-30"),
        ("q4", "2026-10-01", "2026-11-21"),
        ("Q3 2025", "2025-07-01", "2025-09-30"),
        ("last quarter", "2026-07-01", "2026-09-30"),
        ("this quarter", "2026-10-01", "2026-11-21"),
        ("1 Oct", "2026-10-01", "2026-10-01"),
        ("1st October", "2026-10-01", "2026-10-01"),
        ("Oct 1", "2026-10-01", "2026-10-01"),
        ("October 1, 2025", "2025-10-01", "2025-10-01"),
        ("1 October 2025", "2025-10-01", "2025-10-01"),
        ("1 Dec", "2025-12-01", "2025-12-01"),
        ("1 Oct to 15 Oct", "2026-10-01", "2026-10-15"),
        ("20 Dec to 5 Jan", "2025-12-20", "2026-01-05"),
        ("since monday", "2026-11-16", "2026-11-21"),
        ("since Sat", "2026-11-21", "2026-11-21"),
        ("since 1 Oct", "2026-10-01", "2026-11-21"),
        ("since October", "2026-10-01", "2026-11-21"),
        ("since last week", "2026-11-09", "2026-11-21"),
    ],
)
def test_a_period_has_both_its_ends(text: str, first: str, last: str) -> None:
    assert _read(text) == (first, last)


@pytest.mark.parametrize(
    "text",
    [
        *("2026-10-01 .. 2026-10-31", "  2026-10-01..2026-10-31  ", "2026-10-01...2026-10-31"),
        *("2026-10-01…2026-10-31", "2026-10-01–2026-10-31", "2026-10-01 – 2026-10-31"),
        *("2026-10-01—2026-10-31", "2026-10-01 - 2026-10-31", "2026-10-01 to 2026-10-31"),
        *("2026-10-01\tTO\n2026-10-31", "OCTOBER", "oct.", "OcTobEr   2026", "October, 2026"),
        *("Last  Month",),
    ],
)
def test_signs_spaces_and_capitals_do_not_matter(text: str) -> None:
    assert _read(text) == ("2026-10-01", "2026-10-31")


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("today", "2026-11-22", "2026-11-22"),
        ("yesterday", "2026-11-21", "2026-11-21"),
        ("7d", "2026-11-15", "2026-11-21"),
        ("this week", "2026-11-16", "2026-11-22"),
        ("2026-11-22", "2026-11-22", "2026-11-22"),
    ],
)
def test_which_day_today_is_is_up_to_the_zone(text: str, first: str, last: str) -> None:
    assert _read(text, TOKYO) == (first, last)


@given(st.dates(date(2005, 1, 1), date(2034, 12, 31)), MOMENTS, ZONES)
def test_a_day_means_the_same_however_it_is_written(day: date, now: datetime, zone: ZoneInfo) -> None:
    names = (f"{day.day} {day:%B} {day.year}", f"{day:%b} {day.day}, {day.year}", day.isoformat())
    if day > today(now, zone):
        for name in names:
            with pytest.raises(BadPeriod, match="hasn't come yet"):
                parse_period(name, now, zone)
        return
    assert {parse_period(name, now, zone) for name in names} == {Period(day, day + timedelta(days=1))}


@given(MOMENTS, ZONES, st.integers(0, 6), st.integers(1, 4))
def test_since_a_weekday_and_a_quarter_end_no_later_than_today(
    now: datetime, zone: ZoneInfo, weekday: int, quarter: int
) -> None:
    name = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")[weekday]
    since = parse_period(f"since {name}", now, zone)
    assert (since.first.weekday(), since.last) == (weekday, today(now, zone))
    assert since.days <= 7
    three_months = parse_period(f"Q{quarter}", now, zone)
    assert (three_months.first.month, three_months.first.day) == (3 * quarter - 2, 1)
    assert three_months.last <= today(now, zone)


@pytest.mark.parametrize(
    ("now", "text", "first", "last"),
    [
        (datetime(2027, 1, 1, tzinfo=UTC), "last month", "2026-12-01", "2026-12-31"),
        (datetime(2027, 1, 1, tzinfo=UTC), "this month", "2027-01-01", "2027-01-01"),
        (datetime(2027, 1, 1, tzinfo=UTC), "yesterday", "2026-12-31", "2026-12-31"),
        (datetime(2027, 1, 1, tzinfo=UTC), "December", "2026-12-01", "2026-12-31"),
        (datetime(2026, 11, 23, tzinfo=UTC), "this week", "2026-11-23", "2026-11-23"),
        (datetime(2026, 11, 23, tzinfo=UTC), "last week", "2026-11-16", "2026-11-22"),
        (datetime(2028, 3, 31, tzinfo=UTC), "last month", "2028-02-01", "2028-02-29"),
    ],
)
def test_words_are_right_on_the_first_and_the_last_days(
    now: datetime, text: str, first: str, last: str
) -> None:
    assert _read(text, LONDON, now) == (first, last)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0d", "from 1 to 366"),
        ("367d", "from 1 to 366"),
        ("2026-10-31..2026-10-01", "end comes before the beginning"),
        ("2026-11-22", "22 Nov 2026 hasn't come yet; today is 21 Nov"),
        ("2027-01", "1 Jan 2027 hasn't come yet; today is 21 Nov"),
        ("December 2026", "hasn't come yet"),
        ("9999-12-31", "the calendar has no such day"),
        ("2027", "1 Jan 2027 hasn't come yet"),
        ("Q4 2027", "1 Oct 2027 hasn't come yet"),
        ("1 December 2026", "1 Dec 2026 hasn't come yet; today is 21 Nov"),
        ("since 1 Dec 2026", "1 Dec 2026 hasn't come yet"),
        ("31 Feb", "the calendar has no such day"),
        ("0 Oct", "the calendar has no such day"),
        ("since 2024", "more than 366 days"),
        ("2025-11-20..2026-11-21", "more than 366 days"),
        ("2026-02-31", "the calendar has no such day"),
        ("2026-02-29", "the calendar has no such day"),
        ("2026-10-00", "the calendar has no such day"),
        ("2026-13", "the calendar has no such day"),
        ("0000-01-01", "the calendar has no such day"),
        ("1999-12-31", "or long ago"),
    ],
)
def test_what_cannot_be_asked_for_is_said_in_words(text: str, why: str) -> None:
    with pytest.raises(BadPeriod, match=re.escape(why)) as refused:
        parse_period(text, NOW, LONDON)
    assert not isinstance(refused.value, UnknownPeriod)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "nonsense",
        "..",
        "2026-10..",
        "..2026-10",
        "to",
        "oc",
        "octobre",
        "7",
        "7 weeks",
        "-7d",
        "7.5d",
        "20261005",
        "2026-W41",
        "2026-10-05T12:00",
        "10/05/2026",
        "２０２６-１０",
        "٧d",
        "2026-10-٠٥",
        "2026-09..2026-10..2026-11",
        "7d.." * 1_000 + "7d",
        "." * 4_000 + " x y",
        "9" * 5_000 + "d",
    ],
    ids=lambda text: text[:20] or "nothing",
)
def test_what_is_no_period_is_not_guessed_at(text: str) -> None:
    with pytest.raises(UnknownPeriod):
        parse_period(text, NOW, LONDON)


@given(TYPED)
@example("9999-12")
@example("7d.." * 1_000)
def test_any_text_is_a_period_until_today_or_refused_with_a_reason(text: str) -> None:
    read = _read_or_why(text)
    if isinstance(read, str):
        assert len(read) > 10
    else:
        assert read.last <= TODAY
        assert read.days <= MOST_DAYS


@given(st.dates(date(2024, 6, 1), TODAY), st.integers(0, 365))
def test_two_days_make_the_period_between_them(first: date, more: int) -> None:
    last = min(first + timedelta(days=more), TODAY)
    assert parse_period(f"{first}..{last}", NOW, LONDON) == Period(first, last + timedelta(days=1))


@given(st.integers(1, MOST_DAYS), MOMENTS, ZONES)
def test_so_many_days_are_whole_and_end_yesterday(count: int, now: datetime, zone: ZoneInfo) -> None:
    period = parse_period(f"{count}d", now, zone)
    assert (period.days, period.end) == (count, today(now, zone))


@given(MOMENTS, ZONES)
def test_this_week_goes_on_where_the_last_one_ended(now: datetime, zone: ZoneInfo) -> None:
    for unit in ("week", "month"):
        this, last = (parse_period(f"{which} {unit}", now, zone) for which in ("this", "last"))
        assert last.end == this.first <= this.last == today(now, zone)


@given(MOMENTS, ZONES)
def test_without_a_word_it_is_the_last_seven_full_days(now: datetime, zone: ZoneInfo) -> None:
    assert periods.days_before(today(now, zone), 7) == parse_period("7d", now, zone)
