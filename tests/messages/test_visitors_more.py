"""Who reads the docs: what is never compared, what is worth knowing, and what stands behind *More*."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from bot.messages.visitors import NO_CHART_BUDGET, more
from bot.messages.visitors import report as answer_of
from bot.model.questions import Comparison, FileTo, Movements, Report
from bot.model.visitors import Counts, PageCounts, Period
from tests.builders import BEN
from tests.messages.slack_limits import Allowed, problems_of
from tests.messages.test_visitors import lines, more_lines, points, small_print, small_print_of, text
from tests.messages.visitor_samples import (
    QUESTION,
    WEEK,
    cells,
    chart,
    elements,
    page,
    report,
    snapshot,
)

LONGER = Period(date(2026, 9, 1), date(2026, 10, 1))
TODAY = Period(date(2026, 11, 2), date(2026, 11, 3))
YEAR = Period(date(2025, 1, 1), date(2026, 1, 1))
YESTERDAY = Period(date(2026, 11, 1), date(2026, 11, 2))


def unfair() -> Report:
    """A week beside a month, which cannot be compared."""
    top = tuple(replace(each, was=None) for each in report().top)
    return report(query={"compared": LONGER}, was=snapshot(LONGER), comparison=Comparison.LENGTHS, top=top)


def test_without_a_comparison_no_changes_are_shown() -> None:
    answer = report(query={"compared": None}, was=None, before=None)
    assert "compared" not in text(answer)
    assert (
        lines(answer)[1] == "*4,500 visitors* · 1,200 people · 3,400 AI agents · AI's share 76% · 812 pages"
    )
    assert "1. `/quickstart` *950 visitors* · 300 people · 700 AI agents" in lines(answer)
    assert cells(more(answer, QUESTION).blocks)[0] == ["Page", "All together", "People", "AI agents"]


def test_periods_of_different_length_are_shown_side_by_side_and_never_compared() -> None:
    assert lines(unfair())[0].endswith("2026*, 7 days · before: 30 days, 4,300 visitors")
    assert "Before, 1–30 Sep 2026: 1,000 people, 3,500 AI agents, 4,300 in all" in more_lines(unfair())
    said = text(unfair()) + more(unfair(), QUESTION).text
    assert "compared with" not in said
    assert not {"+", "−", "(new)", "Change"} & set(said)


def test_a_day_that_is_not_over_says_so_far_today_in_its_heading_and_is_not_compared() -> None:
    answer = report(query={"period": TODAY, "compared": YESTERDAY}, is_open=True)
    assert lines(answer)[0] == "*Who read the docs so far today, 2 Nov 2026*"
    assert (
        "1 Nov 2026 had 1,000 people, 3,500 AI agents, 4,300 in all. "
        "Not compared, because this one isn't over."
    ) in small_print(answer)


def test_several_days_that_are_not_over_say_so_in_their_heading() -> None:
    answer = report(query={"period": WEEK, "compared": None}, is_open=True, before=None, was=None)
    assert lines(answer)[0] == "*Who read the docs, 26 Oct – 1 Nov 2026, so far*"


def test_with_a_section_the_whole_site_stands_over_its_totals_and_its_chart() -> None:
    message = answer_of(report(query={"section": "/api"}, chart=points(WEEK)), QUESTION)
    assert "\nWhole site: *4,500 visitors*" in message.blocks[0]["text"]["text"]
    drawn = chart(message.blocks)
    assert drawn is not None
    assert drawn["title"] == "Whole site: unique visitors by day"
    assert "hole site" not in text(report(chart=points(WEEK)))


@pytest.mark.parametrize(
    ("query", "values", "said"),
    [
        ({}, {}, "The docs service has no visits for 26 Oct – 1 Nov 2026."),
        ({"period": TODAY}, {"is_open": True}, "The docs service has no visits for 2 Nov 2026 so far."),
        ({"period": YEAR, "label": "Acme"}, {}, "The docs service has no visits of Acme for 2025."),
        (
            {"file_to": FileTo.PRIVATE},
            {},
            (
                "The docs service has no visits for 26 Oct – 1 Nov 2026. "
                "The CSV file comes in our direct messages."
            ),
        ),
    ],
)
def test_a_period_without_visits_is_one_sentence(
    query: dict[str, object], values: dict[str, object], said: str
) -> None:
    empty = report(query=query, site=Counts(0, 0, 0), top=(), pages=0, **values)
    message = answer_of(empty, QUESTION)
    assert message.text == said
    assert [block["type"] for block in message.blocks] == ["section"]


@pytest.mark.parametrize(
    ("moved", "said"),
    [
        ({"fallen": (page("/a", (0, 0, 401), (0, 0, 510)),)}, "`/a` lost the most readers: −109 (−21%)."),
        ({"risen": (page("/a", (0, 0, 950), (0, 0, 700)),)}, "`/a` gained the most readers: +250 (+36%)."),
        ({"vanished": (page("/a", (1, 0, 1)),)}, "`/a` had 1 visitor before and none this time."),
        ({"appeared": (page("/a", (90, 60, 140)),)}, "`/a` is new here: 140 visitors, none before."),
        (
            {"hardly_people": (page("/a", (1, 400, 401)),)},
            "`/a` is read by 400 AI agents and only 1 person.",
        ),
        (
            {
                "fallen": (page("/b", (0, 0, 60), (0, 0, 104)),),
                "risen": (page("/a", (0, 0, 210), (0, 0, 101)),),
            },
            "`/a` gained the most readers: +109 (+108%).",
        ),
    ],
)
def test_one_sentence_says_what_is_worth_knowing(moved: dict[str, tuple[PageCounts, ...]], said: str) -> None:
    every = {"fallen": (), "risen": (), "vanished": (), "appeared": (), "hardly_people": (), "hardly_ai": ()}
    told = text(report(movements=Movements(**{**every, **moved})))
    assert [line for line in told.splitlines() if "Worth" in line] == [f"*Worth knowing*: {said}"]


def test_more_shows_each_page_with_its_change_where_a_phone_shows_it() -> None:
    table = next(block for block in more(report(), QUESTION).blocks if block["type"] == "data_table")
    assert cells([table]) == [
        ["Page", "Change", "All together", "People", "AI agents"],
        ["/quickstart", "+250 (+36%)", "950", "300", "700"],
        ["/api/users", "−109 (−21%)", "401", "1", "400"],
        ["/new", "+140 (new)", "140", "90", "60"],
    ]
    assert [row[1]["value"] for row in table["rows"][1:]] == [250, -109, 140]


def test_more_says_why_there_is_no_chart_and_what_the_reading_took() -> None:
    answer = report(no_chart=NO_CHART_BUDGET)
    assert chart(answer_of(answer, QUESTION).blocks) is None
    assert "There's no chart, to keep the rest of the hourly budget for questions." in more_lines(answer)
    assert "Days in Europe/Berlin · 12 of 100 analytics calls used in the last hour" in more_lines(answer)
    assert "analytics calls" not in text(answer)


def test_the_answer_leads_to_the_rest_and_more_to_the_file_and_how_it_was_counted() -> None:
    made = elements(answer_of(report(), QUESTION).blocks)
    assert [(each["action_id"], each.get("value")) for each in made] == [
        ("share", "7"),
        ("more", "7"),
        ("improve", None),
    ]
    made = elements(more(report(), QUESTION).blocks)
    assert [each["action_id"] for each in made] == ["csv_file", "improve"]


def test_a_shared_answer_names_who_shared_it_and_cannot_be_shared_again() -> None:
    message = answer_of(report(), QUESTION, shared_by=BEN)
    assert small_print_of(message)[-1].startswith(f"Shared by <@{BEN}>. Unique visitors, approximate")
    for blocks in (message.blocks, message.plain_blocks):
        assert [each["action_id"] for each in elements(blocks)] == ["more", "improve"]


def test_pages_that_do_not_fit_are_left_out_and_counted() -> None:
    top = tuple(page("/" + "x" * 200, (10**12, 10**12, 10**12), (1, 1, 1)) for _ in range(40))
    moved = Movements(*[top[:3]] * 6)
    answer = report(top=top, movements=moved, chart=points(Period(date(2026, 1, 1), date(2026, 5, 20))))
    message = more(answer, QUESTION)
    shown = len(cells(message.blocks)) - 1
    assert 10 < shown <= 40
    assert f"*Top {shown} of 812 pages*" in message.text
    for each in (message, answer_of(answer, QUESTION)):
        assert problems_of(each, Allowed(())) == []
