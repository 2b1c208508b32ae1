"""During an hour of Slack's errors nothing is lost, and pending work follows soon after."""

from __future__ import annotations

import pytest

from tests.talk import Talk

HOURS = 1


async def test_hour_of_errors_loses_no_result_and_no_job(talk: Talk) -> None:
    await talk.started()
    talk.faults.goes_down()
    await talk.ends()
    await talk.ana.types("/docs-agent Add a glossary")
    talk.ana.reads()
    await talk.time.passes(hours=HOURS)
    assert talk.agent_got() == ["Add a quickstart"]
    talk.faults.comes_back()
    await talk.time.passes(minutes=2)
    [end] = talk.replies()
    assert "is done" in end
    assert ":memo:" in talk.status()
    assert talk.agent_got() == ["Add a quickstart", "Add a glossary"]
    assert "Working on it" in talk.status(2)
    assert talk.ana.reads() == []


@pytest.mark.parametrize("code", ["org_login_required", "team_added_to_org"])
async def test_post_refused_during_a_move_of_the_workspace_is_retried(
    talk: Talk, code: str
) -> None:
    talk.faults.refuses("chat.postMessage", code, times=5)
    await talk.ana.asks("Add a quickstart")
    await talk.time.passes(minutes=5)
    assert "Working on it" in talk.status()
    assert talk.ana.reads() == []


async def test_pending_deliveries_call_slack_once_a_minute_at_most(talk: Talk) -> None:
    await talk.started()
    talk.faults.goes_down()
    before = len(talk.slack.calls)
    await talk.ends()
    await talk.time.passes(hours=HOURS)
    talk.faults.comes_back()
    await talk.time.passes(minutes=2)
    assert len(talk.replies()) == 1
    calls = talk.slack.calls[before:]
    assert calls.count("conversations.replies") <= HOURS * 60 + 10
    assert calls.count("chat.update") <= HOURS * 60 + 10
    talk.status()


async def test_note_about_an_undelivered_result_survives(talk: Talk) -> None:
    await talk.started()
    talk.status()
    talk.faults.refuses("chat.postMessage", "is_archived")
    talk.service.finish()
    await talk.time.passes(3)
    talk.faults.goes_down()
    await talk.time.passes(hours=HOURS)
    talk.faults.comes_back()
    await talk.time.passes(minutes=2)
    assert talk.replies() == []
    assert len(talk.ana.reads()) == 1
    talk.status()
