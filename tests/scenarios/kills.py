"""Stories that are repeated with a kill of the bot at each place, and a restart."""

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
from tests.scenarios.story import Json, Story, is_late_refusal
from tests.scenarios.timeouts import KILLED_LEASE_SECONDS, STEADY

_AT_ONCE = 5
_TRIES = 8
_QUIET_SECONDS = 0.6
"""The silence after the end."""
_SEED = 1
"""Chooses the places of an ordinary run. Any number; names of places change with the code."""


class _TooSlowError(Exception):
    """The machine was so busy that an act was refused. It shows nothing about kills."""


class Tale:
    """Acts of people, and a check of the result after any number of kills."""

    watched: Sequence[str] = ()
    """The modules whose places are killed at."""
    world: type[WorldOptions] = WorldOptions
    ahead = timedelta(0)
    """The time between its beginning and its acts."""
    polls_pull_requests = True

    def options(self, folder: Path) -> WorldOptions:
        """Return its world, with a fast agent and few visitors."""
        return self.world(folder, work_seconds=0.2, pages=20, days=2)

    async def begin(self, story: Story) -> None:
        """Do the part before any kill."""

    async def act(self, story: Story) -> Sequence[Json]:
        """Carry out the acts, and return their immediate answers."""
        raise NotImplementedError

    def is_over(self, story: Story) -> bool:
        """Return whether the result is visible."""
        raise NotImplementedError

    def is_settled(self, story: Story, answers: Sequence[Json]) -> bool:
        """Return whether each acknowledged act has its result; Slack repeats an unacknowledged event."""
        return self.is_over(story) and not story.world.workspace.bot_connection.has_pending_events()

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """Raise AssertionError if a result is lost or doubled."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Theatre:
    """Plays a tale from its beginning."""

    tale: Tale
    zygote: Zygote
    stage: Path
    """The folder of its world after the beginning."""

    async def prepare(self) -> None:
        """Create the tables and play the beginning, for all later runs."""
        async with both_sides(self.tale.options(self.stage)) as world:
            pid = await self.zygote.start(
                world, self.stage / "prepared", blind=not self.tale.polls_pull_requests
            )
            await started(pid, self.stage / "prepared")
            await self.tale.begin(Story(world))
            await stop(pid)

    async def play(self, folder: Path, kill_at: str | None) -> tuple[set[str], bool]:
        """Play the tale with a kill at a place and a restart, and check the result.

        Return the passed places, and whether the kill happened. On a busy machine the stand-in of
        Slack, or the database, may answer the bot too late. The person is told so, and the tale is
        played again.
        """
        for number in range(_TRIES):
            stage = folder / f"try {number}"
            shutil.copytree(self.stage, stage)
            async with both_sides(self.tale.options(stage)) as world:
                world.clock.set(datetime.now(UTC) + self.tale.ahead)
                try:
                    killed = await self._play_in(world, stage, kill_at)
                except _TooSlowError:
                    print(f"the machine was too slow in {stage}")
                    continue
            return {line["place"] for line in lines(stage / "first") if "place" in line}, killed
        raise AssertionError(f"the machine was too slow {_TRIES} times")

    async def _play_in(self, world: World, folder: Path, kill_at: str | None) -> bool:
        story, tale = Story(world), self.tale
        pid = await self.zygote.start(
            *(world, folder / "first", kill_at, tale.watched),
            lease_seconds=KILLED_LEASE_SECONDS,
            ahead=tale.ahead,
            blind=not tale.polls_pull_requests,
        )
        await started(pid, folder / "first")
        acting = asyncio.create_task(tale.act(story))
        try:
            await wait_for(
                "the end or the kill",
                lambda: tale.is_over(story) or not is_alive(pid) or _is_refused(story, acting),
            )
            if is_alive(pid):
                # The place may follow the last message, when the bot stores its post.
                await asyncio.sleep(_QUIET_SECONDS)
            await stop(pid)
            if killed := {"stopped": True} not in lines(folder / "first"):
                await self._start_again(story, folder, acting)
            elif _is_refused(story, acting):
                raise _TooSlowError
            await tale.check(story, await acting)
        finally:
            acting.cancel()
        return killed

    async def _start_again(
        self, story: Story, folder: Path, acting: asyncio.Task[Sequence[Json]]
    ) -> None:
        """Let another bot continue the work of the killed one."""
        output = folder / "second"
        pid = await self.zygote.start(
            *(story.world, output),
            lease_seconds=STEADY.lease_seconds,
            ahead=self.tale.ahead,
            blind=not self.tale.polls_pull_requests,
        )
        answers = await acting
        await wait_for(
            "each acknowledged act",
            lambda: self.tale.is_settled(story, answers) or _is_answered_late(story),
        )
        await asyncio.sleep(_QUIET_SECONDS)
        await stop(pid)
        if _is_answered_late(story):
            raise _TooSlowError


def _is_refused(story: Story, acting: asyncio.Task[Sequence[Json]]) -> bool:
    """Return whether an act was refused, or not acknowledged in time by a bot that goes on."""
    if _is_answered_late(story):
        return True
    return acting.done() and not all(answer.get("ok", True) for answer in acting.result())


def _is_answered_late(story: Story) -> bool:
    return any(map(is_late_refusal, story.state.ephemerals.values()))


async def requests(world: World) -> Counter[str]:
    """Count the docs service's calls by operation."""
    url = f"{world.docs_service_url}/sandbox/log"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return Counter(entry["operation"] for entry in await answer.json())


async def kill_everywhere(tale: Tale, zygote: Zygote, folder: Path, *, most: int | None) -> None:
    """Play a tale once without a kill, then once for each place with a kill there.

    ``most`` is the number of places, always the same ones; None takes all. On a slow machine calls and
    statements differ, so a later run may miss its place. Another place of its kind replaces it then.
    """
    theatre = Theatre(tale, zygote, folder / "stage")
    await theatre.prepare()
    passed, killed = await theatre.play(folder / "calm", None)
    assert not killed
    began, kills, places = monotonic(), dict[str, bool](), chosen(passed, most)
    while places:
        outcomes = await _kill_at_each(theatre, places, folder / f"after {len(kills)}")
        kills |= zip(places, outcomes, strict=True)
        done = _kinds_killed_at(kills)
        places = chosen(
            [place for place in passed if place not in kills and kind_of(place) not in done], 1
        )
    report(passed, kills, monotonic() - began)
    assert _kinds_killed_at(kills) == set(Kind), kills


def _kinds_killed_at(kills: Mapping[str, bool]) -> set[Kind]:
    return {kind_of(place) for place, killed in kills.items() if killed}


def chosen(places: Iterable[str], most: int | None) -> list[str]:
    """Return all places, or the same few of each kind."""
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
                return (await theatre.play(folder / str(number), place))[1]
            except AssertionError as error:
                raise AssertionError(
                    f"killed at {place}, in {folder / str(number)}: {error}"
                ) from error

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(number, place)) for number, place in enumerate(places)]
    return [task.result() for task in tasks]


def report(passed: Iterable[str], kills: Mapping[str, bool], seconds: float) -> None:
    """Print the numbers of places, tries and kills for each kind."""
    places, tried = Counter(map(kind_of, passed)), Counter(map(kind_of, kills))
    done = Counter(kind_of(place) for place, killed in kills.items() if killed)
    counts = ", ".join(
        f"{kind}: {done[kind]} of {tried[kind]} (of {places[kind]})" for kind in Kind
    )
    print(f"{sum(kills.values())} kills in {seconds:.0f} s; {counts}")
