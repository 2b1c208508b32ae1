"""Trials of ``docs-bot doctor --try`` in every kind of channel, beside a running bot.

``make stand-ins`` writes the answers of the sandbox's services, with which a transcript is compared.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from bot.app import running_bot
from bot.docs_api import DocsClient
from bot.ids import ChannelId, UserId
from bot.operator import transcript
from bot.operator.transcript import Fields, Recorder, fields_of
from bot.operator.trial import STEPS, run_trial
from bot.operator.trial_step import Step, StepResult, TrialClock, TrialOptions
from bot.store import Store
from sandbox.workspace.options import WorkspaceOptions
from sandbox.world import World, WorldOptions, both_sides
from tests.limits import HANG_SECONDS
from tests.operator.trial_person import ANA, TrialPerson
from tests.schema import inbox, jobs

PUBLIC, PRIVATE, GROUP = "C03PRODUCT", "G04SECRET", "C06TRIO"
Results = dict[str, StepResult]
ANSWERED = TrialClock(sleep=lambda seconds: asyncio.sleep(min(seconds, 0.02)))
"""A clock whose pauses are short, for a trial in which everything comes."""
_ELSEWHERE = ("trial", "channel", "post", "mention", "edit of yours", "deletion of yours")
"""The steps in other channels than a public one, beside the replies."""


class Unhurried(WorldOptions):
    """A world whose Slack has no limits of rates."""

    def workspace(self) -> WorkspaceOptions:
        return replace(super().workspace(), enforce_rates=False)


def options(kind: Callable[..., WorldOptions], folder: Path, **more: Any) -> WorldOptions:
    """Return the options of a small world."""
    limits = {"work_seconds": 0.1, "answer_seconds": HANG_SECONDS}
    return kind(folder, pages=5, days=10, **limits, **more)


async def trial(
    world: World,
    person: TrialPerson | None = None,
    steps: Sequence[Step] = STEPS,
    *,
    channel: str = "C01DOCS",
    clock: TrialClock | None = None,
    recorder: Recorder | None = None,
    **chosen: Any,
) -> Results:
    """Take the steps; return their results by name. Nobody acts without a ``person``."""
    results: list[StepResult] = []
    limits = {"press_seconds": HANG_SECONDS, "job_seconds": HANG_SECONDS}
    where = TrialOptions(ChannelId(channel), UserId(ANA), **{**limits, **chosen})
    ask = person.read if person else _ignore
    settings = world.settings
    try:
        await run_trial(
            settings,
            where,
            results.append,
            ask,
            steps,
            clock=clock or ANSWERED,
            recorder=recorder,
        )
    finally:
        if person is not None:
            await person.ended()
    return {result.name: result for result in results}


def _ignore(_instruction: str) -> None:
    """Do nothing."""


@dataclass(frozen=True)
class WholeTrial:
    """The results of trials in every kind of channel, and what is left of them."""

    in_public: Results
    in_private: Results
    in_group: Results
    lines: Sequence[Mapping[str, object]]
    """The transcript of all."""
    remains: Mapping[str, int]
    """What the bot has left behind, and the requests that it took from the person."""
    sockets: int
    """How many sockets were opened."""
    secrets: Sequence[str]
    """Words and keys that were on the wire."""


async def take_whole_trial(folder: Path) -> WholeTrial:
    """Take every step that a channel of each kind has."""
    recorder = Recorder()
    async with both_sides(options(Unhurried, folder)) as world:
        workspace = world.workspace
        workspace.people.invite(ANA, PRIVATE, "@docs-agent")
        await workspace.bot_connection.drop_events()
        async with running_bot(world.settings):
            person = TrialPerson(workspace, PUBLIC)
            in_public = await trial(world, person, channel=PUBLIC, with_job=True, recorder=recorder)
            elsewhere = {
                channel: await trial(
                    world,
                    TrialPerson(workspace, channel),
                    [step for step in STEPS if step.name in _ELSEWHERE or "reply in" in step.name],
                    channel=channel,
                    recorder=recorder,
                )
                for channel in (PRIVATE, GROUP)
            }
        await _read_all_rows(world, recorder)
        return WholeTrial(
            in_public=in_public,
            in_private=elsewhere[PRIVATE],
            in_group=elsewhere[GROUP],
            lines=recorder.lines,
            remains=await _remains(world),
            sockets=sum(entry.get("method") == "socket" for entry in workspace.log),
            secrets=[*world.settings.secrets(), "Ana Brandt", "docs-agent doctor", "product-docs"],
        )


async def _read_all_rows(world: World, recorder: Recorder) -> None:
    """Add all rows of analytics, of which some have empty fields."""
    project = world.settings.projects[0]
    client = DocsClient(
        base_url=project.address, api_key=project.key, on_answer=recorder.add_docs_call
    )
    async with client as docs:
        await docs.visitors(project.id)
        await docs.views(project.id)
        await docs.searches(project.id)
        await docs.feedback_by_page(project.id)
        await docs.feedback(project.id)
        await docs.assistant(project.id)


async def _remains(world: World) -> dict[str, int]:
    state = world.workspace.state
    messages = [post for room in state.messages.values() for post in room.values()]
    found = {
        "posts": sum(bool(post["bot_id"]) for post in messages),
        "reactions": sum(len(post["reactions"]) for post in messages),
        "files": len(state.files),
        "forms": len(state.views),
        "messages in the inbox": await _count(world, inbox),
        "jobs": await _count(world, jobs),
    }
    return {name: count for name, count in found.items() if count}


async def _count(world: World, table: Any) -> int:
    store = Store.open(world.settings.sqlalchemy_url)
    try:
        counting = select(func.count()).select_from(table)
        return int(await store.read(lambda tx: tx.connection.execute(counting).scalar_one()))
    finally:
        await store.close()


def main() -> None:
    """Write the answers of the sandbox's services."""
    with tempfile.TemporaryDirectory() as folder:
        whole = asyncio.run(take_whole_trial(Path(folder)))
    file = Path(transcript.__file__).with_name("stand_ins.json")
    file.write_text(_formatted(fields_of(whole.lines)), encoding="utf-8")


def _formatted(fields_by_name: Mapping[str, Fields]) -> str:
    """Return JSON with a line for each field, so that a change is a line of the diff."""
    methods = []
    for name, fields in fields_by_name.items():
        lines = (f"  {json.dumps(path)}: {json.dumps(types)}" for path, types in fields.items())
        methods.append(f" {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(methods) + "\n}\n"


if __name__ == "__main__":
    main()
