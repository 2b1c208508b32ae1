"""The sandbox's workspace, and the bot's own way to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.slack.client import open_session, web_client
from bot.slack.messenger import SlackMessenger
from bot.subjects import COMMANDS
from sandbox.workspace import Workspace, WorkspaceOptions
from tests.slack.intake import Intake, open_intake


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[Workspace]:
    workspace = Workspace(WorkspaceOptions(tmp_path))
    await workspace.start()
    yield workspace
    await workspace.stop()


@pytest.fixture
async def messenger(workspace: Workspace) -> AsyncIterator[SlackMessenger]:
    async with open_session() as session:
        client = web_client(SecretStr("xoxb-sandbox"), workspace.api_url, session)
        yield SlackMessenger(client, session, workspace.api_url)


@pytest.fixture
async def intake() -> AsyncIterator[Intake]:
    async with open_intake(COMMANDS) as intake:
        yield intake
