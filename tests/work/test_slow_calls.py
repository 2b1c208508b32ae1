"""A call that hangs delays nobody else, and what a process has under way it does not begin again."""

from __future__ import annotations

import pytest

from tests.services import active_job
from tests.talk import Talk

LEASE_SECONDS = 91


async def test_hanging_post_delays_no_other_channel(talk: Talk) -> None:
    talk.faults.hangs("chat.postMessage")
    await talk.started("Add a page on keys")
    for number in range(11):
        talk.opens_channel(f"page{number}")
        await talk.ben.asks(f"Add page {number}", f"page{number}")
        await talk.time.passes(1)
    await talk.time.passes(5)
    assert [len(talk.channel(f"page{number}")) for number in range(11)] == [1] * 11
    assert talk.channel() == []
    talk.everything()


async def test_hanging_create_delays_no_other_prompt(talk: Talk) -> None:
    talk.service.hangs("create")
    await talk.started("Add a page on keys")
    for person in (talk.ben, talk.chika):
        await talk.started(f"Add a page on keys by {person}", by=person)
    assert talk.agent_got() == ["Add a page on keys by Ben", "Add a page on keys by Chika"]
    assert "Waiting" in talk.status()
    talk.everything()


async def test_hanging_create_delays_no_other_project(talk: Talk) -> None:
    await talk.process.starts(
        docs_projects='{"acme": {"id": "acme-docs"}, "beta": {"id": "beta-docs"}}'
    )
    talk.service.hangs("create")
    await talk.ana.asks("Write Keys project:acme")
    await talk.ana.asks("Write Two project:beta")
    await talk.time.passes(5)
    assert talk.service.by_project == {"beta-docs": ["Write Two"]}
    talk.everything()


async def test_late_post_is_not_repeated_when_the_clock_jumps(talk: Talk) -> None:
    talk.faults.is_late("chat.postMessage")
    await talk.started()
    talk.time.bot_is_ahead(seconds=LEASE_SECONDS)
    await talk.time.passes(2)
    assert talk.channel() == []
    talk.faults.answers()
    await talk.time.passes(minutes=3)
    assert len(talk.channel()) == 1
    assert len(talk.agent_got()) == 1


async def test_late_create_is_not_abandoned_when_the_clock_jumps(talk: Talk) -> None:
    late = talk.service.hangs("create")
    await talk.started()
    talk.time.bot_is_ahead(seconds=LEASE_SECONDS)
    await talk.time.passes(2)
    assert "Waiting" in talk.status()
    late.comes(201, id="job-1", status="active")
    await talk.time.passes(5)
    assert "Working on it" in talk.status()
    assert talk.service.calls.count("create") == 1
    assert talk.replies() == []


async def test_late_answer_counts_though_another_process_called_it_abandoned(talk: Talk) -> None:
    """The other process's clock is ahead by more than a lease."""
    late = talk.service.hangs("create")
    await talk.started()
    talk.time.bot_is_ahead(seconds=LEASE_SECONDS)
    await talk.process.starts()
    await talk.time.passes(5)
    [question] = talk.replies()
    assert question.buttons == ["Send again", "Dismiss"]
    late.comes(201, id="job-1", status="active")
    talk.service.odd["job-1"] = active_job
    await talk.time.passes(5)
    assert "has started" in talk.replies()[0]
    assert "Working on it" in talk.status()
    assert talk.service.calls.count("create") == 1


@pytest.mark.parametrize("status", ["completed", "failed"])
async def test_poll_from_before_a_follow_up_ends_no_job(talk: Talk, status: str) -> None:
    await talk.started()
    late = talk.service.hangs("get")
    await talk.time.passes(5)
    await talk.ana.types("/docs-followup 1 Mention Python 3.11")
    await talk.time.passes(2)
    assert len(talk.agent_got()) == 2
    late.comes(id="job-1", status=status, prLink=None)
    await talk.time.passes(1)
    assert "Working on it" in talk.status()
    await talk.ends()
    assert "Pull request ready" in talk.status()
    talk.everything()
