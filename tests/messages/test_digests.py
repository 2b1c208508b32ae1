"""The weekly digest."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.messages.digests import digest, suggested, work_done
from bot.model.ids import JobNumber
from bot.model.questions import Movements, Suggestion, SuggestionReason, WeeklyReport, WorkDone
from bot.model.visitors import Counts, Period
from tests.messages.slack_limits import Allowed, problems_of
from tests.messages.visitor_samples import (
    chart,
    elements,
    page,
    report,
    snapshot,
    weekly,
    work,
)

DOWN = page("/api/users", (1, 400, 401), (20, 500, 510))


def lines(told: WeeklyReport) -> list[str]:
    """What somebody hears who sees no blocks."""
    return digest(told).text.splitlines()


def curve(*known: int) -> tuple[tuple[Period, Counts | None], ...]:
    """Eight weeks, of which these are known."""
    return tuple((week, counts if at in known else None) for at, (week, counts) in enumerate(weekly().curve))


def test_a_digest_names_its_week_and_what_it_is_compared_with() -> None:
    assert lines(weekly())[:2] == [
        "*The docs in the week 26 Oct – 1 Nov 2026*",
        "compared with the week before",
    ]


def test_a_digest_without_the_week_before_compares_nothing() -> None:
    told = weekly(report=report(was=snapshot(totals=None), before=None))
    assert "compared" not in digest(told).text
    assert "All together: 4,500;" in digest(told).text


def test_a_digest_tells_totals_pages_and_movements_in_words() -> None:
    said = lines(weekly(report=report(movements=Movements(fallen=(DOWN,)))))
    assert any(line.startswith("People: 1,200 (+20%); AI agents: 3,400 (−3%)") for line in said)
    assert "2. `/api/users` *401 visitors* (−21%) · 1 person · 400 AI agents" in said
    assert "*Falls*: `/api/users` −109 (−21%)" in said


def test_the_curve_draws_eight_weeks_oldest_first() -> None:
    drawn = chart(digest(weekly()).blocks)
    assert drawn is not None
    assert drawn["chart"]["axis_config"]["categories"] == [
        *("7–13 Sep", "14–20 Sep", "21–27 Sep", "28 Sep–4 Oct"),
        *("5–11 Oct", "12–18 Oct", "19–25 Oct", "26 Oct–1 Nov"),
    ]
    assert [point["value"] for point in drawn["chart"]["series"][2]["data"]] == list(range(3_900, 3_908))


def test_weeks_that_are_not_known_are_left_out_and_counted() -> None:
    told = weekly(curve=curve(5, 6, 7))
    drawn = chart(digest(told).blocks)
    assert drawn is not None
    assert drawn["chart"]["axis_config"]["categories"] == ["12–18 Oct", "19–25 Oct", "26 Oct–1 Nov"]
    assert "The curve leaves out 5 weeks that have not been read yet." in lines(told)
    assert "leaves out 1 week that has" in digest(weekly(curve=curve(1, 2, 3, 4, 5, 6, 7))).text


def test_a_whole_curve_leaves_nothing_out() -> None:
    assert "curve" not in digest(weekly()).text


@pytest.mark.parametrize("known", [(), (7,)])
def test_of_fewer_than_two_weeks_there_is_no_curve(known: tuple[int, ...]) -> None:
    told = weekly(curve=curve(*known))
    assert chart(digest(told).blocks) is None
    assert "Week by week" not in digest(told).text
    assert "There is no curve yet: too few weeks have been read." in lines(told)


@pytest.mark.parametrize(
    ("done", "said"),
    [
        (work(), " had no jobs. `/docs-agent` starts one."),
        (work(1, pull_request=1), ": 1 job was asked for: 1 pull request."),
        (work(1, working=1), ": 1 job was asked for: 1 open or ended otherwise."),
        (
            work(1, failed=1, median_time=timedelta(seconds=20)),
            ": 1 job was asked for: 1 failed. Median time: under a minute.",
        ),
        (
            work(
                1_200,
                pull_request=1_000,
                no_change=150,
                failed=20,
                archived=10,
                working=20,
                median_time=timedelta(minutes=80),
            ),
            (
                ": 1,200 jobs were asked for: 1,000 pull requests, 150 with nothing changed, 20 failed, "
                "30 open or ended otherwise. Median time: 1 h 20 min."
            ),
        ),
        (
            work(2, no_change=2, failed=0, median_time=timedelta(0)),
            ": 2 jobs were asked for: 2 with nothing changed. Median time: under a minute.",
        ),
    ],
)
def test_the_work_of_the_agent_is_told_in_one_line(done: WorkDone, said: str) -> None:
    line = f"*The agent*{said}"
    assert work_done(done) == line
    assert line in lines(weekly(work=done))


@pytest.mark.parametrize(
    ("why", "said"),
    [
        (SuggestionReason.FALLING, "lost readers: −109 (−21%)"),
        (SuggestionReason.ONLY_AI, "is read by AI agents, but hardly by people"),
        (SuggestionReason.MOST_READ, "is the most read page that no job has named lately"),
    ],
)
def test_a_suggestion_says_why_with_the_numbers_of_its_page(why: SuggestionReason, said: str) -> None:
    line = f"*Worth improving*: `/api/users` {said}. It had 1 person, 400 AI agents, 401 in all."
    assert suggested(Suggestion(DOWN, why)) == line
    assert line in lines(weekly(suggestion=Suggestion(DOWN, why)))


def test_the_suggested_page_has_a_button_that_leads_to_work() -> None:
    message = digest(weekly(suggestion=Suggestion(DOWN, SuggestionReason.FALLING)))
    for blocks in (message.blocks, message.plain_blocks):
        button = elements(blocks)[0]
        assert (button["text"]["text"], button["action_id"], button["value"], button["style"]) == (
            "Improve this page",
            "improve_page",
            f"page:{DOWN.key}",
            "primary",
        )


def test_without_a_suggestion_there_is_only_the_menu_of_pages() -> None:
    message = digest(weekly())
    assert "Worth improving" not in message.text
    assert [each["action_id"] for each in elements(message.blocks)] == ["improve"]


def test_a_digest_says_when_it_comes_and_where_to_change_that() -> None:
    assert lines(weekly())[-1] == "Every Monday at 09:00 (Europe/Berlin) · `/docs-visitors subscriptions`"


def test_a_digest_that_was_asked_for_once_has_no_such_line() -> None:
    told = weekly(subscription=None)
    assert "Every Monday" not in digest(told).text
    assert "Approximate unique visitors" in lines(told)[-1]


def test_a_digest_of_a_site_that_nobody_read_is_valid() -> None:
    nothing = Counts(0, 0, 0)
    told = weekly(report=report(site=nothing, before=nothing, top=(), pages=0), curve=curve())
    message = digest(told)
    assert "Nobody read the docs from 26 Oct to 1 Nov 2026." in message.text
    assert "People" not in message.text
    assert problems_of(message, Allowed(())) == []


def test_the_line_about_the_agent_lists_what_waits_for_review() -> None:
    work = WorkDone(0, {}, None, (JobNumber(9), JobNumber(6)))
    assert work_done(work).endswith("Waiting for review: Job 9, Job 6.")
    assert "review" not in work_done(replace(work, to_review=()))
