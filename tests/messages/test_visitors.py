"""Who reads the docs: what an answer says, and what it warns of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.messages.visitors import more
from bot.messages.visitors import report as answer_of
from bot.model.ids import Message
from bot.model.questions import Movements, Report
from bot.model.visitors import Budget, Counts, Period, SnapshotState, SortBy
from tests.builders import NOW
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

BEFORE = WEEK.before()


def text(answer: Report) -> str:
    """What somebody hears who sees no blocks."""
    return answer_of(answer, QUESTION).text


def lines(answer: Report) -> list[str]:
    """The same, line by line."""
    return text(answer).splitlines()


def more_lines(answer: Report) -> list[str]:
    """What *More* says, line by line."""
    return more(answer, QUESTION).text.splitlines()


def small_print(answer: Report) -> list[str]:
    """What stands below the answer."""
    return small_print_of(answer_of(answer, QUESTION))


def small_print_of(message: Message) -> list[str]:
    """What stands below a message."""
    below = [block for block in message.blocks if block["type"] == "context"]
    return [each["text"] for block in below for each in block["elements"]]


def points(period: Period) -> tuple[tuple[Period, Counts], ...]:
    """A chart of a period."""
    return tuple((step, Counts(10 + at, 20, 25 + at)) for at, step in enumerate(period.steps()))


def test_the_heading_names_both_periods() -> None:
    answer = report(was=snapshot(BEFORE))
    assert lines(answer)[0] == "*Who read the docs, 26 Oct – 1 Nov 2026*, compared with 19–25 Oct 2026"


def test_the_text_alone_says_the_pages() -> None:
    said = lines(report())
    assert said[2:5] == [
        "1. `/quickstart` *950 visitors* (+36%) · 300 people · 700 AI agents",
        "2. `/api/users` *401 visitors* (−21%) · 1 person · 400 AI agents",
        "3. `/new` *140 visitors* (new) · 90 people · 60 AI agents",
    ]


@pytest.mark.parametrize("part", [{"complete": False, "rows": 750}, {"repeated": 2}])
def test_a_page_is_not_called_new_when_a_row_of_the_period_before_may_be_missing(
    part: dict[str, int],
) -> None:
    answer = report(was=snapshot(BEFORE, **part))
    assert "3. `/new` *140 visitors* · 90 people · 60 AI agents" in lines(answer)
    assert cells(more(answer, QUESTION).blocks)[3][1] == "–"


@pytest.mark.parametrize(
    ("sort", "caption"),
    [
        (SortBy.TOTAL, "Top 3 of 812 pages under /api"),
        (SortBy.HUMAN, "Top 3 of 812 pages under /api, most people first"),
        (SortBy.AI, "Top 3 of 812 pages under /api, most AI agents first"),
    ],
)
def test_the_table_says_its_section_and_order(sort: SortBy, caption: str) -> None:
    answer = report(query={"section": "/api", "sort": sort})
    table = next(block for block in more(answer, QUESTION).blocks if "caption" in block)
    assert table["caption"] == caption
    assert f"*{caption}*" in lines(answer)


def test_a_section_is_not_said_to_be_unread_when_not_all_was_counted() -> None:
    told = report(query={"section": "/api"}, pages=0, top=(), now=snapshot(rows=250, complete=False))
    assert "No page under `/api` is among those whose numbers could be read." in lines(told)
    whole = report(query={"section": "/api"}, pages=0, top=())
    assert text(whole) == (
        "The docs service has no visits for pages under `/api`, 26 Oct – 1 Nov 2026. "
        "The whole site had 4,500."
    )


def test_rises_falls_and_what_came_and_went_are_told() -> None:
    moved = Movements(
        risen=(page("/up", (0, 0, 950), (0, 0, 700)), page("/up2", (0, 0, 50), (0, 0, 5))),
        fallen=(page("/down", (0, 0, 401), (0, 0, 510)),),
        appeared=(page("/new", (90, 60, 140)),),
        vanished=(page("/old", (1, 0, 1)),),
    )
    said = more_lines(report(movements=moved))
    assert "*Rises*: `/up` +250 (+36%) · `/up2` +45 (+900%)" in said
    assert "*Falls*: `/down` −109 (−21%)" in said
    assert "*Newly read*: `/new` 140 visitors" in said
    assert "*No longer read*: `/old` 1 visitor before" in said


def test_pages_with_unusual_readers_are_told_beside_the_share_of_the_site() -> None:
    moved = Movements(
        hardly_people=(page("/llms", (1, 400, 401)),), hardly_ai=(page("/pricing", (80, 1, 81)),)
    )
    said = more_lines(report(movements=moved))
    assert (
        "*Read by AI, hardly by people* (AI's share on the whole site: 76%): `/llms` 1 person, 400 AI agents"
    ) in said
    assert "*Read by people, hardly by AI*: `/pricing` 80 people, 1 AI agent" in said


def test_a_line_about_movements_names_three_pages_at_most() -> None:
    many = tuple(page(f"/page{at}", (0, 0, 10), (0, 0, 5)) for at in range(5))
    said = "\n".join(more_lines(report(top=(), movements=Movements(risen=many))))
    assert "`/page2`" in said
    assert "`/page3`" not in said


def test_the_chart_draws_people_ai_agents_and_all_for_each_part() -> None:
    drawn = chart(answer_of(report(chart=points(WEEK)), QUESTION).blocks)
    assert drawn is not None
    series = {each["name"]: [point["value"] for point in each["data"]] for each in drawn["chart"]["series"]}
    assert series == {
        "People": [10, 11, 12, 13, 14, 15, 16],
        "AI agents": [20] * 7,
        "All together": [25, 26, 27, 28, 29, 30, 31],
    }


def test_every_answer_says_that_it_is_approximate_and_when_it_was_taken() -> None:
    taken = "<!date^1793606400^{date_short_pretty} {time}|2026-11-02 08:00 UTC>"
    footing = f"Unique visitors, approximate: don't sum them · read {taken}"
    assert footing in lines(report())
    assert footing in small_print(report())


def test_an_answer_cut_short_by_the_budget_says_when_to_ask_again() -> None:
    answer = report(
        now=snapshot(state=SnapshotState.REQUESTED, complete=False, rows=500), budget=Budget(100, 100, NOW)
    )
    assert (
        "Only the first 500 pages that the service names were read, then no calls were left. "
        "The ranking covers those alone. "
        "Ask again after <!date^1793610000^{time}|2026-11-02 09:00 UTC>, "
        "and I'll go on where I stopped."
    ) in small_print(answer)


def test_an_answer_cut_short_by_a_problem_says_which() -> None:
    why = "the docs service didn't give a usable answer"
    answer = report(now=snapshot(state=SnapshotState.FAILED, complete=False, rows=1, problem=why))
    assert f"Only 1 page could be read: {why}. The ranking covers those alone." in small_print(answer)


@pytest.mark.parametrize(("repeated", "said"), [(1, "1 page may"), (3, "3 pages may")])
def test_pages_that_changed_places_while_they_were_read_are_told(repeated: int, said: str) -> None:
    answer = report(now=snapshot(repeated=repeated))
    assert f"Pages changed places while they were read: {said} be missing." in small_print(answer)


def test_a_period_before_that_could_not_be_read_is_told_with_its_reason() -> None:
    was = snapshot(BEFORE, totals=None, problem="they couldn't be read in time")
    message = answer_of(report(was=was, before=None), QUESTION)
    why = "The period before (19–25 Oct 2026) couldn't be read: they couldn't be read in time."
    assert why in message.text
    assert "compared with" not in message.text


def test_a_period_before_for_which_no_calls_were_left_is_told_in_one_sentence() -> None:
    was = snapshot(BEFORE, totals=None, state=SnapshotState.REQUESTED, complete=False, rows=0)
    said = small_print(report(was=was, before=None))
    assert "The period before (19–25 Oct 2026) wasn't read, because no calls were left." in said
    cut_short = snapshot(state=SnapshotState.REQUESTED, complete=False)
    cut = small_print(report(now=cut_short, was=was, before=None))
    assert any("then no calls were left for more or for the period before." in note for note in cut)
    assert not any("(19–25 Oct 2026)" in note for note in cut)


def test_a_period_before_that_was_read_in_part_is_told() -> None:
    assert (
        "Only 750 pages of the period before could be read, so I don't know which pages are new or gone."
    ) in small_print(report(was=snapshot(BEFORE, complete=False, rows=750)))
    none = small_print(report(was=snapshot(BEFORE, complete=False, rows=0)))
    assert "No page of the period before could be read, so I don't know which pages are new or gone." in none


def test_every_page_that_is_named_can_be_improved_and_each_once() -> None:
    falling, before_only = page("/down", (0, 0, 5), (0, 0, 50)), page("/gone", (0, 0, 9))
    answer = report(movements=Movements(fallen=(falling,), vanished=(before_only,), risen=report().top[:1]))
    answer = replace(answer, top=(*answer.movements.risen, falling))
    menu = elements(answer_of(answer, QUESTION).blocks)[-1]
    assert [(option["text"]["text"], option["value"]) for option in menu["options"]] == [
        ("/quickstart · 950", f"page:{answer.top[0].key}"),
        ("/down · 5", f"page:{falling.key}"),
    ]
