"""Play one story without a person: a job to its merge, a question that becomes a page, visitors, a digest."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
from rich.console import Console

from bot.app import Timeouts
from sandbox.terminal import plain
from sandbox.waiting import DidNotCome, until
from sandbox.workspace.state import Json
from sandbox.world import World, WorldOptions, sandbox

ANA, BEN, CHIKA = "U01ANA", "U02BEN", "U03CHIKA"
DOCS = "C01DOCS"
PROMPT = "Add a quickstart for the Python SDK"
FOLLOW_UP = "Mention Python 3.11 too"
QUESTION = "How do I rotate an API key?"
_NEW_PAGE = "Rotate an API key"
"""The title of the page that answers the question in the end."""
VISITORS = "last week top 3"
_TIMEOUTS = Timeouts(
    look_seconds=1.0, hold_seconds=2.0, build_seconds=1.0, live_seconds=1.0, minute_seconds=5.0
)
"""Short: nobody edits a reply within eight seconds here, or builds five previews in a minute."""
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
            Path(folder),
            http_mode=http,
            work_seconds=1.0,
            build_seconds=1.0,
            answer_seconds=_WAIT_SECONDS,
        )
        try:
            async with asyncio.timeout(_LIMIT_SECONDS), sandbox(options, _TIMEOUTS) as world:
                await _Story(world, console).tell()
        except TimeoutError:
            console.print(f"The story did not come to its end within {_LIMIT_SECONDS:g} s.")
            return 1
        except DidNotCome as missing:
            console.print(
                f"The story broke: {plain(missing)} did not come within {_WAIT_SECONDS:g} s."
            )
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
        await self._command(ANA, "Ana", "/docs-agent", PROMPT)
        root = await self._comes("the job's status message", lambda: self._newest(""))
        end = await self._comes("the first result", lambda: self._reply_with(root, "New page"))
        await self._check_pull_request(end)
        self._say("Ben", FOLLOW_UP, "in the thread")
        message = self._people.say(BEN, DOCS, FOLLOW_UP, thread_ts=root["ts"])
        await until(
            "the eyes on the follow-up", lambda: message["reactions"] or None, _WAIT_SECONDS
        )
        second = await self._comes(
            "the result of the follow-up", lambda: self._reply_with(root, FOLLOW_UP)
        )
        link = await self._check_pull_request(second)
        await self._previews(root, second)
        await self._merge(root, link)
        await self._ask_docs()
        await self._command(CHIKA, "Chika", "/docs-visitors", VISITORS)
        self._check_chart(await self._comes("the answer about visitors", self._report))
        await self._command(ANA, "Ana", "/docs-visitors", "digest now")
        await self._comes("the digest", lambda: self._newest("Your docs,"))

    async def _previews(self, root: Json, end: Json) -> None:
        """Build a preview that breaks, let the agent mend it, and open the next one."""
        self._world.docs_service.faults.order([{"match": "preview", "fault": "broken_build"}])
        await self._press(end, "preview")
        await self._comes(
            "the broken preview", lambda: end if _button(end, "fix_preview") else None
        )
        await self._press(end, "fix_preview")
        mended = await self._comes(
            "the result of the fix", lambda: self._reply_with(root, "Preview builds again")
        )
        await self._comes(
            "the reply about it", lambda: self._reply_with(root, "The preview builds again")
        )
        url = str((_button(mended, "open_preview") or {})["url"])
        self._console.print(f"  [dim]{plain(url)} shows {len(await _page(url)):,} characters[/]")

    async def _merge(self, root: Json, link: str) -> None:
        """Merge the pull request on its page, which the thread reports once."""
        self._say("Ana", "merges", plain(link))
        await _page(f"{link}/merge", "POST")
        await self._comes(
            "the message about the merge", lambda: self._reply_with(root, "was merged")
        )
        await self._comes(
            "the status message after the merge", lambda: root if "Merged" in root["text"] else None
        )

    async def _ask_docs(self) -> None:
        """Ask what the docs do not answer, have the page written, read the notice, and ask again."""
        self._say("Ben", f"@docs-agent {QUESTION}", "#docs")
        root = self._people.say(BEN, DOCS, f"@docs-agent {QUESTION}")
        answer = await self._comes("the answer from the docs", lambda: self._reply(root, 0))
        await self._press(answer, "did_not_help", BEN, "Ben")
        gap = await self._comes("the note of the gap", lambda: self._private(BEN, "Draft it"))
        await self._press(gap, "change_docs", BEN, "Ben")
        view = await until("the form", self._filled_form, _WAIT_SECONDS)
        self._console.print("\n[bold]Ben[/] [dim]sends the form as it is[/]")
        _insist(await self._people.submit_view(BEN, view["id"], _values(view)))
        end = await self._comes("the result", lambda: self._reply_with(root, "New page"))
        link = await self._check_pull_request(end)
        self._say("Ana", "merges", plain(link))
        await _page(f"{link}/merge", "POST")
        await self._comes("the notice for Ben", lambda: self._reply_with(root, "in the docs now"))
        self._say("Chika", f"@docs-agent {QUESTION}", "#docs")
        again = self._people.say(CHIKA, DOCS, f"@docs-agent {QUESTION}")
        await self._comes(
            "the answer from the new page", lambda: self._reply_with(again, _NEW_PAGE)
        )

    def _filled_form(self) -> Json | None:
        """Return the open form; None while the thread for it is read."""
        views = self._state.views.values()
        return next((view for view in views if view.get("submit")), None)

    async def _press(
        self, message: Json, action_id: str, user: str = ANA, who: str = "Ana"
    ) -> None:
        button = await until(
            f"the button {action_id}", lambda: _button(message, action_id), _WAIT_SECONDS
        )
        self._say(who, f"presses {button['text']['text']}", "in the thread")
        names = ("type", "action_id", "block_id", "value")
        action = {name: button[name] for name in names if name in button}
        is_private = "id" in message
        container = {
            "type": "ephemeral" if is_private else "message",
            "channel": DOCS,
            "ts": message["ts"],
        }
        container |= {"id": message["id"]} if is_private else {}
        _insist(await self._people.press(user, container, action))

    async def _command(self, user: str, who: str, name: str, text: str) -> None:
        self._say(who, f"{name} {text}", "#docs")
        _insist(await self._people.command(user, DOCS, name, text))

    def _report(self) -> Json | None:
        notes = (note for note in self._state.ephemerals.values() if note["user"] == CHIKA)
        return next((note for note in notes if "data_visualization" in _block_types(note)), None)

    def _private(self, user: str, label: str) -> Json | None:
        """Return a person's private message with a button of this label."""
        notes = (note for note in self._state.ephemerals.values() if note["user"] == user)
        return next((note for note in notes if label in str(note["blocks"])), None)

    def _newest(self, phrase: str) -> Json | None:
        posts = (
            one for one in self._state.history(DOCS) if one["bot_id"] and phrase in one["text"]
        )
        return next(posts, None)

    def _reply(self, root: Json, number: int) -> Json | None:
        replies = [one for one in self._state.thread(DOCS, root["ts"])[1:] if one["bot_id"]]
        return replies[number] if len(replies) > number else None

    def _reply_with(self, root: Json, phrase: str) -> Json | None:
        replies = self._state.thread(DOCS, root["ts"])[1:]
        return next((one for one in replies if one["bot_id"] and phrase in one["text"]), None)

    def _check_chart(self, message: Json) -> None:
        """Raise StoryBroken unless the message has a chart and buttons."""
        block_types = _block_types(message)
        if not {"data_visualization", "actions"} <= block_types:
            raise StoryBroken(f"no chart or no buttons in {sorted(block_types)}")
        self._console.print("  [dim]with a chart and buttons[/]")

    async def _check_pull_request(self, end: Json) -> str:
        """Return the pull request's address. Raise StoryBroken unless its page shows a diff."""
        url = str((_button(end, "view_pull_request") or {}).get("url"))
        added = re.findall(r'class="[^"]*\badd(?:ed)?\b', await _page(url))
        if not added:
            raise StoryBroken(
                f"the pull request's page at {urlsplit(url).path} shows no added line"
            )
        self._console.print(f"  [dim]{plain(url)} shows {len(added)} added lines[/]")
        return url

    async def _comes(self, event: str, find: Callable[[], Json | None]) -> Json:
        """Wait for a message of the bot, print it and return it."""
        self._console.print(f"\n[dim]… {event}[/]")
        message = await until(event, find, _WAIT_SECONDS)
        place = (
            "privately"
            if message.get("id")
            else "in the thread"
            if message["thread_ts"]
            else "#docs"
        )
        self._console.print(f"[bold]docs-agent[/] [dim]{place}[/]")
        markdown = [
            block["text"] for block in message["blocks"] or [] if block["type"] == "markdown"
        ]
        for line in self._readable("\n".join(markdown) or message["text"]).splitlines():
            self._console.print(f"  {plain(line)}")
        return message

    def _say(self, who: str, text: str, where: str) -> None:
        self._console.print(f"\n[bold]{who}[/] [dim]{where}[/]\n  {text}")

    def _readable(self, text: str) -> str:
        """Return mrkdwn or Markdown as plain text."""
        users = self._state.users
        text = re.sub(
            r"<@(\w+)>", lambda at: f"@{users[at[1]].name if at[1] in users else at[1]}", text
        )
        text = re.sub(r"<(?:!date\^|https?:)[^|>]*\|([^>]*)>", r"\1", text)
        text = re.sub(r"\[([^\]\n]*)\]\(http[^)\s]*\)", r"\1", text)
        text = re.sub(r"\*([^*\n]+)\*", r"\1", text)
        return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _insist(answer: Json) -> None:
    """Raise StoryBroken if the bot does not acknowledge a request."""
    if not answer["ok"]:
        raise StoryBroken(str(answer))


async def _page(url: str, method: str = "GET") -> str:
    async with (
        aiohttp.ClientSession(trust_env=False) as session,
        session.request(method, url) as page,
    ):
        if page.status != 200:
            raise StoryBroken(f"{urlsplit(url).path} answers {page.status}")
        return await page.text()


def _button(message: Json, action_id: str) -> Json | None:
    buttons = (one for block in message["blocks"] or [] for one in block.get("elements", []))
    return next((one for one in buttons if one.get("action_id") == action_id), None)


def _values(view: Json) -> Json:
    """Return the initial values of a form's fields."""
    inputs = (
        (block["block_id"], block["element"])
        for block in view["blocks"]
        if block["type"] == "input"
    )
    return {
        block_id: {one["action_id"]: {"type": one["type"], "value": one.get("initial_value")}}
        for block_id, one in inputs
    }


def _block_types(message: Json) -> set[str]:
    return {block["type"] for block in message["blocks"] or []}
