"""Docs service, workspace and the bot, in Socket Mode and over HTTP."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Protocol

import pytest

from bot.app import running_bot
from sandbox.world import World, WorldOptions, both_sides
from tests import bots
from tests.databases import prepare_database
from tests.limits import HANG_SECONDS
from tests.scenarios.story import Story
from tests.scenarios.timeouts import STEADY

SOME_PLACES = 15


class DocsBot(Protocol):
    """Runs the command line; see the fixture ``docs_bot``."""

    async def __call__(
        self, *arguments: str, env: Mapping[str, str] | None = None, folder: Path = ...
    ) -> tuple[int, str]:
        """Return the exit code and the output."""
        ...


FAST = {"poll_min_seconds": 0.1, "poll_max_seconds": 0.2}


@pytest.fixture
def http_mode() -> bool:
    """Whether the bot gets Slack's requests over HTTP."""
    return False


def options(folder: Path, *, http_mode: bool = False) -> WorldOptions:
    """Return the options of a world with a fast agent."""
    return WorldOptions(
        folder,
        http_mode=http_mode,
        work_seconds=0.3,
        answer_seconds=HANG_SECONDS,
        log_level="ERROR",
        pages=80,
        days=70,
    )


@pytest.fixture(scope="session")
async def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a new world with visits, pages and a database, to be copied by each test."""
    folder = tmp_path_factory.mktemp("begun")
    async with both_sides(options(folder)) as world:
        await prepare_database(world.settings.sqlalchemy_url)
    return folder


@pytest.fixture
async def world(tmp_path: Path, begun: Path, http_mode: bool) -> AsyncIterator[World]:
    shutil.copytree(begun, tmp_path, dirs_exist_ok=True)
    async with both_sides(options(tmp_path, http_mode=http_mode)) as world:
        yield world


@pytest.fixture
async def story(world: World) -> AsyncIterator[Story]:
    async with running_bot(world.settings.model_copy(update=FAST), timeouts=STEADY):
        yield Story(world)


@pytest.fixture
async def zygote() -> AsyncIterator[bots.Zygote]:
    async with bots.zygote() as zygote:
        yield zygote


@pytest.fixture(scope="session")
async def command_line() -> AsyncIterator[bots.Zygote]:
    """Fork processes of the command line: an import of the bot takes a second."""
    async with bots.zygote() as zygote:
        yield zygote


@pytest.fixture
def docs_bot(command_line: bots.Zygote, tmp_path: Path) -> DocsBot:
    """Run the command line to its end."""

    async def run(
        *arguments: str, env: Mapping[str, str] | None = None, folder: Path = tmp_path
    ) -> tuple[int, str]:
        return await command_line.command(
            arguments, {"PATH": os.environ["PATH"], **(env or {})}, folder
        )

    return run


@pytest.fixture
def most_kills(request: pytest.FixtureRequest) -> int | None:
    """Return the number of kills in a tale; None for every place."""
    return None if request.config.getoption("--every-place") else SOME_PLACES
