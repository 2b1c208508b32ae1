"""What may come between two steps of a question: its reading, the note about it, and its answer."""

from __future__ import annotations

from datetime import date

import httpx
from sqlalchemy import select

from bot.store.visitor_tables import questions
from tests.builders import claim_deliveries, rows_of
from tests.talk import Talk
from tests.work.asking import FIRST, LAST, START, slow_down
from tests.work.drains import answer_questions, fetch_snapshots
from tests.work.office import Office
from tests.work.readers import asked


async def test_the_same_request_delivered_twice_is_one_question(office: Office) -> None:
    office.docs.site.fill(5, FIRST, LAST)
    await office.visitors("compare none", key="once")
    await office.visitors("compare none", key="once")
    await office.reading(20)
    stored = await rows_of(office.store, select(questions))
    assert (len(stored), len(office.answers())) == (1, 1)


async def test_a_question_whose_beginning_could_not_be_asked_says_so(talk: Talk) -> None:
    site = talk.service.site
    site.fill(3, START, LAST)
    window = httpx.Response(200, json=site.answer(date(2026, 10, 31), date(2026, 11, 2), 250, 0))
    early = httpx.Response(400, json={"error": "too early"})
    talk.service.answer_instead("visitors", window, early)
    assert "so the data may begin later." in await asked(talk, "2026-10-31..2026-11-01")


async def test_note_about_reading_is_dropped_once_the_answer_is_there(talk: Talk) -> None:
    talk.service.says("visitors", 429, seconds=5)
    talk.faults.limits("response_url", 4)
    await talk.ana.types("/docs-visitors yesterday compare none")
    await talk.time.passes(20)
    [answer] = talk.ana.reads()
    assert "Reading who read" not in answer


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
