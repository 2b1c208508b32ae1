"""Questions about visitors; the same in Socket Mode and over HTTP."""

from __future__ import annotations

import csv
import io
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

from sandbox.world import World
from tests.scenarios.story import Json, Story

pytestmark = pytest.mark.parametrize("http_mode", [False, True], ids=["socket", "http"])


def kinds(message: Json) -> list[str]:
    return [block["type"] for block in message["blocks"]]


def counted(world: World, first: datetime, end: datetime) -> tuple[int, int, int]:
    """Count the distinct people, agents and visitors of the sandbox."""
    folder = world.docs_service.options.folder
    assert folder is not None
    [path] = folder.glob("readers-*.db")
    with sqlite3.connect(path) as connection:
        rows = connection.execute(
            "SELECT kind, visitor FROM visits WHERE at >= ? AND at < ?",
            (first.timestamp(), end.timestamp()),
        ).fetchall()
    connection.close()
    people = {visitor for kind, visitor in rows if kind == "human"}
    agents = {visitor for kind, visitor in rows if kind == "ai"}
    return len(people), len(agents), len(people | agents)


async def test_question_is_answered_with_chart_and_right_totals(story: Story) -> None:
    assert (await story.command("/docs-visitors"))["ok"]
    answer = await story.answer("compared with")
    assert {"data_visualization", "actions"} <= set(kinds(answer))
    end = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    people, agents, total = counted(story.world, end - timedelta(days=7), end)
    for count in (f"*{total:,} visitors*", f" {people:,} people", f" {agents:,} AI agents"):
        assert count in answer["text"]
    assert story.roots() == []


async def test_file_of_all_pages_goes_to_person_or_channel(story: Story) -> None:
    await story.command("/docs-visitors", "last week csv here")
    post = await story.post("so the rows don't add up")
    await story.press(await story.answer("compared with"), "more")
    rest = await story.answer("More about")
    assert "data_table" in kinds(rest)
    await story.press(rest, "csv_file")
    direct = await story.until(lambda: next(iter(story.roots("D01ANA")), None), "the file")
    files = [message["files"][0] for message in (post, direct)]
    folder = story.world.workspace.options.folder / "files"
    contents = [(folder / file["id"]).read_text("utf-8-sig") for file in files]
    assert contents[0] == contents[1]
    rows = list(csv.reader(io.StringIO(contents[0])))
    assert rows[0] == ["page", "human", "ai", "total"]
    assert f"{len(rows) - 1} pages" in post["text"]


async def test_refused_blocks_are_replaced_by_plain_ones(story: Story) -> None:
    await story.command(
        "/docs-agent", "help"
    )  # caches her profile, so that only the answer uses the response URL
    await story.answer("/docs-agent")
    story.world.workspace.faults.order(
        [{"method": "response_url", "fault": "error:invalid_blocks"}]
    )
    await story.command("/docs-visitors", "last week compare none")
    answer = await story.answer("AI's share")
    assert "data_visualization" not in kinds(answer)
    assert "actions" in kinds(answer)
