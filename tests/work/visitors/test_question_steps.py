"""What may come between two steps of a question: its reading, the note about it, and its answer."""

from __future__ import annotations

import httpx
from sqlalchemy import select

from bot.store.schema import questions
from tests.builders import NOW, claim_deliveries, rows_of
from tests.work.asking import FIRST, LAST, START, slow_down
from tests.work.drains import answer_questions, deliver_due, fetch_snapshots
from tests.work.office import Office


async def test_an_answer_waits_for_its_numbers_and_no_longer(office: Office) -> None:
    office.docs.site.fill(5, FIRST, LAST)
    await office.visitors("compare none")
    while await fetch_snapshots(office.context):
        await answer_questions(office.context)
    await deliver_due(office.context)
    assert (len(office.answers()), office.clock()) == (1, NOW)


async def test_the_same_request_delivered_twice_is_one_question(office: Office) -> None:
    office.docs.site.fill(5, FIRST, LAST)
    await office.visitors("compare none", key="once")
    await office.visitors("compare none", key="once")
    await office.reading(20)
    stored = await rows_of(office.store, select(questions))
    assert (len(stored), len(office.answers())) == (1, 1)


async def test_a_question_whose_beginning_could_not_be_asked_says_so(office: Office) -> None:
    office.docs.site.fill(3, START, LAST)
    await office.visitors("2026-10-31..2026-11-01")
    await fetch_snapshots(office.context)
    office.docs.answer_instead("visitors", httpx.Response(400, json={"error": "too early"}))
    await office.reading(10)
    assert "so the data may begin later." in office.answers()[0]


async def test_a_word_about_the_reading_that_has_not_gone_out_is_dropped_for_the_answer(
    office: Office,
) -> None:
    office.docs.answer_instead("visitors", slow_down(4))
    await office.visitors("yesterday compare none")
    await fetch_snapshots(office.context)
    office.clock.pass_seconds(3.5)
    await answer_questions(office.context)
    office.clock.pass_seconds(3.5)
    while await fetch_snapshots(office.context):
        pass
    await office.reading(10)
    assert ["Reading who read" in each for each in office.answers()] == [False]


async def test_a_word_about_the_reading_is_not_said_when_it_is_no_news(office: Office) -> None:
    await office.visitors("yesterday compare none")
    office.clock.pass_seconds(3.5)
    await answer_questions(office.context)
    office.clock.pass_seconds(61)
    await deliver_due(office.context)
    await answer_questions(office.context)
    await deliver_due(office.context)
    assert office.answers() == []
    await office.reading(10)
    assert ["Reading who read" in each for each in office.answers()] == [False]


async def test_the_answer_waits_while_a_word_about_the_reading_is_under_way(office: Office) -> None:
    office.docs.answer_instead("visitors", slow_down(4))
    await office.visitors("yesterday compare none")
    await fetch_snapshots(office.context)
    office.clock.pass_seconds(3.5)
    await answer_questions(office.context)
    claimer = office.context.claimer()
    held = await office.store.write(lambda tx: claim_deliveries(tx, claimer))
    assert len(held) == 1
    office.clock.pass_seconds(3.5)
    await office.reading(10)
    assert office.answers() == []
    office.clock.pass_seconds(office.context.timeouts.lease_seconds)
    await office.reading(10)
    assert ["Reading who read" in each for each in office.answers()] == [False]


async def test_buttons_of_unknown_questions_say_so(office: Office) -> None:
    for action in ("share", "more", "csv_file"):
        for value in ("4711", "x", "99999999999999"):
            answer = await office.press(action, value)
            assert answer.message is not None
            assert "no longer have those numbers" in answer.message.text
