"""What one person is told privately."""

from __future__ import annotations

import pytest

from bot.messages import job_answers
from bot.messages.blocks import words
from bot.model.ids import ChannelId, JobNumber, Refusal
from bot.model.jobs import JobState
from bot.model.outbox import NotPosted
from tests.builders import ANA, NOW
from tests.messages.samples import PULL_REQUEST, buttons, job


def test_a_refused_prompt_is_given_back_to_copy() -> None:
    refused = NotPosted(Refusal.BETWEEN_PEOPLE, ChannelId("D0ANABEN"), NOW)
    said = job_answers.cannot_post(refused, "docs-agent", "Add a <page>\nwith two lines")
    assert said.text.endswith("What you wrote, to copy:\nAdd a &lt;page&gt;\nwith two lines")
    [_, quote] = said.blocks
    assert quote["elements"][0]["elements"][0]["text"] == "Add a <page>\nwith two lines"


def test_a_prompt_too_long_to_give_back_whole_says_so() -> None:
    said = job_answers.with_prompt(words("No."), "word " * 5_000)
    assert "What you wrote (its beginning), to copy:" in said.text


def test_the_list_shows_each_job_on_a_line_in_the_order_given() -> None:
    older = job(JobState.FAILED, number=JobNumber(41), text="Fix the <!channel> page")
    thread = "https://acme.slack.example/archives/C0DOCS/p1793610000000100"
    first = f"<{thread}|Job 42> :memo: *Pull request ready*"
    lines = job_answers.job_list([(job(), thread), (older, None)]).text.splitlines()
    when = "<!date^1793610000^{date_short_pretty} at {time}|2026-11-02 09:00 UTC>"
    asked, link = "Add a quickstart for the Python SDK", f"<{PULL_REQUEST}|Pull request #7 · code.example>"
    assert lines == [
        "*The last 2 jobs here:*",
        f"{first} · {link} · {asked} · <@{ANA}>, {when} · 4\N{NO-BREAK SPACE}min",
        f"Job 41 :x: *Failed* · Fix the &lt;!channel&gt; page · <@{ANA}>, {when}",
    ]


def test_a_job_of_several_projects_is_listed_with_its_own() -> None:
    listed = job_answers.job_list([(job(project_label="<Acme>"), None), (job(), None)]).text.splitlines()
    assert [f"SDK · &lt;Acme&gt; · <@{ANA}>" in line for line in listed] == [False, True, False]
    assert f"· &lt;Acme&gt; · <@{ANA}>" in job_answers.job_status(job(project_label="<Acme>")).text


def test_a_job_s_status_leads_to_its_thread_when_that_is_known() -> None:
    link = "https://acme.slack.example/archives/C0DOCS/p1793610000000100"
    assert f"<{link}|Go to its thread>" in job_answers.job_status(job(), link).text
    assert "thread" not in job_answers.job_status(job()).text


def test_a_guessed_job_is_named() -> None:
    assert (
        "Sent to your latest job here, Job 42 (“Add a quickstart"
        in job_answers.follow_up_taken(job(), guessed=True).text
    )
    assert "Sent to Job 42" in job_answers.follow_up_taken(job(), guessed=False).text


@pytest.mark.parametrize("state", [state for state in JobState if not state.takes_follow_ups])
def test_a_job_that_takes_no_follow_up_says_why_and_nothing_of_a_limit(state: JobState) -> None:
    said = job_answers.cannot_follow_up(job(state)).text
    assert "so nothing was sent." in said
    assert "limit" not in said


def test_the_same_request_is_asked_about_with_a_button() -> None:
    assert buttons(job_answers.same_job(JobNumber(7))) == [("Start it once more", "ask_anyway", "7")]
    assert buttons(job_answers.same_follow_up(JobNumber(7), 9)) == [
        ("Send it once more", "follow_up_anyway", "9")
    ]
