"""What Slack gives up to deliver, or drops, is read again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import select, update

from bot.model.access import ts_at
from bot.store import schema
from tests.builders import (
    ANA,
    CHANNEL,
    NOW,
    add_job,
    execute,
    rows_of,
)
from tests.slack.intake import MENTION, Intake, break_the_database

CHANGED = {"type": "message", "subtype": "message_changed", "channel": CHANNEL, "ts": "1.2"}


async def listening(intake: Intake) -> None:
    """A job has a thread, and nothing is to be read again."""
    await add_job(intake.store, root_ts=ts_at(NOW))
    await intake.gap.end()
    await execute(intake.store, update(schema.conversations).values(due_at=None, missed_since=None))


async def is_read_again(intake: Intake) -> bool:
    await intake.gap.end()
    [row] = await rows_of(intake.store, select(schema.conversations))
    return row["due_at"] is not None


@pytest.mark.parametrize(
    "event",
    [
        MENTION,
        CHANGED
        | {
            "message": {"ts": "1.1", "user": ANA, "text": "Add two pages", "edited": {"user": ANA}},
            "previous_message": {"ts": "1.1", "user": ANA, "text": "Add a page"},
        },
        CHANGED
        | {
            "subtype": "message_deleted",
            "deleted_ts": "1.1",
            "previous_message": {"ts": "1.1", "user": ANA, "text": "Add a page"},
        },
    ],
    ids=["said", "edited", "deleted"],
)
async def test_what_the_database_could_not_take_is_read_again(intake: Intake, event: dict[str, Any]) -> None:
    await listening(intake)
    await break_the_database(intake)
    assert (await intake.event(**event)).status == 500
    assert await is_read_again(intake)


async def test_that_slack_drops_events_is_acknowledged_and_what_was_missed_is_read(intake: Intake) -> None:
    await listening(intake)
    limited = {"type": "app_rate_limited", "team_id": "T1", "minute_rate_limited": 1518467820}
    assert (await intake.send(json.dumps(limited), "application/json")).status == 200
    assert await is_read_again(intake)
