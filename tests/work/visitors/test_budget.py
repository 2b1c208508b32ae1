"""Questions about visitors keep within the hourly budget, whatever the service answers."""

from __future__ import annotations

import httpx

from tests.builders import PROJECT
from tests.work.asking import DAY, FIRST, LAST, START, slow_down
from tests.work.office import Office


async def spend(office: Office, calls: int) -> None:
    """Other questions have taken so many calls of the hour."""
    await office.store.write(lambda tx: tx.budget.take(PROJECT, calls, office.clock()))


async def test_the_budget_is_kept_and_what_was_left_out_is_told(office: Office) -> None:
    office.docs.site.fill(1_000, FIRST, LAST)
    office.budget(30, page_size=100)
    await spend(office, 27)
    await office.visitors("compare none")
    await office.reading(10)
    [answer] = office.answers()
    assert len(office.docs.site.calls) == 3
    assert "Only the first 300 pages that the service names were read, then no calls were left." in answer
    assert "Ask again after <!date^" in answer


async def test_a_scarce_budget_goes_to_the_window_that_was_asked_for_first(office: Office) -> None:
    office.docs.site.fill(500, FIRST - 7 * DAY, LAST)
    office.budget(60, page_size=100)
    await spend(office, 54)
    await office.visitors()
    await office.reading(10)
    assert [call[0] for call in office.docs.site.calls] == [FIRST] * 5 + [FIRST - 13 * DAY]
    assert " · 500 pages" in office.answers()[0]


async def test_with_no_call_left_the_answer_says_when_the_next_is_possible(office: Office) -> None:
    office.budget(1)
    office.docs.site.fill(3, START, LAST)
    await office.visitors("compare none")
    await office.reading(5)
    await office.visitors("last month compare none")
    await office.reading(5)
    assert "all 1 analytics call of this hour are used" in office.answers()[-1].replace("is used", "are used")
    assert len(office.docs.site.calls) == 1


async def test_a_429_is_believed_and_waited_for(office: Office) -> None:
    office.docs.site.fill(3, FIRST, LAST)
    office.docs.answer_instead("visitors", slow_down(10))
    await office.visitors("compare none")
    await office.reading(3)
    assert office.answers() == []
    assert office.docs.site.calls == []
    office.clock.pass_seconds(10)
    await office.reading(10)
    assert "AI's share" in office.answers()[-1]


async def test_a_key_that_is_refused_is_explained_and_not_tried_again(office: Office) -> None:
    office.docs.answer_instead("visitors", *(httpx.Response(401, json={"error": "no"}) for _ in range(2)))
    await office.visitors("compare none")
    await office.reading(10)
    [answer] = office.answers()
    assert "doesn't accept the bot's key" in answer
    assert "Try again later." in answer
    assert len(office.docs.instead["visitors"]) == 1


async def test_a_service_that_is_unwell_for_a_moment_is_asked_again(office: Office) -> None:
    office.docs.site.fill(3, FIRST, LAST)
    office.docs.answer_instead(
        "visitors", httpx.Response(502, text="<html>"), httpx.ReadTimeout("late"), httpx.Response(500)
    )
    await office.visitors("compare none")
    await office.reading(40)
    assert "AI's share" in office.answers()[-1]


async def test_a_service_that_stays_unwell_is_told_in_the_end(office: Office) -> None:
    office.docs.answer_instead("visitors", *(httpx.Response(503) for _ in range(9)))
    await office.visitors("compare none")
    await office.reading(60)
    assert "didn't give a usable answer" in office.answers()[-1]


async def test_a_service_that_never_ends_is_not_followed_for_ever(office: Office) -> None:
    office.docs.site.fill(10, FIRST, LAST)
    office.budget(1_000, page_size=5)
    same = office.docs.site.answer(FIRST, LAST + DAY, 1, 0)
    office.docs.site.calls.clear()
    office.docs.answer_instead("visitors", *(httpx.Response(200, json=same) for _ in range(50)))
    await office.visitors("compare none")
    await office.reading(10)
    assert len(office.docs.instead["visitors"]) == 50 - 2 - 7
    assert "says there is more but shows nothing new" in office.answers()[0]


async def test_a_chart_is_left_out_when_its_calls_would_use_up_the_hour(office: Office) -> None:
    office.docs.site.fill(3, FIRST - 7 * DAY, LAST)
    office.budget(12)
    await office.visitors()
    await office.reading(10)
    rest = (await office.press("more", "1")).message
    assert rest is not None
    assert "There's no chart, to keep the rest of the hourly budget" in rest.text
    assert len(office.docs.site.calls) == 3


async def test_whoever_asks_again_after_a_failure_need_not_wait_for_its_pause(office: Office) -> None:
    office.docs.site.fill(3, FIRST, LAST)
    office.docs.answer_instead("visitors", *(httpx.Response(503) for _ in range(4)))
    await office.visitors("compare none")
    await office.reading(60)
    assert "didn't give a usable answer" in office.answers()[-1]
    await office.visitors("compare none")
    await office.reading(10)
    assert "AI's share" in office.answers()[-1]
