"""Follow-ups behind an unconfirmed first prompt: told what they wait for, and no work while they wait."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest

from bot.model.ids import UserId
from bot.model.jobs import JobState
from bot.model.prompts import PromptRequest
from bot.store.queues import Queue
from bot.work.access import readable
from bot.work.jobs.ask import follow_up
from bot.work.jobs.prepare import prepare_prompts
from bot.work.jobs.submit import submit_prompts
from bot.work.outbox.deliver import deliver_due
from tests.builders import ANA, BEN, CHANNEL, let_in, origin
from tests.work.office import Office

CHIKA = UserId("U0CHIKA")


async def follow_up_by(office: Office, *people: UserId) -> None:
    """Follow up on the first job by command, before it has been sent."""
    for number, user in enumerate(people):
        allowed = let_in(origin(f"more:{number}", user, CHANNEL))
        known = await readable(office.context, allowed, await office.job())
        assert known is not None
        result = await follow_up(office.context, known, PromptRequest(f"more {number}"))
        assert result is not None
        assert result.accepted


async def unconfirmed(office: Office) -> None:
    """Ana's job is unconfirmed; a follow-up of hers and two of Ben's wait behind it."""
    office.docs.answer_instead("create", httpx.Response(502, text="<html>"))
    await office.ask("Add a page")
    await follow_up_by(office, ANA, BEN, BEN)
    await office.settle(12)
    assert (await office.job()).state is JobState.UNCONFIRMED


async def test_each_sender_is_told_once_what_the_follow_up_waits_for(office: Office) -> None:
    await unconfirmed(office)
    waits = [said for said in office.said() if "Your follow-up to Job 1 waits" in said]
    assert [said[: len(f"<@{user}>")] for said, user in zip(waits, (ANA, BEN), strict=True)] == [
        f"<@{ANA}>",
        f"<@{BEN}>",
    ]
    assert all("*Send again*" in said and "*Dismiss*" in said for said in waits)


async def test_a_follow_up_that_is_prepared_later_is_told_too(office: Office) -> None:
    office.docs.answer_instead("create", httpx.Response(502, text="<html>"))
    await office.ask("Add a page")
    await prepare_prompts(office.context)
    await deliver_due(office.context)
    await follow_up_by(office, CHIKA)
    await submit_prompts(office.context)
    assert (await office.job()).state is JobState.UNCONFIRMED
    await office.settle(12)
    [said] = [said for said in office.said() if "waits" in said]
    assert said.startswith(f"<@{CHIKA}>")


async def test_nothing_is_due_until_a_person_decides(office: Office) -> None:
    await unconfirmed(office)
    due = await office.store.find_due(office.clock)
    assert (due.queues, due.next_at) == (frozenset(), None)
    assert await office.store.read(lambda tx: tx.prompts.waiting_projects(office.clock())) == []


async def test_after_send_again_job_and_follow_ups_go_out_in_their_order(office: Office) -> None:
    await unconfirmed(office)
    await office.press("send_again", "1")
    due = await office.store.find_due(office.clock)
    assert Queue.PROMPTS in due.queues
    await office.settle(12)
    assert office.sent() == ["Add a page", "more 0", "more 1", "more 2"]


@pytest.mark.parametrize("runs", [1, 20])
async def test_a_queue_in_which_nothing_moves_wakes_nobody(office: Office, runs: int) -> None:
    office.limit(1)
    await unconfirmed(office)
    await office.started("Another", user=BEN)
    woken: list[None] = []
    context = replace(office.context, wake=lambda: woken.append(None))
    for _ in range(runs):
        assert await submit_prompts(context) == 0
    assert woken == []


async def test_a_follow_up_behind_a_job_that_waits_for_the_limit_is_not_due(office: Office) -> None:
    office.limit(0)
    await office.ask("Add a page")
    await follow_up_by(office, BEN)
    await office.settle()
    assert (await office.store.find_due(office.clock)).queues == frozenset()
