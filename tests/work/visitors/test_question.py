"""Questions about visitors: right numbers, within the budget, whatever comes in between."""

from __future__ import annotations

import httpx
from sqlalchemy import select

from bot.commands.command import Answer
from bot.store.schema import questions
from bot.work.outbox.deliver import deliver_due
from bot.work.ports import SlackUnclear
from bot.work.visitors.fetch import fetch_snapshots
from bot.work.visitors.question import answer_questions
from tests.builders import BEN, NOW, PROJECT, rows_of
from tests.site import Visit
from tests.work.asking import DAY, FIRST, LAST, START, slow_down
from tests.work.office import Office


async def test_a_question_is_answered_privately_with_totals_changes_and_pages(office: Office) -> None:
    office.docs.site.read("/quickstart", FIRST, LAST, people=120, agents=30)
    office.docs.site.read("/quickstart", FIRST - 7 * DAY, FIRST - DAY, people=60, agents=30)
    assert (await office.visitors()).text == ""
    await office.reading(10)
    [answer] = office.answers()
    assert "*150 visitors* (+67%) · 120 people (+100%) · 30 AI agents · AI's share 20%" in answer
    assert "`/quickstart` *150 visitors* (+67%) · 120 people · 30 AI agents" in answer
    assert not office.posted()


async def test_no_chart_point_is_a_sum(office: Office) -> None:
    office.docs.site.visits = [Visit(FIRST + number * DAY, 1, "human", "/a") for number in range(7)]
    await office.visitors("compare none")
    await office.reading(20)
    chart = next(
        block for block in office.slack.private[-1][1].blocks if block["type"] == "data_visualization"
    )
    series = {one["name"]: [point["value"] for point in one["data"]] for one in chart["chart"]["series"]}
    assert series["All together"] == [1] * 7
    assert "*1 visitor* · 1 person · 0 AI agents" in office.answers()[-1]


async def test_what_is_known_is_answered_at_once_without_a_call(office: Office) -> None:
    office.docs.site.fill(20, FIRST - 7 * DAY, LAST)
    await office.visitors()
    await office.reading(20)
    calls = len(office.docs.site.calls)
    again = await office.types("/docs-visitors", "top 3 sort ai", user=BEN)
    assert again == Answer(), "the acknowledgement takes no chart, so the answer follows it"
    await office.reading(1)
    assert "Top 3 of 20 pages" in office.answers()[-1]
    assert len(office.docs.site.calls) == calls


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


async def test_a_section_shows_its_pages_and_the_totals_of_the_site(office: Office) -> None:
    office.docs.site.read("/api/orders", FIRST, LAST, people=20)
    office.docs.site.read("/apiary", FIRST, LAST, people=40)
    await office.visitors("path /api compare none")
    await office.reading(10)
    [answer] = office.answers()
    assert "1 page under /api" in answer
    assert "/apiary" not in answer
    assert "Whole site: *40 visitors* · 40 people" in answer


async def test_rises_falls_new_vanished_and_one_sided_pages_are_named(office: Office) -> None:
    before = FIRST - 7 * DAY
    office.docs.site.read("/rising", FIRST, LAST, people=90, agents=60)
    office.docs.site.read("/rising", before, FIRST - DAY, people=20, agents=20)
    office.docs.site.read("/falling", FIRST, LAST, people=10, agents=10)
    office.docs.site.read("/falling", before, FIRST - DAY, people=80, agents=60)
    office.docs.site.read("/steady", FIRST, LAST, people=51, agents=40)
    office.docs.site.read("/steady", before, FIRST - DAY, people=50, agents=40)
    office.docs.site.read("/new", FIRST, LAST, people=30, agents=20)
    office.docs.site.read("/gone", before, FIRST - DAY, people=30, agents=20)
    office.docs.site.read("/machines", FIRST, LAST, people=1, agents=50)
    office.docs.site.read("/machines", before, FIRST - DAY, people=1, agents=50)
    office.docs.site.read("/humans", FIRST, LAST, people=50, agents=1)
    office.docs.site.read("/humans", before, FIRST - DAY, people=50, agents=1)
    await office.visitors()
    await office.reading(20)
    assert "*Worth knowing*: `/falling` lost the most readers: −120 (−86%)." in office.answers()[0]
    rest = (await office.press("more", "1")).message
    assert rest is not None
    lines = {line.split("*")[1]: line for line in rest.text.splitlines() if line.startswith("*")}
    assert "`/rising`" in lines["Rises"]
    assert "`/falling`" in lines["Falls"]
    assert not any("`/steady`" in line for line in lines.values())
    assert "`/new`" in lines["Newly read"]
    assert "`/gone`" in lines["No longer read"]
    assert "`/machines`" in lines["Read by AI, hardly by people"]
    assert "`/humans`" in lines["Read by people, hardly by AI"]


async def test_pages_come_and_go_only_between_windows_that_were_read_whole(office: Office) -> None:
    office.docs.site.fill(30, FIRST, LAST)
    office.docs.site.read("/gone", FIRST - 7 * DAY, FIRST - DAY, people=30)
    office.budget(2, page_size=10)
    await office.visitors()
    await office.reading(10)
    rest = (await office.press("more", "1")).message
    assert rest is not None
    assert "No longer read" not in rest.text
    assert "Newly read" not in rest.text


async def test_windows_of_different_length_name_no_page_that_moved(office: Office) -> None:
    office.docs.site.read("/falling", FIRST, LAST, people=10)
    office.docs.site.read("/falling", START, FIRST - DAY, people=90)
    office.docs.site.read("/gone", START, FIRST - DAY, people=90)
    office.docs.site.read("/new", FIRST, LAST, people=90)
    await office.visitors("compare 2026-09")
    await office.reading(20)
    rest = (await office.press("more", "1")).message
    assert rest is not None
    for said in (office.answers()[0], rest.text):
        assert not [word for word in ("Falls", "longer read", "Newly", "(new)", "Worth", "−") if word in said]
    assert ", 7 days · before: 30 days, 60 visitors\n" in office.answers()[0]


async def test_a_window_that_begins_before_the_data_is_not_compared_and_this_is_said(office: Office) -> None:
    office.docs.site.read("/a", FIRST, LAST, people=300)
    office.docs.site.read("/a", FIRST - 4 * DAY, FIRST - DAY, people=50)
    await office.visitors()
    await office.reading(20)
    [answer] = office.answers()
    assert (
        "Not compared with 19–25 Oct 2026: no visits known for 13–19 Oct 2026, so the data may begin later."
    ) in answer
    assert not [word for word in ("%)", "(new)", "Worth", ", compared") if word in answer]


async def test_a_window_without_visits_is_not_compared_and_nothing_is_new(office: Office) -> None:
    office.docs.site.read("/a", FIRST + DAY, LAST, people=300)
    await office.visitors()
    await office.reading(20)
    [answer] = office.answers()
    assert "Not compared with 19–25 Oct 2026: no visits for it." in answer
    assert "No visits for 26 Oct 2026, so the data may begin within this period." in answer
    assert not [word for word in ("%)", "new", "Worth") if word in answer]
    assert "Unique visitors by day: Wed 28 Oct" in answer, "its data begins on the 27th, perhaps at noon"


async def test_where_the_data_begins_is_asked_once(office: Office) -> None:
    office.docs.site.fill(3, START, LAST)
    await office.visitors("yesterday")
    await office.reading(10)
    assert len(office.docs.site.calls) == 3
    await office.visitors("today")
    await office.reading(10)
    assert len(office.docs.site.calls) == 5


async def test_a_question_whose_beginning_could_not_be_asked_says_so(office: Office) -> None:
    office.docs.site.fill(3, START, LAST)
    await office.visitors("2026-10-31..2026-11-01")
    await fetch_snapshots(office.context)
    office.docs.answer_instead("visitors", httpx.Response(400, json={"error": "too early"}))
    await office.reading(10)
    assert "so the data may begin later." in office.answers()[0]


async def test_months_stand_side_by_side_with_their_days(office: Office) -> None:
    office.docs.site.fill(20, START - 40 * DAY, LAST)
    await office.visitors("october")
    await office.reading(20)
    [answer] = office.answers()
    assert answer.startswith("*Who read the docs, 1–31 Oct 2026*, 31 days · before: 30 days, ")
    assert "%)" not in answer
    [chart] = [line for line in answer.splitlines() if "visitors by week" in line]
    assert "by week (Mon–Sun): 5–11 Oct People" in chart
    assert chart.count("People") == 3, "1–4 and 26–31 October are no whole weeks"


async def test_today_is_not_compared_with_a_whole_day_and_reads_only_its_totals(office: Office) -> None:
    week_ago = NOW.date() - 7 * DAY
    office.docs.site.read("/a", week_ago, week_ago, people=300)
    office.docs.site.read("/a", NOW.date(), NOW.date(), people=3)
    await office.visitors("today")
    await office.reading(20)
    [answer] = office.answers()
    assert answer.startswith("*Who read the docs so far today, 2 Nov 2026*")
    assert "%)" not in answer
    assert "26 Oct 2026 had 300 people, 0 AI agents, 300 in all." in answer
    before = [call for call in office.docs.site.calls if call[0] == week_ago]
    assert [call[2] for call in before] == [1]


async def test_nothing_is_said_about_the_reading_before_three_seconds(office: Office) -> None:
    office.docs.site.fill(3, FIRST, LAST)
    office.docs.answer_instead("visitors", slow_down(15))
    await office.visitors("compare none")
    await office.reading(7, step_seconds=0.45)
    assert office.answers() == []
    await office.reading(5, step_seconds=0.45)
    assert ["Reading who read" in each for each in office.answers()] == [True]
    await office.reading(40)
    assert ["Reading who read" in each for each in office.answers()] == [True, False]


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


async def test_after_two_hours_of_trouble_with_slack_there_is_the_answer_alone(office: Office) -> None:
    office.docs.answer_instead("visitors", slow_down(9))
    office.slack.trouble("answer", *[SlackUnclear("HTTP 500")] * 1_000)
    await office.visitors("yesterday compare none")
    await office.reading(20, step_seconds=0.5)
    office.clock.pass_seconds(7_200)
    office.slack.troubles.clear()
    await office.reading(20)
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
    held = await office.store.write(lambda tx: tx.outbox.claim(claimer, 5, 1.0))
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


async def test_numbers_of_a_period_that_is_not_over_are_read_anew_after_a_while(office: Office) -> None:
    office.docs.site.read("/a", NOW.date(), NOW.date(), people=3)
    await office.visitors("today compare none")
    await office.reading(5)
    assert "so far today" in office.answers()[0]
    office.docs.site.read("/b", NOW.date(), NOW.date(), people=9)
    office.clock.pass_seconds(700)
    await office.visitors("today compare none")
    await office.reading(5)
    assert "9 people" in office.answers()[-1]


async def test_a_process_that_dies_while_reading_is_continued_by_another(office: Office) -> None:
    office.docs.site.fill(30, FIRST, LAST)
    office.budget(100, page_size=10)
    await office.visitors("compare none")
    who = office.context.claimer()
    held = await office.store.write(lambda tx: tx.snapshots.claim(who, PROJECT, 4))
    assert len(held) == 1
    office.restart()
    await office.reading(5)
    assert office.docs.site.calls == []
    office.clock.pass_seconds(100)
    await office.reading(20)
    assert " · 30 pages" in office.answers()[-1]


async def test_a_day_asked_for_while_the_chart_reads_it_is_answered_with_its_pages(office: Office) -> None:
    office.docs.site.read("/quickstart", FIRST, FIRST, people=3, agents=1)

    async def asked_meanwhile() -> httpx.Response:
        await office.visitors(f"{FIRST} compare none")
        return httpx.Response(200, json=office.docs.site.answer(FIRST, FIRST + DAY, 1, 0))

    await office.visitors("compare none")
    await fetch_snapshots(office.context)
    await answer_questions(office.context)
    office.docs.answer_instead("visitors", asked_meanwhile())
    await office.reading(20)
    [day] = [answer for answer in office.answers() if "26 Oct 2026*" in answer]
    assert "`/quickstart`" in day, day
