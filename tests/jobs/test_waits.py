"""Pending work of a job, with its reason and time, for people and operators."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import NamedTuple

import pytest

from tests.talk import Talk


async def asked(talk: Talk) -> None:
    await talk.ana.asks("Add a page on keys")


async def answer_lost(talk: Talk) -> None:
    talk.service.says("create", 500)
    await talk.started()


async def service_away(talk: Talk) -> None:
    talk.service.cannot_be_reached("create", times=50)
    await talk.started()
    await talk.time.passes(20)


async def key_refused(talk: Talk) -> None:
    talk.service.says("create", 401, times=9)
    await talk.started()
    assert talk.errors() == {"key_refused"}


async def limit_used_up(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add keys", by=talk.ben)
    await talk.started("Add two")


async def share_used_up(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=5)
    for number in range(5):
        await talk.ana.asks(f"Add page {number}")
        await talk.time.passes(2)
    await talk.time.passes(5)


async def follow_up_not_found(talk: Talk) -> None:
    await talk.finished()
    talk.service.says("follow_up", 404, times=9)
    await talk.ana.types("/docs-followup 1 Add a second page")
    await talk.time.passes(2)


async def working(talk: Talk) -> None:
    await talk.started()


async def polls_paused(talk: Talk) -> None:
    await talk.started()
    talk.service.says("get", 503, seconds=300, times=9)
    await talk.time.passes(60)


async def behind_a_doubt(talk: Talk) -> None:
    talk.service.says("create", 429, seconds=30)
    talk.service.says("create", 500)
    await talk.started()
    await talk.ana.replies("Add a second page")
    await talk.time.passes(60)


async def slack_is_busy(talk: Talk) -> None:
    talk.faults.limits("chat.postMessage", 60)
    await talk.ana.asks("Add a page on keys")
    await talk.time.passes(2)


class Case(NamedTuple):
    """A story, the number of its job, and its texts for people and for operators."""

    story: Callable[[Talk], Awaitable[None]]
    people: str
    operators: str
    job: int = 1
    prompts: int = 0
    """How many prompts wait for the same, if there are several."""


CASES = [
    Case(asked, "Waiting to start", "prompt waits (since"),
    Case(answer_lost, "*Send again* or *Dismiss*", "prompt waits for a person"),
    Case(service_away, "can't reach the docs service", "prompt waits for the docs service, which"),
    Case(key_refused, "refuses the bot's key", "prompt waits for a key"),
    Case(
        limit_used_up, "the hourly limit is used up", "prompt waits for the hourly limit until", 2
    ),
    Case(
        share_used_up, "the hourly limit is used up", "prompt waits for the hourly limit until", 5
    ),
    Case(follow_up_not_found, "It goes out at", "prompt waits until"),
    Case(working, "Working on it", "poll waits"),
    Case(
        polls_paused,
        "the docs service hasn't answered about it",
        "poll waits for the docs service, which",
    ),
    Case(behind_a_doubt, "*Send again* or *Dismiss*", "prompt waits for a person", prompts=2),
    Case(slack_is_busy, "Waiting to start", "message waits until"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.story.__name__)
async def test_job_shows_what_it_waits_for(talk: Talk, case: Case) -> None:
    talk.time.at = datetime.now(UTC)  # the operator's command uses the machine's clock
    await case.story(talk)
    assert case.people in await talk.ana.answer_to(f"/docs-agent status {case.job}")
    output = await talk.operator("jobs", str(case.job))
    assert output.count(case.operators) >= max(1, case.prompts)
    talk.everything()
