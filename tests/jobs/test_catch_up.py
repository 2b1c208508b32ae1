"""What was said while the bot was away is handled once, by the rules of events, as of when it was said."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import select, text

from bot import features
from bot.jobs.catch_up import Gap
from bot.jobs.store.conversations import Conversations
from bot.jobs.thread_events import TooEarly
from bot.ports import Changed, Mention, SlackThrottled, SlackUnclear, ThreadReply
from bot.store import DatabaseTrouble
from tests import schema as s
from tests.builders import execute, rows_of
from tests.work.drains import catch_up, deliver_due, prepare_prompts
from tests.work.office import BOT, Office


async def catch_up_all(office: Office, runs: int = 10) -> None:
    """End a gap, and read everything again."""
    await Gap(office.context).end()
    await read_on(office, runs)


async def read_on(office: Office, runs: int = 10) -> None:
    for _ in range(runs):
        await office.works(catch_up)
        office.clock.pass_seconds(office.context.timeouts.unread_pace_seconds)


async def again(office: Office, take_message: ThreadReply | Mention) -> None:
    """The event comes after all."""
    await features.take_message(office.context, take_message)


async def prompts(office: Office) -> list[str]:
    """Return all stored prompts, oldest first."""
    rows = await rows_of(office.store, select(s.prompts.c.raw).order_by(s.prompts.c.id))
    return [row["raw"] for row in rows]


async def test_direct_messages_around_the_first_one_that_arrives_are_taken_too(office: Office) -> None:
    office.missed("Add a page", direct=True)
    office.clock.pass_seconds(100)
    arrived = office.missed("Add a guide", direct=True)
    office.clock.pass_seconds(100)
    office.missed("Add a table", direct=True)
    await again(office, arrived)
    await read_on(office)
    assert sorted(await prompts(office)) == ["Add a guide", "Add a page", "Add a table"]
    assert len(office.slack.read) == 1


async def test_an_edit_in_an_outage_counts_though_slack_repeats_the_old_text_first(office: Office) -> None:
    office.limit(1)
    await office.finished("Add a quickstart")
    late = office.missed("Mention retries")
    office.slack.said[:] = [replace(late, text="Mention backoff")]
    office.slack.changed.append(Changed(late.origin, "Mention backoff", "1700009000.000001"))
    await Gap(office.context).end()
    await again(office, late)
    await read_on(office)
    await catch_up_all(office)
    assert await prompts(office) == ["Add a quickstart", "Mention backoff"]


async def _missed_in_doubt(office: Office) -> ThreadReply:
    """A reply that is missed while nobody knows whether the face was posted."""
    office.slack.lose_answer.append(SlackUnclear("cut"))
    await office.ask("Add a quickstart")
    await prepare_prompts(office.context)
    await deliver_due(office.context)
    reply = office.missed("Mention retries")
    assert isinstance(reply, ThreadReply)
    return reply


async def test_a_reply_that_slack_gave_up_before_the_face_was_found_is_taken(office: Office) -> None:
    reply = await _missed_in_doubt(office)
    with pytest.raises(TooEarly):
        await again(office, replace(reply, parent=BOT))
    await office.settle(10)
    await read_on(office)
    assert await prompts(office) == ["Add a quickstart", "Mention retries"]


async def test_a_thread_that_is_read_before_its_face_is_found_is_read_once_more(office: Office) -> None:
    reply = await _missed_in_doubt(office)
    office.slack.said[:] = [replace(reply, parent=BOT)]
    now = office.clock()
    await office.store.write(lambda tx: Conversations(tx).read_later(reply.origin, now))
    await read_on(office, 1)
    assert await prompts(office) == ["Add a quickstart"]
    await office.settle(10)
    await read_on(office)
    assert await prompts(office) == ["Add a quickstart", "Mention retries"]


async def test_while_slack_asks_for_patience_nothing_else_is_read(office: Office) -> None:
    await office.finished("Add a quickstart")
    office.missed("help", direct=True)
    await again(office, office.slack.said[-1])
    office.slack.trouble("said_since", SlackThrottled(60))
    await catch_up_all(office)
    assert office.slack.read == []
    office.clock.pass_seconds(60)
    await read_on(office)
    assert len(office.slack.read) == 2


async def test_a_gap_stays_while_the_database_is_away(office: Office) -> None:
    await office.finished("Add a quickstart")
    office.missed("Mention retries")
    gap = Gap(office.context)
    await execute(office.store, text("ALTER TABLE conversations RENAME TO elsewhere"))
    with pytest.raises(DatabaseTrouble):
        await gap.end()
    await execute(office.store, text("ALTER TABLE elsewhere RENAME TO conversations"))
    await gap.end()
    await read_on(office)
    assert await prompts(office) == ["Add a quickstart", "Mention retries"]
    await gap.end()
    assert await office.works(catch_up) == 0
