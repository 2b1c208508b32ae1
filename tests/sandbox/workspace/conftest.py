"""Fixtures: a running workspace with a clock that tests control, and Slack's own client for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.ports import free_port
from sandbox.workspace import Workspace, WorkspaceOptions
from tests.limits import HANG_SECONDS
from tests.sandbox.workspace.small_bot import Heard, HeldClock, listening, small_app

Opener = Callable[..., Awaitable[Workspace]]


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
async def open_workspace(tmp_path: Path, clock: HeldClock) -> AsyncIterator[Opener]:
    """Starts workspaces in one folder and stops them at the end of the test."""
    async with AsyncExitStack() as stack:

        async def opened(**choices: Any) -> Workspace:
            given = {"enforce_rates": False, "ack_seconds": HANG_SECONDS} | choices
            workspace = Workspace(WorkspaceOptions(tmp_path, **given), clock)
            await workspace.start()
            stack.push_async_callback(workspace.stop)
            return workspace

        yield opened


@pytest.fixture
async def workspace(open_workspace: Opener) -> Workspace:
    return await open_workspace()


@pytest.fixture
def client(workspace: Workspace) -> AsyncWebClient:
    return client_of(workspace)


def client_of(workspace: Workspace) -> AsyncWebClient:
    """Return Slack's own client with the token of the workspace's bot."""
    return AsyncWebClient(token=workspace.options.bot_token, base_url=workspace.api_url)


@pytest.fixture(params=["socket", "http"])
async def served(request: pytest.FixtureRequest, open_workspace: Opener) -> AsyncIterator[Served]:
    """Run a workspace with a small bot, once over Socket Mode and once over signed HTTP."""
    http = request.param == "http"
    events_url = f"http://127.0.0.1:{free_port()}/slack/events" if http else None
    workspace = await open_workspace(events_url=events_url)
    app, heard = small_app(client_of(workspace), workspace.options.signing_secret)
    async with listening(app, workspace):
        yield Served(workspace, heard)


class Served:
    """A workspace and the requests that its bot received."""

    def __init__(self, workspace: Workspace, heard: Heard) -> None:
        self.workspace = workspace
        self.people = workspace.people
        self.state = workspace.state
        self.heard = heard
        self.client = client_of(workspace)
