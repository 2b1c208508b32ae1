"""A job's thread, as the people in it read it."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest

from bot.messages import face, job_answers, jobs, problems
from bot.model.ids import Block
from bot.model.jobs import JobState, minutes_to_show
from bot.model.projects import Project
from bot.model.pull_requests import SeenPullRequest, Size
from tests.builders import ANA, BEN, NOW, PROJECT
from tests.messages.samples import LATER, PULL_REQUEST, actions, buttons, job, quoted
from tests.messages.slack_limits import Allowed, problems_of

PINGS_ANA = f"<@{ANA}>"


def test_the_root_says_state_number_prompt_and_who_asked() -> None:
    root = face.face(job(repository="acme/docs", version=3))
    assert root.text == (
        f":memo: *Pull request ready* · Job 42 · <{PULL_REQUEST}|PR #7 · code.example>\n"
        "Add a quickstart for the Python SDK\n"
        f"{PINGS_ANA}, <!date^1793610000^{{time}}|2026-11-02 09:00 UTC> · version 3 · 4\N{NO-BREAK SPACE}min"
    )
    assert quoted(root) == "Add a quickstart for the Python SDK"
    assert buttons(root) == [
        ("Reviewed", "reviewed", "42"),
        ("Not needed", "not_needed", "42"),
    ]


@pytest.mark.parametrize("state", JobState)
def test_every_state_has_a_root_of_its_own(state: JobState) -> None:
    others = {face.state_words(job(other)) for other in JobState if other is not state}
    assert face.state_words(job(state)) not in others
    assert face.face(job(state)).text.startswith(face.state_words(job(state)))


def test_a_job_that_waits_for_the_limit_says_when_it_goes_out_and_can_be_withdrawn() -> None:
    root = face.face(job(JobState.WAITING, queue_until=NOW + timedelta(hours=1)))
    assert "goes out at <!date^1793613600^{time}|2026-11-02 10:00 UTC>" in root.text
    assert buttons(root) == [("Withdraw", "withdraw", "42")]


def test_a_job_about_to_go_out_cannot_be_withdrawn() -> None:
    assert buttons(face.face(job(JobState.WAITING))) == []


def test_a_prompt_too_long_for_the_root_follows_whole() -> None:
    long = "Describe every error code.\n" * 2_000
    shown = jobs.full_prompt(job(text=long))
    assert "".join(quoted(part) for part in shown) == long
    assert len(quoted(face.face(job(text=long)))) <= face.QUOTE_LENGTH
    assert [part.text.split(":\n")[0] for part in shown][:2] == [
        f"The whole prompt of Job 42 (1 of {len(shown)})",
        f"The whole prompt of Job 42 (2 of {len(shown)})",
    ]


def test_a_pull_request_is_told_to_who_asked_with_the_next_steps() -> None:
    end = jobs.ended(job())
    assert end.text == (
        f"{PINGS_ANA} :memo: Job 42 is done in 4\N{NO-BREAK SPACE}min: the pull request is ready. "
        "Review it, or reply here to have something changed. "
        f"<{PULL_REQUEST}|Pull request #7 · code.example>"
    )
    assert buttons(end) == [("Pull request #7 · code.example", "view_pull_request", "42")]


def test_the_end_of_a_follow_up_is_told_to_who_asked_for_it() -> None:
    end = jobs.ended(job(version=2, iteration_requester=BEN))
    assert end.text == (
        f"<@{BEN}> :memo: Job 42: follow-up done in 4\N{NO-BREAK SPACE}min. "
        "Check the pull request; I can't see what changed. "
        f"<{PULL_REQUEST}|Pull request #7 · code.example>"
    )


@pytest.mark.parametrize(
    ("ended_at", "is_merged", "advice"),
    [
        (
            NOW,
            True,
            "It was merged before that, so look whether this is in it; `/docs-agent` starts a job with",
        ),
        (
            NOW,
            False,
            "It was closed before that, so look whether this is in it; `/docs-agent` starts a job with",
        ),
        (LATER + timedelta(minutes=1), True, "Check it, or reply here to have more changed."),
        (None, False, "Check it, or reply here to have more changed."),
    ],
)
def test_the_end_of_a_follow_up_says_that_its_pull_request_was_over_by_then(
    ended_at: datetime | None, is_merged: bool, advice: str
) -> None:
    seen = SeenPullRequest(
        "Add it",
        Size(1, 1, 1),
        is_draft=False,
        iteration=1,
        since=NOW,
        is_merged=is_merged,
        ended_at=ended_at,
    )
    assert advice in jobs.ended(job(version=2, pull_request=seen)).text


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "ftp://code.example/7",
        "https://code.example@evil.example/",
        "https://code.example/\u202e7",
        "not an address",
    ],
)
def test_an_odd_address_is_shown_but_not_linked_to(address: str) -> None:
    end = jobs.ended(job(pr_link=address))
    assert "I can't link to the address" in end.text
    assert actions(end) == []
    assert actions(face.face(job(pr_link=address))) == ["reviewed", "not_needed"]


@pytest.mark.parametrize(
    ("state", "words", "offered"),
    [
        (
            JobState.NO_PULL_REQUEST,
            "without a pull request in 4\N{NO-BREAK SPACE}min. The change may be live already if these docs",
            [],
        ),
        (
            JobState.FAILED,
            "one use was spent; the docs service doesn't say why. Reply here with a smaller step",
            ["run_again"],
        ),
        (JobState.ARCHIVED, "Run it again if it's still needed.", ["run_again"]),
        (JobState.GONE, "The docs service no longer knows Job 42", ["run_again"]),
    ],
)
def test_each_other_end_says_what_to_do_next(state: JobState, words: str, offered: list[str]) -> None:
    end = jobs.ended(job(state, ended_at=LATER))
    assert end.text.startswith(PINGS_ANA)
    assert words in end.text
    assert actions(end) == offered


def test_a_long_run_is_mentioned_without_pinging_anybody() -> None:
    said = jobs.still_running(job(JobState.WORKING), NOW + timedelta(minutes=31)).text
    assert "Job 42 has been running for 31\N{NO-BREAK SPACE}min" in said
    assert "<@" not in said


def test_who_asked_is_told_that_we_stop_watching() -> None:
    said = jobs.unwatched(job(JobState.UNWATCHED), NOW + timedelta(days=7))
    assert said.text.startswith(f"{PINGS_ANA} :zzz: Job 42 is still running after 7\N{NO-BREAK SPACE}days")
    assert said.text.endswith("A reply here is a new follow-up (one use).")
    assert actions(said) == []


def test_a_job_that_is_no_longer_polled_says_after_how_long() -> None:
    over = job(JobState.UNWATCHED, iteration_started_at=NOW, ended_at=NOW + timedelta(days=7))
    shown = face.face(over).text.replace("\N{NO-BREAK SPACE}", " ")
    assert shown.startswith(":zzz: *Stopped checking after 7 days* · Job 42")
    assert "took" not in shown


def test_a_job_that_did_not_start_says_why_what_it_cost_and_what_to_do() -> None:
    problem = problems.service_rejected("prompt is too long <!channel>")
    assert jobs.refused(job(JobState.REFUSED), problem).text == (
        f"{PINGS_ANA} :no_entry: Job 42 wasn't started. "
        "The docs service didn't accept the prompt: “prompt is too long &lt;!channel&gt;” "
        "Change the prompt and ask again."
    )


@pytest.mark.parametrize("stored", [None, "", " \n"])
def test_a_refused_job_without_a_reason_shows_no_empty_line(stored: str | None) -> None:
    refused = job(JobState.REFUSED, problem=stored)
    assert problems_of(face.face(refused), Allowed({ANA})) == []
    assert len(face.face(refused).blocks) == len(face.face(job(JobState.FAILED)).blocks)


def test_what_an_operator_has_to_check_is_named_as_the_settings_have_it() -> None:
    entry = Project(PROJECT, "acme", "Acme docs")
    assert "into `DOCS_API_KEY`, then" in problems.key_refused().text
    assert "(or into the entry `acme` of `DOCS_PROJECTS`), then" in problems.key_refused(entry).text
    assert "check `DOCS_PROJECT_ID` and `DOCS_API_URL`" in problems.project_unknown().text
    assert "check the entry `acme` of `DOCS_PROJECTS`" in problems.project_unknown(entry).text


def test_a_job_in_doubt_is_left_to_a_person() -> None:
    said = jobs.unconfirmed(job(JobState.UNCONFIRMED), 7, BEN, follow_up=False)
    assert said.text.startswith(
        f"<@{BEN}> :grey_question: Job 42 may or may not have started: the docs service's answer was lost. "
        "Look for a new pull request. None there? *Send again*."
    )
    assert buttons(said) == [("Send again", "send_again", "7"), ("Dismiss", "dismiss", "7")]
    assert said.plain_blocks[-1] == said.blocks[-1]
    assert "Your follow-up to Job 42 may or may not" in jobs.unconfirmed(job(), 7, BEN, follow_up=True).text
    answered = jobs.unconfirmed(job(JobState.UNCONFIRMED), 7, BEN, follow_up=False, answered=True).text
    assert "answered with an error. Look" in answered


def test_a_follow_up_by_command_is_quoted_in_the_thread() -> None:
    said = jobs.follow_up_by_command(job(), "Mention *Python* 3.11 <!here>", BEN)
    assert said.text == (f"<@{BEN}> follows up on Job 42:\nMention ∗Python∗ 3.11 &lt;!here&gt;")
    assert quoted(said) == "Mention *Python* 3.11 <!here>"


def kinds(shown: tuple[Block, ...]) -> list[str]:
    return [block["type"] for block in shown]


def test_the_plain_form_of_a_redrawn_face_keeps_its_rich_text_and_links_nowhere() -> None:
    """Slack refuses to replace rich text by blocks that are not rich text."""
    shown = face.redrawn(face.face(job(JobState.PULL_REQUEST)), posted_plain=False)
    assert kinds(shown.blocks) == ["section", "rich_text", "context", "actions"]
    assert kinds(shown.plain_blocks) == ["section", "rich_text", "context", "actions"]
    assert not [each for each in shown.plain_blocks[-1]["elements"] if "url" in each]


def test_a_face_that_was_posted_plain_is_redrawn_plain() -> None:
    posted = face.face(job(JobState.PULL_REQUEST))
    shown = face.redrawn(posted, posted_plain=True)
    assert shown.blocks == shown.plain_blocks == posted.plain_blocks


def test_the_face_shows_the_first_line_and_the_thread_has_the_rest() -> None:
    long = job(text="Add a quickstart\n\nFor Python 3.11, with pip")
    assert quoted(face.face(long)) == "Add a quickstart …"
    assert quoted(jobs.full_prompt(long)[0]) == "Add a quickstart\n\nFor Python 3.11, with pip"


@pytest.mark.parametrize("state", [JobState.WORKING, JobState.FAILED, JobState.ARCHIVED, JobState.GONE])
def test_the_face_keeps_the_button_to_the_pull_request_through_every_iteration(state: JobState) -> None:
    shown = face.face(job(state, pr_link=PULL_REQUEST, version=2))
    assert buttons(shown)[0] == ("PR #7 · code.example", "view_pull_request", "42")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("https://gitlab.example/a/b/-/merge_requests/31", "Pull request #31 · gitlab.example"),
        ("https://code.example:8443/a/pull/5#top", "Pull request #5 · code.example:8443"),
        ("https://github.com/acme/docs/pull/12", "Pull request #12"),
        ("http://127.0.0.1:8801/acme/docs/pull/12", "Pull request #12"),
        ("https://www.github.com/acme/docs/pull/12", "Pull request #12 · www.github.com"),
        ("https://code.example/a/pull/5x", "Pull request · code.example"),
        ("https://code.example/changes", "Pull request · code.example"),
    ],
)
def test_the_button_says_the_number_if_the_address_has_one(address: str, words: str) -> None:
    assert buttons(jobs.ended(job(pr_link=address)))[0][0] == words


@pytest.mark.parametrize(
    ("minutes", "shown"), [(1, 0), (2, 2), (4, 2), (19, 10), (59, 30), (61, 60), (190, 180)]
)
def test_the_minutes_change_rarely(minutes: int, shown: int) -> None:
    assert minutes_to_show(timedelta(minutes=minutes)) == shown


def test_an_outdated_end_keeps_its_result_and_loses_its_advice_and_its_buttons() -> None:
    old = jobs.outdated_end(job())
    assert jobs.ended(job()).text.startswith(old.text)
    assert old.text.endswith("the pull request is ready.")
    assert kinds(old.blocks) == ["section"]


def test_only_the_first_pull_request_of_a_thread_stands_out() -> None:
    styles = [
        jobs.ended(job(), is_first=first).blocks[1]["elements"][0].get("style") for first in (True, False)
    ]
    assert styles == ["primary", None]


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (f"withdrawn:{BEN}", f":leftwards_arrow_with_hook: *Withdrawn* by <@{BEN}>"),
        (f"deleted:{BEN}", ":leftwards_arrow_with_hook: *Withdrawn*: its message was deleted"),
        (f"edited:{BEN}", f":leftwards_arrow_with_hook: *Withdrawn*: <@{BEN}> edited its message"),
        (f"dismissed:{BEN}", f":grey_question: *Outcome unknown*, dismissed by <@{BEN}>"),
        (None, ":leftwards_arrow_with_hook: *Withdrawn*"),
    ],
)
def test_a_job_that_was_given_up_says_by_whom_or_how(problem: str | None, words: str) -> None:
    given_up = job(JobState.WITHDRAWN, problem=problem)
    assert face.face(given_up).text.startswith(f"{words} · Job 42\n")
    assert f"{words} · " in job_answers.job_status(given_up).text
    assert actions(face.face(given_up)) == ["run_again"]


def test_a_question_that_is_decided_shows_who_decided_it() -> None:
    said = jobs.decided(job(), ANA, True, jobs.DISMISS, BEN)
    assert f"<@{BEN}> chose *Dismiss*" in said.text
    assert kinds(said.blocks) == ["section"]


def test_everybody_who_waits_for_the_end_hears_that_it_is_not_told_or_told_after_all() -> None:
    running = job(JobState.WORKING, iteration_requester=ANA, also_asked=[BEN])
    for said in (
        jobs.unwatched(running, LATER),
        jobs.unread(running, NOW, LATER),
        jobs.not_served(running),
    ):
        assert said.text.startswith(f"<@{ANA}> <@{BEN}> :")
    assert jobs.stopped_watching(running, BEN).text.startswith(f"<@{BEN}> <@{ANA}> :zzz:")


@pytest.mark.parametrize("state", [JobState.WORKING, JobState.PULL_REQUEST, JobState.FAILED, JobState.GONE])
def test_the_follow_up_of_a_job_stands_at_the_beginning_of_a_sentence(state: JobState) -> None:
    """Its words begin with a capital."""
    second = job(state, version=2, pr_link=PULL_REQUEST)
    said = [
        jobs.still_running(second, LATER),
        jobs.unwatched(second, LATER),
        jobs.unread(second, NOW, LATER),
        jobs.not_served(second),
        jobs.stopped_watching(second, BEN),
    ]
    said += [] if state is JobState.WORKING else [jobs.ended(second)]
    assert [each.text for each in said if re.search(r"[\w,;] The follow-up", each.text)] == []
