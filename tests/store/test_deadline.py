"""Deadlines of Slack's requests: writes are committed in time or not at all."""

from __future__ import annotations

import asyncio
import time

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Connection
from sqlalchemy.exc import OperationalError

from bot.store.database import MAX_CONNECTIONS, Database
from bot.store.deadline import Deadline, OutcomeUnknown, TooLate, within
from tests.limits import HANG_SECONDS
from tests.pause import DEADLINES, Pause
from tests.store.test_database import hold, holds

SOON = 0.2


async def test_write_that_begins_too_late_is_dropped(database: Database) -> None:
    pause = Pause()
    others = [
        asyncio.create_task(database.write(lambda _connection: pause()))
        for _ in range(MAX_CONNECTIONS)
    ]
    await pause.reached()
    with within(Deadline.after(SOON)), pytest.raises(TooLate):
        await database.write(hold)
    pause.end()
    await asyncio.gather(*others)
    assert await database.read(holds) == 0


async def test_commit_without_confirmation_in_time_is_unknown(database: Database) -> None:
    pause = Pause()
    event.listen(database._writer, "commit", lambda _connection: pause(), once=True)
    for seconds in DEADLINES:
        request = Deadline.after(seconds)
        with within(request), pytest.raises((OutcomeUnknown, TooLate)) as error:
            await database.write(hold)
        if pause.is_reached:
            break
    assert error.type is OutcomeUnknown
    pause.end()
    while not await database.read(holds):
        await asyncio.sleep(0)
    assert request.has_written


async def test_read_ends_at_its_deadline(database: Database) -> None:
    pause = Pause()
    with within(Deadline.after(SOON)), pytest.raises(TooLate):
        await database.read(lambda _connection: pause())
    pause.end()


async def test_write_in_time_is_recorded(database: Database) -> None:
    request = Deadline.after(HANG_SECONDS)
    with within(request):
        await database.write(hold)
    assert await database.read(holds) == 1
    assert request.has_written


async def test_connection_lost_at_the_deadline_may_have_written(database: Database) -> None:
    """The loop is held until both have happened, so that it meets them in the same moment."""
    request, pause = Deadline.after(1), Pause()

    def lose(_connection: Connection) -> None:
        pause()
        raise OperationalError("COMMIT", None, Exception("cut"), connection_invalidated=True)

    with within(request):
        writing = asyncio.create_task(database.write(lose))
    await pause.reached()
    pause.end()
    database._write_pool.submit(lambda: None).result()
    time.sleep(request.left_seconds())  # noqa: ASYNC251 - holds the loop on purpose
    with pytest.raises(OperationalError):
        await writing
    assert request.has_written


async def test_request_behind_another_writer_is_dropped(database_url: str) -> None:
    """It waits for another process that writes, until its time is up. Then nothing of it is carried out."""
    database, other, pause = Database.open(database_url), Database.open(database_url), Pause()
    writing = asyncio.create_task(other.write(lambda _connection: pause()))
    await pause.reached()
    request = Deadline.after(SOON)
    with within(request):
        waiting = [database.write(hold) for _ in range(MAX_CONNECTIONS)]
        errors = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(error) for error in errors] == [TooLate] * MAX_CONNECTIONS
    assert not request.has_written
    pause.end()
    await writing
    assert await database.write(holds) == 0
    await database.close()
    await other.close()
