"""Slack answers nothing but errors for hours: nothing is lost, and what waits comes soon after."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from bot.model.jobs import JobState
from bot.slack.client import refused
from bot.work.ports import SlackUnclear
from tests.builders import ANA, new_store
from tests.fakes import FakeSlack
from tests.work.office import Office

HOURS = 2


@dataclass
class DownSlack(FakeSlack):
    """It counts the calls of each method, and answers nothing else than 503 while it is down."""

    is_down: bool = False
    calls: Counter[str] = field(default_factory=Counter)

    def _raise_next_trouble(self, method: str) -> None:
        self.calls[method] += 1
        if self.is_down:
            raise SlackUnclear("HTTP 503")
        super()._raise_next_trouble(method)


@pytest.fixture
async def slack() -> DownSlack:
    return DownSlack()


@pytest.fixture
async def office(slack: DownSlack) -> AsyncIterator[Office]:
    office = Office(await new_store(), slack=slack)
    yield office
    await office.close()


async def until_back(office: Office, slack: DownSlack) -> None:
    """Let Slack be down, and well again for two minutes."""
    slack.calls.clear()
    for _ in range(HOURS * 120):
        await office.pass_time(29)
    slack.is_down = False
    for _ in range(4):
        await office.pass_time(29)


async def test_two_hours_of_errors_lose_no_end_and_no_start(office: Office, slack: DownSlack) -> None:
    await office.started()
    slack.is_down = True
    office.docs.finish()
    await office.pass_time(60)
    await office.ask("Add a glossary")
    for _ in range(HOURS * 120):
        await office.pass_time(29)
    assert (await office.job(2)).state is JobState.WAITING
    slack.is_down = False
    for _ in range(4):
        await office.pass_time(29)
    [end] = office.said()
    assert "pull request" in end.lower()
    assert ":memo:" in office.root_text()
    assert (await office.job(2)).state is JobState.WORKING
    assert "Working on it" in slack.edits[slack.posts[-1].ts][-1].text
    assert slack.direct == []
    assert await office.store.read(lambda tx: tx.outbox.dead_letters(10)) == []


async def test_what_waits_for_slack_calls_it_once_a_minute_at_most(office: Office, slack: DownSlack) -> None:
    await office.started()
    slack.is_down = True
    office.docs.finish()
    await until_back(office, slack)
    assert len(office.said()) == 1
    assert slack.calls["find_posted"] <= HOURS * 60 + 10
    assert slack.calls["edit"] <= HOURS * 60 + 10


async def test_the_note_about_a_dead_letter_survives_as_well(office: Office, slack: DownSlack) -> None:
    await office.started()
    office.docs.finish()
    slack.trouble("post", refused("is_archived"))
    slack.trouble("tell", *[SlackUnclear("HTTP 503")] * 500)
    slack.trouble("find_posted", *[SlackUnclear("HTTP 503")] * 500)
    await office.settle(10)
    await until_back(office, slack)
    slack.troubles.clear()
    await office.pass_time(60)
    assert [user for user, _, _ in slack.direct] == [ANA]
