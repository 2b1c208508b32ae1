"""Play one scripted story without a person: a job with a follow-up, a question about visitors, a digest."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

import aiohttp
from rich.console import Console

from sandbox.terminal import plain
from sandbox.workspace.state import Json
from sandbox.world import World, WorldOptions, sandbox

ANA, BEN, CHIKA = "U01ANA", "U02BEN", "U03CHIKA"
DOCS = "C01DOCS"
PROMPT = "Add a quickstart for the Python SDK"
FOLLOW_UP = "Mention Python 3.11 too"
QUESTION = "last week top 3"
_LIMIT_SECONDS = 600.0
"""Time limit for a story that hangs. A story takes 10 s, and many times that on a small or busy machine."""
_WAIT_SECONDS = 120.0
"""Time limit for each step of the story."""


class StoryBroken(Exception):
    """An expected step of the story did not happen."""


async def play(*, http: bool = False) -> int:
    """Play the story in a new sandbox; return 0, or print the reason and return 1."""
    console = Console(highlight=False, soft_wrap=True)
    with tempfile.TemporaryDirectory(prefix="docs-bot-") as folder:
        options = WorldOptions(Path(folder), http_mode=http, work_seconds=1.0, answer_seconds=_WAIT_SECONDS)
        try:
            async with asyncio.timeout(_LIMIT_SECONDS), sandbox(options) as world:
                await _Story(world, console).tell()
        except TimeoutError:
            console.print(f"The story did not come to its end within {_LIMIT_SECONDS:g} s.")
            return 1
        except StoryBroken as broken:
            console.print(f"The story broke: {plain(broken)}")
            return 1
    console.print("\nAll of it came true.")
    return 0


class _Story:
    def __init__(self, world: World, console: Console) -> None:
        self._state = world.workspace.state
        self._people = world.workspace.people
        self._console = console

    async def tell(self) -> None:
        self._say("Ana", f"/docs-agent {PROMPT}", "#docs")
        await self._command(ANA, "/docs-agent", PROMPT)
        root = await self._wait_for("the root message", self._face)
        self._show(root)
        end = await self._wait_for("the first end", lambda: self._reply(root, 0))
        self._show(root)
        self._show(end)
        await self._check_pull_request(end)
        self._say("Ben", FOLLOW_UP, "in the thread")
        said = self._people.say(BEN, DOCS, FOLLOW_UP, thread_ts=root["ts"])
        await self._wait_for("the eyes on the follow-up", lambda: said if said["reactions"] else None)
        second = await self._wait_for("the second end", lambda: self._reply(root, 1))
        self._show(root)
        self._show(second)
        await self._check_pull_request(second)
        await self._visitors()
        await self._digest()

    async def _visitors(self) -> None:
        self._say("Chika", f"/docs-visitors {QUESTION}", "#docs, answered privately")
        await self._command(CHIKA, "/docs-visitors", QUESTION)
        report = await self._wait_for("the answer about visitors", self._report)
        self._show(report)
        self._check_chart(report)

    async def _digest(self) -> None:
        self._say("Ana", "/docs-visitors digest now", "#docs")
        await self._command(ANA, "/docs-visitors", "digest now")
        digest = await self._wait_for("the digest", self._newest_digest)
        self._show(digest)
        self._check_chart(digest)

    async def _command(self, user: str, name: str, text: str) -> None:
        """Send a command in #docs. Raise StoryBroken if the bot does not acknowledge it."""
        answer = await self._people.command(user, DOCS, name, text)
        if not answer["ok"]:
            raise StoryBroken(str(answer))

    def _report(self) -> Json | None:
        notes = self._state.ephemerals.values()
        return next((note for note in notes if note["user"] == CHIKA and "People:" in note["text"]), None)

    def _newest_digest(self) -> Json | None:
        return next((one for one in self._state.history(DOCS) if "The docs in the week" in one["text"]), None)

    def _check_chart(self, message: Json) -> None:
        """Raise StoryBroken unless the message has a chart and buttons."""
        block_types = {block["type"] for block in message["blocks"] or []}
        if not {"data_visualization", "actions"} <= block_types:
            raise StoryBroken(f"no chart or no buttons in {sorted(block_types)}")
        self._console.print("  [dim]with a chart and buttons[/]")

    def _face(self) -> Json | None:
        return next((one for one in self._state.history(DOCS) if one["bot_id"]), None)

    def _reply(self, root: Json, number: int) -> Json | None:
        replies = [one for one in self._state.thread(DOCS, root["ts"])[1:] if one["bot_id"]]
        return replies[number] if len(replies) > number else None

    async def _wait_for(self, what: str, find: Callable[[], Json | None]) -> Json:
        deadline = monotonic() + _WAIT_SECONDS
        while (found := find()) is None:
            if monotonic() > deadline:
                raise StoryBroken(f"{what} did not come within {_WAIT_SECONDS:g} s")
            await asyncio.sleep(0.05)
        return found

    async def _check_pull_request(self, end: Json) -> None:
        """Raise StoryBroken unless the page of the pull request shows a diff."""
        buttons = [one for block in end["blocks"] or [] for one in block.get("elements", [])]
        url = next((one["url"] for one in buttons if one.get("url")), None)
        if url is None:
            raise StoryBroken("the end has no button to a pull request")
        async with aiohttp.ClientSession(trust_env=False) as session, session.get(url) as page:
            text = await page.text()
        added = re.findall(r'class="[^"]*\badd(?:ed)?\b', text)
        if page.status != 200 or not added:
            raise StoryBroken(f"the pull request's page at {urlsplit(url).path} shows no added line")
        self._console.print(f"  [dim]{plain(url)} shows {len(added)} added lines[/]")

    def _say(self, who: str, text: str, where: str) -> None:
        self._console.print(f"\n[bold]{who}[/] [dim]{where}[/]\n  {text}")

    def _show(self, message: Json) -> None:
        place = "in the thread" if message["thread_ts"] else "#docs"
        place = "privately" if message.get("id") else place
        self._console.print(f"\n[bold]docs-agent[/] [dim]{place}[/]")
        for line in _readable(message["text"], self._state.users).splitlines():
            self._console.print(f"  {plain(line)}")


def _readable(text: str, users: Mapping[str, object]) -> str:
    """Return mrkdwn as plain text."""

    def name(found: re.Match[str]) -> str:
        user = users.get(found[1])
        return f"@{getattr(user, 'name', found[1])}"

    text = re.sub(r"<@([A-Z0-9]+)>", name, text)
    text = re.sub(r"<!date\^[^|>]*\|([^>]*)>", r"\1", text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
