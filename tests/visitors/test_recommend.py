"""The rule by which a digest chooses what is worth doing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from bot.visitors.content_gaps import Comment, GapRows, Search, Source, Unanswered, Votes
from bot.visitors.recommendations import MOST_RECOMMENDED, recommend


def searches(*rows: Search, is_part: bool = False) -> Mapping[Source, GapRows]:
    return {Source.SEARCHES: GapRows(searches=rows, events=sum(row.hits for row in rows), is_part=is_part)}


def votes(*rows: Votes, comments: tuple[Comment, ...] = ()) -> Mapping[Source, GapRows]:
    return {Source.VOTES: GapRows(votes=rows), Source.COMMENTS: GapRows(comments=comments)}


def questions(*rows: Unanswered, events: int | None = None) -> Mapping[Source, GapRows]:
    return {Source.QUESTIONS: GapRows(questions=rows, events=len(rows) if events is None else events)}


def found(
    now: Mapping[Source, GapRows], was: Mapping[Source, GapRows] | None = None, section: str | None = None
) -> list[str]:
    return [each.title for each in recommend(now, was or {}, section, ())]


@pytest.mark.parametrize(
    ("hits", "clicks", "is_worth"),
    [
        (10, 0, True),
        (9, 0, False),
        (10, 1, True),
        (10, 2, False),
        (100, 19, True),
        (100, 20, False),
        (50, None, False),
    ],
)
def test_words_are_worth_it_after_ten_searches_with_a_click_after_fewer_than_a_fifth(
    hits: int, clicks: int | None, is_worth: bool
) -> None:
    assert found(searches(Search("retries", hits, clicks))) == (["retries"] if is_worth else [])


@pytest.mark.parametrize(
    ("helpful", "not_helpful", "is_worth"),
    [(2, 3, True), (1, 3, False), (0, 5, True), (3, 3, False), (3, 4, True), (9, 1, False)],
)
def test_a_page_is_worth_it_after_five_votes_of_which_most_are_down(
    helpful: int, not_helpful: int, is_worth: bool
) -> None:
    assert found(votes(Votes("/api", helpful, not_helpful))) == (["/api"] if is_worth else [])


def test_a_question_is_worth_it_once_three_are_the_same_but_for_case_blanks_and_signs() -> None:
    asked = (Unanswered("How do I pay?"), Unanswered("how do i pay"), Unanswered("Is it free?"))
    assert found(questions(*asked)) == []
    assert found(questions(*asked, Unanswered("How do I  PAY ?!"))) == ["How do I pay?"]


def test_a_page_has_the_newest_comment_of_a_person() -> None:
    said = (Comment("/api", "By a machine", by_agent=True), Comment("/api", "Where?"), Comment("/api", "Old"))
    [page] = recommend(votes(Votes("/api", 0, 5), comments=said), {}, None, ())
    assert (page.quote, page.events, page.of) == ("Where?", 5, 5)


def test_of_a_section_come_its_pages_and_what_was_asked_on_them() -> None:
    asked = questions(*[Unanswered("Paid?", page="/api/pay")] * 3, *[Unanswered("Free?", page="/faq")] * 3)
    pages = votes(Votes("/api/x", 0, 5), Votes("/apis", 0, 5))
    assert found({**searches(Search("retries", 50, 0)), **pages, **asked}, section="/api") == [
        "/api/x",
        "Paid?",
    ]


def test_rows_are_compared_with_the_week_before_where_that_was_read_whole_and_has_data() -> None:
    now = searches(Search("new", 10, 0), Search("grown", 40, 0), Search("as before", 40, 0))
    was = (Search("grown", 10, 0), Search("as before", 30, 0))
    told = {each.title: each for each in recommend(now, searches(*was), None, ())}
    assert {title: (each.was, each.is_new, each.has_grown) for title, each in told.items()} == {
        "new": (0, True, False),
        "grown": (10, False, True),
        "as before": (30, False, False),
    }
    for unread in ({}, searches(*was, is_part=True), searches()):
        found = recommend(now, unread, None, ())
        assert [(each.was, each.is_new) for each in found if each.title == "new"] == [(None, False)]


def test_a_question_that_only_others_asked_before_is_new() -> None:
    now, was = [Unanswered("Paid?")] * 3, questions(Unanswered("Free?"))
    assert [each.is_new for each in recommend(questions(*now), was, None, ())] == [True]
    answered = questions(events=40)
    assert [each.is_new for each in recommend(questions(*now), answered, None, ())] == [True]
    nobody = questions(events=0)
    assert [each.is_new for each in recommend(questions(*now), nobody, None, ())] == [False]


def test_questions_are_not_compared_with_a_part_of_the_week_before() -> None:
    now, was = questions(*[Unanswered("Paid?")] * 20), GapRows(questions=(Unanswered("Paid?"),), events=100)
    [whole] = recommend(now, {Source.QUESTIONS: was}, None, ())
    [part] = recommend(now, {Source.QUESTIONS: replace(was, is_part=True)}, None, ())
    assert (whole.was, part.was, part.has_grown) == (1, None, False)


def test_new_and_growing_rows_come_first_then_the_topics_in_turn() -> None:
    now = {
        **searches(*(Search(*row, 0) for row in (("steady", 900), ("more", 70), ("new", 12), ("grown", 60)))),
        **votes(Votes("/page", 0, 5)),
        **questions(*[Unanswered("Paid?")] * 3),
    }
    was = searches(Search("steady", 890, 0), Search("grown", 10, 0), Search("more", 70, 0))
    recommended = [each.title for each in recommend(now, was, None, ())]
    assert recommended == ["grown", "new", "steady", "/page", "Paid?"]
    assert len(recommended) == MOST_RECOMMENDED


def test_rows_with_a_recent_job_are_excluded() -> None:
    rows = (Search("one", 40, 0), Search("two", 30, 0))
    assert [each.title for each in recommend(searches(*rows), {}, None, {rows[0].key})] == ["two"]
