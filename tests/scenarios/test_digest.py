"""One digest for each week: over kills and restarts, and with several processes on one database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from sandbox.world import World, WorldOptions, both_sides
from tests.bots import Zygote, is_alive, started, stop
from tests.databases import PostgresServer
from tests.limits import HANG_SECONDS
from tests.scenarios.story import Story
from tests.scenarios.test_visitors import comes_due, digests, is_subscribed
from tests.scenarios.timeouts import STEADY


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    server = PostgresServer(tmp_path_factory.mktemp("pg"))
    yield server
    server.stop()


@pytest.fixture
async def shared_world(tmp_path: Path, postgres: PostgresServer) -> AsyncIterator[World]:
    """The far sides, and settings that lead several bots to one database."""
    url = postgres.new_database().replace("postgresql+psycopg://", "postgres://", 1)
    async with both_sides(
        WorldOptions(tmp_path, work_seconds=0.2, answer_seconds=HANG_SECONDS, pages=80, days=70)
    ) as world:
        yield replace(world, settings=world.settings.model_copy(update={"database_url": SecretStr(url)}))


async def test_two_processes_on_one_postgresql_tell_one_digest_a_week(
    shared_world: World, zygote: Zygote, tmp_path: Path
) -> None:
    story, outputs = Story(shared_world), [tmp_path / "one", tmp_path / "two"]
    bots = [
        await zygote.start(shared_world, output, lease_seconds=STEADY.lease_seconds, PORT="0")
        for output in outputs
    ]
    for bot, output in zip(bots, outputs, strict=True):
        await started(bot, output)
    await story.command("/docs-visitors", "subscribe monday 09:00 UTC")
    await story.post("this channel gets a digest")
    await is_subscribed(story)
    for _ in range(3):
        await comes_due(shared_world)
        await story.post("Your docs,")
        await asyncio.sleep(0.3)
    for bot in bots:
        assert is_alive(bot)
        await stop(bot)
    assert len(digests(story)) == 1
