"""Benchmark `command`: how soon the bot stores and acknowledges a slash command, beside two simple apps.

One app only acknowledges. The other stores each command with SQLAlchemy before it acknowledges. The
bot runs on SQLite on disk without its workers (`bench.bot_app`), since neither app carries anything
out. Each side is a separate process, and so is the client. The sides are measured in turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench.processes import spread
from bench.report import Report, Row, at_most, below
from bench.sides import NAMES, Side, Way, bolt_side, bot_side
from bench.slack import LIMIT_SECONDS, PEOPLE

INTAKE = ("-m", "bench.bot_app")
"""The program of a bot without its workers."""
_BARE_GOALS = {1: (0.2, 1.0), 10: (0.4, 1.0), 50: (1.0, 1.2)}
"""The bot's median and its 99th percentile as shares of the bare app's, by the number of commands at once."""
_CPU_GOALS = {Way.HTTP: 3.0, Way.SOCKET: 4.0}
"""The bot's processor time for a command as a multiple of the bare app's, which neither reads the
text nor looks for the same request elsewhere."""
_STORING_CPU_GOAL = 0.45
"""The same as a share of the time of the app that stores."""
_STORING_GOALS = {1: (1 / 3, None), 10: (0.45, None), 50: (1 / 3, None)}
"""The median beside the app that stores. Of ten at once, few wait for SQLite's lock there."""
_BOLT_SLEEPS = (
    "About 10 ms of each of theirs is a fixed sleep in Bolt, which waits so for a listener's answer. "
    "It does not grow on a slow machine, so these ratios do."
)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: commands per turn by the number at once, turns, and commands to warm up."""

    commands: dict[int, int]
    turns: int
    warm: int = PEOPLE + 50


FULL = Size({1: 100, 10: 300, 50: 500}, 6)
QUICK = Size({1: 20, 10: 40, 50: 100}, 1)


@dataclass(slots=True)
class Taken:
    """One side's times: milliseconds of each command, and processor time per command of each turn."""

    ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)

    @property
    def unanswered(self) -> int:
        """Return how many commands were not acknowledged within Slack's limit."""
        return sum(time_ms >= 1000 * LIMIT_SECONDS for time_ms in self.ms)

    def figures(self) -> dict[str, float]:
        """Return median, 99th percentile and processor time, in milliseconds."""
        percentiles = spread(self.ms)
        return {
            "median": percentiles.median,
            "99th percentile": percentiles.p99,
            "processor time a command": median(self.cpu_ms),
        }


async def measure(size: Size, folder: Path) -> list[Report]:
    """Measure both kinds of intake, each beside both apps."""
    return [report for way in Way for report in await _compared(way, size, folder)]


async def _compared(way: Way, size: Size, folder: Path) -> list[Report]:
    async with AsyncExitStack() as stack:
        bot = await stack.enter_async_context(bot_side(way, folder, program=INTAKE))
        bare = await stack.enter_async_context(bolt_side("bench.bolt_app", way, folder))
        storing = await stack.enter_async_context(bolt_side("bench.storing_app", way, folder))
        times = await in_turns((bot, bare, storing), size)
    name = f"command: a slash command {NAMES[way]}"
    beside_bare = Report(name, "the bot, stored first", "bare Bolt app")
    beside_storing = Report(f"{name}, both stored", "the bot", "Bolt app + SQLAlchemy")
    beside_bare.notes.append(_BOLT_SLEEPS)
    for at_once, (ours, theirs, stored) in times.items():
        beside_bare.rows.extend(
            _rows(at_once, ours, theirs, *_BARE_GOALS[at_once], _CPU_GOALS[way])
        )
        beside_storing.rows.extend(
            _rows(at_once, ours, stored, *_STORING_GOALS[at_once], _STORING_CPU_GOAL)
        )
    unanswered = [sum(own.unanswered for own in side) for side in zip(*times.values(), strict=True)]
    for report, other in ((beside_bare, unanswered[1]), (beside_storing, unanswered[2])):
        row = Row("commands not acknowledged within 3 s", "", unanswered[0], other)
        report.rows.append(below(row, 1))
    return [beside_bare, beside_storing]


async def in_turns(sides: Sequence[Side], size: Size) -> dict[int, tuple[Taken, ...]]:
    """Send commands to the sides in turns (A B A B …); return their times, by the number at once."""
    for side in sides:  # warm up: load all modules and make all users known
        await side.burst(size.warm, min(size.warm, 50))
    return {
        at_once: await _turns(sides, count, at_once, size.turns)
        for at_once, count in size.commands.items()
    }


async def _turns(sides: Sequence[Side], count: int, at_once: int, turns: int) -> tuple[Taken, ...]:
    times = tuple(Taken() for _ in sides)
    for _ in range(turns):
        for side, own in zip(sides, times, strict=True):
            used = side.process.cpu_seconds()
            own.ms += [1000 * seconds for seconds in await side.burst(count, at_once)]
            own.cpu_ms.append(1000 * (side.process.cpu_seconds() - used) / count)
    return times


def _rows(
    at_once: int,
    ours: Taken,
    theirs: Taken,
    share: float,
    p99_share: float | None,
    cpu_share: float | None = None,
) -> list[Row]:
    a, b = ours.figures(), theirs.figures()
    first, p99, cpu = (Row(f"{name}, {at_once} at once", "ms", a[name], b[name]) for name in a)
    shares = ((first, share), (p99, p99_share), (cpu, cpu_share))
    return [row if most is None else at_most(row, most) for row, most in shares]
