"""``try again`` and ``stop`` in the thread of a job that failed, waits or runs."""

from __future__ import annotations

import pytest

from tests.talk import Talk


async def test_retry_in_a_failed_jobs_thread_runs_it_again(talk: Talk) -> None:
    await talk.started()
    await talk.ends("failed", pr_link=None)
    await talk.ben.replies("try again")
    await talk.time.passes()
    assert talk.agent_got() == ["Add a quickstart"] * 2
    assert f"<@{talk.ben.id}> ran this again as" in talk.replies()[-1]
    talk.everything()


@pytest.mark.parametrize("text", ["stop", "cancel job 1"])
async def test_running_job_cannot_be_stopped_and_may_be_kept_quiet(talk: Talk, text: str) -> None:
    await talk.started()
    await talk.ana.replies(text)
    await talk.time.passes()
    [answer] = talk.ana.reads()
    assert answer == "The agent has Job 1 already, and nobody can stop it."
    await talk.ana.presses("Keep quiet about it", answer)
    await talk.time.passes()
    assert "Stopped checking" in talk.status()
    assert talk.agent_got() == ["Add a quickstart"]
    talk.everything()


async def test_stop_by_others_has_no_button(talk: Talk) -> None:
    await talk.started()
    await talk.ben.replies("stop")
    await talk.time.passes()
    [answer] = talk.ben.reads()
    assert answer.buttons == []
    assert "Working on it" in talk.status()


async def test_follow_up_to_a_job_that_is_taken_back_is_refused(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add something first", by=talk.ben)
    await talk.ana.asks("Add a quickstart")
    await talk.time.passes()
    await talk.ben.types("/docs-followup 2 Add a table")
    await talk.time.passes()
    await talk.ana.presses("Withdraw")
    await talk.time.passes()
    assert talk.replies(2)[-1].startswith(f"<@{talk.ben.id}>")
    assert "The job didn't start, so your follow-up wasn't sent." in talk.replies(2)[-1]
    await talk.time.passes(hours=2)
    assert talk.agent_got() == ["Add something first"]
    talk.everything()


async def test_waiting_follow_up_is_taken_back_at_once(talk: Talk) -> None:
    await talk.started()
    talk.service.says("follow_up", 429, seconds=600)
    await talk.ana.replies("Make it shorter")
    await talk.time.passes(60)
    await talk.ana.replies("stop")
    await talk.time.passes()
    assert talk.ana.reads() == ["Taken back: nothing was sent."]
    await talk.time.passes(3_700)
    assert talk.agent_got() == ["Add a quickstart"]
    talk.everything()


async def test_running_job_is_not_ready_yet(talk: Talk) -> None:
    await talk.started()
    await talk.ana.replies("is it ready?")
    await talk.time.passes()
    [answer] = talk.ana.reads()
    assert answer.startswith(":gear: *Add a quickstart* · Working on it, started")
    talk.status()


async def test_app_is_neither_asked_nor_told(talk: Talk) -> None:
    await talk.process.starts(allowed_bots=talk.ben.id)
    thanks = await talk.ben.says("@docs-agent thanks!")
    for text in ("stop", "joobs", "no"):
        await talk.ben.says(f"@docs-agent {text}")
    await talk.ben.says("@docs-agent release 4.2 page")
    await talk.time.passes()
    assert talk.agent_got() == ["release 4.2 page"]
    assert talk.reactions(thanks) == ["+1"]
    assert talk.ben.reads() == []
    talk.everything()
