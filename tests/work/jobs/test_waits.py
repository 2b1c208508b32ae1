"""What a job or a message waits for, and until when, as people and operators read it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import NamedTuple

import httpx
import pytest
from sqlalchemy import update

from bot.model.ids import JobNumber
from bot.model.outbox import Method
from bot.model.waits import Wait, WaitWhy
from bot.operator.rows import wait_words
from bot.store import Claimer
from bot.store.schema import prompts
from bot.work.ports import SlackThrottled
from tests.builders import BEN, NOW, execute
from tests.work.drains import deliver_due, poll_jobs, prepare_prompts, submit_prompts
from tests.work.office import Office

POST = Method.POST
OTHER = "another-process"
_Story = Callable[[Office], Awaitable[object]]


async def waiting(office: Office, number: int = 1) -> Sequence[Wait]:
    return await office.store.read(lambda tx: tx.waits.of_job(JobNumber(number), office.clock()))


def other(office: Office) -> Claimer:
    """Another process, which takes something up now."""
    return Claimer(OTHER, office.clock(), 60.0)


async def asked(office: Office) -> None:
    await office.ask("Add a page")


async def prepared_elsewhere(office: Office) -> None:
    await office.ask("Add a page")
    await office.store.write(lambda tx: len(tx.prompts.claim_new(other(office), 1)))


async def face_put_off(office: Office) -> None:
    office.slack.trouble("post", SlackThrottled(60.0, None))
    await office.ask("Add a page")
    await prepare_prompts(office.context)
    await deliver_due(office.context)


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


async def polled_elsewhere(office: Office) -> None:
    await office.started("Add a page")
    office.clock.pass_seconds(60)
    await office.store.write(lambda tx: len(tx.jobs.claim_due(other(office), 9)))


async def poll_is_late(office: Office) -> None:
    await office.started("Add a page")
    office.clock.pass_seconds(60)


async def polls_paused(office: Office) -> None:
    await office.started("Add a page")
    office.docs.answer_instead("get", *[httpx.Response(503, headers={"Retry-After": "300"})] * 9)
    office.clock.pass_seconds(60)
    await poll_jobs(office.context)


class Case(NamedTuple):
    """What happened to which job, why it waits and for how many seconds, and words of both texts."""

    story: _Story
    number: int
    why: WaitWhy
    seconds: float | None
    people: str
    operators: str


CASES = [
    Case(asked, 1, WaitWhy.BOT, None, "It comes soon", "prompt waits for the bot (since"),
    Case(prepared_elsewhere, 1, WaitWhy.BOT, None, "It comes soon", "prompt waits for the bot"),
    Case(face_put_off, 1, WaitWhy.BOT, None, "It comes soon", "prompt waits for the bot"),
    Case(answer_lost, 1, WaitWhy.PERSON, None, "*Send again* or *Dismiss*", "a person's decision"),
    Case(
        service_away, 1, WaitWhy.SERVICE, None, "can't reach the docs service", "back-off after Unavailable"
    ),
    Case(key_refused, 1, WaitWhy.KEY, None, "refuses the bot's key", "a back-off after ForbiddenToWrite"),
    Case(limit_used_up, 2, WaitWhy.LIMIT, None, ", when the hourly limit frees", "the hourly limit, until"),
    Case(share_used_up, 5, WaitWhy.SHARE, None, "share of the hourly limit", "has had their share"),
    Case(follow_up_not_found, 1, WaitWhy.BOT, None, "It comes at", "waits for the bot, until"),
    Case(working, 1, WaitWhy.BOT, None, "My next look at it comes at", "poll waits for the bot, until"),
    Case(polled_elsewhere, 1, WaitWhy.BOT, None, "My next look at it comes soon", "poll waits for the bot"),
    Case(poll_is_late, 1, WaitWhy.BOT, None, "look at it comes soon", "poll waits for the bot (since"),
    Case(polls_paused, 1, WaitWhy.SERVICE, 300, "can't reach the docs service", "back-off after Unavailable"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.story.__name__)
async def test_a_job_says_what_it_waits_for_and_until_when(office: Office, case: Case) -> None:
    await case.story(office)
    [found, *_] = await waiting(office, case.number)
    assert found.why is case.why
    if case.seconds is not None:
        assert found.until == office.clock() + timedelta(seconds=case.seconds)
    told = await office.told("/docs-agent", f"status {case.number}")
    assert case.people in told
    assert OTHER not in told
    assert case.operators in wait_words(found)


async def test_a_prompt_behind_an_unconfirmed_one_waits_for_the_same_person(office: Office) -> None:
    await office.ask("Add a page")
    await prepare_prompts(office.context)
    await deliver_due(office.context)
    await office.reply("Add a second page")
    await prepare_prompts(office.context)
    assert [each.why for each in await waiting(office)][:2] == [WaitWhy.BOT] * 2
    office.docs.answer_instead("create", httpx.Response(500))
    await submit_prompts(office.context)
    assert [each.why for each in await waiting(office)][:2] == [WaitWhy.PERSON] * 2


async def test_the_next_job_of_a_person_waits_for_the_face_of_the_one_before(office: Office) -> None:
    await face_put_off(office)
    await office.ask("Another page")
    [found] = await waiting(office, 2)
    assert (found.why, found.stuck_since) == (WaitWhy.BOT, None)


async def test_a_claimed_prompt_whose_process_was_killed_is_due(office: Office) -> None:
    await prepared_elsewhere(office)
    office.clock.pass_seconds(61)
    [found] = await waiting(office)
    assert (found.why, found.stuck_since) == (WaitWhy.BOT, NOW)


async def test_a_prompt_that_only_a_newer_version_can_read_hides_no_other(office: Office) -> None:
    await office.ask("Add a page")
    await office.ask("Another page")
    await execute(office.store, update(prompts).where(prompts.c.job == 1).values(kind="newer"))
    found = await office.store.read(lambda tx: tx.waits.all_prompts(office.clock()))
    assert [each.job for each in found] == [2]


# Deliveries


async def of_messages(office: Office, number: int = 1) -> list[tuple[WaitWhy, float | None]]:
    """Return why each message of a job waits, and for how many seconds."""
    now = office.clock()
    return [
        (each.why, (each.until - now).total_seconds() if each.until else None)
        for each in await waiting(office, number)
        if each.what in ("message", "edit")
    ]


async def test_a_message_that_slack_puts_off_says_until_when(office: Office) -> None:
    await face_put_off(office)
    assert await of_messages(office) == [(WaitWhy.BOT, 60.0)]
    told = await office.told("/docs-agent", "status 1")
    assert "A message about it comes at <!date^" in told
