"""The same conversation on the sandbox: its whole workspace and docs service, real time, and a real socket.

The agent of the sandbox works by itself, so `ends` waits for it. There are no faults, and one process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from time import monotonic
from typing import Any, TypeVar, cast

from sandbox.workspace.server import Workspace
from sandbox.world import World
from tests.limits import HANG_SECONDS
from tests.talk import Talk, Time
from tests.talk_slack import TalkSlack

Result = TypeVar("Result")
_QUIET_TURNS = 25
"""Turns of 0.02 s and more: half a second."""


class RealTime(Time):
    """The time of the machine: it passes until the workspace is quiet."""

    @property
    def at(self) -> datetime:
        """Return the present."""
        return datetime.now(UTC)

    @at.setter
    def at(self, _at: datetime) -> None:
        """Ignore a change: the time of the machine is fixed."""

    async def passes(self, seconds: float = 10.0, **longer: float) -> None:
        """Wait until the workspace is quiet; the length is ignored."""
        await cast("SandboxTalk", self.talk).until_quiet()


class SandboxTalk(Talk):
    """A conversation in the workspace of a running sandbox."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.slack.close()
        self.time = RealTime(self)
        self._workspace: Workspace = world.workspace
        self.slack = cast("TalkSlack", self._workspace)
        self.slack.state.watchers.add(self._on_event)

    async def hears(self) -> bool:
        """Wait until the bot has acknowledged all events."""
        await self._until(lambda: not self._workspace.bot_connection.has_pending_events())
        return False

    async def until_it_hangs(self, work: Coroutine[Any, Any, Result]) -> Result | None:
        """Wait for the end of some work."""
        return await work

    async def until_quiet(self) -> None:
        """Wait for many turns of the loop without any event in the workspace.

        The bot and the sandbox run in this loop: on a slow machine a turn takes longer, as their work does.
        """
        seq, turns = self.slack.state.seq, 0

        def is_quiet() -> bool:
            nonlocal seq, turns
            if seq != self.slack.state.seq:
                seq, turns = self.slack.state.seq, 0
            turns += 1
            return turns > _QUIET_TURNS

        await self.hears()
        await self._until(is_quiet)

    async def ends(self, status: str = "completed", **_options: Any) -> None:
        """Wait until the agent has ended all jobs; its status is always ``completed``."""
        assert status == "completed", "the sandbox's agent decides"
        under_way = (":hourglass", ":gear:")
        await self._until(
            lambda: not any(post["text"].startswith(under_way) for post in self._posts())
        )
        await self.until_quiet()

    def _posts(self) -> list[dict[str, Any]]:
        return [message for room in self.slack.state.messages.values() for message in room.values()]

    async def _until(self, is_so: Callable[[], bool]) -> None:
        deadline = monotonic() + HANG_SECONDS
        while not is_so():
            assert monotonic() < deadline, f"it did not come about\n{self.transcript()}"
            await asyncio.sleep(0.02)

    async def close(self) -> None:
        """Leave the sandbox to its owner."""
        self.slack.state.watchers.discard(self._on_event)
