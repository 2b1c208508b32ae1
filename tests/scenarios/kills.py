"""Telling a story once for each place at which the bot can be killed, and starting the bot again after it."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from pathlib import Path
from time import monotonic

import aiohttp

from sandbox.world import World, WorldOptions, both_sides
from tests.bots import Zygote, is_alive, lines, started, stop, wait_for
from tests.scenarios.places import Kind, kind_of
from tests.scenarios.story import Json, Story
from tests.scenarios.timeouts import KILLED_LEASE_SECONDS, STEADY

_AT_ONCE = 10
_QUIET_SECONDS = 0.6
"""How long nothing more may be said after the end."""
_SEED = 1
"""Chooses the places that an ordinary run kills at. Any number; names of places change with the code."""


class Tale:
    """What people do, and what must hold however often the bot was killed meanwhile."""

    watched: Sequence[str] = ()
    """The modules of the work whose places are killed at."""
    world: type[WorldOptions] = WorldOptions
    ahead = timedelta(0)
    """How long after its beginning the tale is told."""
    sees_pull_requests = True
    """Whether the bot can look at the sandbox's pull requests."""

    def options(self, folder: Path) -> WorldOptions:
        """Return the world in which it takes place: its agent works fast, and it has hardly any visitors."""
        return self.world(folder, work_seconds=0.2, pages=20, days=2)

    async def begin(self, story: Story) -> None:
        """Let happen what is over before anything is killed."""

    async def act(self, story: Story) -> Sequence[Json]:
        """Do what people do, and return what they are answered at once."""
        raise NotImplementedError

    def is_over(self, story: Story) -> bool:
        """Return whether all of it has been told."""
        raise NotImplementedError

    def is_settled(self, story: Story, answers: Sequence[Json]) -> bool:
        """Return whether all that was acknowledged has been told; an event comes until it is acknowledged."""
        return self.is_over(story) and not story.world.workspace.bot_connection.has_pending_events()

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """Raise AssertionError when something was lost or doubled."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Theatre:
    """Where a tale is told: ``stage`` is a folder with its world as it is after the beginning."""

    tale: Tale
    zygote: Zygote
    stage: Path

    async def prepare(self) -> None:
        """Bring the database to its schema and tell the beginning, for all later times."""
        async with both_sides(self.tale.options(self.stage)) as world:
            pid = await self.zygote.start(
                world, self.stage / "prepared", blind=not self.tale.sees_pull_requests
            )
            await started(pid, self.stage / "prepared")
            await self.tale.begin(Story(world))
            await stop(pid)

    async def tell(self, folder: Path, kill_at: str | None) -> tuple[set[str], bool]:
        """Tell the tale with a bot that is killed at the place, start it again, and check what people see.

        Returns the places that were passed, and whether the kill happened.
        """
        shutil.copytree(self.stage, folder)
        async with both_sides(self.tale.options(folder)) as world:
            world.clock.set(datetime.now(UTC) + self.tale.ahead)
            killed = await self._tell_in(world, folder, kill_at)
        return {line["place"] for line in lines(folder / "first") if "place" in line}, killed

    async def _tell_in(self, world: World, folder: Path, kill_at: str | None) -> bool:
        story, tale = Story(world), self.tale
        pid = await self.zygote.start(
            *(world, folder / "first", kill_at, tale.watched),
            lease_seconds=KILLED_LEASE_SECONDS,
            ahead=tale.ahead,
            blind=not tale.sees_pull_requests,
        )
        await started(pid, folder / "first")
        acting = asyncio.create_task(tale.act(story))
        await wait_for("the end or the kill", lambda: tale.is_over(story) or not is_alive(pid))
        if is_alive(pid):
            # It may come to its place only now, as it notes what it has said.
            await asyncio.sleep(_QUIET_SECONDS)
        await stop(pid)
        if killed := {"stopped": True} not in lines(folder / "first"):
            await self._start_again(story, folder, acting)
        await tale.check(story, await acting)
        return killed

    async def _start_again(self, story: Story, folder: Path, acting: asyncio.Task[Sequence[Json]]) -> None:
        """Let another bot go on with what the killed one has left."""
        output = folder / "second"
        pid = await self.zygote.start(
            *(story.world, output),
            lease_seconds=STEADY.lease_seconds,
            ahead=self.tale.ahead,
            blind=not self.tale.sees_pull_requests,
        )
        answers = await acting
        await wait_for("what was acknowledged", lambda: self.tale.is_settled(story, answers))
        await asyncio.sleep(_QUIET_SECONDS)
        await stop(pid)


async def requests(world: World) -> Counter[str]:
    """Return how often the docs service was asked for what."""
    url = f"{world.docs_service_url}/sandbox/log"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return Counter(entry["operation"] for entry in await answer.json())


async def kill_everywhere(tale: Tale, zygote: Zygote, folder: Path, *, most: int | None) -> None:
    """Tell a tale once without a kill, then once for each place with a kill there.

    ``most``: the number of places to take, the same each time; None takes all.
    A place that a later run does not come to again is no kill: on a slow machine calls and statements differ.
    Of each kind there must be a kill, so others are taken of a kind without one.
    """
    theatre = Theatre(tale, zygote, folder / "stage")
    await theatre.prepare()
    passed, killed = await theatre.tell(folder / "calm", None)
    assert not killed
    began, kills, places = monotonic(), dict[str, bool](), chosen(passed, most)
    while places:
        outcomes = await _kill_at_each(theatre, places, folder / f"after {len(kills)}")
        kills |= zip(places, outcomes, strict=True)
        done = _kinds_killed_at(kills)
        places = chosen([place for place in passed if place not in kills and kind_of(place) not in done], 1)
    report(passed, kills, monotonic() - began)
    assert _kinds_killed_at(kills) == set(Kind), kills


def _kinds_killed_at(kills: Mapping[str, bool]) -> set[Kind]:
    return {kind_of(place) for place, killed in kills.items() if killed}


def chosen(places: Iterable[str], most: int | None) -> list[str]:
    """Return all places, or only so many, always the same ones and of all kinds alike."""
    ordered = sorted(places)
    if most is None:
        return ordered
    shuffled = random.Random(_SEED).sample(ordered, len(ordered))
    by_kind = [[place for place in shuffled if kind_of(place) is kind] for kind in Kind]
    return [place for row in zip_longest(*by_kind) for place in row if place is not None][:most]


async def _kill_at_each(theatre: Theatre, places: Sequence[str], folder: Path) -> list[bool]:
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(number: int, place: str) -> bool:
        async with room:
            try:
                return (await theatre.tell(folder / str(number), place))[1]
            except AssertionError as error:
                raise AssertionError(f"killed at {place}, in {folder / str(number)}: {error}") from error

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(number, place)) for number, place in enumerate(places)]
    return [task.result() for task in tasks]


def report(passed: Iterable[str], kills: Mapping[str, bool], seconds: float) -> None:
    """Print how many places of each kind there are, and how many of them were killed at."""
    known, tried = Counter(map(kind_of, passed)), Counter(map(kind_of, kills))
    done = Counter(kind_of(place) for place, killed in kills.items() if killed)
    told = ", ".join(f"{kind}: {done[kind]} of {tried[kind]} (of {known[kind]})" for kind in Kind)
    print(f"{sum(kills.values())} kills in {seconds:.0f} s; {told}")
