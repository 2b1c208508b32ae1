"""The rule by which a digest chooses what is worth doing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from bot.model.misses import Comment, Search, Source, Topic, Unanswered, Votes, Words
from bot.model.worth import MOST, Worth, chosen, worth_doing


def searches(*rows: Search, is_part: bool = False) -> Mapping[Source, Words]:
    return {Source.SEARCHES: Words(searches=rows, events=sum(row.hits for row in rows), is_part=is_part)}


def votes(*rows: Votes, comments: tuple[Comment, ...] = ()) -> Mapping[Source, Words]:
    return {Source.VOTES: Words(votes=rows), Source.COMMENTS: Words(comments=comments)}


def questions(*rows: Unanswered, events: int | None = None) -> Mapping[Source, Words]:
    return {Source.QUESTIONS: Words(questions=rows, events=len(rows) if events is None else events)}


def found(
    now: Mapping[Source, Words], was: Mapping[Source, Words] | None = None, section: str | None = None
) -> list[str]:
    return [each.title for each in worth_doing(now, was or {}, section)]


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
    assert found(questions(*[Unanswered(f"q{at}", "Billing") for at in range(3)])) == ["Billing"]


def test_a_page_has_the_newest_comment_of_a_person() -> None:
    said = (Comment("/api", "By a machine", by_agent=True), Comment("/api", "Where?"), Comment("/api", "Old"))
    [page] = worth_doing(votes(Votes("/api", 0, 5), comments=said), {}, None)
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
    was = (Search("GROWN", 10, 0), Search("as before", 30, 0))
    told = {each.title: each for each in worth_doing(now, searches(*was), None)}
    assert {title: (each.was, each.is_new, each.has_grown) for title, each in told.items()} == {
        "new": (0, True, False),
        "grown": (10, False, True),
        "as before": (30, False, False),
    }
    for unread in ({}, searches(*was, is_part=True), searches()):
        [first, *_] = worth_doing(now, unread, None)
        assert (first.title, first.was, first.is_new) == ("new", None, False)


def test_a_question_that_only_others_asked_before_is_new() -> None:
    now, was = [Unanswered("Paid?")] * 3, questions(Unanswered("Free?"))
    assert [each.is_new for each in worth_doing(questions(*now), was, None)] == [True]
    answered = questions(events=40)
    assert [each.is_new for each in worth_doing(questions(*now), answered, None)] == [True]
    nobody = questions(events=0)
    assert [each.is_new for each in worth_doing(questions(*now), nobody, None)] == [False]


def test_words_that_were_counted_with_longer_ones_the_week_before_are_not_new() -> None:
    before = searches(Search("webhook", 40, 0), Search("webhooks", 41, 0))
    now = searches(Search("webhook", 50, 0), Search("webhooks", 3, 0))
    [told] = worth_doing(now, before, None)
    assert (told.title, told.was, told.is_new, told.has_grown) == ("webhook", 40, False, False)


def test_questions_are_not_compared_with_a_part_of_the_week_before() -> None:
    now, was = questions(*[Unanswered("Paid?")] * 20), Words(questions=(Unanswered("Paid?"),), events=100)
    [whole] = worth_doing(now, {Source.QUESTIONS: was}, None)
    [part] = worth_doing(now, {Source.QUESTIONS: replace(was, is_part=True)}, None)
    assert (whole.was, part.was, part.has_grown) == (1, None, False)


def row(title: str, events: int, was: int | None = None, topic: Topic = Topic.SEARCHES) -> Worth:
    return Worth(topic, title, title, events, was=was)


def test_new_and_grown_rows_come_first_then_the_kinds_in_turn_by_how_often() -> None:
    rows = [
        row("steady", 900, 890),
        row("more", 70),
        row("new", 12, 0),
        row("grown", 60, 10),
        row("page", 5, topic=Topic.FEEDBACK),
        row("question", 3, topic=Topic.QUESTIONS),
    ]
    assert [each.title for each in chosen(rows, ())] == ["grown", "new", "steady", "page", "question"]
    assert len(chosen(rows, ())) == MOST


def test_what_was_asked_for_does_not_come_again() -> None:
    assert [each.title for each in chosen([row("one", 40), row("two", 30)], {"one"})] == ["two"]
