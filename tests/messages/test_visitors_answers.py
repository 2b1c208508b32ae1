"""What is said around an answer about visitors."""

from __future__ import annotations

import pytest

from bot.messages import visitors_answers
from bot.model.ids import Refusal
from bot.model.questions import VisitorsQuery
from bot.model.visitors import Budget, PageCounts
from tests.builders import ANA, NOW
from tests.messages.visitor_samples import (
    WEEK,
    page,
    question,
)

READ = VisitorsQuery(WEEK, None)


def test_it_is_said_what_is_being_read() -> None:
    said = "Reading who read the docs, 26 Oct – 1 Nov 2026. I'll answer here."
    assert visitors_answers.reading(READ).text == f":hourglass_flowing_sand: {said}"


def test_what_could_not_be_read_is_told_with_the_reason_and_what_to_do() -> None:
    said = visitors_answers.not_readable(READ, "the docs service doesn't know the project").text
    assert said == (
        ":warning: I couldn't read who read the docs, 26 Oct – 1 Nov 2026: "
        "the docs service doesn't know the project. "
        "Try again later. If it keeps failing, ask whoever runs this bot."
    )


def test_a_budget_that_is_used_up_says_when_to_ask_again() -> None:
    said = visitors_answers.budget_used_up(READ, Budget(100, 100, NOW)).text
    assert "all 100 analytics calls of this hour are used." in said
    assert "The next is possible at <!date^1793610000^{time}|2026-11-02 09:00 UTC>." in said


def test_what_was_not_understood_is_answered_with_examples() -> None:
    said = visitors_answers.misunderstood("After `sort` comes `human`, `ai` or `total`.").text
    assert "After `sort` comes `human`, `ai` or `total`.\nFor example" in said
    assert "`/docs-visitors 28d`" in said


@pytest.mark.parametrize(
    ("to_channel", "where"), [(True, "to this channel"), (False, "in our direct messages")]
)
def test_it_is_said_where_the_file_comes(to_channel: bool, where: str) -> None:
    assert visitors_answers.file_follows(to_channel=to_channel).text == (
        f"All pages are coming as a CSV file {where}."
    )


def test_beside_a_file_stand_its_period_its_rows_and_who_asked() -> None:
    assert visitors_answers.file_words(question(), 1_200, complete=True) == (
        f"Who read the docs, 26 Oct – 1 Nov 2026: 1,200 pages, for <@{ANA}>. "
        "Approximate unique visitors, not to be added."
    )


def test_a_file_of_a_part_of_the_pages_says_so() -> None:
    asked = question(query=VisitorsQuery(WEEK, None, section="/api"))
    said = visitors_answers.file_words(asked, 1, complete=False)
    assert "1 page under `/api` (I couldn't read them all)" in said


@pytest.mark.parametrize("meaning", [Refusal.NOT_A_MEMBER, Refusal.NOT_VISIBLE])
def test_where_the_bot_is_not_a_member_the_exact_invitation_is_given(meaning: Refusal) -> None:
    said = visitors_answers.undelivered(meaning, "slacks_word", "docs-agent", is_file=False).text
    assert said == (
        ":no_entry: I posted nothing. I'm not in this channel. "
        "Type `/invite @docs-agent` in it, then try again."
    )


OTHERS = sorted(set(Refusal) - {Refusal.NOT_A_MEMBER, Refusal.NOT_VISIBLE, Refusal.BETWEEN_PEOPLE})


@pytest.mark.parametrize("meaning", OTHERS)
def test_another_refusal_is_told_in_the_word_of_slack(meaning: Refusal) -> None:
    said = visitors_answers.undelivered(meaning, "slacks_word", "docs-agent", is_file=True).text
    assert said == ":no_entry: I couldn't send the file. Slack didn't let me post there (`slacks_word`)."


def test_buttons_that_come_too_early_too_late_or_twice_change_nothing() -> None:
    said = [
        each().text
        for each in (
            visitors_answers.still_reading,
            visitors_answers.not_kept,
            visitors_answers.shared_before,
        )
    ]
    assert "still reading" in said[0]
    assert "I did nothing" in said[1]
    assert "I posted nothing" in said[2]


def test_the_form_about_a_page_begins_with_its_path_and_numbers() -> None:
    said = visitors_answers.improve_prompt(page("/api/users", (1, 400, 401)), WEEK)
    assert said.startswith(
        "Improve the page /api/users\n\n"
        "Unique visitors 26 Oct – 1 Nov 2026 (approximate): 1 person, 400 AI agents, 401 in all.\n\n"
    )


def test_the_form_about_a_page_names_its_whole_path_however_long() -> None:
    path = "/guides/" + "a-long-name-of-a-section/" * 20 + "R&D"
    assert visitors_answers.improve_prompt(page(path, (1, 4, 5)), WEEK).startswith(
        f"Improve the page {path}\n\n"
    )


@pytest.mark.parametrize(
    ("of", "aim"),
    [
        (page("/a", (10, 20, 25)), "It is read mostly by AI agents"),
        (page("/a", (40, 10, 45)), "It is read mostly by people"),
        (page("/a", (20, 20, 30)), "Check that it is correct"),
        (page("/a", (0, 0, 0)), "Check that it is correct"),
    ],
)
def test_what_is_asked_for_fits_who_reads_the_page(of: PageCounts, aim: str) -> None:
    assert visitors_answers.improve_prompt(of, WEEK).split("\n\n")[2].startswith(aim)
