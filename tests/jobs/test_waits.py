"""What a job or a message waits for, and until when, as people and operators read it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import NamedTuple

import httpx
import pytest

from bot.ids import JobNumber
from bot.jobs.model.jobs import QueueWhy, Wait
from bot.jobs.store.prompts import Prompts
from bot.jobs.store.waits import Waits
from bot.operator.rows import wait_words
from bot.ports import SlackThrottled
from bot.store import Claimer
from tests.builders import BEN, NOW
from tests.work.drains import deliver_due, poll_jobs, prepare_prompts, submit_prompts
from tests.work.office import Office

_Story = Callable[[Office], Awaitable[object]]


async def waiting(office: Office, number: int = 1) -> Sequence[Wait]:
    return await office.store.read(lambda tx: Waits(tx).of_job(JobNumber(number), office.clock()))


async def asked(office: Office) -> None:
    await office.ask("Add a page")


async def answer_lost(office: Office) -> None:
    office.docs.answer_instead("create", httpx.Response(500))
    await office.started("Add a page")


async def service_away(office: Office) -> None:
    office.docs.answer_instead("create", *[httpx.ConnectError("down")] * 50)
    await office.started("Add a page", user=BEN)
    await office.settle(20)


async def key_refused(office: Office) -> None:
    office.docs.answer_instead("create", *[httpx.Response(401, json={"error": "expired"})] * 9)
    await office.started("Add a page")


async def limit_used_up(office: Office) -> None:
    office.limit(1)
    await office.started("One", user=BEN)
    await office.started("Two")


async def share_used_up(office: Office) -> None:
    office.limit(5)
    for number in range(5):
        await office.started(f"Page {number}")


async def follow_up_not_found(office: Office) -> None:
    await office.finished("Add a page")
    office.docs.answer_instead("follow_up", *[httpx.Response(404, json={"error": "no such job"})] * 9)
    await office.reply("Add a second page")
    await office.settle(2)


async def working(office: Office) -> None:
    await office.started("Add a page")


async def poll_is_late(office: Office) -> None:
    await office.started("Add a page")
    office.clock.pass_seconds(60)


async def polls_paused(office: Office) -> None:
    await office.started("Add a page")
    office.docs.answer_instead("get", *[httpx.Response(503, headers={"Retry-After": "300"})] * 9)
    office.clock.pass_seconds(60)
    await poll_jobs(office.context)


class Case(NamedTuple):
    """Why a job waits, for how many seconds if that is known, and words for people and for operators."""

    story: _Story
    number: int
    why: QueueWhy | None
    seconds: float | None
    people: str
    operators: str


CASES = [
    Case(asked, 1, None, None, "Waiting to start", "prompt waits (since"),
    Case(answer_lost, 1, QueueWhy.PERSON, None, "*Send again* or *Dismiss*", "prompt waits for a person"),
    Case(service_away, 1, QueueWhy.SERVICE, None, "can't reach the docs service", "the docs service, which"),
    Case(key_refused, 1, QueueWhy.KEY, None, "refuses the bot's key", "waits for a key"),
    Case(
        limit_used_up, 2, QueueWhy.LIMIT, None, "the hourly limit has no use free", "the hourly limit until"
    ),
    Case(
        share_used_up, 5, QueueWhy.LIMIT, None, "the hourly limit has no use free", "the hourly limit until"
    ),
    Case(follow_up_not_found, 1, None, None, "It goes out at", "prompt waits until"),
    Case(working, 1, None, 1, "Working on it", "poll waits until"),
    Case(poll_is_late, 1, None, None, "Working on it", "poll waits (since"),
    Case(polls_paused, 1, QueueWhy.SERVICE, 300, "can't reach the docs service", "the docs service, which"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.story.__name__)
async def test_a_job_says_what_it_waits_for_and_until_when(office: Office, case: Case) -> None:
    await case.story(office)
    [found, *_] = await waiting(office, case.number)
    assert found.why is case.why
    if case.seconds is not None:
        assert found.until is not None
        assert abs((found.until - office.clock()).total_seconds() - case.seconds) <= 1
    assert case.people in await office.told("/docs-agent", f"status {case.number}")
    assert case.operators in wait_words(found)


async def test_a_prompt_behind_an_unconfirmed_one_waits_for_the_same_person(office: Office) -> None:
    await office.ask("Add a page")
    await prepare_prompts(office.context)
    await deliver_due(office.context)
    await office.reply("Add a second page")
    await prepare_prompts(office.context)
    assert [(each.why, each.stuck_since) for each in (await waiting(office))[:2]] == [
        (None, NOW),
        (None, None),
    ]
    office.docs.answer_instead("create", httpx.Response(500))
    await submit_prompts(office.context)
    assert [each.why for each in await waiting(office)][:2] == [QueueWhy.PERSON] * 2
    assert await office.store.read(lambda tx: Waits(tx).all_prompts(office.clock())) == []


async def test_a_prompt_that_a_process_holds_counts_as_stuck(office: Office) -> None:
    await office.ask("Add a page")
    await office.store.write(lambda tx: len(Prompts(tx).claim_new(Claimer("other", office.clock(), 60.0), 1)))
    office.clock.pass_seconds(30)
    [found] = await waiting(office)
    assert (found.why, found.stuck_since) == (None, NOW)


async def test_a_message_that_slack_puts_off_waits_until_then(office: Office) -> None:
    office.slack.trouble("post", SlackThrottled(60.0, None))
    await office.ask("Add a page")
    await prepare_prompts(office.context)
    await deliver_due(office.context)
    [_, message] = await waiting(office)
    assert (message.until, message.stuck_since) == (office.clock() + timedelta(seconds=60), None)
    office.clock.pass_seconds(60)
    [_, message] = await waiting(office)
    assert (message.until, message.stuck_since) == (None, office.clock())
