"""Questions about visitors: numbers, comparisons and interruptions."""

from __future__ import annotations

from datetime import date

import httpx

from tests.site import Rows, Visit
from tests.talk import Talk
from tests.work.readers import DAY, FIRST, LAST, START, TODAY, asked, pressed

PROGRESS = "Reading who read"


async def test_private_answer_has_totals_changes_and_pages(talk: Talk) -> None:
    talk.service.site.read("/quickstart", FIRST, LAST, people=120, agents=30)
    talk.service.site.read("/quickstart", FIRST - 7 * DAY, FIRST - DAY, people=60, agents=30)
    answer = await asked(talk)
    total = "*150 visitors*, 67% more than the week before (90)"
    assert f"{total} · 120 people (+100%) · 30 AI agents · AI's share 20%" in answer
    assert "`/quickstart` *150 visitors* (+67%) · 120 people · 30 AI agents" in answer
    assert talk.channel() == []


async def test_no_chart_point_is_a_sum(talk: Talk) -> None:
    talk.service.site.visits = [
        Visit(FIRST + number * DAY, 1, "human", "/a") for number in range(7)
    ]
    answer = await asked(talk, "compare none")
    [chart] = [block for block in answer.message["blocks"] if block["type"] == "data_visualization"]
    series = {
        line["name"]: [point["value"] for point in line["data"]]
        for line in chart["chart"]["series"]
    }
    assert series["Total"] == [1] * 7
    assert "*1 visitor* · 1 person · 0 AI agents" in answer


async def test_read_numbers_are_shown_without_a_call(talk: Talk) -> None:
    talk.service.site.fill(20, FIRST - 7 * DAY, LAST)
    await asked(talk)
    calls = len(talk.service.site.calls)
    await talk.ben.types("/docs-visitors top 3 sort ai")
    await talk.time.passes(0.1)
    [answer] = talk.ben.reads()
    assert "Top 3 of 20 pages" in answer
    assert len(talk.service.site.calls) == calls


async def test_section_shows_its_pages_and_the_totals_of_the_site(talk: Talk) -> None:
    talk.service.site.read("/api/orders", FIRST, LAST, people=20)
    talk.service.site.read("/apiary", FIRST, LAST, people=40)
    answer = await asked(talk, "path /api compare none")
    assert answer.startswith("*Who read the docs under `/api`, 26 Oct – 1 Nov 2026*")
    assert "1 page under /api" in answer
    assert "visitors by day" not in answer, "a chart of the whole site is none of the section"
    assert "/apiary" not in answer
    assert "Whole site: *40 visitors* · 40 people" in answer


async def test_more_names_new_and_vanished_pages(talk: Talk) -> None:
    before, read = FIRST - 7 * DAY, talk.service.site.read
    read("/rising", FIRST, LAST, people=90, agents=60)
    read("/rising", before, FIRST - DAY, people=20, agents=20)
    read("/new", FIRST, LAST, people=30, agents=20)
    read("/gone", before, FIRST - DAY, people=30, agents=20)
    read("/few", FIRST, LAST, people=3)
    await asked(talk)
    [rest] = await pressed(talk, "More")
    named = [line for line in rest.splitlines() if line.startswith("*N")]
    assert named == [
        "*Newly read*: `/new` 50 visitors",
        "*No longer read*: `/gone` 50 visitors before",
    ]
    assert "/few · 3" in rest.buttons, "each page of the table may be improved"


async def test_partly_read_windows_have_no_new_or_gone_pages(talk: Talk) -> None:
    await talk.process.starts(analytics_calls_an_hour=2)
    talk.service.site.fill(600, FIRST, LAST)
    talk.service.site.read("/gone", FIRST - 7 * DAY, FIRST - DAY, people=30)
    await asked(talk)
    [rest] = await pressed(talk, "More")
    assert "No longer read" not in rest
    assert "Newly read" not in rest


async def test_windows_of_different_length_have_no_moved_pages(talk: Talk) -> None:
    read = talk.service.site.read
    read("/falling", FIRST, LAST, people=10)
    read("/falling", START, FIRST - DAY, people=90)
    read("/gone", START, FIRST - DAY, people=90)
    read("/new", FIRST, LAST, people=90)
    answer = await asked(talk, "compare 2026-09-01..2026-09-30")
    for message in (answer, *await pressed(talk, "More")):
        signs = "Falls", "longer read", "Newly", "(new)", "Worth", "−"
        assert not [sign for sign in signs if sign in message]
    assert (
        "Not compared with 1–30 Sep 2026, which had 60 visitors: it has 30 days and not 7."
        in answer
    )


async def test_window_before_the_data_is_not_compared(talk: Talk) -> None:
    talk.service.site.read("/a", FIRST, LAST, people=300)
    talk.service.site.read("/a", FIRST - 4 * DAY, FIRST - DAY, people=50)
    answer = await asked(talk)
    assert (
        "Not compared with 19–25 Oct 2026: no visits for 13–19 Oct 2026, so the data may begin"
        in answer
    )
    assert not [word for word in ("%)", "(new)", "Worth", ", compared") if word in answer]


async def test_window_without_visits_is_not_compared(talk: Talk) -> None:
    talk.service.site.read("/a", FIRST + DAY, LAST, people=300)
    answer = await asked(talk)
    assert "Not compared with 19–25 Oct 2026: no visits for it." in answer
    assert not [word for word in ("%)", "new", "Worth") if word in answer]


async def test_months_of_different_length_are_not_compared(talk: Talk) -> None:
    talk.service.site.fill(20, START - 40 * DAY, LAST)
    answer = await asked(talk, "2026-10-01..2026-10-31")
    assert answer.startswith("*Who read the docs, 1–31 Oct 2026*\n")
    assert "it has 30 days and not 31." in answer
    assert "%)" not in answer
    [chart] = [line for line in answer.splitlines() if "visitors by week" in line]
    assert "by week (Mon–Sun): 28 Sep–4 Oct People" in chart
    assert chart.count("People") == 5, "all days of October are in one of the weeks"


async def test_today_is_not_compared_with_a_whole_day(talk: Talk) -> None:
    week_ago = TODAY - 7 * DAY
    talk.service.site.read("/a", week_ago, week_ago, people=300)
    talk.service.site.read("/a", TODAY, TODAY, people=3)
    answer = await asked(talk, "today")
    assert answer.startswith("*Who read the docs so far today, 2 Nov 2026*")
    assert "%)" not in answer
    assert (
        "Not compared with 26 Oct 2026, which had 300 visitors: 2 Nov 2026 wasn't over." in answer
    )
    assert [call[2] for call in talk.service.site.calls if call[0] == week_ago] == [1]


async def test_question_has_a_progress_note_and_one_answer(talk: Talk) -> None:
    talk.service.site.fill(3, FIRST, LAST)
    talk.service.says("visitors", 429, seconds=15)
    await talk.ana.types("/docs-visitors compare none")
    [progress] = talk.ana.reads()
    assert PROGRESS in progress
    await talk.time.passes(40)
    [answer] = talk.ana.reads()
    assert PROGRESS not in answer


async def test_one_answer_comes_after_an_hour_of_faults(talk: Talk) -> None:
    talk.service.says("visitors", 429, seconds=9)
    talk.faults.goes_down("response_url")
    await talk.ana.types("/docs-visitors yesterday compare none")
    await talk.time.passes(minutes=25)
    talk.faults.comes_back()
    await talk.time.passes(minutes=20)
    [progress, answer] = talk.ana.reads()
    assert (PROGRESS in progress, PROGRESS in answer) == (True, False)


async def test_numbers_of_an_open_period_are_read_again(talk: Talk) -> None:
    talk.service.site.read("/a", TODAY, TODAY, people=3)
    assert "so far today" in await asked(talk, "today compare none")
    talk.service.site.read("/b", TODAY, TODAY, people=9)
    await talk.time.passes(700)
    assert "9 people" in await asked(talk, "today compare none")


async def test_reading_is_continued_after_a_crash(talk: Talk) -> None:
    talk.service.site.fill(30, FIRST, LAST)
    talk.service.hangs("visitors")
    await talk.ana.types("/docs-visitors compare none")
    await talk.time.passes(5)
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(5)
    assert talk.service.site.calls == []
    await talk.time.passes(120)
    assert " · 30 pages" in talk.ana.reads()[-1]


async def test_day_in_a_running_chart_is_answered_with_pages(talk: Talk) -> None:
    talk.service.site.read("/quickstart", FIRST, FIRST, people=3, agents=1)

    async def asked_meanwhile() -> httpx.Response:
        await talk.ben.types(f"/docs-visitors {FIRST} compare none")
        return httpx.Response(200, json=talk.service.site.answer(FIRST, FIRST + DAY, 1, 0))

    week = httpx.Response(200, json=talk.service.site.answer(FIRST, LAST + DAY, 250, 0))
    talk.service.answer_instead("visitors", week, asked_meanwhile())
    await talk.ana.types("/docs-visitors compare none")
    await talk.time.passes(30)
    assert "`/quickstart`" in talk.ben.reads()[-1]
    talk.ana.reads()


async def test_answer_about_days_before_the_data_is_careful(talk: Talk) -> None:
    site = talk.service.site
    site.fill(3, START, LAST)
    window = httpx.Response(200, json=site.answer(date(2026, 10, 31), date(2026, 11, 2), 250, 0))
    early = httpx.Response(400, json={"error": "too early"})
    talk.service.answer_instead("visitors", window, early)
    assert "couldn't be read: the docs service didn't accept the request." in await asked(
        talk, "2026-10-31..2026-11-01"
    )


async def test_reading_that_outlasts_a_lease_has_one_answer(talk: Talk) -> None:
    site = talk.service.site
    site.fill(2_000, FIRST, LAST)

    def slowly(rows: Rows, _call: int) -> Rows:
        talk.time.is_set(seconds=20)
        return rows

    site.order = slowly
    await talk.ana.types("/docs-visitors compare none")
    await talk.time.passes(minutes=5)
    [answer] = [note for note in talk.ana.reads() if PROGRESS not in note]
    assert "2,000 pages" in answer
    assert [call[3] for call in site.calls if call[2] > 1] == [*range(0, 2_000, 250)]


async def test_stopped_process_leaves_its_part_to_the_next(talk: Talk) -> None:
    site = talk.service.site
    site.fill(2_000, FIRST, LAST)

    def hang_at_the_fifth(rows: Rows, call: int) -> Rows:
        if call == 4:
            talk.service.hangs("visitors")
        return rows

    site.order = hang_at_the_fifth
    await talk.ana.types("/docs-visitors compare none")
    await talk.time.passes(5)
    read = len(site.calls)
    await talk.process.stops()
    await talk.process.starts()
    await talk.time.passes(5)
    [answer] = [note for note in talk.ana.reads() if PROGRESS not in note]
    assert "2,000 pages" in answer
    assert 0 < read < 8
    assert [call[3] for call in site.calls if call[2] > 1] == [*range(0, 2_000, 250)]
