"""The weekly digest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.messages.blocks import moment
from bot.messages.digests import digest, work_done
from bot.messages.misses import IMPROVE
from bot.messages.worth import suggested
from bot.model.ids import Block, JobNumber, Reviewer
from bot.model.jobs import About, JobState, Review, TrackedJob
from bot.model.misses import Source, Topic, Words
from bot.model.pull_requests import SeenPullRequest, Size
from bot.model.questions import Movements, Suggestion, SuggestionReason, ToReview, WeeklyReport, WorkDone
from bot.model.visitors import Counts, Period, ReadingProblem, SnapshotState
from bot.model.worth import Worth
from tests.builders import ANA, BEN, CHANNEL, NOW, PROJECT
from tests.messages.slack_limits import Allowed, problems_of
from tests.messages.visitor_samples import (
    QUESTION,
    chart,
    elements,
    page,
    report,
    snapshot,
    weekly,
    work,
)

DOWN = page("/api/users", (1, 400, 401), (20, 500, 510))


def lines(told: WeeklyReport) -> list[str]:
    """What somebody hears who sees no blocks."""
    return digest(told, QUESTION).text.splitlines()


def curve(*known: int) -> tuple[tuple[Period, Counts | None], ...]:
    """Eight weeks, of which these are known."""
    return tuple((week, counts if at in known else None) for at, (week, counts) in enumerate(weekly().curve))


def test_a_digest_names_its_week_and_what_it_is_compared_with() -> None:
    heading, readers, *_ = lines(weekly())
    assert heading == "*The docs in the week 26 Oct – 1 Nov 2026*, compared with the week before"
    assert readers.startswith("*Readers*: *4,500 visitors*")


def test_a_digest_without_the_week_before_compares_nothing() -> None:
    told = weekly(report=report(was=snapshot(totals=None), before=None))
    assert "compared" not in digest(told, QUESTION).text
    assert "*Readers*: *4,500 visitors* ·" in digest(told, QUESTION).text


def test_a_digest_tells_totals_pages_and_movements_in_words() -> None:
    said = lines(weekly(report=report(movements=Movements(fallen=(DOWN,)))))
    totals = "*4,500 visitors* · 1,200 people (+20%) · 3,400 AI agents · AI's share 76% · 812 pages"
    assert said[1] == f"*Readers*: {totals}"
    assert "2. `/api/users` *401 visitors* (−21%) · 1 person · 400 AI agents" in said
    assert "*Falls*: `/api/users` −109 (−21%)" in said


def test_weeks_that_are_not_known_are_left_out_and_counted() -> None:
    told = weekly(curve=curve(5, 6, 7))
    drawn = chart(digest(told, QUESTION).blocks)
    assert drawn is not None
    assert drawn["chart"]["axis_config"]["categories"] == ["12–18 Oct", "19–25 Oct", "26 Oct–1 Nov"]
    assert "The curve leaves out 5 weeks that have not been read yet." in lines(told)
    assert "leaves out 1 week that has" in digest(weekly(curve=curve(1, 2, 3, 4, 5, 6, 7)), QUESTION).text


@pytest.mark.parametrize("known", [(), (7,)])
def test_of_fewer_than_two_weeks_there_is_no_curve(known: tuple[int, ...]) -> None:
    told = weekly(curve=curve(*known))
    assert chart(digest(told, QUESTION).blocks) is None
    assert "Week by week" not in digest(told, QUESTION).text
    assert "There is no curve yet: too few weeks are known." in lines(told)


@pytest.mark.parametrize(
    ("done", "said"),
    [
        (work(), " had no jobs that week. `/docs-agent` starts one."),
        (work(1, pull_request=1), ": 1 job was asked for: 1 pull request."),
        (work(1, working=1), ": 1 job was asked for: 1 open or ended otherwise."),
        (
            work(
                1_200,
                pull_request=1_000,
                no_pull_request=150,
                failed=20,
                archived=10,
                working=20,
                median_time=timedelta(minutes=80),
            ),
            (
                ": 1,200 jobs were asked for: 1,000 pull requests, 150 without a pull request, 20 failed, "
                "30 open or ended otherwise. Median time: 1\xa0h\xa020\xa0min."
            ),
        ),
    ],
)
def test_the_work_of_the_agent_is_told_in_one_line(done: WorkDone, said: str) -> None:
    line = f"*The agent*{said}"
    assert work_done(done) == line
    assert line in lines(weekly(work=done))


@pytest.mark.parametrize(
    ("why", "said"),
    [
        (SuggestionReason.FALLING, "lost readers, −109 (−21%)"),
        (SuggestionReason.ONLY_AI, "read by 400 AI agents and only 1 person"),
        (SuggestionReason.MOST_READ, "the most read that no job has named, 401 visitors"),
    ],
)
def test_a_suggestion_says_why_with_the_numbers_of_its_page(why: SuggestionReason, said: str) -> None:
    line = f"`/api/users`: {said}"
    assert suggested(Suggestion(DOWN, why)) == line
    assert f"• {line}" in lines(weekly(suggestion=Suggestion(DOWN, why)))


SEARCH = Worth(Topic.SEARCHES, "a1", "webhook <b>retries", 1_043, 2, 0)
PAGE = Worth(Topic.FEEDBACK, "b2", "/api/users", 7, 9, quote="Where is ∗paging∗?")
ASKED = Worth(Topic.QUESTIONS, "c3", "How do I rotate keys?", 40, was=4)
BILLED = Worth(Topic.QUESTIONS, "d4", "Billing", 3, quote="Who pays?")
FOUND = (SEARCH, PAGE, ASKED, BILLED)


def rows(blocks: Sequence[Block]) -> list[Block]:
    """The blocks with a button."""
    return [block for block in blocks if "accessory" in block]


def test_a_digest_begins_with_what_is_worth_doing_each_in_one_line_with_its_evidence() -> None:
    said = lines(weekly(worth=FOUND, suggestion=Suggestion(DOWN, SuggestionReason.FALLING)))
    assert said[1:7] == [
        "Worth doing this week:",
        "• `webhook &lt;b&gt;retries`: searched 1,043 times, clicked 2, new",
        "• `/api/users`: 7 of 9 votes not helpful: “Where is ∗paging∗?”",
        "• “How do I rotate keys?”: asked 40 times, no answer, 4 the week before",
        "• `Billing`: 3 questions without an answer: “Who pays?”",
        "• `/api/users`: lost readers, −109 (−21%)",
    ]
    assert said[7].startswith("*Readers*")


def test_each_thing_worth_doing_has_one_button_also_where_slack_refuses_charts() -> None:
    message = digest(weekly(worth=FOUND, suggestion=Suggestion(DOWN, SuggestionReason.FALLING)), QUESTION)
    for blocks in (message.blocks, message.plain_blocks):
        buttons = [block["accessory"] for block in rows(blocks)]
        assert [(each["text"]["text"], each["action_id"], each["value"]) for each in buttons] == [
            ("Write it", IMPROVE, f"{QUESTION}:a1"),
            ("Improve it", IMPROVE, f"{QUESTION}:b2"),
            ("Write it", IMPROVE, f"{QUESTION}:c3"),
            ("Write it", IMPROVE, f"{QUESTION}:d4"),
            ("Improve it", "improve_page", f"page:{DOWN.key}"),
        ]


def test_where_nothing_is_worth_doing_the_digest_begins_with_its_readers() -> None:
    message = digest(weekly(), QUESTION)
    assert "Worth doing" not in message.text
    assert rows(message.blocks) == []
    assert [each["action_id"] for each in elements(message.blocks)] == ["more", "improve"]


def test_what_was_asked_for_is_told_with_what_came_of_it() -> None:
    merged = TrackedJob(
        *(JobNumber(6), PROJECT, CHANNEL, ANA, "Write about retries", NOW),
        state=JobState.PULL_REQUEST,
        review=Review.MERGED,
        pr_link="https://code.example/pull/7",
        about=About("a1", "webhook <b>retries"),
    )
    running = replace(merged, number=JobNumber(9), state=JobState.WORKING, review=None, pr_link=None)
    asked = f"`webhook &lt;b&gt;retries`, asked for {moment(NOW, '{date_short_pretty}')}"
    assert lines(weekly(asked=(merged, running)))[2:4] == [
        f":white_check_mark: *Merged* · {asked} · <https://code.example/pull/7|Job 6>",
        f":gear: *Working on it* · {asked} · Job 9",
    ]


def test_a_digest_says_of_how_many_rows_its_list_is_and_what_could_not_be_read() -> None:
    part = snapshot(source=Source.SEARCHES, words=Words(is_part=True))
    refused = snapshot(source=Source.VOTES, state=SnapshotState.FAILED, problem=ReadingProblem.UNWELL)
    absent = replace(refused, source=Source.QUESTIONS, problem=ReadingProblem.NOT_HERE)
    said = digest(weekly(missed=(part, refused, absent)), QUESTION).text
    assert "What is worth doing was chosen from the first 100 rows of each kind." in said
    assert "Votes couldn't be read: " in said
    assert "Questions couldn't" not in said


def test_a_digest_says_when_it_comes_and_where_to_change_that() -> None:
    assert lines(weekly())[-1] == "Every Monday at 09:00 (Berlin) · `/docs-visitors subscriptions`"


def test_a_digest_that_was_asked_for_once_has_no_such_line() -> None:
    told = weekly(subscription=None)
    assert "Every Monday" not in digest(told, QUESTION).text
    assert "Unique visitors, approximate" in lines(told)[-1]


def test_a_digest_of_a_site_without_visits_is_valid() -> None:
    nothing = Counts(0, 0, 0)
    told = weekly(report=report(site=nothing, before=nothing, top=(), pages=0), curve=curve())
    message = digest(told, QUESTION)
    assert "The docs service has no visits for 26 Oct – 1 Nov 2026." in message.text
    assert "0 people" not in message.text
    assert problems_of(message, Allowed(())) == []


def test_what_waits_for_review_is_named_with_links_and_the_rest_is_counted() -> None:
    url = "https://code.example/pull/7"
    seen = SeenPullRequest("Fix <!here> *it*", Size(1, 1, 1), is_draft=False, iteration=1, since=NOW)
    first = TrackedJob(JobNumber(6), PROJECT, CHANNEL, ANA, "Fix it", NOW, pr_link=url, pull_request=seen)
    second = TrackedJob(JobNumber(9), PROJECT, CHANNEL, ANA, "Add a guide", NOW, ended_at=NOW)
    waiting = ToReview((first, second), NOW + timedelta(days=4), 3)
    assert work_done(WorkDone(0, {}, None, waiting)).replace("\N{NO-BREAK SPACE}", " ").splitlines()[1:] == [
        "*To review*:",
        f"• <{url}|Job 6> “Fix &lt;!here&gt; ∗it∗” · open for 4 days · <@{ANA}>",
        f"• Job 9 “Add a guide” · ready for 4 days · <@{ANA}>",
        "… and 3 more: `/docs-agent jobs review`",
    ]
    team = replace(waiting, reviewers=(Reviewer("S1"), Reviewer(BEN)))
    told = work_done(WorkDone(0, {}, None, team))
    assert f"*To review*, <!subteam^S1> <@{BEN}>:" in told
    assert f"<@{ANA}>" not in told
    assert "review" not in work_done(WorkDone(0, {}, None, ToReview((), NOW)))


def test_a_digest_tells_what_changed_and_not_what_is_so_every_week() -> None:
    moved = Movements(hardly_people=(page("/llms", (1, 400, 401)),), hardly_ai=(page("/", (80, 1, 81)),))
    assert "hardly" not in digest(weekly(report=report(movements=moved)), QUESTION).text
