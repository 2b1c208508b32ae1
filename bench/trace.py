"""The trace of one request: the functions of the bot that it enters, to the end of its thread.

The request is a command whose job ends in a pull request, as most do. `make trace` prints each function in
the order of its first call, and how many they are in which rooms. Functions that an idle bot runs as well
are left out, and so are lambdas and comprehensions. It prints the longest stretches of the way as well, and
what each is for, and what the two events of a mention enter before they are acknowledged. Functions that
read a text and decide what it means are counted apart: they are pure, and a reader of the way takes the
decision as one step.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

from bot.app import Timeouts, running_bot
from bot.context import WorkerContext
from bot.engine import Worker
from sandbox.waiting import until
from sandbox.workspace.state import Json
from sandbox.world import World, WorldOptions, both_sides

_BOT = Path(__file__).parents[1] / "bot"
_START_SECONDS = 5.0
"""A bot that has started is idle after so long, also on a busy machine."""
_IDLE_SECONDS = 6.0
"""An idle bot looks for work every five seconds."""
_PROMPT = "Add a quickstart for the Python SDK"
_TIMEOUTS = Timeouts(channel_pace_seconds=0.05, minute_seconds=3.0)


@dataclass(slots=True)
class Trace:
    """The functions that were entered, in the order of their first calls."""

    entered: dict[CodeType, int] = field(default_factory=dict)
    """How often each was called."""
    left_out: set[CodeType] = field(default_factory=set)

    def record(self, frame: FrameType, event: str, _argument: object) -> None:
        """Count a call, as a profile function of Python."""
        code = frame.f_code
        if (
            event == "call"
            and code.co_filename.startswith(f"{_BOT}/")
            and not code.co_name.startswith("<")
        ):
            self.entered[code] = self.entered.get(code, 0) + 1

    async def leave_out_idle_work(self, idle_seconds: float) -> None:
        """Wait until the bot is idle, and leave out the functions that it enters in these seconds."""
        await asyncio.sleep(_START_SECONDS)
        self.entered.clear()
        await asyncio.sleep(idle_seconds)
        self.left_out = set(self.entered)
        self.entered.clear()

    def own(self) -> list[CodeType]:
        """Return the functions that an idle bot does not run."""
        return [code for code in self.entered if code not in self.left_out]


async def _follow(world: World, trace: Trace) -> int:
    """Ask for a change and wait for its end. Return how many functions led to the acknowledgement."""
    answer = await world.workspace.people.command("U01ANA", "C01DOCS", "/docs-agent", _PROMPT)
    before = len(trace.own())
    if not answer["ok"]:
        raise RuntimeError(f"the command was not acknowledged: {answer}")
    end = await until("the end of the job", lambda: _end(world), 60)
    await asyncio.sleep(1.0)
    if "/pull/" not in str(end["blocks"]):
        raise RuntimeError(f"the job did not end in a pull request: {end['text']}")
    return before


def _end(world: World) -> Json | None:
    """Return the reply in the thread of the job; None before its end."""
    messages = world.workspace.state.messages.get("C01DOCS", {})
    return next((message for message in messages.values() if message["thread_ts"]), None)


async def measure(
    folder: Path, idle_seconds: float = _IDLE_SECONDS
) -> tuple[int, dict[CodeType, int]]:
    """Return how many functions one request enters before the acknowledgement, and all with their calls."""
    trace, options = (
        Trace(),
        WorldOptions(folder, work_seconds=0.6, answer_seconds=20, pages=20, days=20),
    )
    sys.setprofile(trace.record)
    threading.setprofile(trace.record)
    try:
        async with both_sides(options) as world:
            settings = world.settings.model_copy(
                update={"poll_min_seconds": 0.1, "poll_max_seconds": 0.2}
            )
            async with running_bot(settings, timeouts=_TIMEOUTS):
                await trace.leave_out_idle_work(idle_seconds)
                before = await _follow(world, trace)
                entered = {code: trace.entered[code] for code in trace.own()}
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return before, entered


_SHOWN_ROOMS = 10
_READING = (
    "intent/",
    "slack/content",
    "slack/block_text",
    "messages/slack_text",
    "commands/meaning",
)
"""The beginnings of the modules that read a message, and that decide what it means."""
_SHOWN_STRETCHES = 10
_STRETCHES: Sequence[tuple[str, Collection[str]]] = (
    (
        "a request from Slack is read and acknowledged, and who sent it is checked",
        ("slack/", "store/trials", "access/", "commands/", "jobs/commands/", "projects"),
    ),
    (
        "the request is compared with open jobs and earlier requests, searched for keys, and stored",
        (
            "jobs/gates",
            "jobs/duplicates",
            "jobs/ask",
            "jobs/model/targets",
            "jobs/model/subjects",
            "masking",
            "ports",
            "ids",
        ),
    ),
    (
        "the prompt gets its names, files and place in the queue, and is sent once within the quota",
        (
            "jobs/prepare",
            "jobs/mentions",
            "jobs/messages/agent_text",
            "messages/quotations",
            "jobs/submit",
            "jobs/prompt_outcomes",
            "jobs/service_health",
            "jobs/model/quota",
            "jobs/store/limits",
            "jobs/store/sending",
        ),
    ),
    ("the docs service is called, and its answers are read", ("docs_api/", "response_body")),
    (
        "the rows of jobs and prompts are read, take their legal steps and are audited",
        ("jobs/model/", "jobs/store/", "jobs/poll", "jobs/reviews"),
    ),
    (
        "the status message is drawn, and drawn again as its job changes",
        ("jobs/thread", "jobs/messages/status_message", "jobs/deliveries"),
    ),
    ("words from outside become safe blocks and links of Slack", ("messages/",)),
    (
        "the end is drawn: the result, what changed, the preview and the buttons",
        ("jobs/messages/", "jobs/hooks", "pulls/messages/", "pulls/results", "pulls/previews"),
    ),
    (
        "the pull request is polled at its host, and what it changes is worked out",
        ("github/", "pulls/"),
    ),
    (
        "each message goes to Slack once, in order and at its pace",
        ("outbox/", "paces", "visitors/", "answers/"),
    ),
    (
        "work is claimed and settled in transactions of one writer",
        ("store/", "engine", "context", "logs", "ttl_cache"),
    ),
)
"""What the parts of the way are for, each with the beginnings of its modules."""


def _no_workers(_context: WorkerContext) -> Sequence[Worker]:
    return ()


async def measure_mention(folder: Path, idle_seconds: float = _IDLE_SECONDS) -> list[CodeType]:
    """Return the functions that the two events of a mention enter before they are acknowledged."""
    trace = Trace()
    options = WorldOptions(folder, work_seconds=0.6, answer_seconds=20, pages=20, days=20)
    sys.setprofile(trace.record)
    threading.setprofile(trace.record)
    try:
        async with AsyncExitStack() as stack:
            world = await stack.enter_async_context(both_sides(options))
            # Without workers, nothing runs but the intake.
            bot = running_bot(world.settings, list_workers=_no_workers, timeouts=_TIMEOUTS)
            await stack.enter_async_context(bot)
            await trace.leave_out_idle_work(idle_seconds)
            world.workspace.people.say("U01ANA", "C01DOCS", f"@docs-agent {_PROMPT}")
            connection = world.workspace.bot_connection
            await until(
                "the acknowledgements", lambda: not connection.has_pending_events() or None, 20
            )
            return trace.own()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def is_of_reading(code: CodeType) -> bool:
    """Return whether a function reads a message, or decides what it means."""
    path = Path(code.co_filename).relative_to(_BOT).as_posix()
    return path.startswith(_READING)


def _place_of(code: CodeType) -> str:
    path = Path(code.co_filename).relative_to(_BOT.parent)
    return f"{path}:{code.co_firstlineno} {code.co_qualname}"


def room_of(code: CodeType) -> str:
    """Return the folder of a function within the bot: ``jobs/messages``."""
    return Path(code.co_filename).parent.relative_to(_BOT.parent).as_posix()


def count_of(functions: Collection[CodeType]) -> str:
    """Return how many functions there are, with those that read a text and decide apart."""
    others = [code for code in functions if not is_of_reading(code)]
    files = len({code.co_filename for code in others})
    reading = len(functions) - len(others)
    return f"{len(others)} functions in {files} files, and {reading} that read a text and decide"


def _print_rooms(title: str, functions: Collection[CodeType]) -> None:
    """Print how many of these functions the rooms have, the ten with the most."""
    print(f"\n{title}: {count_of(functions)}")
    rooms = Counter(room_of(code) for code in functions)
    for room, count in rooms.most_common(_SHOWN_ROOMS):
        files = {Path(code.co_filename).stem for code in functions if room_of(code) == room}
        print(f"{count:5} {room}: {', '.join(sorted(files))}")


def stretch_of(code: CodeType) -> str:
    """Return what a function's part of the way is for; the longest beginning of its module counts."""
    path = Path(code.co_filename).relative_to(_BOT).as_posix()
    found = [
        (len(beginning), purpose)
        for purpose, beginnings in _STRETCHES
        for beginning in beginnings
        if path.startswith(beginning)
    ]
    return max(found, default=(0, "the rest"))[1]


def _print_stretches(functions: Collection[CodeType]) -> None:
    """Print the longest stretches of the way, without the functions that read and decide."""
    print("\nthe longest stretches:")
    stretches = Counter(stretch_of(code) for code in functions if not is_of_reading(code))
    for purpose, count in stretches.most_common(_SHOWN_STRETCHES):
        print(f"{count:5} {purpose}")


def _main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        before, entered = asyncio.run(measure(Path(folder)))
    with tempfile.TemporaryDirectory() as folder:
        mention = asyncio.run(measure_mention(Path(folder)))
    for code, calls in entered.items():
        print(f"{_place_of(code)} × {calls}")
    print("\na mention:")
    for code in mention:
        print(_place_of(code))
    _print_rooms("a mention, before its two events are acknowledged", mention)
    _print_rooms("a command, before the acknowledgement", list(entered)[:before])
    _print_rooms("a command, to the end of the thread", entered)
    _print_stretches(entered)


if __name__ == "__main__":
    _main()
