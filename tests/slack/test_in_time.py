"""Requests that miss their deadline are not executed later; the answer names possible outcomes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import event

from bot.store.deadline import Deadline, within
from tests.builders import BEN
from tests.limits import HANG_SECONDS
from tests.pause import DEADLINES, Pause
from tests.slack.intake import MENTION, Intake


@pytest.fixture
async def pause(intake: Intake) -> AsyncIterator[Pause]:
    """Block the database until the pause ends."""
    pause = Pause()
    hanging = asyncio.create_task(intake.store.write(lambda _tx: pause()))
    await pause.reached()
    yield pause
    pause.end()
    await hanging


async def test_command_past_its_deadline_is_not_executed(intake: Intake, pause: Pause) -> None:
    with within(Deadline.after(0.1)):
        answer = await intake.command("Add a page on keys")
    text = json.loads(answer.body)["text"]
    assert "nothing was started" in text
    assert "/docs-agent Add a page on keys" in text
    pause.end()
    assert await intake.stored() == 0


async def test_slack_is_asked_only_in_the_time_that_storing_leaves(intake: Intake) -> None:
    deadline = Deadline.after(1.1)
    with within(deadline):
        answer = await intake.command("Add a page on keys", user=BEN)
    assert "Slack didn't tell me who you are" in json.loads(answer.body)["text"]
    assert deadline.left_seconds() > 0


async def test_commands_behind_a_transaction_are_answered_in_time(intake: Intake) -> None:
    """The other commands wait for the commit of the first, to share one transaction."""
    pause = Pause()
    event.listen(intake.store.database._writer, "commit", lambda _connection: pause(), once=True)

    async def types(number: int, seconds: float) -> str:
        with within(Deadline.after(seconds)):
            return (await intake.command(f"Add page {number}", trigger=str(number))).body or "taken"

    first = asyncio.create_task(types(1, HANG_SECONDS))
    await pause.reached()
    others = asyncio.gather(*(types(number, HANG_SECONDS) for number in (2, 3)))
    assert "nothing was started" in await types(4, 0.0)
    pause.end()
    assert await first == "taken"
    assert await others == ["taken", "taken"]
    assert await intake.stored() == 3


async def test_command_with_an_unconfirmed_commit_may_be_stored(intake: Intake) -> None:
    pause = Pause()
    event.listen(intake.store.database._writer, "commit", lambda _connection: pause(), once=True)
    for seconds in DEADLINES:
        with within(Deadline.after(seconds)):
            answer = await intake.command("Add a page on keys", trigger=str(seconds))
        if pause.is_reached:
            break
    pause.end()
    assert "I may have taken this; see `/docs-agent jobs`" in json.loads(answer.body)["text"]
    assert await intake.stored() == 1


async def test_event_past_its_deadline_is_left_to_slack(intake: Intake, pause: Pause) -> None:
    with within(Deadline.after(0.1)):
        assert (await intake.event(**MENTION)).status == 500
    pause.end()
    assert await intake.heard() == 0
    assert (await intake.event(**MENTION)).status == 200
    assert await intake.heard() == 1
