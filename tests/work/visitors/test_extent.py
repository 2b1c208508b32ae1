"""One question takes at most a third of the hour's calls, unless its person wants more."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.messages.visitors_extent import ask_extent
from bot.model import Analytics, Message, MessageTs, QuestionId
from bot.work.visitors.extent import is_over_share
from tests.builders import ANA, CHANNEL
from tests.messages.visitor_samples import question, snapshot
from tests.work.asking import DAY, FIRST, LAST, START
from tests.work.office import Office

THREAD = MessageTs("1700000000.000100")


async def asked(office: Office, pages: int, text: str = "compare none") -> Message:
    """Ana asks about a site of so many pages, ten to a call, with 30 calls an hour. The bot asks back."""
    office.docs.site.fill(pages, START, LAST)
    office.budget(30, page_size=10)
    await office.visitors(text)
    await office.reading(30, step_seconds=0.1)
    return office.slack.private[-1][1]


async def test_more_than_a_third_of_the_hour_is_not_taken_without_asking(office: Office) -> None:
    said = await asked(office, 400)
    assert "needs more than 10 calls of the 30 an hour. Read the top pages first?" in said.text
    assert [each["action_id"] for each in said.blocks[-1]["elements"]] == [
        "read_top",
        "read_all",
        "read_none",
    ]
    assert 0 < len(office.docs.site.calls) <= 10


async def test_with_two_periods_both_together_stay_within_the_third(office: Office) -> None:
    said = await asked(office, 400, "")
    assert "Read the top pages first?" in said.text
    assert 0 < len(office.docs.site.calls) <= 10


async def test_a_site_whose_size_is_known_is_asked_about_after_one_call_at_most(office: Office) -> None:
    await asked(office, 200)
    await office.press("read_all", "1")
    await office.reading(60)
    assert "Top 5 of 200 pages" in office.answers()[-1]
    calls = len(office.docs.site.calls)
    await office.visitors("2026-09 compare none")
    await office.reading(10)
    assert "needs about 20 calls of the 30 an hour. Read the top pages first?" in office.answers()[-1]
    assert len(office.docs.site.calls) <= calls + 1


async def test_the_top_pages_are_ranked_and_said_to_be_those_alone(office: Office) -> None:
    await asked(office, 400)
    pressed = await office.press("read_top", "1")
    assert pressed.replaces
    await office.reading(30)
    answer = office.answers()[-1]
    assert "that the service names were read. The ranking covers those alone." in answer
    assert "budget" not in answer
    assert len([call for call in office.docs.site.calls if call[2] > 1]) <= 10


async def test_what_a_button_in_a_thread_asked_for_is_shown_in_that_thread(office: Office) -> None:
    await asked(office, 400)
    await office.press("read_top", "1", thread=THREAD)
    await office.reading(30)
    [(channel, thread, user, message)] = office.slack.whispers
    assert (channel, thread, user) == (CHANNEL, THREAD, ANA)
    assert "The ranking covers those alone." in message.text
    assert len(office.answers()) == 1, "nothing more outside of the thread"


async def test_where_slack_shows_nothing_in_the_thread_the_answer_comes_through_its_url(
    office: Office,
) -> None:
    await asked(office, 400)
    await office.press("read_top", "1", thread=THREAD)
    office.slack.outside.add(CHANNEL)
    await office.reading(30)
    assert office.slack.whispers == []
    assert "The ranking covers those alone." in office.answers()[-1]


async def test_reading_all_goes_on_to_the_end_and_is_begun_once(office: Office) -> None:
    await asked(office, 200)
    for _ in range(2):
        await office.press("read_all", "1")
    await office.reading(200, step_seconds=1)
    answers = [each for each in office.answers() if "Top 5 of 200 pages" in each]
    assert len(answers) == 1
    whole = [call for call in office.docs.site.calls if call[2] > 1]
    assert len(whole) == 20


async def test_cancelling_reads_nothing_more(office: Office) -> None:
    await asked(office, 400)
    calls = len(office.docs.site.calls)
    answer = await office.press("read_none", "1")
    assert answer.message is not None
    assert answer.message.text.startswith("Cancelled.")
    await office.reading(20)
    assert len(office.docs.site.calls) == calls


async def test_a_site_that_takes_a_few_calls_is_read_without_a_question(office: Office) -> None:
    office.docs.site.fill(1_200, FIRST - 7 * DAY, LAST)
    await office.visitors()
    await office.reading(30)
    assert ["Read the top pages first?" in each for each in office.answers()] == [False]


@given(st.integers(1, 10_000), st.integers(0, 10_000), st.integers(0, 10_000))
def test_two_periods_that_go_on_to_their_next_pause_stay_within_the_third(
    limit: int, first: int, second: int
) -> None:
    analytics = Analytics(limit)
    both = (snapshot(calls=first), snapshot(calls=second))
    if first + second and not is_over_share(both, analytics):
        pause = analytics.pause_calls
        reached = sum((calls // pause + 1) * pause for calls in (first, second))
        assert reached <= analytics.question_calls


def test_how_long_it_takes_is_said_in_hours() -> None:
    said = ask_extent(question(id=QuestionId(7)), 160, 100).text
    assert "needs about 160 calls of the 100 an hour, that is 2 hours. Read the top pages first?" in said
