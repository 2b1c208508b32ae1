"""Jobs that the docs service does not find are polled for an hour, and then lost."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.services import active_job
from tests.talk import Talk


async def unknown(talk: Talk) -> dict[str, dict[str, Any]]:
    """Start a job and remove it from the service; return the removed jobs."""
    await talk.started()
    forgotten = dict(talk.service.jobs)
    talk.service.jobs.clear()
    return forgotten


async def test_job_not_found_for_an_hour_is_lost(talk: Talk) -> None:
    forgotten = await unknown(talk)
    polls = talk.service.polls
    await talk.time.passes(minutes=50)
    assert "Working on it" in talk.status()
    assert ":ghost:" not in str(talk.replies())
    assert 5 <= talk.service.polls - polls <= 20
    await talk.time.passes(minutes=30)
    assert "Working on it" not in talk.status()
    assert talk.replies()[-1].startswith(f"<@{talk.ana.id}> :ghost:")
    polls, replies = talk.service.polls, len(talk.replies())
    talk.service.jobs |= forgotten
    await talk.time.passes(hours=48)
    assert (talk.service.polls, len(talk.replies())) == (polls, replies)


async def test_job_found_again_within_the_hour_goes_on(talk: Talk) -> None:
    forgotten = await unknown(talk)
    await talk.time.passes(minutes=40)
    talk.service.jobs |= forgotten
    await talk.time.passes(minutes=12)
    talk.service.jobs.clear()
    await talk.time.passes(minutes=50)
    assert "Working on it" in talk.status()
    assert ":ghost:" not in str(talk.replies())


@pytest.mark.parametrize(
    "answer",
    [
        lambda: httpx.Response(500),
        lambda: httpx.Response(404, text="<html>", headers={"content-type": "text/html"}),
        lambda: httpx.Response(302),
        lambda: httpx.ReadTimeout("slow"),
    ],
    ids=["500", "web page", "redirect", "timeout"],
)
async def test_error_never_counts_as_not_found(talk: Talk, answer: Any) -> None:
    await talk.started()
    talk.service.odd["job-1"] = answer
    await talk.time.passes(minutes=120)
    assert "Working on it" in talk.status()
    assert ":ghost:" not in str(talk.replies())


async def test_reply_resumes_a_lost_job_that_is_found_again(talk: Talk) -> None:
    forgotten = await unknown(talk)
    await talk.time.passes(minutes=90)
    talk.service.jobs |= forgotten
    await talk.ana.replies("Write more")
    await talk.time.passes(20)
    assert "Working on it" in talk.status()
    await talk.ends()
    assert ":memo:" in talk.replies()[-1]
    talk.everything()


async def test_reply_to_a_lost_job_is_refused(talk: Talk) -> None:
    await unknown(talk)
    await talk.time.passes(minutes=90)
    polls = talk.service.polls
    talk.service.says("follow_up", 404)
    await talk.ana.replies("Write more")
    await talk.time.passes(20)
    assert "no longer knows this job" in talk.replies()[-1]
    await talk.time.passes(hours=2)
    assert talk.service.polls == polls + 1, "it was looked for once, because of the reply"
    talk.everything()


async def test_refused_follow_up_to_a_missing_job_starts_polls(talk: Talk) -> None:
    await talk.finished()
    talk.service.says("follow_up", 404)
    talk.service.jobs.clear()
    await talk.ana.replies("Write more")
    await talk.time.passes(20)
    assert "no longer knows this job" in talk.replies()[-1]
    assert "Pull request ready" in talk.status()
    await talk.time.passes(minutes=90)
    assert "Pull request ready" not in talk.status()
    assert ":ghost:" in talk.replies()[-1]
    talk.everything()


async def test_old_answer_about_a_missing_job_begins_no_iteration(talk: Talk) -> None:
    await talk.finished()
    talk.service.says("follow_up", 404)
    talk.service.says("get", 404)
    talk.service.answer_instead("get", active_job())
    await talk.ana.replies("Write more")
    await talk.time.passes(90)
    assert "Pull request ready" in talk.status()
    assert [":memo:" in reply for reply in talk.replies()] == [True, False]
    polls = talk.service.polls
    await talk.time.passes(minutes=90)
    assert talk.service.polls == polls
    talk.everything()


async def test_result_of_a_dismissed_follow_up_mentions_its_sender(talk: Talk) -> None:
    await talk.finished()
    talk.service.loses_the_answer()
    await talk.ben.replies("Write more")
    while len(talk.replies()) < 2:
        await talk.time.passes(0.5)
    await talk.ben.presses("Dismiss")
    await talk.time.passes()
    assert "Working on it" in talk.status()
    await talk.ends()
    assert ":memo:" in talk.replies()[-1]
    assert f"<@{talk.ben.id}>" in talk.replies()[-1]
    talk.everything()


async def test_follow_up_is_sent_again_after_a_wrong_404(talk: Talk) -> None:
    await talk.finished()
    talk.service.says("follow_up", 404, times=2)
    await talk.ana.replies("Write more")
    await talk.time.passes(20)
    assert "A follow-up goes out at" in talk.status()
    await talk.time.passes(300)
    assert talk.agent_got()[1:] == ["Write more"]
    assert len(talk.replies()) == 1
    assert "A follow-up" not in talk.status()
    talk.everything()


async def test_follow_up_refused_for_an_hour_is_given_up(talk: Talk) -> None:
    await talk.finished()
    talk.service.says("follow_up", 404, times=50)
    await talk.ana.replies("Write more")
    await talk.time.passes(3_700)
    assert "still knows this job but takes nothing more" in talk.replies()[-1]
    assert talk.service.calls.count("follow_up") == 10
    assert "Pull request ready" in talk.status()
    talk.everything()
