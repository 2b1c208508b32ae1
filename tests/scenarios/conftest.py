"""The whole thing running: docs service, workspace and the bot, in Socket Mode and over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.app import running_bot
from sandbox.world import World, WorldOptions, both_sides
from tests import bots
from tests.limits import HANG_SECONDS
from tests.scenarios.story import Story
from tests.scenarios.timeouts import STEADY

SOME_PLACES = 4
FAST = {"poll_min_seconds": 0.1, "poll_max_seconds": 0.2}


@pytest.fixture
def http_mode() -> bool:
    """Over which protocol the bot is reached."""
    return False


@pytest.fixture
async def world(tmp_path: Path, http_mode: bool) -> AsyncIterator[World]:
    options = WorldOptions(
        tmp_path,
        http_mode=http_mode,
        work_seconds=0.3,
        answer_seconds=HANG_SECONDS,
        log_level="ERROR",
        pages=80,
        days=70,
    )
    async with both_sides(options) as world:
        yield world


@pytest.fixture
async def story(world: World) -> AsyncIterator[Story]:
    async with running_bot(world.settings.model_copy(update=FAST), timeouts=STEADY):
        yield Story(world)


@pytest.fixture
async def zygote() -> AsyncIterator[bots.Zygote]:
    """What forks bots."""
    async with bots.zygote() as zygote:
        yield zygote


@pytest.fixture
def of_each_kind(request: pytest.FixtureRequest) -> int | None:
    """Return at how many places of each kind the bot is killed in a tale; None for all of them."""
    return None if request.config.getoption("--every-place") else SOME_PLACES
