"""Questions about visitors: right numbers, within the budget, whatever comes in between."""

from __future__ import annotations

import asyncio
import csv
import io
import random
import resource
import sys
from dataclasses import replace
from datetime import date, timedelta
from math import ceil

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select

from bot.model import Counts, Period, Profile, RequestKey, SnapshotState, VisitorsQuery
from bot.store import Store
from bot.store.database import open_engine
from bot.store.schema import metadata, questions, snapshots
from bot.store.snapshots import SnapshotRepository
from bot.work.ports import SlackRefused, SlackUnclear
from bot.work.visitors.fetch import fetch_snapshots
from bot.work.visitors.question import VisitorsRequest, answer_questions, ask_visitors
from tests.builders import ANA, BEN, CHANNEL, NOW
from tests.site import Rows, Site, Visit
from tests.work.office import BUTTON_URL, Office

FIRST, LAST = date(2026, 10, 26), date(2026, 11, 1)
"""The last seven full days before the test's now."""
START = date(2026, 9, 1)
DAY = timedelta(days=1)


async def newest_snapshot(office: Office, period: Period) -> tuple[Counts | None, dict[str, Counts], int]:
    """What is stored of a window: totals, pages, and how many rows came twice."""
    async with office.store.look() as tx:
        known = await tx.snapshots.find(office.context.project, period, is_final=True, now=office.clock())
        assert known is not None
        pages = {page.path: page.now for page in await tx.pages.following(known.id, None, limit=9_999)}
    return known.totals, pages, known.repeated


visits = st.lists(
    st.builds(
        Visit,
        st.integers(0, 20).map(lambda number: START + number * DAY),
        st.integers(0, 12),
        st.sampled_from(["human", "ai"]),
        st.sampled_from([f"/p{number}" for number in range(9)]),
    ),
    max_size=60,
)


async def read_with(site: Site, first: date, last: date, page_size: int) -> tuple[Office, Period]:
    """An office that has read one window of a site."""
    engine = open_engine("sqlite+aiosqlite:///:memory:")
    async with engine.begin() as connection:
        await connection.run_sync(metadata.create_all)
    office = Office(Store(engine))
    office.docs.site = site
    office.budget(10_000, page_size)
    await office.visitors(f"{first}..{last} compare none")
    while await fetch_snapshots(office.context):
        pass
    return office, Period(first, last + DAY)


async def closed(office: Office) -> None:
    await office.context.docs.aclose()
    await office.store.close()


@given(visits, st.integers(0, 20), st.integers(0, 20), st.integers(1, 7))
def test_totals_and_pages_are_those_of_an_independent_count(
    made: list[Visit], one: int, other: int, page_size: int
) -> None:
    first, last = START + min(one, other) * DAY, START + max(one, other) * DAY

    async def read() -> tuple[Counts | None, dict[str, Counts], int]:
        office, period = await read_with(Site(made), first, last, page_size)
        found = await newest_snapshot(office, period)
        await closed(office)
        return found

    totals, pages, _ = asyncio.run(read())
    inside = [visit for visit in made if first <= visit.day <= last]
    people = {visit.visitor for visit in inside if visit.kind == "human"}
    agents = {visit.visitor for visit in inside if visit.kind == "ai"}
    assert totals == Counts(len(people), len(agents), len(people | agents))
    assert set(pages) == {visit.path for visit in inside}
    for path, counts in pages.items():
        here = {(visit.kind, visit.visitor) for visit in inside if visit.path == path}
        assert counts.human == len({visitor for kind, visitor in here if kind == "human"})
        assert counts.ai == len({visitor for kind, visitor in here if kind == "ai"})
        assert counts.total == len({visitor for _, visitor in here})


@given(visits, st.integers(1, 4), st.integers(0, 1_000))
def test_rows_that_move_while_they_are_read_are_never_counted_twice_and_those_missed_are_told(
    made: list[Visit], page_size: int, seed: int
) -> None:
    def shuffled(rows: Rows, call: int) -> Rows:
        return random.Random(f"{seed}:{call}").sample(rows, len(rows))

    async def read() -> tuple[Counts | None, dict[str, Counts], int]:
        office, period = await read_with(Site(made, shuffled), START, START + 20 * DAY, page_size)
        found = await newest_snapshot(office, period)
        await closed(office)
        return found

    totals, pages, repeated = asyncio.run(read())
    truth = dict(Site.rows(made))
    assert totals == Site(made).answer_totals()
    assert all(truth[path] == counts for path, counts in pages.items())
    # A whole answer of rows seen before ends the reading, since it could go on for ever.
    assert len(pages) + repeated == len(truth) or repeated >= page_size


async def test_a_question_is_answered_privately_with_totals_changes_and_pages(office: Office) -> None:
    office.docs.site.read("/quickstart", FIRST, LAST, people=120, agents=30)
    office.docs.site.read("/quickstart", FIRST - 7 * DAY, FIRST - DAY, people=60, agents=30)
    assert "Reading who read the docs, 26 Oct – 1 Nov 2026" in (await office.visitors()).text
    await office.reading(10)
    [answer] = office.answers()
    assert "People: 120 (+100 %); AI agents: 30 (±0 %); All together: 150 (+67 %)" in answer
    assert "`/quickstart` 120 people, 30 AI agents, 150 in all, +67 %" in answer
    assert not office.posted()


async def test_whoever_came_as_both_is_counted_once_in_all_together(office: Office) -> None:
    office.docs.site.visits = [
        Visit(FIRST, 1, "human", "/a"),
        Visit(LAST, 1, "ai", "/a"),
        Visit(LAST, 2, "human", "/a"),
    ]
    await office.visitors("compare none")
    await office.reading(10)
    assert "People: 2; AI agents: 1; All together: 2" in office.answers()[0]


async def test_the_last_day_that_a_person_names_belongs_to_the_period(office: Office) -> None:
    office.docs.site.visits = [Visit(LAST, 1, "human", "/a"), Visit(LAST + DAY, 2, "human", "/a")]
    await office.visitors("2026-10-26..2026-11-01 compare none")
    await office.reading(10)
    assert "All together: 1;" in office.answers()[0]
    assert office.docs.site.calls[0][:2] == (FIRST, LAST + DAY)


async def test_no_chart_point_is_a_sum(office: Office) -> None:
    office.docs.site.visits = [Visit(FIRST + number * DAY, 1, "human", "/a") for number in range(7)]
    await office.visitors("compare none")
    await office.reading(20)
    chart = next(
        block for block in office.slack.private[-1][1].blocks if block["type"] == "data_visualization"
    )
    series = {one["name"]: [point["value"] for point in one["data"]] for one in chart["chart"]["series"]}
    assert series["All together"] == [1] * 7
    assert "All together: 1;" in office.answers()[-1]


async def test_what_is_known_is_answered_at_once_without_a_call(office: Office) -> None:
    office.docs.site.fill(20, FIRST - 7 * DAY, LAST)
    await office.visitors()
    await office.reading(20)
    calls = len(office.docs.site.calls)
    again = await office.visitors("top 3 sort ai", user=BEN)
    assert "Top 3 of 20 pages" in again.text
    await office.reading(3)
    assert len(office.docs.site.calls) == calls


async def test_the_same_request_delivered_twice_is_one_question(office: Office) -> None:
    office.docs.site.fill(5, FIRST, LAST)
    await office.visitors("compare none", key="once")
    await office.visitors("compare none", key="once")
    await office.reading(20)
    async with office.store.look() as tx:
        count = (await tx.connection.execute(select(func.count()).select_from(questions))).scalar_one()
    assert (count, len(office.answers())) == (1, 1)


async def test_a_site_of_n_pages_takes_as_many_calls_as_it_has_pages_of_rows(office: Office) -> None:
    office.docs.site.fill(613, FIRST, LAST)
    await office.visitors("compare none")
    await office.reading(20)
    whole = [call for call in office.docs.site.calls if call[2] == 250]
    assert len(whole) == ceil(613 / 250)
    assert "Top 10 of 613 pages" in office.answers()[0]


async def test_the_budget_is_kept_and_what_was_left_out_is_told(office: Office) -> None:
    office.docs.site.fill(1_000, FIRST, LAST)
    office.budget(3, page_size=100)
    await office.visitors("compare none")
    await office.reading(10)
    [answer] = office.answers()
    assert len(office.docs.site.calls) == 3
    assert "Only the first 300 pages that the service names were read" in answer
    assert "hourly budget of 3 calls" in answer


async def test_asking_again_goes_on_where_the_reading_stopped(office: Office) -> None:
    office.docs.site.fill(500, FIRST, LAST)
    office.budget(3, page_size=100)
    await office.visitors("compare none")
    await office.reading(10)
    office.clock.pass_seconds(3_600)
    await office.visitors("compare none")
    await office.reading(10)
    assert [offset for _, _, limit, offset in office.docs.site.calls if limit > 1] == [0, 100, 200, 300, 400]
    assert "Top 10 of 500 pages" in office.answers()[-1]
    assert "Only the first" not in office.answers()[-1]


async def test_a_scarce_budget_goes_to_the_window_that_was_asked_for_first(office: Office) -> None:
    office.docs.site.fill(500, FIRST - 7 * DAY, LAST)
    office.budget(6, page_size=100)
    await office.visitors()
    await office.reading(10)
    assert [call[0] for call in office.docs.site.calls] == [FIRST] * 5 + [FIRST - 7 * DAY]
    assert "Top 10 of 500 pages" in office.answers()[0]


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
    office.docs.answer_instead(
        "visitors", httpx.Response(429, headers={"Retry-After": "10"}, json={"error": "slow down"})
    )
    await office.visitors("compare none")
    await office.reading(3)
    assert office.answers() == []
    assert office.docs.site.calls == []
    office.clock.pass_seconds(10)
    await office.reading(10)
    assert "All together" in office.answers()[0]


async def test_a_key_that_is_refused_is_explained_and_not_tried_again(office: Office) -> None:
    office.docs.answer_instead("visitors", *(httpx.Response(401, json={"error": "no"}) for _ in range(2)))
    await office.visitors("compare none")
    await office.reading(10)
    [answer] = office.answers()
    assert "does not accept the bot's key" in answer
    assert "No use of the agent's hourly limit was spent" in answer
    assert len(office.docs.instead["visitors"]) == 1


async def test_a_service_that_is_unwell_for_a_moment_is_asked_again(office: Office) -> None:
    office.docs.site.fill(3, FIRST, LAST)
    office.docs.answer_instead(
        "visitors", httpx.Response(502, text="<html>"), httpx.ReadTimeout("late"), httpx.Response(500)
    )
    await office.visitors("compare none")
    await office.reading(40)
    assert "All together" in office.answers()[0]


async def test_a_service_that_stays_unwell_is_told_in_the_end(office: Office) -> None:
    office.docs.answer_instead("visitors", *(httpx.Response(503) for _ in range(9)))
    await office.visitors("compare none")
    await office.reading(60)
    assert "did not give a usable answer" in office.answers()[0]


async def test_a_service_that_never_ends_is_not_followed_for_ever(office: Office) -> None:
    office.docs.site.fill(10, FIRST, LAST)
    office.budget(1_000, page_size=5)
    same = office.docs.site.answer(FIRST, LAST + DAY, 5, 0)
    office.docs.site.calls.clear()
    office.docs.answer_instead("visitors", *(httpx.Response(200, json=same) for _ in range(50)))
    await office.visitors("compare none")
    await office.reading(10)
    assert len(office.docs.instead["visitors"]) == 50 - 2 - 7
    assert "says that there is more but shows nothing new" in office.answers()[0]


async def test_a_chart_is_left_out_when_its_calls_would_use_up_the_hour(office: Office) -> None:
    office.docs.site.fill(3, FIRST - 7 * DAY, LAST)
    office.budget(12)
    await office.visitors()
    await office.reading(10)
    assert "There is no chart, to keep the rest of the hourly budget" in office.answers()[0]
    assert len(office.docs.site.calls) == 2


async def test_a_section_shows_its_pages_and_the_totals_of_the_site(office: Office) -> None:
    office.docs.site.read("/api/orders", FIRST, LAST, people=20)
    office.docs.site.read("/apiary", FIRST, LAST, people=40)
    await office.visitors("path /api compare none")
    await office.reading(10)
    [answer] = office.answers()
    assert "1 page under /api" in answer
    assert "/apiary" not in answer
    assert "People: 40" in answer
    assert "those of the whole site" in answer


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
    lines = {line.split("*")[1]: line for line in office.answers()[0].splitlines() if line.startswith(":")}
    assert "`/rising`" in lines["Rises"]
    assert "`/falling`" in lines["Falls"]
    assert not any("`/steady`" in line for line in lines.values())
    assert "`/new`" in lines["Newly read"]
    assert "`/gone`" in lines["Not read any more"]
    assert "`/machines`" in lines["Read by AI, hardly by people"]
    assert "`/humans`" in lines["Read by people, hardly by AI"]


async def test_pages_come_and_go_only_between_windows_that_were_read_whole(office: Office) -> None:
    office.docs.site.fill(30, FIRST, LAST)
    office.docs.site.read("/gone", FIRST - 7 * DAY, FIRST - DAY, people=30)
    office.budget(2, page_size=10)
    await office.visitors()
    await office.reading(10)
    assert "Not read any more" not in office.answers()[0]
    assert "Newly read" not in office.answers()[0]


async def answered(office: Office) -> str:
    """Ana's question is answered; its number."""
    office.docs.site.fill(12, FIRST - 7 * DAY, LAST)
    await office.visitors()
    await office.reading(20)
    return "1"


async def test_an_answer_is_shared_once_under_the_name_of_who_shared_it(office: Office) -> None:
    number = await answered(office)
    assert (await office.press("share", number, user=BEN)).message is None
    again = await office.press("share", number, user=ANA)
    await office.reading(5)
    [post] = office.posted()
    assert f"Shared by <@{BEN}>" in post
    assert again.message is not None
    assert "shared already" in again.message.text
    calls = len(office.docs.site.calls)
    assert calls == len(office.docs.site.calls)


async def test_sharing_where_the_bot_may_not_post_tells_who_tried_and_can_be_tried_again(
    office: Office,
) -> None:
    number = await answered(office)
    office.slack.trouble("post", SlackRefused("channel_not_found"))
    await office.press("share", number)
    await office.reading(5)
    [(user, told, _)] = office.slack.direct
    assert (user, office.posted()) == (ANA, [])
    assert "/invite @docs-agent" in told.text
    await office.press("share", number)
    await office.reading(5)
    assert len(office.posted()) == 1


async def test_all_pages_come_as_a_file_in_the_direct_messages(office: Office) -> None:
    office.docs.site.fill(1_200, FIRST, LAST)
    await office.visitors("compare none csv")
    await office.reading(20)
    [(channel, name, words, content)] = office.slack.files
    assert channel == "D0ANA"
    assert name.startswith("docs-visitors-2026-10-26-to-2026-11-01-")
    assert "1,200 pages" in words
    rows = list(csv.reader(io.StringIO(content.removeprefix("\ufeff"))))
    assert rows[0] == ["page", "human", "ai", "total"]
    truth = dict(Site.rows(office.docs.site.visits))
    assert {path: Counts(int(h), int(a), int(t)) for path, h, a, t in rows[1:]} == truth


async def test_a_file_is_put_into_the_channel_on_request_and_the_channel_joined_for_it(
    office: Office,
) -> None:
    office.docs.site.fill(3, FIRST, LAST)
    office.slack.outside.add(CHANNEL)
    await office.visitors("csv here compare none")
    await office.reading(20)
    assert [channel for channel, *_ in office.slack.files] == [CHANNEL]
    assert office.slack.joined == {CHANNEL}


async def test_a_file_comes_once_however_often_its_button_is_pressed(office: Office) -> None:
    number = await answered(office)
    first, second = [await office.press("csv_file", number) for _ in range(2)]
    await office.reading(5)
    third = await office.press("csv_file", number)
    await office.reading(5)
    assert first.message is not None
    assert "All pages come as a CSV file" in first.message.text
    for answer in (second, third):
        assert answer.message is not None
        assert "Nothing was sent again" in answer.message.text
    assert len(office.slack.files) == 1


async def test_a_file_that_slack_refused_can_be_asked_for_again_with_the_same_button(office: Office) -> None:
    number = await answered(office)
    office.slack.trouble("upload", SlackRefused("storage_limit_reached"))
    await office.press("csv_file", number)
    await office.reading(5)
    assert "The file could not be sent." in office.slack.direct[-1][1].text
    assert office.slack.files == []
    await office.press("csv_file", number)
    await office.reading(5)
    assert len(office.slack.files) == 1


async def test_a_file_whose_answer_was_lost_is_looked_for_before_it_is_sent_again(office: Office) -> None:
    number = await answered(office)
    office.slack.lose_answer.append(SlackUnclear("reset"))
    await office.press("csv_file", number)
    await office.reading(20)
    assert len(office.slack.files) == 1
    async with office.store.look() as tx:
        assert await tx.outbox.dead(5) == []


async def test_cells_that_a_spreadsheet_would_run_are_harmless(office: Office) -> None:
    office.docs.site.read('=HYPERLINK("http://evil")', FIRST, LAST, people=3)
    await office.visitors("compare none csv")
    await office.reading(20)
    assert "\r\n\"'=HYPERLINK" in office.slack.files[0][3]


async def test_the_message_in_which_progress_is_shown_becomes_the_answer(office: Office) -> None:
    office.docs.site.fill(3, FIRST, LAST)
    office.docs.answer_instead("visitors", *(httpx.Response(503) for _ in range(3)))
    reading = await office.visitors("compare none")
    button = reading.blocks[-1]["elements"][0]
    shown = await office.press(button["action_id"], button["value"])
    assert shown.replaces
    assert shown.message is not None
    assert "0 of 100 calls of the hour are used" in shown.message.text
    await office.reading(40)
    assert "All together" in office.answers()[-1]
    assert office.slack.private[-1][0] == BUTTON_URL.get_secret_value()
    assert BUTTON_URL.get_secret_value() in office.slack.replaced
    late = await office.press("progress", "1")
    assert late.message is not None
    assert "The answer is there" in late.message.text


async def test_progress_is_shown_a_few_times_at_most(office: Office) -> None:
    office.docs.answer_instead(
        "visitors", *(httpx.Response(429, headers={"Retry-After": "15"}, json={}) for _ in range(200))
    )
    await office.visitors("compare none")
    await office.press("progress", "1")
    await office.reading(80, step_seconds=10)
    shown = [text for text in office.answers() if "hourglass" in text]
    assert len(shown) == 3


async def test_a_page_of_an_answer_leads_to_the_form_of_the_agent(office: Office) -> None:
    office.docs.site.read("/webhooks", FIRST, LAST, people=12, agents=340)
    await office.visitors("compare none")
    await office.reading(20)
    row = next(block for block in office.slack.private[-1][1].blocks if block["type"] == "actions")
    menu = next(element for element in row["elements"] if element["type"] == "static_select")
    answer = await office.press("improve", menu["options"][0]["value"])
    assert answer.modal is not None
    text = answer.modal.view["blocks"][0]["element"]["initial_value"]
    assert "Improve the page /webhooks" in text
    assert "12 people, 340 AI agents, 352 in all" in text
    assert "mostly by AI agents" in text


async def test_a_page_whose_numbers_are_not_kept_any_more_says_so(office: Office) -> None:
    for value in ("page:99999", "page:99999999999", "nonsense", ""):
        answer = await office.press("improve", value)
        assert answer.message is not None
        assert "not kept any more" in answer.message.text


async def test_buttons_of_unknown_questions_say_so(office: Office) -> None:
    for action in ("share", "csv_file", "how_counted", "progress"):
        for value in ("4711", "x", "99999999999999"):
            answer = await office.press(action, value)
            assert answer.message is not None
            assert "not kept any more" in answer.message.text


async def test_how_it_was_counted_can_be_asked(office: Office) -> None:
    answer = await office.press("how_counted", await answered(office))
    assert answer.message is not None
    assert "Unique visitors cannot be added" in answer.message.text


async def test_numbers_of_a_period_that_is_not_over_are_read_anew_after_a_while(office: Office) -> None:
    office.docs.site.read("/a", NOW.date(), NOW.date(), people=3)
    await office.visitors("today compare none")
    await office.reading(5)
    assert "not over yet" in office.answers()[0]
    office.docs.site.read("/b", NOW.date(), NOW.date(), people=9)
    office.clock.pass_seconds(700)
    await office.visitors("today compare none")
    await office.reading(5)
    assert "People: 9" in office.answers()[-1]


async def test_pages_of_open_windows_are_forgotten_after_some_days_and_totals_stay(office: Office) -> None:
    office.docs.site.read("/a", NOW.date(), NOW.date(), people=3)
    await office.visitors("today compare none")
    await office.reading(5)
    async with office.store.transaction() as tx:
        assert await tx.snapshots.sweep(office.clock() - 2 * DAY, START) == 0
        assert await tx.snapshots.sweep(office.clock() + DAY, START) == 1
        [row] = (await tx.connection.execute(select(snapshots))).mappings().all()
    assert (row["total"], row["rows"], row["state"]) == (3, 0, SnapshotState.DONE)


async def test_a_process_that_dies_while_reading_is_continued_by_another(office: Office) -> None:
    office.docs.site.fill(30, FIRST, LAST)
    office.budget(100, page_size=10)
    await office.visitors("compare none")
    async with office.store.transaction() as tx:
        rows: SnapshotRepository = tx.snapshots
        held = await rows.claim(office.context.claimer(), 4, 99)  # type: ignore[arg-type]
        assert len(held) == 1
    office.restart()
    await office.reading(5)
    assert office.docs.site.calls == []
    office.clock.pass_seconds(100)
    await office.reading(20)
    assert "Top 10 of 30 pages" in office.answers()[0]


async def test_somebody_elses_question_that_is_turned_away_ends_nobodys_reading(office: Office) -> None:
    for page in range(6):
        office.docs.site.read(f"/p{page}", FIRST, LAST, people=page + 1)
    office.budget(100, page_size=2)
    request = VisitorsRequest(RequestKey("one"), CHANNEL, ANA, VisitorsQuery(Period(FIRST, LAST + DAY), None))
    await ask_visitors(office.context, request)
    await fetch_snapshots(office.context)
    await answer_questions(office.context)
    office.slack.profiles[BEN] = Profile(is_guest=True, is_bot=False, is_stranger=False, is_deleted=False)
    await ask_visitors(office.context, replace(request, key=RequestKey("two"), user=BEN))
    office.clock.pass_seconds(1)
    await answer_questions(office.context)
    await office.reading()
    told = {user: message for user, message, _ in office.slack.direct}
    assert "Guests cannot" in told[BEN].text
    assert "/p0" in str(told[ANA].blocks)
    assert "Only the first" not in str(told[ANA].blocks)


@pytest.mark.skipif(sys.platform != "linux", reason="how large a file may be is set as Linux does")
async def test_a_file_for_which_there_is_no_room_is_sent_when_there_is(office: Office) -> None:
    for page in range(250):
        office.docs.site.read(f"/guides/a-page-with-a-long-name-{page}", LAST, LAST, people=1)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, hard))
    try:
        await office.visitors("yesterday compare none csv")
        await office.reading(5)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert office.slack.files == []
    await office.reading(20)
    [(_, _, _, content)] = office.slack.files
    assert len(content.splitlines()) == 251
