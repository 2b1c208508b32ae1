"""Benchmark `stalls`: for how long one hostile input holds the bot's loop, by the door that it comes through.

The bot and its remote services share one process, as in the tests. A tick is due each millisecond; the figure
is the processor time of the loop's thread between two ticks, so that other programs do not count. It includes
the work of the stand-ins, a few milliseconds.
"""

from __future__ import annotations

import asyncio
import gc
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import thread_time
from typing import Any

import httpx

from bench.report import Report, Row, below
from sandbox.workspace.state import BOT_USER
from tests.services import ASSISTANT_KEY, DOMAIN, LINK, changed_file
from tests.talk import Talk

GOAL_MS = 100.0
_TICK_SECONDS = 0.001
_SIGNS = (
    "x", "word ", "a\n", "[", "](", "*a ", "`", "_", "> ", "|", "| a ", "<", "<@U1> ", "&", "1 ", "1-",
    "https://a.b ", "://", "key=", "eyJ", "\u0301", "\u200b", "\U0001f3f3\ufe0f\u200d\U0001f308",
    "\\", "@@ -1 +1 @@\n",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Size:
    """The length of a hostile text in characters, and of which signs it is made."""

    length: int
    signs: tuple[str, ...]


FULL = Size(1_000_000, _SIGNS)
QUICK = Size(20_000, _SIGNS[:3])


class Watch:
    """The longest time for which the loop did nothing else."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._last = 0.0
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to watch the loop."""
        self._last = thread_time()
        self._timer = self._loop.call_later(_TICK_SECONDS, self._tick)

    def _tick(self) -> None:
        self.stop()
        self.start()

    def stop(self) -> None:
        """Count the time since the last tick, and watch no longer."""
        self.longest = max(self.longest, thread_time() - self._last)
        if self._timer:
            self._timer.cancel()


async def measure(size: Size, folder: Path) -> list[Report]:  # noqa: ARG001
    """Send each hostile input through each door, and report the longest stall of each door."""
    report = Report(f"stalls: one hostile input of up to {size.length:,} characters", "the bot", "")
    for name, door in DOORS.items():
        longest = 0.0
        async with _talk() as talk:
            async for act in door(talk, size):
                watch = Watch()
                watch.start()
                await act
                watch.stop()
                longest = max(longest, watch.longest)
                talk.everything()
                talk.log()
        report.rows.append(below(Row(name, "ms", 1000 * longest), GOAL_MS))
    return [report]


@asynccontextmanager
async def _talk() -> AsyncIterator[Talk]:
    talk = Talk()
    talk.process.settings |= {
        "ASSISTANT_KEY": ASSISTANT_KEY,
        "ASSISTANT_DOMAIN": DOMAIN,
        "GITHUB_TOKEN": "github-token-of-bench",
        "LOG_LEVEL": "INFO",
        "ANSWERS_A_DAY": "10000",
    }
    await talk.process.starts()
    await talk.started("Add a page of words")
    talk.everything()
    # As `docs-bot run` does once it is ready: a full collection would visit all libraries for 0.1 s.
    gc.collect()
    gc.freeze()
    try:
        yield talk
    finally:
        await talk.close()


Acts = AsyncIterator[Awaitable[object]]
Door = Callable[[Talk, Size], Acts]


def _texts(size: Size) -> Iterator[str]:
    """Yield texts of that many characters, each of one sign alone."""
    for sign in size.signs:
        yield (sign * (size.length // len(sign) + 1))[: size.length]


async def _messages(talk: Talk, size: Size) -> Acts:
    for text in _texts(size):
        for thread in (None, talk.root()["ts"]):
            yield _event(talk, text=f"<@{BOT_USER}> Change {text}", thread_ts=thread)
            yield talk.time.passes(20)


async def _direct_messages(talk: Talk, size: Size) -> Acts:
    for text in _texts(size):
        yield _event(talk, text=text, channel=talk.room("dm", talk.ana).id, channel_type="im")
        yield talk.time.passes(20)


async def _edits(talk: Talk, size: Size) -> Acts:
    for text in _texts(size):
        before: dict[str, Any] = {
            "type": "message",
            "user": talk.ana.id,
            "ts": talk.slack.state.new_ts(),
        }
        before["text"] = f"<@{BOT_USER}> Add {before['ts']}"
        await _event(talk, **before)
        after = {**before, "text": before["text"] + text}
        after["edited"] = {"user": talk.ana.id, "ts": talk.slack.state.new_ts()}
        changed = {"subtype": "message_changed", "message": after, "previous_message": before}
        yield _event(talk, **changed)
        yield talk.time.passes(20)


async def _event(talk: Talk, **fields: Any) -> None:
    """Pass a message to the bot as Slack writes it."""
    ts = talk.slack.state.new_ts()
    event = {"type": "message", "user": talk.ana.id, "channel": talk.room("docs").id, "ts": ts}
    event |= {"channel_type": "channel", **fields}
    if event.get("thread_ts") is None:
        event.pop("thread_ts", None)
    kind = {"type": "event_callback", "event_id": f"Ev{ts}", "team_id": "T1", "event": event}
    await talk.receives(kind)


async def _commands(talk: Talk, size: Size) -> Acts:
    for text in _texts(size):
        for command in (
            "/docs-agent Add",
            "/docs-followup 1",
            "/docs-visitors top",
            "/docs-agent ask",
        ):
            name, _, begin = command.partition(" ")
            payload = {"command": name, "text": f"{begin} {text}", "user_id": talk.ana.id}
            payload |= {"channel_id": talk.room("docs").id, "trigger_id": "1"}
            yield talk.receives({**payload, "response_url": "https://hooks.slack.com/1"})
        yield talk.time.passes(20)


async def _forms(talk: Talk, size: Size) -> Acts:
    for text in _texts(size):
        talk.slack.state.views.clear()
        talk.time.is_set(minutes=2)
        await talk.ana.types("/docs-agent")
        yield talk.ana.fills_in(prompt=text)
        yield talk.time.passes(20)


async def _files(talk: Talk, size: Size) -> Acts:
    for text in _texts(size):
        await talk.ana.says("@docs-agent Add this page", files=[("page.md", text)])
        yield talk.time.passes(20)


async def _changes(talk: Talk, size: Size) -> Acts:
    await talk.ends(pr_link=LINK)
    await talk.time.passes(20)
    for files in _patches(size):
        talk.slack.state.views.clear()
        talk.time.is_set(minutes=2)
        talk.github.files = files
        yield talk.ana.presses("Changes")


async def _follow_up_ends(talk: Talk, size: Size) -> Acts:
    talk.github.pushes("a")
    await talk.ends(pr_link=LINK)
    await talk.time.passes(minutes=2)
    letters = "abcdef0123456789" * 4
    for at, files in enumerate(_patches(size)):
        old, new = letters[at], letters[at + 1]
        await talk.ana.replies(f"Change page {at}")
        await talk.time.passes(20)
        talk.github.changes(f"{old}{new}", *files)
        talk.github.pushes(new)
        talk.service.finish(pr_link=LINK)
        yield talk.time.passes(minutes=3)


def _patches(size: Size) -> Iterator[list[dict[str, Any]]]:
    """Yield the files of hostile pull requests, of that many characters together."""
    chance = random.Random(1)  # noqa: S311
    length = size.length
    two = " ".join(chance.choice("ab") for _ in range(400))
    again = " ".join(chance.choice("ab") for _ in range(400))
    alike = " ".join(["a"] * 400), " ".join(f"a x{number}" for number in range(200))
    shapes = {
        "lines of code": ("api.json", '+"key": 1,\n'),
        "short lines": ("api.json", "+a\n"),
        "short words": ("a.md", "-a\n+b\n \n"),
        "added prose": ("a.md", "+words of a page\n"),
        "paragraphs": ("a.md", "-old words\n+new words\n \n"),
        "long paragraphs": ("a.md", f"-{two}\n+{again}\n kept\n"),
        "one word": ("a.md", f"-{alike[0]}\n+{alike[1]}\n kept\n"),
        "hunks": ("a.md", "@@ -1 +1 @@\n-old\n+new\n"),
        "fences": ("a.md", " ```\n-a\n+b\n"),
        "a table": ("a.md", "-| yes | no | - |\n+| yes | yes | - |\n"),
    }
    for path, unit in shapes.values():
        yield [changed_file(path, _patch(unit, length))]
        yield [changed_file(f"{at}/{path}", _patch(unit, length // 100)) for at in range(100)]
        yield [changed_file(f"{at}/{path}", _patch(unit, length // 300)) for at in range(300)]
    for sign in size.signs:
        yield [
            changed_file(
                "a.md",
                f"@@ -1 +1 @@\n-{sign * (length // len(sign) // 2)}\n+{sign * (length // len(sign) // 2)}x",
            )
        ]


def _patch(unit: str, length: int) -> str:
    return "@@ -1,9 +1,9 @@\n" + unit * (length // len(unit))


async def _answers(talk: Talk, size: Size) -> Acts:
    for text in _texts(size):
        begun = {"type": "text-start", "id": "0"}
        delta = {"type": "text-delta", "id": "0", "delta": text}
        small = [{**delta, "delta": text[at : at + 2]} for at in range(0, size.length // 25, 2)]
        for parts in ([delta], small):
            lines = [
                f"data: {json.dumps(part)}\n\n" for part in (begun, *parts, {"type": "finish"})
            ]
            talk.service.answer = "".join(lines)
            await talk.ana.says("@docs-agent How do I rotate a key?")
            yield talk.time.passes(20)


async def _passages(talk: Talk, size: Size) -> Acts:
    for text in _texts(size):
        one = {"content": text, "path": "/a", "metadata": {"title": text[:1000]}}
        for found in ([one], [{"content": text[:40], "path": "/a"}] * (size.length // 60)):
            talk.service.answer_instead("answer", httpx.Response(503))
            talk.service.answer_instead("search", httpx.Response(200, json=found))
            await talk.ana.says("@docs-agent How do I rotate a key?")
            yield talk.time.passes(20)


async def _build_logs(talk: Talk, size: Size) -> Acts:
    talk.service.branch = "agent/page"
    for text in _texts(size):
        await talk.ana.asks("Add a page about many words")
        await talk.time.passes(20)
        await talk.ends(pr_link=LINK)
        await talk.time.passes(20)
        lines = [text[at : at + 4_000] for at in range(0, len(text), 4_000)]
        talk.service.build = {"status": "failure", "summary": text, "logs": lines}
        await talk.ana.presses("Preview")
        yield talk.time.passes(minutes=2)
        if "Fix it" in talk.everything().rpartition("Preview")[2]:
            yield talk.ana.presses("Fix it")
            yield talk.time.passes(minutes=2)


async def _job_answers(talk: Talk, size: Size) -> Acts:
    for text in _texts(size):
        await talk.ana.asks("Add a page about many words")
        await talk.time.passes(20)
        job = list(talk.service.jobs)[-1]
        source = {"repository": text, "ref": text}
        talk.service.jobs[job] |= {
            "status": "completed",
            "prLink": f"https://{text}",
            "source": source,
        }
        yield talk.time.passes(minutes=2)


async def _errors(talk: Talk, size: Size) -> Acts:
    for text in _texts(size):
        talk.service.answer_instead("create", httpx.Response(400, json={"error": text}))
        await talk.ana.asks("Add a page about many words")
        yield talk.time.passes(20)


async def _pull_requests(talk: Talk, size: Size) -> Acts:
    await talk.ends(pr_link=LINK)
    for text in _texts(size):
        talk.github.pull |= {"title": text, "merged_by": {"login": text}, "body": text}
        yield talk.time.passes(minutes=15)


async def _threads(talk: Talk, size: Size) -> Acts:
    for text in _texts(size):
        root = await talk.ben.says("The page is wrong")
        for at in range(0, size.length, 40_000):
            talk.slack.people.say(
                talk.ben.id, root["channel"], text[at : at + 40_000], thread_ts=root["ts"]
            )
        await talk.hears()
        await talk.ana.replies("@docs-agent Change the page", to=root)
        yield talk.time.passes(20)


DOORS: Mapping[str, Door] = {
    "messages": _messages,
    "direct messages": _direct_messages,
    "edits of messages": _edits,
    "commands": _commands,
    "forms": _forms,
    "files": _files,
    "earlier messages of a thread": _threads,
    "Changes": _changes,
    "the end of a follow-up": _follow_up_ends,
    "pull requests": _pull_requests,
    "the assistant's stream": _answers,
    "passages of a search": _passages,
    "logs of a build": _build_logs,
    "answers about a job": _job_answers,
    "errors of the docs service": _errors,
}
