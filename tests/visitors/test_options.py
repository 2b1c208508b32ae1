"""Texts after /docs-visitors: options of a question, weekly times, and the answer to a malformed one."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from itertools import permutations
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.visitors.grammar import Misunderstood, parse_query, parse_weekly
from bot.visitors.model.questions import MAX_TOP
from tests.talk import Talk
from tests.work.readers import DAY

NOW = datetime(2026, 11, 21, 23, 30, tzinfo=UTC)
"""Saturday evening in Berlin is Sunday already."""
TODAY = NOW.date()
WEEK, OCTOBER = "14–20 Nov 2026", "1–31 Oct 2026"
EVIL = (
    *(
        "<!channel>",
        "<!here|here>",
        "<@U0EVE>",
        "<#C0DOCS|docs>",
        "<https://evil.example|docs>",
        "@channel",
    ),
    *(
        "https://evil.example",
        "*bold*",
        "_it_",
        "~no~",
        "`",
        "```",
        "&lt;!channel&gt;",
        "&",
        ">",
        ":smile:",
    ),
    *("\n", "\u2028", "\u202e", "\0", "\ud800", "\u200d", "\U000e0041"),
)
WORDS = (
    *(
        "top",
        "sort",
        "path",
        "csv",
        "compare",
        "here",
        "none",
        "last",
        "week",
        "month",
        "28d",
        "2026-09",
        "to",
    ),
    *(
        "20",
        "ai",
        "/api",
        "/",
        "*",
        "monday",
        "9:30",
        "pm",
        "25:00",
        "Europe/Berlin",
        "every",
        "2026-02-31",
    ),
    *("0000000001", "9" * 5_000, "٣", "²", "October", "2025", "..", "9999-12", "/" * 400),
)
PIECES = st.lists(st.sampled_from((*EVIL, *WORDS)), max_size=9)
TYPED = st.one_of(
    st.text(st.characters(exclude_categories=())),
    PIECES.map(" ".join),
    PIECES.map("".join),
    st.text("topm: /`<@"),
)


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    """Return a conversation about a site whose pages are read every week."""
    talk.time.at = NOW
    talk.service.site.fill(30, TODAY - 90 * DAY, TODAY)
    return talk


async def answer_to(talk: Talk, text: str) -> str:
    """Ask; return the answer with the line about its file, without the progress note before it."""
    await talk.ana.types(f"/docs-visitors {text}")
    await talk.time.passes(4)
    [answer] = [
        note
        for note in talk.ana.reads()
        if not note.message.get("files") and "I'll answer here" not in note
    ]
    return str(answer)


async def options_of(talk: Talk, text: str) -> tuple[str, str, int, str, str]:
    """Return the period of an answer, the period that it is compared with, its rows, order and file."""
    answer = await answer_to(talk, text)
    [period] = re.findall(r"Who read the docs, ([^*]+)\*", answer)
    compared = re.findall(r"ompared with ([^:,\n]+)", answer)
    order = re.findall(r"most (.+) first", answer)
    file = re.findall(r"The CSV file comes in (.+?)\.", answer)
    row_count = len(re.findall(r"^\d+\. ", answer, re.MULTILINE))
    return period, "".join(compared), row_count, "".join(order), "".join(file)


async def test_default_question_is_the_last_full_week_in_every_form(talk: Talk) -> None:
    texts = ("", "   ", "compare", "sort total", "top 5", "/", "path /*", "7d")
    assert len({await answer_to(talk, text) for text in texts}) == 1
    assert await options_of(talk, "") == (WEEK, "7–13 Nov 2026", 5, "", "")


async def test_option_changes_its_own_part_of_the_answer(talk: Talk) -> None:
    before, september = "7–13 Nov 2026", "1–30 Sep 2026"
    expected = {
        "top 20": (WEEK, before, 20, "", ""),
        "compare top 20": (WEEK, before, 20, "", ""),
        "sort ai": (WEEK, before, 5, "AI agents", ""),
        "Sort HUMAN": (WEEK, before, 5, "people", ""),
        "sort people": (WEEK, before, 5, "people", ""),
        "csv": (WEEK, before, 5, "", "our direct messages"),
        "csv here": (WEEK, before, 5, "", "this channel"),
        "csv compare none": (WEEK, "", 5, "", "our direct messages"),
        "compare none": (WEEK, "", 5, "", ""),
        "compare last month": (WEEK, OCTOBER, 5, "", ""),
        "compare 2026-10-01 .. 2026-10-31": (WEEK, OCTOBER, 5, "", ""),
        "compare 2026-10-01 to 2026-10-31": (WEEK, OCTOBER, 5, "", ""),
        "last month": (OCTOBER, september, 5, "", ""),
        "last month compare": (OCTOBER, september, 5, "", ""),
        "last top 20 month": (OCTOBER, september, 20, "", ""),
        "28d compare last month": ("24 Oct – 20 Nov 2026", OCTOBER, 5, "", ""),
        "last month compare last month": (OCTOBER, OCTOBER, 5, "", ""),
    }
    assert {text: await options_of(talk, text) for text in expected} == expected
    talk.everything()


async def test_options_come_in_any_order(talk: Talk) -> None:
    options = [
        "last week",
        "compare 2026-09-01 - 2026-10-31 top 20",
        "/page-1*",
        "csv here",
        "sort ai",
    ]
    answer = await answer_to(talk, " ".join(options))
    assert "most AI agents first" in answer
    for seed in range(12):
        text = " ".join(random.Random(seed).sample(options, len(options)))
        assert await answer_to(talk, text) == answer, text
    talk.everything()


SECTIONS = {
    "/api": (
        *(
            "path /api",
            "/api",
            "path api",
            "path /api/",
            "/api/*",
            "/api/**",
            "//api",
            "path `/api`",
        ),
        "path https://docs.example/api",
    ),
    "/API/Keys": ("path /API/Keys",),
    "/api*": ("/api*",),
}
"""The texts for each section."""


async def test_section_is_the_same_in_every_form(talk: Talk) -> None:
    for section, texts in SECTIONS.items():
        for text in texts:
            assert f"pages under `{section}`, {WEEK}" in await answer_to(talk, text)
            assert f"for pages under `{section}`" in await subscribe(talk, text)
    for text in ("path /", "path https://docs.example"):
        assert (await options_of(talk, text))[:2] == (WEEK, "7–13 Nov 2026")
        assert "under" not in await subscribe(talk, text)
    talk.everything()


async def test_quotes_of_a_phone_are_no_part_of_the_path(talk: Talk) -> None:
    assert f"pages under `/api`, {WEEK}" in await answer_to(talk, "path “/api”")


async def test_days_are_those_of_the_zone(talk: Talk) -> None:
    await talk.process.starts(analytics_zone="Europe/Berlin")
    assert (await options_of(talk, "yesterday compare 2026-11-20"))[:2] == (
        "21 Nov 2026",
        "20 Nov 2026",
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("top", "`top` takes 1 to 20. For all pages, use `csv`."),
        ("top 0", "`top` takes"),
        ("top 21", "`top` takes"),
        ("top 000000001" + "0" * 5_000, "`top` takes"),
        ("top ٣", "`top` takes"),
        ("top ten", "`top` takes"),
        ("sort", "`sort` takes `human`, `ai` or `total`."),
        ("path", "`path` takes"),
        ("/" + "a" * 300, "too long"),
        ("/a\0b", "nobody can see"),
        ("path /a\u202eb", "nobody can see"),
        ("next year", "I don't know the period `next year`. Try `2026-10-01..2026-10-31`."),
        ("last month top 5 please", "I don't know the period `last month please`"),
        ("2026-10-31..2026-10-01", "the end comes before the beginning"),
        ("2027-01-01", "1 Jan 2027 hasn't come yet"),
        ("2026-02-31", "the calendar has no such day"),
        ("compare 2027-01-01", "1 Jan 2027 hasn't come yet"),
        ("compare 2026-02-31 top 5", "I can't compare with `2026-02-31`"),
        ("compare nonsense", "I can't compare with `nonsense`"),
    ],
    ids=lambda text: text[:30],
)
async def test_malformed_question_has_a_clear_answer(talk: Talk, text: str, reason: str) -> None:
    assert reason in await talk.ana.answer_to(f"/docs-visitors {text}")
    assert talk.service.calls == []


@pytest.mark.parametrize(
    ("text", "guess", "label"),
    [
        ("lastweek", "last week", "Show last week"),
        ("last weeek top 3", "last week top 3", "Show last week top 3"),
        ("thisquarter", "this quarter", "Show this quarter"),
        ("moonday", "subscribe monday", "Subscribe monday"),
        ("monday 9:30", "subscribe monday 9:30", "Subscribe monday 9:30"),
        ("serches last month", "searches last month", "Show searches last month"),
        ("subscribe moonday 09:00", "subscribe monday 09:00", "Subscribe monday 09:00"),
        ("puase", "pause", "Pause"),
        ("last week sort humn", "last week sort human", "Show last week sort human"),
    ],
)
async def test_near_miss_has_a_button_for_the_guess(
    talk: Talk, text: str, guess: str, label: str
) -> None:
    note = await talk.ana.answer_to(f"/docs-visitors {text}")
    assert note == f"Did you mean {guess}?"
    assert note.buttons == [label]
    assert talk.service.calls == []
    await talk.ana.presses(label, on=note)
    await talk.time.passes(20)
    assert any(post for post in (*talk.ana.reads(), *talk.channel()) if "Did you mean" not in post)
    talk.everything()


async def test_name_of_a_page_has_a_button_for_its_path(talk: Talk) -> None:
    talk.service.site.read("/quickstart", TODAY - 7 * DAY, TODAY - DAY, people=9)
    note = await talk.ana.answer_to("/docs-visitors quickstart")
    assert note == "I don't know the period `quickstart`. Try `2026-10-01..2026-10-31`."
    assert note.buttons == ["Show path /quickstart"]
    await talk.ana.presses("Show path /quickstart", on=note)
    await talk.time.passes(20)
    assert "Who read the docs under `/quickstart`" in talk.ana.reads()[-1]


async def test_misspelt_help_is_one_press_away(talk: Talk) -> None:
    note = await talk.ana.answer_to("/docs-visitors hepl")
    assert note == "Did you mean `/docs-visitors help`?"
    await talk.ana.presses("help", note)
    [answer] = talk.ana.reads()
    assert "`/docs-visitors`" in answer


@pytest.mark.parametrize(
    "text",
    ["October", "vor drei Tagen", "7d top 25", "last week sort quickly", "unsubscribe 09:00"],
)
async def test_text_without_a_guess_has_no_button(talk: Talk, text: str) -> None:
    note = await talk.ana.answer_to(f"/docs-visitors {text}")
    assert "\n" not in note
    assert note.buttons == []


async def subscribe(talk: Talk, text: str) -> str:
    """Type a weekly time; return when the digest comes."""
    answer = await talk.ana.answer_to(f"/docs-visitors subscribe {text}")
    return answer.partition(" every ")[2].strip("….")


WEEKLY_TIMES = {
    "Monday at 09:00 (Berlin)": ("", "monday 09:00", "9h"),
    "Tuesday at 17:05 (Berlin)": ("every tuesday at 17:05",),
    "Friday at 09:00 (Berlin)": ("fri 9am",),
    "Sunday at 21:30 (Berlin)": ("sunday 9:30 pm", "SUNDAYS 9.30pm"),
    "Monday at 00:00 (Berlin)": ("12am", "0:00"),
    "Monday at 12:15 (Berlin)": ("12:15pm",),
    "Monday at 23:59 (Berlin)": ("23:59",),
    "Monday at 09:00 (UTC)": ("utc",),
    "Monday at 09:00 (Kolkata)": ("asia/KOLKATA",),
    "Wednesday at 09:00 (Buenos Aires)": ("america/argentina/buenos_aires we",),
    "Thursday at 09:00 (Berlin), for pages under `/guides`": ("/guides thu",),
    "Monday at 09:00 (Berlin), for pages under `/api`": ("monday 09:00 Europe/Berlin path /api",),
}
"""The texts for each weekly time; Ana's own zone is Berlin."""


async def test_weekly_time_is_read_as_people_write_it(talk: Talk) -> None:
    expected = {text: weekly for weekly, texts in WEEKLY_TIMES.items() for text in texts}
    assert {text: await subscribe(talk, text) for text in expected} == expected
    for day in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"):
        for length in range(2, len(day) + 1):
            assert await subscribe(talk, day[:length]) == f"{day} at 09:00 (Berlin)"
    talk.everything()


async def test_words_of_a_subscription_come_in_any_order(talk: Talk) -> None:
    for parts in permutations(["friday", "8:15 pm", "Australia/Lord_Howe", "path /api"]):
        expected = "Friday at 20:15 (Lord Howe), for pages under `/api`"
        assert await subscribe(talk, " ".join(parts)) == expected
    talk.everything()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("24:00", "`24:00` isn't a time. Try `/docs-visitors subscribe monday 09:00`."),
        ("9:60", "`9:60` isn't a time"),
        ("13pm", "`13pm` isn't a time"),
        (
            "someday",
            "I don't know the word `someday`. Try `/docs-visitors subscribe monday 09:00`.",
        ),
        ("t 09:00", "I don't know the word `t`"),
        ("pm", "I don't know the word `pm`"),
        ("9:5", "I don't know the word `9:5`"),
        ("٩:٣٠", "I don't know the word `٩:٣٠`"),
        ("Europe/Atlantis", "I don't know the time zone `Europe/Atlantis`. Try `Europe/Berlin`."),
        ("../../etc/passwd", "I don't know the time zone"),
        ("localtime", "I don't know the word `localtime`"),
        ("path", "`path` takes"),
        ("monday friday", "one weekday, and here are 2"),
        ("9:00 17:00", "one time, and here are 2"),
        ("utc Europe/Berlin", "one time zone, and here are 2"),
        ("/api path /guides", "one path, and here are 2"),
    ],
)
async def test_malformed_weekly_time_has_a_clear_answer(talk: Talk, text: str, reason: str) -> None:
    assert reason in await talk.ana.answer_to(f"/docs-visitors subscribe {text}")
    await talk.time.passes(5)
    assert talk.channel() == []


def test_every_zone_is_read_in_any_case() -> None:
    zones = {name for name in available_timezones() if "/" in name}
    assert {parse_weekly(name.lower()).zone for name in zones} == zones
    assert {parse_weekly(name.upper()).zone for name in zones} == zones


@given(TYPED)
def test_any_text_is_malformed_or_can_be_stored(text: str) -> None:
    with suppress(Misunderstood):
        query = parse_query(text, TODAY)
        assert 1 <= query.top <= MAX_TOP
        assert query.period.last <= TODAY
        assert _can_be_stored(query.section)
    with suppress(Misunderstood):
        weekly = parse_weekly(text)
        assert weekly.zone is None or ZoneInfo(weekly.zone).key == weekly.zone
        assert _can_be_stored(weekly.section)


@given(
    TYPED,
    st.sampled_from(EVIL),
    st.sampled_from(["", "top", "path /x", "compare", "compare 2099-01", "25:00"]),
)
def test_quoted_text_neither_pings_nor_links(text: str, evil: str, begun: str) -> None:
    for answer in _refusals(f"{begun} {evil}{text} {evil}"):
        outside = re.sub("`[^`]+`", "", answer)
        assert re.fullmatch("[A-Za-z0-9 .,:;'()/_-]*", outside), answer
        assert not re.search("[<>\n\0\u202e\u2028\ud800]|&(?!amp;|lt;|gt;)", answer), answer
        assert len(answer) < 1_000


def _refusals(text: str) -> Iterable[str]:
    for parse in (lambda text: parse_query(text, TODAY), parse_weekly):
        try:
            parse(text)
        except Misunderstood as why:
            yield str(why)


def _can_be_stored(section: str | None) -> bool:
    """Return whether both databases take it: PostgreSQL has no NUL, and UTF-8 no surrogates."""
    return section is None or (
        "\0" not in section and section.encode().decode() == section and len(section) <= 301
    )


@pytest.mark.parametrize("path", ["“/api”", '"/api"', "‘/api’", "«/api»"])
async def test_quotation_marks_around_a_path_are_no_part_of_it(talk: Talk, path: str) -> None:
    await talk.ana.types(f"/docs-visitors path {path}")
    await talk.time.passes(30)
    [answer] = [note for note in talk.ana.reads() if "Reading" not in note]
    assert "`/api`" in answer
    assert path not in answer
