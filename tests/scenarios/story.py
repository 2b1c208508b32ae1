"""Helpers for scenarios: what users do in the sandbox workspace, and what they see there."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from time import monotonic
from typing import Any, TypeVar

from pydantic import SecretStr

from sandbox.world import World
from tests.limits import HANG_SECONDS

ANA, BEN = "U01ANA", "U02BEN"
DOCS, PRODUCT, SECRET, ANAS_DM = "C01DOCS", "C03PRODUCT", "G04SECRET", "D01ANA"
Json = dict[str, Any]
Found = TypeVar("Found")
_LONG_SECONDS = 20.0


def environment(world: World) -> dict[str, str]:
    """Return the environment variables of a bot that is connected to this world."""
    return {name.upper(): _written(value) for name, value in world.settings if value is not None}


def _written(value: object) -> str:
    """Return a setting's value in the form of an environment variable."""
    match value:
        case SecretStr():
            return value.get_secret_value()
        case frozenset() | dict():
            return ",".join(sorted(map(str, value)))
        case _:
            return str(value)


class Story:
    """Actions of the workspace's users, with waiting for the results."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.state = world.workspace.state
        self.people = world.workspace.people

    async def until(self, find: Callable[[], Found | None], what: str) -> Found:
        """Call ``find`` until it returns something, and return that. Fails after ``HANG_SECONDS``.

        A wait of 20 s is written to standard error, which a test that hangs shows.
        """
        begun, is_told = monotonic(), False
        while (found := find()) is None:
            waited = monotonic() - begun
            said = [note["text"] for note in self.state.ephemerals.values()]
            assert waited < HANG_SECONDS, f"{what} did not come; privately: {said}"
            if waited > _LONG_SECONDS and not is_told:
                is_told = True
                print(f"waits for {what} since {waited:.0f} s; privately: {said}", file=sys.stderr)
            await asyncio.sleep(0.02)
        return found

    async def command(self, command: str, text: str = "", user: str = ANA, channel: str = DOCS) -> Json:
        """Type a slash command."""
        return await self.people.command(user, channel, command, text)

    def reply(self, root: Json, text: str, user: str = ANA) -> Json:
        """Reply in a thread."""
        return self.people.say(user, root["channel"], text, thread_ts=root["ts"])

    def roots(self, channel: str = DOCS) -> list[Json]:
        """Return the bot's messages outside threads, oldest first."""
        return [one for one in reversed(list(self.state.history(channel))) if one["bot_id"]]

    def said(self, root: Json) -> list[Json]:
        """Return the bot's messages in a thread."""
        return [one for one in self.state.thread(root["channel"], root["ts"])[1:] if one["bot_id"]]

    def private(self, user: str = ANA) -> list[Json]:
        """Return the messages that only this user sees."""
        return [note for note in self.state.ephemerals.values() if note["user"] == user]

    def view(self, user: str = ANA) -> Json | None:
        """Return the modal that is open for this user, or None."""
        return next((view for view in self.state.views.values() if view["user"] == user), None)

    async def asked(self, prompt: str, channel: str = DOCS, user: str = ANA) -> Json:
        """Ask for a job and return the root message of its thread."""
        before = len(self.roots(channel))
        answer = await self.command("/docs-agent", prompt, user, channel)
        assert answer["ok"], answer
        return await self.until(lambda: next(iter(self.roots(channel)[before:]), None), "a root message")

    async def finished(self, prompt: str) -> Json:
        """Ask for a job, wait for its first end, and return the root message of its thread.

        The end is said before the root is redrawn.
        """
        root = await self.asked(prompt)
        await self.until(lambda: self.said(root) or None, "the end")
        under_way = (":hourglass", ":gear:")
        return await self.until(
            lambda: None if root["text"].startswith(under_way) else root, "the face of the end"
        )

    async def replies(self, root: Json, count: int) -> list[Json]:
        """Wait until the bot has posted ``count`` messages in the thread, and check that no more follow."""
        await self.until(lambda: len(self.said(root)) >= count or None, f"{count} replies")
        await asyncio.sleep(0.3)
        assert len(self.said(root)) == count, [one["text"] for one in self.said(root)]
        return self.said(root)

    async def press(self, message: Json, action_id: str, user: str = ANA) -> Json:
        """Press a button of a message or private answer."""
        buttons = [one for block in message["blocks"] for one in block.get("elements", [])]
        button = next(one for one in buttons if one.get("action_id") == action_id)
        action = {key: button[key] for key in ("type", "action_id", "value", "text") if key in button}
        container = {"type": "message", "channel": message["channel"], "ts": message.get("ts")}
        if "id" in message:
            container = {"type": "ephemeral", "channel": message["channel"], "id": message["id"]}
        return await self.people.press(user, container, action)

    async def answer(self, words: str, user: str = ANA) -> Json:
        """Wait for a private answer that contains these words, and return the newest."""

        def find() -> Json | None:
            return next((note for note in reversed(self.private(user)) if words in note["text"]), None)

        return await self.until(find, f"an answer with {words!r}")

    async def post(self, words: str, channel: str = DOCS) -> Json:
        """Wait for a post of the bot that contains these words, and return it."""

        def find() -> Json | None:
            return next((post for post in self.roots(channel) if words in post["text"]), None)

        return await self.until(find, f"a post with {words!r}")

    async def send_form(self, user: str = ANA, **fields: str) -> Json:
        """Fill in the open modal and submit it."""
        view = await self.until(lambda: self.view(user), "a dialogue")
        values = {name: {name: {"type": "plain_text_input", "value": text}} for name, text in fields.items()}
        return await self.people.submit_view(user, view["id"], values)
