"""Two processes that take requests in and two that carry them out, restarted in turn under load.

Slack's requests come through a plain proxy; the database is a PostgreSQL. One process after the other is
stopped with SIGTERM and later killed with SIGKILL, each time when all are ready and commands are acknowledged
again. The checker of the other runs insists that nothing is lost and nothing is said twice. In addition each
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

_BOTS = ("serve", "serve", "work", "work")
_BETWEEN = 6
"""Commands that are acknowledged between two restarts."""
_WAVE_SECONDS = 3.0
"""From the end of one wave of requests to the next. Slack takes one post a second in a channel."""
_PAUSE_SECONDS = 0.1


def rolling_plan(seed: int, ack_seconds: float) -> Plan:
    """Return a plan without faults, whose acts come from the seed while the processes are restarted."""
    return Plan(
        seed=seed,
        database="postgres",
        intake="http",
        bots=_BOTS,
        work_seconds=0.2,
        log_level="INFO",
        acts=(),
        troubles=(),
        decision="send_again",
        uses_an_hour=100_000,
        ack_seconds=ack_seconds,
    )


async def roll(
    seed: int, folder: Path, *, seconds: float = 0.0, ack_seconds: float = 3.0, tell: bool = True
) -> Report:
    """Restart each process in both ways, and again until the seconds are over. Return the report.

    ``ack_seconds``: how long Slack waits for an acknowledgement.
    """
    report, logs = Report(1, tell=tell), folder / "rolling"
    async with postgres(folder) as address, zygote() as mother:
        kind = partial(Rolling, seconds=seconds)
        record = await carry_out(rolling_plan(seed, ack_seconds), mother, logs, address, kind)
    checks = check(record)
    acknowledged(record, checks)
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
        load = [asyncio.create_task(each) for each in (self._ask(), *map(self._look, PEOPLE))]
        await self._restart_in_turn()
        self._rolled = True
        await asyncio.gather(*load)

    async def _ask(self) -> None:
        """Carry out waves. The last one begins after the last restart, however fast the machine is."""
        chance, is_last = Random(self._plan.seed), False
        while not is_last:
            is_last = self._rolled
            await self._act(make_acts(chance))
            await self._until(lambda: self._rolled, _WAVE_SECONDS)

    async def _look(self, person: str) -> None:
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
            bot.complaints.append(f"a bot ({bot.role}) did not come back, or commands were not acknowledged")

    def _acknowledged(self) -> int:
        return sum(bool(each["acked"]) for each in _from_people(self._place.workspace.log))


def acknowledged(record: Record, checks: Checks) -> None:
    """Check that each command and button was acknowledged in time or refused by a closed connection."""
    for each in _from_people(record.slack):
        fine = each["acked"] or each["error"] == "connection_failed"
        checks.insist(fine, f"a {each['kind']} failed after {each['seconds']:.1f} s: {each.get('error')}")


def _from_people(log: list[Json]) -> list[Json]:
    """Return the finished commands and interactions of a log."""
    kinds = ("command", "interactive")
    return [each for each in log if each.get("kind") in kinds and "seconds" in each]


def _counts(record: Record) -> dict[str, int]:
    made = _from_people(record.slack)
    slowest = max(each["seconds"] for each in made if each["acked"])
    return {
        "restarts": record.starts - len(_BOTS),
        "commands and buttons": len(made),
        "closed connections": sum(not each["acked"] for each in made),
        "slowest acknowledgement in ms": round(slowest * 1_000),
    }
