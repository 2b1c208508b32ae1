"""Who reads the docs, as people ask and see it; the same in Socket Mode and over HTTP."""

from __future__ import annotations

import asyncio
import csv
import io
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from bot.store import Store
from bot.visitors.model import SubscriptionState
from bot.visitors.tables import subscriptions
from sandbox.world import World
from tests.builders import execute, rows_of
from tests.limits import HANG_SECONDS
from tests.scenarios.story import DOCS, Json, Story


@pytest.fixture(params=["socket", "http"])
def http_mode(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "http")


def kinds(message: Json) -> list[str]:
    return [block["type"] for block in message["blocks"]]


def counted(world: World, first: datetime, end: datetime) -> tuple[int, int, int]:
    """Distinct visitors in the sandbox's stored visits, counted with sets."""
    [path] = Path(world.docs_service.options.folder).glob("readers-*.db")
    with sqlite3.connect(path) as connection:
        rows = connection.execute(
            "SELECT kind, visitor FROM visits WHERE at >= ? AND at < ?", (first.timestamp(), end.timestamp())
        ).fetchall()
    connection.close()
    people = {visitor for kind, visitor in rows if kind == "human"}
    agents = {visitor for kind, visitor in rows if kind == "ai"}
    return len(people), len(agents), len(people | agents)


async def test_a_question_is_answered_with_a_chart_and_right_totals(story: Story) -> None:
    assert (await story.command("/docs-visitors"))["ok"]
    answer = await story.answer("compared with")
    assert {"data_visualization", "actions"} <= set(kinds(answer))
    end = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    people, agents, total = counted(story.world, end - timedelta(days=7), end)
    for told in (f"*{total:,} visitors*", f" {people:,} people", f" {agents:,} AI agents"):
        assert told in answer["text"]
    assert story.roots() == []


async def test_all_pages_come_as_a_file_to_the_person_or_the_channel(story: Story) -> None:
    await story.command("/docs-visitors", "last week csv here")
    post = await story.post("so the rows don't add up")
    await story.press(await story.answer("compared with"), "more")
    rest = await story.answer("More about")
    assert "data_table" in kinds(rest)
    await story.press(rest, "csv_file")
    mine = await story.until(lambda: next(iter(story.roots("D01ANA")), None), "the file")
    files = [message["files"][0] for message in (post, mine)]
    folder = story.world.workspace.options.folder / "files"
    contents = [(folder / file["id"]).read_text("utf-8-sig") for file in files]
    assert contents[0] == contents[1]
    rows = list(csv.reader(io.StringIO(contents[0])))
    assert rows[0] == ["page", "human", "ai", "total"]
    assert f"{len(rows) - 1} pages" in post["text"]


async def test_blocks_that_slack_refuses_are_said_in_plain_ones(story: Story) -> None:
    await story.command("/docs-agent", "help")  # known from now on, so that only the answer takes that way
    await story.answer("/docs-agent")
    story.world.workspace.faults.order([{"method": "response_url", "fault": "error:invalid_blocks"}])
    await story.command("/docs-visitors", "last week compare none")
    answer = await story.answer("AI's share")
    assert "data_visualization" not in kinds(answer)
    assert "actions" in kinds(answer)


def digests(story: Story, channel: str = DOCS) -> list[Json]:
    return [post for post in story.roots(channel) if "Your docs," in post["text"]]


async def is_subscribed(story: Story) -> None:
    """Until the bot has noted that its first post arrived, which comes a moment after the post."""
    store = Store.open(story.world.settings.sqlalchemy_url)
    try:
        async with asyncio.timeout(HANG_SECONDS):
            while await _states(store) != {SubscriptionState.ACTIVE}:
                await asyncio.sleep(0.02)
    finally:
        await store.close()


async def _states(store: Store) -> set[str]:
    return {row["state"] for row in await rows_of(store, select(subscriptions.c.state))}


async def comes_due(world: World) -> None:
    """Let the next run of every subscription be now, as if its hour had come."""
    store = Store.open(world.settings.sqlalchemy_url)
    await execute(store, update(subscriptions).values(next_run_at=datetime.now(UTC)))
    await store.close()
