"""Periods as people type them after /docs-visitors, with the clock held."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.visitors.grammar import BadPeriod, parse_period
from bot.visitors.model.periods import MAX_DAYS, Period, days_before
from tests.talk import Talk

NOW = datetime(2026, 11, 21, 23, 30, tzinfo=UTC)
"""Saturday evening in London, Sunday morning in Tokyo."""
TODAY = date(2026, 11, 21)
DAYS = st.dates(date(2005, 1, 1), date(2034, 12, 31))
PIECES = st.sampled_from(
    (
        *("7", "28", "d", "days", "today", "last", "this", "week", "month", "year", "quarter"),
        *("2026", "31", "29", "2026-10", "2026-10-05", "2026-02-31", "0000", "9999-12-31"),
        *("..", "...", "–", "to", "-", " ", "since", "monday", "Q3", "oct"),
        *("٣", "９", "\0", "`", "İ", "\ud800"),
    )
)
TYPED = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.lists(PIECES).map("".join),
    st.lists(PIECES).map(" ".join),
)
TYPED_AS = {
    "14–20 Nov 2026": ("", "7d", "last 7 days"),
    "24 Oct – 20 Nov 2026": ("28d", "the past 28 days"),
    "20 Nov 2025 – 20 Nov 2026": ("366d",),
    "21 Nov 2026": ("today", "2026-11-21"),
    "20 Nov 2026": ("yesterday",),
    "16–21 Nov 2026": ("this week",),
    "9–15 Nov 2026": ("last week",),
    "1–21 Nov 2026": ("this month",),
    "1–31 Oct 2026": (
        *("last month", "Last  Month", "2026-10-01..2026-10-31", "2026-10-01 .. 2026-10-31"),
        *("  2026-10-01..2026-10-31  ", "2026-10-01...2026-10-31", "2026-10-01…2026-10-31"),
        *("2026-10-01–2026-10-31", "2026-10-01 – 2026-10-31", "2026-10-01—2026-10-31"),
        *("2026-10-01 - 2026-10-31", "2026-10-01 to 2026-10-31", "2026-10-01\tTO\n2026-10-31"),
        "2026-10-1..2026-10-31",
    ),
    "5 Oct 2026": ("2026-10-05", "2026-10-05..2026-10-05"),
    "29 Feb 2024": ("2024-02-29",),
    "15 Oct – 21 Nov 2026": ("2026-10-15..today", "2026-10-15..2026-11-21"),
    "1 Oct – 20 Nov 2026": ("last month to yesterday",),
    "9–21 Nov 2026": ("last week to today",),
    "21 Nov 2025 – 21 Nov 2026": ("2025-11-21..2026-11-21",),
    "2025": ("last year",),
    "1 Jan – 21 Nov 2026": ("this year",),
    "1 Jul – 30 Sep 2026": ("last quarter",),
    "1 Oct – 21 Nov 2026": ("this quarter",),
}
"""The texts for each period."""
REFUSED = {
    "from 1 to 366": ("0d", "367d"),
    "end comes before the beginning": ("2026-10-31..2026-10-01", "today..yesterday"),
    "22 Nov 2026 hasn't come yet; today is 21 Nov": ("2026-11-22", "2026-11-22..2026-11-23"),
    "the calendar has no such day": (
        *("9999-12-31", "2026-02-31", "2026-02-29", "2026-10-00", "2026-13-01", "0000-01-01"),
    ),
    "more than 366 days": ("2025-11-20..2026-11-21",),
    "or long ago": ("1999-12-31",),
}
"""The texts that are refused for each reason."""
UNKNOWN = (
    *("nonsense at all", "..", "2026-10-01..", "..2026-10-01", "to", "oc", "7", "7 weeks"),
    *("7.5d", "20261005", "2026-W41", "2026-10-05T12:00", "10/05/2026", "２０２６-１０-０５", "٧d"),
    *("2026-10-٠٥", "2026-09-01..2026-10-01..2026-11-01", "7d.." * 1_000 + "7d", "9" * 5_000 + "d"),
    "." * 4_000 + " x y",
    # Other programs know these.
    *("October", "October 2025", "2026-10", "2025", "Q3", "Q3 2025", "1 Oct", "1 Oct to 15 Oct"),
    *("Oct 1, 2025", "since 1 Oct", "since last week"),
)


async def read(talk: Talk, text: str) -> str:
    """Type a period; return the days that are read, or the reason for a refusal."""
    answer = await talk.ana.answer_to(f"/docs-visitors {text}")
    days = answer.partition("who read the docs, ")[2].partition(". I'll answer here")[0]
    return days or answer.partition("\n")[0]


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    talk.time.at = NOW
    return talk


async def test_period_is_read_as_people_write_it(talk: Talk) -> None:
    texts = [text for texts in TYPED_AS.values() for text in texts]
    expected = {text: days for days, texts in TYPED_AS.items() for text in texts}
    assert {text: await read(talk, text) for text in texts} == expected


async def test_today_depends_on_the_zone(talk: Talk) -> None:
    await talk.process.starts(analytics_zone="Asia/Tokyo")
    expected = {"today": "22 Nov 2026", "yesterday": "21 Nov 2026", "2026-11-22": "22 Nov 2026"}
    expected |= {"7d": "15–21 Nov 2026", "this week": "16–22 Nov 2026"}
    assert {text: await read(talk, text) for text in expected} == expected


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (
            datetime(2027, 1, 1, tzinfo=UTC),
            {
                "last month": "1–31 Dec 2026",
                "this month": "1 Jan 2027",
                "yesterday": "31 Dec 2026",
            },
        ),
        (
            datetime(2026, 11, 23, tzinfo=UTC),
            {"this week": "23 Nov 2026", "last week": "16–22 Nov 2026"},
        ),
        (datetime(2028, 3, 31, tzinfo=UTC), {"last month": "1–29 Feb 2028"}),
    ],
)
async def test_relative_periods_hold_on_first_and_last_days(
    talk: Talk, now: datetime, expected: dict[str, str]
) -> None:
    talk.time.at = now
    assert {text: await read(talk, text) for text in expected} == expected


async def test_refused_period_has_its_reason(talk: Talk) -> None:
    for reason, texts in REFUSED.items():
        for text in texts:
            assert reason in await read(talk, text)


async def test_unknown_period_has_one_example(talk: Talk) -> None:
    for text in UNKNOWN:
        answer = await read(talk, text)
        assert answer.startswith("I don't know the period `"), text
        assert answer.endswith("`. Try `2026-10-01..2026-10-31`."), text


@given(TYPED)
@example("9999-12-31")
@example("7d.." * 1_000)
def test_any_text_is_a_past_period_or_refused(text: str) -> None:
    try:
        period = parse_period(text, TODAY)
    except BadPeriod:
        return
    assert period.last <= TODAY
    assert period.days <= MAX_DAYS


@given(DAYS, st.integers(0, 365), DAYS)
def test_iso_days_are_a_day_or_a_range(first: date, more: int, today: date) -> None:
    if first > today:
        with pytest.raises(BadPeriod, match="hasn't come yet"):
            parse_period(first.isoformat(), today)
        return
    assert parse_period(first.isoformat(), today) == Period(first, first + timedelta(days=1))
    last = min(first + timedelta(days=more), today)
    assert parse_period(f"{first}..{last}", today) == Period(first, last + timedelta(days=1))


@given(DAYS, st.integers(1, MAX_DAYS))
def test_relative_periods_are_whole_and_end_by_today(today: date, count: int) -> None:
    period = parse_period(f"{count}d", today)
    assert (period.days, period.end) == (count, today)
    assert days_before(today, 7) == parse_period("7d", today)
    for unit in ("week", "month", "quarter", "year"):
        this, last = (parse_period(f"{which} {unit}", today) for which in ("this", "last"))
        assert last.end == this.first <= this.last == today
