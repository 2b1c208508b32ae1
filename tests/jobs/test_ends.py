"""The ends of a job in its thread: the newest has buttons, older ones have lost theirs."""

from __future__ import annotations

import pytest

from tests.services import PULL_REQUEST
from tests.talk import Talk


async def goes_on(talk: Talk, **end: str | None) -> None:
    """Let the agent get the follow-up and end its iteration much later."""
    await talk.time.passes(20)
    talk.service.finish(**end)  # type: ignore[arg-type]
    await talk.time.passes(120)


async def follow_up(talk: Talk, text: str = "Mention Python 3.11 too", **end: str | None) -> None:
    await talk.ben.replies(text)
    await goes_on(talk, **end)


@pytest.mark.parametrize("odd", ["\x00", "x" * 4_000])
async def test_result_has_no_link_that_cannot_be_stored(talk: Talk, odd: str) -> None:
    await talk.started()
    await talk.ends(pr_link=PULL_REQUEST + odd)
    [end] = talk.replies()
    assert "is done" in end
    assert "I can't link to the address of its pull request" in end
    assert "|" not in end
    assert "Pull request ready" in talk.status()


async def test_edit_of_unclear_outcome_posts_nothing(talk: Talk) -> None:
    await talk.finished()
    talk.faults.fails("chat.update", times=2)
    await talk.ben.replies("Mention Python 3.11 too")
    await talk.time.passes(90)
    [first] = talk.replies()
    assert first.buttons == []
    assert ":gear:" in talk.status()
    talk.everything()


async def test_undelivered_result_is_not_edited(talk: Talk) -> None:
    await talk.started()
    talk.faults.refuses("chat.postMessage", "is_archived")
    await talk.ends()
    await talk.ben.replies("Go on with the guides")
    await talk.time.passes(20)
    assert talk.replies() == []
    talk.everything()


@pytest.mark.parametrize("decision", ["Send again", "Dismiss"])
async def test_decided_question_loses_its_buttons(talk: Talk, decision: str) -> None:
    talk.service.loses_the_answer()
    await talk.started()
    await talk.ana.presses(decision)
    await talk.time.passes(5)
    [question] = talk.replies()
    assert question.buttons == []
    assert f"<@{talk.ana.id}> chose *{decision}*" in question
    talk.status()


@pytest.mark.parametrize("status", [500, 502, 302])
async def test_error_of_the_service_is_not_called_lost(talk: Talk, status: int) -> None:
    talk.service.says("create", status)
    await talk.started()
    [question] = talk.replies()
    assert "answered with an error" in question
    talk.status()


async def test_running_job_shows_its_start_without_edits(talk: Talk) -> None:
    await talk.started()
    before = talk.slack.calls.count("chat.update")
    await talk.time.passes(minutes=20)
    assert "started <!date^" in talk.status()
    assert "^{ago}|" in talk.status()
    assert "usually" not in talk.status()
    assert talk.slack.calls.count("chat.update") == before


async def test_running_job_shows_the_usual_time(talk: Talk) -> None:
    for number, minutes in enumerate((1, 9, 5), 1):
        await talk.started(f"Add page {number}")
        await talk.time.passes(minutes=minutes)
        await talk.ends(job=f"job-{number}")
    await talk.started("Add another page")
    assert "usually done in 5 min" in talk.status(4)
    edits = talk.slack.calls.count("chat.update")
    await talk.time.passes(minutes=4)
    assert talk.slack.calls.count("chat.update") == edits
    await talk.time.passes(minutes=5)
    assert "longer than usual (5 min)" in talk.status(4)
    assert talk.slack.calls.count("chat.update") == edits + 1
    await talk.ends(job="job-4")
    await talk.ana.replies("Make it shorter, in two paragraphs", nth=4)
    await talk.time.passes(20)
    assert "usually done in " in talk.status(4)
    talk.everything()


async def test_pull_request_of_a_follow_up_is_announced_as_new(talk: Talk) -> None:
    """The first version ends without one. An older result keeps its text when its buttons go."""
    await talk.started()
    await talk.ends(pr_link=None)
    assert (
        "*Add a quickstart*: the agent made no pull request. It may be on `main` already"
        in talk.replies()[0]
    )
    await follow_up(talk, "Then add it to the guides", pr_link=PULL_REQUEST)
    second = talk.replies()[1]
    assert "*Then add it to the guides* is done" in second
    await follow_up(talk)
    assert second.startswith(talk.replies()[1])
    assert "*Mention Python 3.11 too* is done" in talk.replies()[2]
    talk.everything()


async def test_follow_up_before_the_first_end_is_part_of_version_one(talk: Talk) -> None:
    await talk.started()
    await follow_up(talk)
    [end] = talk.replies()
    assert "*Add a quickstart* is done" in end
    talk.status()
    talk.everything()


async def test_another_pull_request_of_a_job_is_announced_as_new(talk: Talk) -> None:
    await talk.finished()
    await follow_up(
        talk, "Use the other repository", pr_link="https://code.example/acme/api/pull/3"
    )
    assert "is done: <https://code.example/acme/api/pull/3|" in talk.replies()[1]
    talk.everything()


async def test_follow_up_without_a_link_keeps_the_pull_request(talk: Talk) -> None:
    await talk.finished()
    await follow_up(talk, pr_link=None)
    assert f"is done: <{PULL_REQUEST}|" in talk.replies()[1]
    assert "PR #1" in talk.status()
    talk.everything()


async def test_finished_job_has_four_controls_after_any_follow_up(talk: Talk) -> None:
    talk.service.branch = "agent/quickstart"
    await talk.started()
    await talk.ends()
    for _ in range(2):
        controls = [
            *talk.status().buttons,
            *(label for reply in talk.replies() for label in reply.buttons),
        ]
        assert controls == ["Reviewed", "Review #1 · code.example", "Preview"]
        await follow_up(talk)
    talk.everything()


async def test_run_again_opens_the_prompt_and_links_the_new_job(talk: Talk) -> None:
    await talk.started()
    await talk.ends("failed", pr_link=None)
    talk.everything()
    await talk.ben.presses("Run again")
    assert "Add a quickstart" in str(talk.ben.form().message["blocks"])
    assert await talk.ben.fills_in(prompt="Add a shorter quickstart") == {}
    await talk.time.passes()
    assert talk.agent_got()[1] == "Add a shorter quickstart"
    assert talk.replies()[-1].startswith(f"<@{talk.ben.id}> ran this again as <https://")
    talk.everything()


async def test_quiet_job_is_polled_again_after_a_reply(talk: Talk) -> None:
    await talk.started()
    await talk.ana.replies("stop")
    await talk.time.passes(20)
    [question] = talk.ana.reads()
    await talk.ana.presses("Keep quiet about it", on=question)
    await talk.time.passes(5)
    assert "I'll stay quiet about Job 1; the agent still works on it." in talk.replies()[-1]
    await talk.ana.presses("Keep quiet about it", on=question)
    polls = talk.service.polls
    await talk.time.passes(600)
    assert talk.service.polls == polls
    assert len(talk.replies()) == 1
    await talk.ana.replies("Mention Python 3.11")
    await talk.time.passes(20)
    assert "Working on it" in talk.status()
    talk.everything()
