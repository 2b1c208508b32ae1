"""The checks of ``/readyz`` that look at the database, at Slack and at the processes that run workers."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from datetime import datetime
from time import monotonic

from bot.ops.health import Check
from bot.store import DatabaseTrouble, Store
from bot.store.heartbeats import GONE_AFTER
from bot.store.trouble import explain
from bot.work.ports import SlackError, SlackRefused, SlackThrottled

_SLACK_SECONDS = 30.0
"""For how long it is believed that Slack accepts the token."""
_AGAIN_SECONDS = 5.0
_MOST_REFUSED = 5
_REFUSED_SECONDS = 300.0


def database_check(
    store: Store, process: str, clock: Callable[[], datetime]
) -> Callable[[], Awaitable[Check]]:
    """Return a check that writes to the database."""

    async def check() -> Check:
        try:
            await store.try_writing(process, clock())
        except DatabaseTrouble as error:
            return Check(False, f"cannot be written: {explain(error).cause}")
        return Check(True, "can be written")

    return check


def free_bytes(store: Store) -> int | None:
    """Return the room on the disk of the SQLite file; None for another database, or when nobody can tell."""
    file = store.database.file
    try:
        return shutil.disk_usage(file.parent).free if file else None
    except OSError:
        return None


def workers_check(
    store: Store, clock: Callable[[], datetime], *, required: bool
) -> Callable[[], Awaitable[Check]]:
    """Return a check that some process runs workers; ``required`` as in ``Check``."""

    async def check() -> Check:
        now = clock()
        try:
            last = await store.read(lambda tx: tx.heartbeats.last(now))
        except DatabaseTrouble as error:
            return Check(False, f"not known: {explain(error).cause}", required)
        alive = sum(at > now - GONE_AFTER for at in last.values())
        if alive:
            return Check(True, f"{alive} alive", required)
        seconds = f"{GONE_AFTER.total_seconds():.0f} s"
        return Check(False, f"no process carries requests out: no heartbeat for {seconds}", required)

    return check


class SlackCheck:
    """Whether Slack accepts the token, asked twice a minute at most, or every five seconds in trouble."""

    def __init__(
        self, ask: Callable[[], Awaitable[object]], *, required: bool, clock: Callable[[], float] = monotonic
    ) -> None:
        """``ask`` raises a SlackError. ``required``: whether Slack must be reachable.

        ``clock`` returns seconds.
        """
        self._ask = ask
        self._required = required
        self._clock = clock
        self._last: Check | None = None
        self._believed_until = 0.0

    async def __call__(self) -> Check:
        if self._last is None or self._clock() >= self._believed_until:
            self._last = await self._asked()
            self._believed_until = self._clock() + (_SLACK_SECONDS if self._last.ok else _AGAIN_SECONDS)
        return self._last

    async def _asked(self) -> Check:
        try:
            async with asyncio.timeout(1.0):
                await self._ask()
        except SlackRefused as refused:
            return Check(False, f"refuses the bot's token: {refused.code}")
        except SlackThrottled:
            return Check(True, "asks to wait")
        except (SlackError, TimeoutError) as error:
            return Check(False, f"cannot be reached ({type(error).__name__})", self._required)
        return Check(True, "accepts the token")


class SignatureCheck:
    """Whether the signing secret seems right: not if the last five requests were refused within five minutes.

    Only requests that name the bot's workspace count. Whoever knows its id can send such requests, so the
    process stays ready, and an operator looks whether the secret is wrong.
    """

    def __init__(self, count: Callable[[str, str], None], clock: Callable[[], float] = monotonic) -> None:
        self._count = count
        self._clock = clock
        self._refused_at: list[float] = []

    def note(self, accepted: bool) -> None:
        """Note whether the signature of a request that names the workspace was right."""
        self._count("signatures", "accepted" if accepted else "refused")
        self._refused_at = [] if accepted else [*self._refused_at[1 - _MOST_REFUSED :], self._clock()]

    async def __call__(self) -> Check:
        lately = [at for at in self._refused_at if self._clock() - at < _REFUSED_SECONDS]
        if len(lately) < _MOST_REFUSED:
            return Check(True, "no trouble")
        about = "the last signatures were refused: SLACK_SIGNING_SECRET is wrong, or strangers knock"
        return Check(False, about, required=False)
