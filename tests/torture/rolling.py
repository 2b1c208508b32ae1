"""Two processes on one database, restarted in turn under load.

Slack's requests come through a plain proxy; the database is a PostgreSQL. One process after the other is
stopped with SIGTERM and later killed with SIGKILL, as soon as all are ready and acknowledge commands again.
The checker of the other runs insists that nothing is lost and nothing is posted twice. In addition each
command and button is acknowledged in time, or its connection breaks, which Slack shows to the person.
"""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

from tests.bots import zygote
from tests.limits import HANG_SECONDS
from tests.torture.bots import Bot
from tests.torture.checker import check
from tests.torture.checks import Checks
from tests.torture.plan import DOCS, PEOPLE, Plan
from tests.torture.planning import make_acts
from tests.torture.record import Json, Record
from tests.torture.report import Report
from tests.torture.run import Run, carry_out
from tests.torture.servers import postgres

_PROCESSES = 2
_BETWEEN = 6
"""Commands that are acknowledged between two restarts."""
_WAVE_SECONDS = 3.0
"""Between two waves of requests: Slack accepts one post a second in a channel."""
_PAUSE_SECONDS = 0.1


async def roll(
    seed: int, folder: Path, *, seconds: float = 0.0, ack_seconds: float = 3.0, prints: bool = True
) -> Report:
    """Restart each process in both ways, repeat that for some seconds, and return the report.

    ``ack_seconds`` is Slack's time limit for an acknowledgement.
    """
    plan = Plan(
        seed=seed,
        database="postgres",
        intake="http",
        processes=_PROCESSES,
        work_seconds=0.2,
        log_level="INFO",
        acts=(),
        troubles=(),
        decision="send_again",
        uses_an_hour=100_000,
        ack_seconds=ack_seconds,
    )
    report, logs = Report(1, prints=prints), folder / "rolling"
    async with postgres(folder) as address, zygote() as mother:
        record = await carry_out(plan, mother, logs, address, partial(Rolling, seconds=seconds))
    checks = check(record)
    check_acknowledgements(record, checks)
    report.add(record, checks, logs)
    report.counts.update(_counts(record))
    return report


class Rolling(Run):
    """A run whose processes are restarted in turn for some seconds, while people go on."""

    def __init__(self, *run: Any, seconds: float) -> None:
        super().__init__(*run)
        self._seconds = seconds
        self._rolled = False

    async def _play(self) -> None:
        load = [
            asyncio.create_task(task) for task in (self._ask(), *map(self._list_limits, PEOPLE))
        ]
        await self._restart_in_turn()
        self._rolled = True
        await asyncio.gather(*load)

    async def _ask(self) -> None:
        """Carry out waves of requests; the last one begins after the last restart."""
        chance, is_last = Random(self._plan.seed), False
        while not is_last:
            is_last = self._rolled
            await self._act(make_acts(chance))
            await self._until(lambda: self._rolled, _WAVE_SECONDS)

    async def _list_limits(self, person: str) -> None:
        while not self._rolled:
            await self._place.workspace.people.command(person, DOCS, "/docs-agent", "limits")
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _restart_in_turn(self) -> None:
        ends_at = monotonic() + self._seconds
        for turn in count():
            for bot in self._bots:
                await self._restart(bot, kill=bool(turn % 2))
            if turn % 2 and monotonic() >= ends_at:
                return

    async def _restart(self, bot: Bot, *, kill: bool) -> None:
        starts, before = bot.starts, self._acknowledged()
        if kill:
            self._record.kills += bot.kill(0.0)
        else:
            await bot.stop()
        is_back = await self._until(lambda: bot.starts > starts and bot.ready, HANG_SECONDS)
        goes_on = await self._until(lambda: self._acknowledged() >= before + _BETWEEN, HANG_SECONDS)
        if not (is_back and goes_on):
            bot.complaints.append("a bot did not come back, or commands were not acknowledged")

    def _acknowledged(self) -> int:
        return sum(bool(call["acked"]) for call in _from_people(self._place.workspace.log))


def check_acknowledgements(record: Record, checks: Checks) -> None:
    """Check that each command and button was acknowledged in time or lost its connection."""
    for call in _from_people(record.slack):
        is_fine = call["acked"] or call["error"] == "connection_failed"
        checks.insist(
            is_fine, f"a {call['kind']} failed after {call['seconds']:.1f} s: {call.get('error')}"
        )


def _from_people(log: list[Json]) -> list[Json]:
    """Return the finished commands and interactions of a log."""
    kinds = ("command", "interactive")
    return [call for call in log if call.get("kind") in kinds and "seconds" in call]


def _counts(record: Record) -> dict[str, int]:
    calls = _from_people(record.slack)
    slowest = max(call["seconds"] for call in calls if call["acked"])
    return {
        "restarts": record.starts - _PROCESSES,
        "commands and buttons": len(calls),
        "closed connections": sum(not call["acked"] for call in calls),
        "slowest acknowledgement in ms": round(slowest * 1_000),
    }
