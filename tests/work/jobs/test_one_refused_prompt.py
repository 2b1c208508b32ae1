"""A prompt that the docs service, or a firewall before it, refuses by itself: the others go on."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import httpx
import pytest

from bot.model.ids import UserId
from bot.model.jobs import JobState, QueueWhy
from tests.builders import BEN, new_store
from tests.fakes import FakeDocs
from tests.work.office import Office

PEOPLE = [UserId(f"U0P{number}") for number in range(5)]
ADA = UserId("U0ADA")
BAD = "Show `<script>alert(1)</script>` as an example"


@dataclass
class Firewall(FakeDocs):
    """A docs service behind a firewall that answers prompts with a script in them by itself.

    ``refuses_all``: the service refuses the key for every prompt.
    """

    status: int = 403
    refuses_all: bool = False
    refused: int = 0

    async def handle(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            text = json.loads(request.content)["prompt"]
            if self.refuses_all or "<script>" in text:
                self.refused += 1
                return httpx.Response(self.status, text="<html>Forbidden</html>")
        return await super().handle(request)


@pytest.fixture
def docs() -> Firewall:
    return Firewall()


@pytest.fixture
async def office(docs: Firewall) -> AsyncIterator[Office]:
    office = Office(await new_store(), docs=docs)
    office.access_policy(admins=frozenset({ADA}))
    yield office
    await office.close()


async def seconds_until_sent(office: Office, count: int) -> float:
    """Let time pass until so many prompts have reached the service."""
    begun = office.clock()
    while len(office.sent()) < count and office.clock() - begun < timedelta(hours=25):
        await office.settle(1)
    return (office.clock() - begun).total_seconds()


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("together", [True, False])
async def test_a_prompt_that_a_firewall_refuses_holds_nobody_up_and_is_told(
    office: Office, docs: Firewall, status: int, together: bool
) -> None:
    docs.status = status
    await office.ask(BAD, user=PEOPLE[0])
    if not together:
        await office.settle()
    for user in PEOPLE[1:]:
        await office.ask(f"Add a page for {user}", user=user)
    assert await seconds_until_sent(office, 4) < 60
    await office.settle(60)
    assert (await office.job(1)).state is JobState.REFUSED
    assert docs.refused == 2
    [told] = [text for text in office.said() if f"<@{PEOPLE[0]}>" in text]
    assert "Change the prompt" in told
    assert "key" not in told
    assert len(office.slack.direct) <= 2


async def test_who_asks_long_after_a_refused_prompt_waits_less_than_a_minute(office: Office) -> None:
    await office.started(BAD)
    for _ in range(12):
        await office.pass_time(600)
    await office.ask("Add a page", user=BEN)
    assert await seconds_until_sent(office, 1) < 60
    await office.settle()
    assert (await office.job(1)).state is JobState.REFUSED


async def test_several_refused_prompts_do_not_go_before_one_that_was_not_tried(
    office: Office, docs: Firewall
) -> None:
    for user in PEOPLE[:3]:
        await office.ask(f"{BAD} for {user}", user=user)
    await office.settle(600)
    before = docs.refused
    await office.ask("Add a page", user=BEN)
    assert await seconds_until_sent(office, 1) < 60
    assert docs.refused == before + 3
    assert [(await office.job(number)).state for number in (1, 2, 3)] == [JobState.REFUSED] * 3


async def test_a_refused_follow_up_is_told_and_the_job_stands(office: Office) -> None:
    await office.started("Add a page")
    await office.reply(BAD, user=BEN)
    await office.settle(30)
    await office.started("Another page")
    await office.settle(60)
    [told] = [text for text in office.said() if f"<@{BEN}>" in text]
    assert "refuses this one" in told
    assert (await office.job(1)).state is JobState.WORKING


async def test_running_jobs_are_asked_for_while_prompts_are_refused(office: Office) -> None:
    await office.started("Add a page", user=BEN)
    await office.ask(BAD)
    for _ in range(12):
        await office.pass_time(60)
    assert "refused the bot" not in office.root_text()
    assert (await office.job(2)).trouble is QueueWhy.KEY
    office.docs.finish()
    await office.settle(60)
    assert (await office.job(1)).state is JobState.PULL_REQUEST


async def test_a_key_refused_for_all_is_tried_with_one_prompt_at_a_time(
    office: Office, docs: Firewall
) -> None:
    docs.refuses_all = True
    for user in PEOPLE:
        await office.ask("Add a page", user=user)
    for _ in range(20 * 12):
        await office.pass_time(300)
    assert docs.refused < 60
    assert [user for user, _, _ in office.slack.direct] == [ADA]
    docs.refuses_all = False
    await office.pass_time(1_800)
    await office.settle()
    assert len(office.sent()) == len(PEOPLE)
