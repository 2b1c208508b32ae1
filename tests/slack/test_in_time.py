"""What the database does not take in time is not carried out later, and what may have been stored is said."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import event, select, text

from bot.model.jobs import JobState
from bot.store import schema
from bot.store.deadline import Deadline, within
from tests.builders import (
    add_job,
    execute,
    rows_of,
)
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
    others = asyncio.gather(*(types(number, 10) for number in (2, 3)), types(4, 0.0))
    await asyncio.sleep(0)
    pause.end()
    assert await first == "taken"
    *taken, late = await others
    assert taken == ["taken", "taken"]
    assert "nothing was started" in late
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


async def test_what_goes_on_after_the_acknowledgement_has_time(intake: Intake) -> None:
    await execute(intake.store, text("DELETE FROM members"))
    with within(Deadline.after(0.2)):
        assert (await intake.command("jobs")).body == ""
        await asyncio.sleep(0.3)
        await intake.background.drain(2)
    [(_, told)] = intake.everybody.private
    assert "No jobs" in told.text


async def test_a_follow_up_that_is_stored_is_not_said_to_be_nothing(intake: Intake) -> None:
    """Whether the person may see the job is looked up later, which fails; the worker looks up again."""
    number = await add_job(intake.store, state=JobState.WORKING)
    await execute(intake.store, text("DELETE FROM members"))
    intake.everybody.broken.append(RuntimeError("Slack is away"))
    assert (await intake.command(f"{number} Delete it", "/docs-followup")).body == ""
    await intake.background.drain(2)
    [row] = await rows_of(intake.store, select(schema.prompts))
    assert row["raw"] == "Delete it"
    [(_, told)] = intake.everybody.private
    assert "nothing was started" not in told.text
    assert "I may have taken this" in told.text
    assert f"/docs-followup {number} Delete it" in told.text
