"""Stopping waits for tasks that began after an acknowledgement."""

from __future__ import annotations

import asyncio

from structlog.testing import capture_logs

from bot.slack.intake import Background
from tests.limits import HANG_SECONDS


async def test_tasks_started_while_stopping_are_awaited_too() -> None:
    background, done = Background(), []

    async def second() -> None:
        await asyncio.sleep(0.01)
        done.append("second")

    async def first() -> None:
        await asyncio.sleep(0.01)
        background.start("second", second())

    background.start("first", first())
    await background.drain(5)
    assert done == ["second"]


async def test_late_task_is_cancelled() -> None:
    background = Background()
    background.start("endless", asyncio.Event().wait())  # type: ignore[arg-type]
    async with asyncio.timeout(HANG_SECONDS):
        await background.drain(0.05)
        await background.drain(0.05)


async def test_task_after_the_end_is_logged_and_not_run() -> None:
    background, done = Background(), []

    async def late() -> None:
        done.append("late")

    with capture_logs() as lines:
        await background.drain(5)
        background.start("answer", late())
        await asyncio.sleep(0)
    assert done == []
    assert [(line["event"], line["work"]) for line in lines] == [("background_left", "answer")]
