"""Play one scripted story without a person: a job to its merge, a question about visitors, a digest."""

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
        options = WorldOptions(
            Path(folder), http_mode=http, work_seconds=1.0, build_seconds=1.0, answer_seconds=_WAIT_SECONDS
        )
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
        self._world = world
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
        link = await self._check_pull_request(second)
        await self._previews(second)
        await self._merge(root, link)
        await self._visitors()
        await self._digest()

    async def _previews(self, end: Json) -> None:
        """Build a preview that breaks, let the agent mend it, and open the next one."""
        root = self._state.message(DOCS, end["thread_ts"]) or end
        self._world.docs_service.faults.order([{"match": "preview", "fault": "broken_build"}])
        await self._press(end, "preview")
        self._show(
            await self._wait_for("the broken preview", lambda: end if _button(end, "fix_preview") else None)
        )
        await self._press(end, "fix_preview")
        mended = await self._wait_for("the end after the fix", lambda: self._reply(root, 3))
        await self._wait_for("the offer of a preview", lambda: _button(mended, "preview"))
        await self._press(mended, "preview")
        opens = await self._wait_for("the preview", lambda: _button(mended, "open_preview"))
        self._show(mended)
        text = await self._page(opens["url"])
        self._console.print(f"  [dim]{plain(opens['url'])} shows {len(text):,} characters[/]")

    async def _merge(self, root: Json, link: str) -> None:
        """Merge the pull request on its page, which the thread hears once."""
        self._say("Ana", "merges", plain(link))
        await self._page(f"{link}/merge", "POST")
        merged = await self._wait_for("the word about the merge", lambda: self._reply(root, 4))
        self._show(merged)
        self._show(
            await self._wait_for("the merged face", lambda: root if "Merged" in root["text"] else None)
        )

    async def _press(self, message: Json, action_id: str) -> None:
        button = _button(message, action_id)
        if button is None:
            raise StoryBroken(f"there is no button {action_id}")
        self._say("Ana", f"presses {button['text']['text']}", "in the thread")
        action: Json = {
            name: button[name] for name in ("type", "action_id", "block_id", "value") if name in button
        }
        answer = await self._people.press(
            ANA, {"type": "message", "channel": DOCS, "ts": message["ts"]}, action
        )
        if not answer["ok"]:
            raise StoryBroken(str(answer))

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
        notes = (note for note in self._state.ephemerals.values() if note["user"] == CHIKA)
        return next((note for note in notes if "data_visualization" in _block_types(note)), None)

    def _newest_digest(self) -> Json | None:
        return next((one for one in self._state.history(DOCS) if "The docs in the week" in one["text"]), None)

    def _check_chart(self, message: Json) -> None:
        """Raise StoryBroken unless the message has a chart and buttons."""
        block_types = _block_types(message)
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

    async def _check_pull_request(self, end: Json) -> str:
        """Return the pull request's address. Raise StoryBroken unless its page shows a diff."""
        button = _button(end, "view_pull_request")
        if button is None:
            raise StoryBroken("the end has no button to a pull request")
        url: str = button["url"]
        added = re.findall(r'class="[^"]*\badd(?:ed)?\b', await self._page(url))
        if not added:
            raise StoryBroken(f"the pull request's page at {urlsplit(url).path} shows no added line")
        self._console.print(f"  [dim]{plain(url)} shows {len(added)} added lines[/]")
        return url

    async def _page(self, url: str, method: str = "GET") -> str:
        async with aiohttp.ClientSession(trust_env=False) as session, session.request(method, url) as page:
            if page.status != 200:
                raise StoryBroken(f"{urlsplit(url).path} answers {page.status}")
            return await page.text()

    def _say(self, who: str, text: str, where: str) -> None:
        self._console.print(f"\n[bold]{who}[/] [dim]{where}[/]\n  {text}")

    def _show(self, message: Json) -> None:
        place = "in the thread" if message["thread_ts"] else "#docs"
        place = "privately" if message.get("id") else place
        self._console.print(f"\n[bold]docs-agent[/] [dim]{place}[/]")
        for line in _readable(message["text"], self._state.users).splitlines():
            self._console.print(f"  {plain(line)}")


def _button(message: Json, action_id: str) -> Json | None:
    buttons = (one for block in message["blocks"] or [] for one in block.get("elements", []))
    return next((one for one in buttons if one.get("action_id") == action_id), None)


def _block_types(message: Json) -> set[str]:
    return {block["type"] for block in message["blocks"] or []}


def _readable(text: str, users: Mapping[str, object]) -> str:
    """Return mrkdwn as plain text."""

    def name(found: re.Match[str]) -> str:
        user = users.get(found[1])
        return f"@{getattr(user, 'name', found[1])}"

    text = re.sub(r"<@([A-Z0-9]+)>", name, text)
    text = re.sub(r"<!date\^[^|>]*\|([^>]*)>", r"\1", text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
