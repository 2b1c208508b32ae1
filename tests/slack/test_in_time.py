"""What the database does not take in time is not carried out later, and what may have been stored is said."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import event

from bot.store.deadline import Deadline, within
from tests.pause import Pause
from tests.slack.intake import MENTION, Intake


@pytest.fixture
async def pause(intake: Intake) -> AsyncIterator[Pause]:
    """The database does not answer until the pause ends."""
    pause = Pause()
    hanging = asyncio.create_task(intake.store.write(lambda _tx: pause()))
    await pause.reached()
    yield pause
    pause.end()
    await hanging


async def test_a_command_that_the_database_does_not_take_in_time_is_not_carried_out_later(
    intake: Intake, pause: Pause
) -> None:
    with within(Deadline.after(0.1)):
        answer = await intake.command("Add a page")
    said = json.loads(answer.body)["text"]
    assert "nothing was started" in said
    assert "/docs-agent Add a page" in said
    pause.end()
    assert await intake.stored() == 0


async def test_commands_that_wait_for_one_transaction_are_told_in_time(intake: Intake) -> None:
    """The first is being stored; the others wait to be stored together after it."""
    pause = Pause()
    event.listen(intake.store.database._writer, "commit", lambda _connection: pause(), once=True)

    async def types(number: int, seconds: float) -> str:
        with within(Deadline.after(seconds)):
            return (await intake.command(f"Add page {number}", trigger=str(number))).body or "taken"

    first = asyncio.create_task(types(1, 10))
    await pause.reached()
    others = asyncio.gather(*(types(number, 10) for number in (2, 3)))
    assert "nothing was started" in await types(4, 0.0)
    pause.end()
    assert await first == "taken"
    assert await others == ["taken", "taken"]
    assert await intake.stored() == 3


async def test_a_command_whose_commit_is_not_confirmed_may_have_been_taken(intake: Intake) -> None:
    pause = Pause()
    event.listen(intake.store.database._writer, "commit", lambda _connection: pause(), once=True)
    with within(Deadline.after(0.1)):
        answer = await intake.command("Add a page")
    pause.end()
    assert "I may have taken this; see `/docs-agent jobs`" in json.loads(answer.body)["text"]
    assert await intake.stored() == 1


async def test_an_event_that_is_not_stored_in_time_is_left_for_slack_to_deliver_again(
    intake: Intake, pause: Pause
) -> None:
    with within(Deadline.after(0.1)):
        assert (await intake.event(**MENTION)).status == 500
    pause.end()
    assert await intake.stored() == 0
    assert (await intake.event(**MENTION)).status == 200
    assert await intake.stored() == 1
