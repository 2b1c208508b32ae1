"""What people type after /docs-visitors, and what they read when it is not understood."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import TypeVar
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.visitors.model import MOST_TOP, FileTo, Query, SortBy, Weekday, WeeklyRequest
from bot.visitors.options import Misunderstood, parse_query, parse_weekly
from bot.visitors.periods import Period
from tests.talk import Talk

NOW = datetime(2026, 11, 21, 23, 30, tzinfo=UTC)
"""Saturday evening in Berlin is Sunday already."""
UTC_ZONE, BERLIN = ZoneInfo("UTC"), ZoneInfo("Europe/Berlin")
WEEK = Period(date(2026, 11, 14), date(2026, 11, 21))
OCTOBER = Period(date(2026, 10, 1), date(2026, 11, 1))
DEFAULT = Query(WEEK, WEEK.before())
EVIL = (
    *("<!channel>", "<!here|here>", "<@U0EVE>", "<#C0DOCS|docs>", "<https://evil.example|docs>", "@channel"),
    *("https://evil.example", "*bold*", "_it_", "~no~", "`", "```", "&lt;!channel&gt;", "&", ">", ":smile:"),
    *("\n", "\u2028", "\u202e", "\0", "\ud800", "\u200d", "\U000e0041"),
)
WORDS = (
    *(
        *("top", "sort", "path", "csv", "compare", "here", "none", "last", "week", "month", "28d"),
        *("2026-09", "to"),
    ),
    *("20", "ai", "/api", "/", "*", "monday", "9:30", "pm", "25:00", "Europe/Berlin", "every", "2026-02-31"),
    *("0000000001", "9" * 5_000, "٣", "²", "October", "2025", "..", "9999-12", "/" * 400),
)
PIECES = st.lists(st.sampled_from((*EVIL, *WORDS)), max_size=9)
TYPED = st.one_of(
    st.text(st.characters(exclude_categories=())),
    PIECES.map(" ".join),
    PIECES.map("".join),
    st.text("topm: /`<@"),
)
Read = TypeVar("Read")


def _ask(text: str, zone: ZoneInfo = UTC_ZONE) -> Query:
    return parse_query(text, NOW.astimezone(zone).date())


@pytest.mark.parametrize("text", ["", "   ", "compare", "sort total", "top 5", "/", "path /*", "7d"])
def test_nothing_more_means_the_last_seven_days_against_those_before(text: str) -> None:
    assert _ask(text) == DEFAULT


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("top 20", replace(DEFAULT, top=20)),
        ("sort ai", replace(DEFAULT, sort=SortBy.AI)),
        ("Sort HUMAN", replace(DEFAULT, sort=SortBy.HUMAN)),
        ("sort people", replace(DEFAULT, sort=SortBy.HUMAN)),
        ("csv", replace(DEFAULT, file_to=FileTo.PRIVATE)),
        ("csv here", replace(DEFAULT, file_to=FileTo.CHANNEL)),
        ("csv compare none", replace(DEFAULT, file_to=FileTo.PRIVATE, compared=None)),
        ("compare none", replace(DEFAULT, compared=None)),
        ("compare last month", replace(DEFAULT, compared=OCTOBER)),
        ("compare 2026-10", replace(DEFAULT, compared=OCTOBER)),
        ("compare October 2026", replace(DEFAULT, compared=OCTOBER)),
        ("compare 2026-10-01 .. 2026-10-31", replace(DEFAULT, compared=OCTOBER)),
        ("compare October 2026 to October 2026", replace(DEFAULT, compared=OCTOBER)),
        ("compare top 20", replace(DEFAULT, top=20)),
        ("last month", Query(OCTOBER, Period(date(2026, 9, 1), date(2026, 10, 1)))),
        ("last month compare", Query(OCTOBER, OCTOBER.before())),
        ("last top 20 month", Query(OCTOBER, OCTOBER.before(), top=20)),
        ("28d compare 2026-10", Query(Period(date(2026, 10, 24), date(2026, 11, 21)), OCTOBER)),
        ("last month compare last month", Query(OCTOBER, OCTOBER)),
    ],
)
def test_each_option_changes_its_own_part_of_the_question(text: str, query: Query) -> None:
    assert _ask(text) == query


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("path /api", "/api"),
        ("/api", "/api"),
        ("path api", "/api"),
        ("path /api/", "/api"),
        ("/api/*", "/api"),
        ("/api/**", "/api"),
        ("//api", "/api"),
        ("path `/api`", "/api"),
        ("path https://docs.example/api", "/api"),
        ("path /API/Keys", "/API/Keys"),
        ("/api*", "/api*"),
        ("path /", None),
        ("path https://docs.example", None),
    ],
)
def test_a_section_is_the_same_however_it_is_written(text: str, section: str | None) -> None:
    assert _ask(text).section == section
    assert parse_weekly(text).section == section


def test_the_days_are_those_of_the_zone() -> None:
    assert _ask("today", BERLIN).period.first == date(2026, 11, 22)
    assert _ask("compare yesterday", BERLIN).compared == Period(date(2026, 11, 21), date(2026, 11, 22))


@given(
    st.sampled_from(["last week", "October 2025", "28d", "2026-10-01..2026-10-15", "Sep to Oct"]),
    st.sampled_from(["compare 2026-09", "compare last month", "compare none", "compare Sep - Oct"]),
    st.sampled_from(["/api", "path /api", "path Guides"]),
    st.sampled_from(["csv", "csv here"]),
    st.data(),
)
def test_options_come_in_any_order(
    period: str, compare: str, path: str, csv: str, data: st.DataObject
) -> None:
    options = [period, f"{compare} top 20", path, csv, "sort ai"]
    query = _ask(" ".join(options))
    assert query.top == 20
    assert query.period != WEEK
    assert _ask(" ".join(data.draw(st.permutations(options)))) == query


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("top", "After `top` comes a number from 1 to 20"),
        ("top 0", "After `top`"),
        ("top 21", "After `top`"),
        ("top 000000001" + "0" * 5_000, "After `top`"),
        ("top ٣", "After `top`"),
        ("top ten", "After `top`"),
        ("sort", "After `sort` comes `human`, `ai` or `total`"),
        ("path", "After `path`"),
        ("/" + "a" * 300, "too long"),
        ("/a\0b", "nobody can see"),
        ("path /a\u202eb", "nobody can see"),
        ("yesteryear", "I don't know the period `yesteryear`: try last week"),
        ("last month top 5 please", "I don't know the period `last month please`"),
        ("2026-10-31..2026-10-01", "the end comes before the beginning"),
        ("2027-01", "2027 hasn't come yet"),
        ("2026-02-31", "the calendar has no such day"),
        ("compare 2027-01", "1 Jan 2027 hasn't come yet"),
        ("compare 2026-02-31 top 5", "I can't compare with `2026-02-31`"),
        ("compare nonsense", "I can't compare with `nonsense`"),
    ],
    ids=lambda text: text[:30],
)
async def test_a_question_that_is_none_gets_a_clear_answer(talk: Talk, text: str, why: str) -> None:
    assert why in await talk.ana.answer_to(f"/docs-visitors {text}")
    assert talk.service.calls == []


@given(TYPED)
def test_any_text_is_a_question_that_can_be_kept_or_misunderstood(text: str) -> None:
    query = _understood(_ask, text)
    if query is not None:
        assert 1 <= query.top <= MOST_TOP
        assert query.period.last <= NOW.date()
        assert _can_be_kept(query.section)


@given(TYPED)
def test_any_text_is_a_weekly_time_that_can_be_kept_or_misunderstood(text: str) -> None:
    weekly = _understood(parse_weekly, text)
    if weekly is not None:
        assert weekly.zone is None or ZoneInfo(weekly.zone).key == weekly.zone
        assert _can_be_kept(weekly.section)


@given(
    TYPED,
    st.sampled_from(EVIL),
    st.sampled_from(["", "top", "path /x", "compare", "compare 2099-01", "25:00"]),
)
def test_nothing_that_was_typed_pings_links_or_leaves_its_code(text: str, evil: str, begun: str) -> None:
    typed = f"{begun} {evil}{text} {evil}"
    for parse in (_ask, parse_weekly):
        told = _told(parse, typed)
        outside = re.sub("`[^`]+`", "", told)
        assert re.fullmatch("[A-Za-z0-9 .,:;'()/_-]*", outside), told
        assert not re.search("[<>\n\0\u202e\u2028\ud800]|&(?!amp;|lt;|gt;)", told), told
        assert len(told) < 1_000


@pytest.mark.parametrize(
    ("text", "weekly"),
    [
        ("", WeeklyRequest()),
        ("monday 09:00", WeeklyRequest()),
        (
            "monday 09:00 Europe/Berlin path /api",
            WeeklyRequest(Weekday.MONDAY, time(9), "Europe/Berlin", "/api"),
        ),
        ("every tuesday at 17:05", WeeklyRequest(Weekday.TUESDAY, time(17, 5))),
        ("fri 9am", WeeklyRequest(Weekday.FRIDAY, time(9))),
        ("sunday 9:30 pm", WeeklyRequest(Weekday.SUNDAY, time(21, 30))),
        ("SUNDAYS 9.30pm", WeeklyRequest(Weekday.SUNDAY, time(21, 30))),
        ("12am", WeeklyRequest(at=time(0))),
        ("12:15pm", WeeklyRequest(at=time(12, 15))),
        ("0:00", WeeklyRequest(at=time(0))),
        ("23:59", WeeklyRequest(at=time(23, 59))),
        ("9h", WeeklyRequest()),
        ("utc", WeeklyRequest(zone="UTC")),
        ("asia/KOLKATA", WeeklyRequest(zone="Asia/Kolkata")),
        (
            "america/argentina/buenos_aires we",
            WeeklyRequest(Weekday.WEDNESDAY, zone="America/Argentina/Buenos_Aires"),
        ),
        ("/guides thu", WeeklyRequest(Weekday.THURSDAY, section="/guides")),
    ],
)
def test_a_weekly_time_is_read_as_people_write_it(text: str, weekly: WeeklyRequest) -> None:
    assert parse_weekly(text) == weekly


@given(st.permutations(["friday", "8:15 pm", "Australia/Lord_Howe", "path /api"]))
def test_the_words_of_a_subscription_come_in_any_order(words: list[str]) -> None:
    meant = WeeklyRequest(Weekday.FRIDAY, time(20, 15), "Australia/Lord_Howe", "/api")
    assert parse_weekly(" ".join(words)) == meant


@pytest.mark.parametrize("day", Weekday)
def test_a_weekday_is_known_by_its_first_letters(day: Weekday) -> None:
    name = day.name.capitalize()
    assert {parse_weekly(name[:length]).weekday for length in range(2, len(name) + 1)} == {day}


def test_every_zone_is_known_in_any_case() -> None:
    zones = {name for name in available_timezones() if "/" in name}
    assert {parse_weekly(name.lower()).zone for name in zones} == zones
    assert {parse_weekly(name.upper()).zone for name in zones} == zones


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("24:00", "There is no time `24:00`"),
        ("9:60", "There is no time `9:60`"),
        ("13pm", "There is no time `13pm`"),
        ("someday", "I don't know the word `someday`. Try a weekday"),
        ("t 09:00", "I don't know the word `t`"),
        ("pm", "I don't know the word `pm`"),
        ("9:5", "I don't know the word `9:5`"),
        ("٩:٣٠", "I don't know the word `٩:٣٠`"),
        ("Europe/Atlantis", "I don't know the time zone `Europe/Atlantis`. Try `Europe/Berlin`."),
        ("../../etc/passwd", "I don't know the time zone"),
        ("localtime", "I don't know the word `localtime`"),
        ("path", "After `path`"),
        ("monday friday", "one weekday, and here are 2"),
        ("9:00 17:00", "one time, and here are 2"),
        ("utc Europe/Berlin", "one time zone, and here are 2"),
        ("/api path /guides", "one path, and here are 2"),
    ],
)
async def test_a_weekly_time_that_is_none_gets_a_clear_answer(talk: Talk, text: str, why: str) -> None:
    assert why in await talk.ana.answer_to(f"/docs-visitors subscribe {text}")
    await talk.time.passes(5)
    assert talk.channel() == []


def _understood(parse: Callable[[str], Read], text: str) -> Read | None:
    try:
        return parse(text)
    except Misunderstood:
        return None


def _told(parse: Callable[[str], object], text: str) -> str:
    """What a person reads; nothing when it was understood."""
    try:
        parse(text)
    except Misunderstood as why:
        return str(why)
    return ""


def _can_be_kept(section: str | None) -> bool:
    """Whether both databases take it: PostgreSQL has no NUL, and UTF-8 no halves of signs."""
    return section is None or (
        "\0" not in section and section.encode().decode() == section and len(section) <= 301
    )
