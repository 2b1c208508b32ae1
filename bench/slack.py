"""The sandbox's workspaces for the benchmarks, with many people and channels.

A workspace has one app, so each side of a comparison has one of its own.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.processes import BOT_TOKEN, SIGNING_SECRET
from bench.running_jobs import CHANNELS, channel, root_ts
from sandbox.workspace import Workspace, WorkspaceOptions
from sandbox.workspace.bot_connection import NotAcknowledged
from sandbox.workspace.state import APP_ID, BOT_ID, BOT_USER, TEAM, Channel, Json, User

LIMIT_SECONDS = 3.0
"""Slack's wait before it shows the person that the app did not respond:
https://docs.slack.dev/interactivity/implementing-slash-commands"""
PEOPLE = 1_000
"""How many users send commands: ten prompts of each may wait. The bot asks Slack about each one once."""
ANSWER_SECONDS = 0.08
"""The typical time of a call to Slack."""
_SLOW_CALLS = (
    "chat.postMessage",
    "chat.update",
    "reactions.add",
    "reactions.remove",
    "response_url",
)
_HOUR_SECONDS = 3_600.0
_MANIFEST = Path(__file__).parents[1] / "manifest.yml"


def person(number: int) -> str:
    """Return the id of one of the people, in turns."""
    return f"U{number % PEOPLE:03}"


def command_fields(number: int) -> dict[str, Any]:
    """Return the fields of a slash command; each number makes a different request."""
    text = f"Add a quickstart number {number} for the Python SDK to the guides"
    return {
        "command": "/docs-agent",
        "text": text,
        "trigger_id": f"{number}.{number}.bench",
        "channel_id": channel(number),
        "channel_name": "docs",
        "user_id": person(number),
        "user_name": "ana",
        "team_id": TEAM["id"],
        "team_domain": TEAM["domain"],
        "api_app_id": APP_ID,
        "is_enterprise_install": "false",
        "response_url": f"https://hooks.slack.com/commands/T1/{number}/bench",
    }


def event_body(number: int, text: str) -> dict[str, Any]:
    """Return the body of an event: a message outside threads; each number makes a different one.

    https://docs.slack.dev/apis/events-api
    """
    ts = f"{1_800_000_000 + number}.000100"
    is_mention = f"<@{BOT_USER}>" in text
    return {
        "type": "event_callback",
        "team_id": TEAM["id"],
        "api_app_id": APP_ID,
        "event": {
            "type": "app_mention" if is_mention else "message",
            "channel": channel(number),
            "channel_type": "channel",
            "user": person(number),
            "text": text,
            "ts": ts,
            "event_ts": ts,
        },
        "event_id": f"Ev{number}",
        "event_time": 1_800_000_000 + number,
        "authorizations": [{"team_id": TEAM["id"], "user_id": BOT_USER, "is_bot": True}],
    }


@dataclass(frozen=True, slots=True)
class Change:
    """A change that people see, as the web page gets it, and when it came."""

    event: Json
    at: float

    @property
    def message(self) -> Json:
        """Return the changed message; empty for another change."""
        return self.event.get("message") or self.event.get("ephemeral") or {}


class BenchWorkspace:
    """A workspace in which the app's acknowledgements and changes are timed."""

    def __init__(self, folder: Path, token: str = "xapp-bench") -> None:  # noqa: S107
        """``token``: that of the app for Socket Mode."""
        options = WorkspaceOptions(
            folder,
            bot_token=BOT_TOKEN,
            app_token=token,
            signing_secret=SIGNING_SECRET,
            ack_seconds=LIMIT_SECONDS,
            manifest=_MANIFEST,
            enforce_rates=False,
        )
        self.token = token
        self.workspace = Workspace(options)
        self.state, self.people = self.workspace.state, self.workspace.people
        self._numbers = itertools.count(1)
        self._expected: list[tuple[Callable[[Change], bool], asyncio.Future[Change]]] = []
        users = [User(person(number), f"user-{number}", "Ana") for number in range(PEOPLE)]
        self.state.users |= {user.id: user for user in users}
        members = [*self.state.users]
        rooms = [Channel(channel(at), f"room-{at}", members) for at in range(CHANNELS)]
        self.state.channels |= {room.id: room for room in rooms}
        self.state.watchers.add(self._on_event)

    @property
    def url(self) -> str:
        """Return the base address of the Web API."""
        return self.workspace.api_url

    def answer_slowly(self) -> None:
        """Answer the calls that write after Slack's typical time."""
        slow = {"fault": "slow", "seconds": ANSWER_SECONDS, "lasts": _HOUR_SECONDS}
        self.workspace.faults.order([{"match": name, **slow} for name in _SLOW_CALLS])

    def add_status_messages(self, jobs: int) -> None:
        """Add the status messages of ``add_running_jobs``."""
        for number in range(jobs):
            self.state.add_message(channel(number), ts=root_ts(number), bot_id=BOT_ID)

    async def connected(self) -> None:
        """Wait until the app has a socket."""
        await self.workspace.bot_connection.sockets.connected.wait()

    async def command(self) -> float:
        """Send one command through the app's socket; return the seconds until its acknowledgement.

        Returns the limit if there is none.
        """
        fields = command_fields(next(self._numbers))
        began = perf_counter()
        try:
            await self.workspace.bot_connection.deliver("command", fields)
        except NotAcknowledged:
            return LIMIT_SECONDS
        return perf_counter() - began

    def expect(self, is_it: Callable[[Change], bool]) -> asyncio.Future[Change]:
        """Return a future of the next change for which this returns True."""
        change: asyncio.Future[Change] = asyncio.get_running_loop().create_future()
        self._expected.append((is_it, change))
        return change

    def _on_event(self, event: Json) -> None:
        change = Change(event, perf_counter())
        for expectation in [each for each in self._expected if each[0](change)]:
            self._expected.remove(expectation)
            expectation[1].set_result(change)


@asynccontextmanager
async def workspace(folder: Path, token: str = "xapp-bench") -> AsyncIterator[BenchWorkspace]:  # noqa: S107
    """Run a workspace with its data in this folder until the block ends."""
    slack = BenchWorkspace(folder, token)
    await slack.workspace.start()
    try:
        yield slack
    finally:
        await slack.workspace.stop()
