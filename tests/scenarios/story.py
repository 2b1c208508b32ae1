"""Helpers for scenarios: acts of users in the sandbox workspace, and the visible messages."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any, TypeVar

from pydantic import SecretStr

from sandbox.world import World
from tests.limits import HANG_SECONDS

ANA, BEN = "U01ANA", "U02BEN"
DOCS, PRODUCT, SECRET, ANAS_DM = "C01DOCS", "C03PRODUCT", "G04SECRET", "D01ANA"
Json = dict[str, Any]
Result = TypeVar("Result")
_LONG_SECONDS = 20.0
_TRIES = 5
_LATE_SECONDS = 3.0
_TOO_SLOW = (
    ":no_entry: Slack didn't tell me who you are",
    ":warning: Something went wrong on my side",
)
"""The beginnings of answers of a bot that had no answer of Slack or the database in time."""


def environment(world: World) -> dict[str, str]:
    """Return the environment variables of a bot that is connected to this world."""
    return {name.upper(): _format(value) for name, value in world.settings if value is not None}


def is_late_refusal(note: Json) -> bool:
    """Return whether a private answer is of a bot that had no answer in time."""
    return bool(note["text"].startswith(_TOO_SLOW))


def _format(value: object) -> str:
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

    async def until(self, find: Callable[[], Result | None], event: str) -> Result:
        """Return the first result of ``find`` that is not None. Fail after ``HANG_SECONDS``.

        A wait of 20 s is printed to standard error for tests that hang.
        """
        begun, is_printed = monotonic(), False
        while (result := find()) is None:
            waited = monotonic() - begun
            notes = [note["text"] for note in self.state.ephemerals.values()]
            assert waited < HANG_SECONDS, f"{event} did not come; privately: {notes}"
            if waited > _LONG_SECONDS and not is_printed:
                is_printed = True
                print(
                    f"waits for {event} since {waited:.0f} s; privately: {notes}", file=sys.stderr
                )
            await asyncio.sleep(0.02)
        return result

    async def command(
        self, command: str, text: str = "", user: str = ANA, channel: str = DOCS
    ) -> Json:
        """Type a slash command."""
        return await self.people.command(user, channel, command, text)

    def reply(self, root: Json, text: str, user: str = ANA) -> Json:
        """Reply in a thread."""
        return self.people.say(user, root["channel"], text, thread_ts=root["ts"])

    def roots(self, channel: str = DOCS) -> list[Json]:
        """Return the bot's messages outside threads, oldest first."""
        return [
            message for message in reversed(list(self.state.history(channel))) if message["bot_id"]
        ]

    def digests(self) -> list[Json]:
        return [post for post in self.roots() if "Your docs," in post["text"]]

    def replies_in(self, root: Json) -> list[Json]:
        """Return the bot's messages in a thread."""
        return [
            reply for reply in self.state.thread(root["channel"], root["ts"])[1:] if reply["bot_id"]
        ]

    def private(self, user: str = ANA) -> list[Json]:
        """Return the messages that only this user sees."""
        return [note for note in self.state.ephemerals.values() if note["user"] == user]

    def view(self, user: str = ANA) -> Json | None:
        """Return the user's open modal, or None."""
        return next((view for view in self.state.views.values() if view["user"] == user), None)

    async def asked(self, prompt: str, channel: str = DOCS, user: str = ANA) -> Json:
        """Ask for a job and return the root message of its thread.

        On a busy machine the bot, the stand-in of Slack, or the database, may answer too late: then
        the person looks whether the job begins all the same, and types it again.
        """
        before = len(self.roots(channel))
        for _ in range(_TRIES):
            notes_before = len(self.private(user))
            answer = await self.command("/docs-agent", prompt, user, channel)
            if answer["ok"]:
                found = await self.until(
                    partial(self._find_root_or_refusal, channel, before, user, notes_before),
                    "a root message",
                )
                if found.get("bot_id"):
                    return found
            await asyncio.sleep(_LATE_SECONDS)
            if roots := self.roots(channel)[before:]:
                return roots[0]
        raise AssertionError(f"asked {_TRIES} times: {self.private(user)}")

    def _find_root_or_refusal(
        self, channel: str, before: int, user: str, notes_before: int
    ) -> Json | None:
        roots = self.roots(channel)[before:]
        refusals = filter(is_late_refusal, self.private(user)[notes_before:])
        return next(iter((*roots, *refusals)), None)

    async def finished(self, prompt: str) -> Json:
        """Ask for a job, wait for its first end, and return the root message of its thread."""
        root = await self.asked(prompt)
        await self.until(lambda: self.replies_in(root) or None, "the end")
        is_open = (":hourglass", ":gear:")
        return await self.until(
            lambda: None if root["text"].startswith(is_open) else root, "the final status message"
        )

    async def replies(self, root: Json, count: int) -> list[Json]:
        """Wait for ``count`` messages of the bot in the thread, and insist on no more."""
        await self.until(lambda: len(self.replies_in(root)) >= count or None, f"{count} replies")
        await asyncio.sleep(0.3)
        replies = self.replies_in(root)
        assert len(replies) == count, [reply["text"] for reply in replies]
        return replies

    async def press(self, message: Json, action_id: str, user: str = ANA) -> Json:
        """Press a button of a message or private answer."""
        buttons = [button for block in message["blocks"] for button in block.get("elements", [])]
        button = next(button for button in buttons if button.get("action_id") == action_id)
        action = {
            key: button[key] for key in ("type", "action_id", "value", "text") if key in button
        }
        container = {"type": "message", "channel": message["channel"], "ts": message.get("ts")}
        if "id" in message:
            container = {"type": "ephemeral", "channel": message["channel"], "id": message["id"]}
        return await self.people.press(user, container, action)

    async def answer(self, phrase: str, user: str = ANA) -> Json:
        """Wait for a private answer with this phrase, and return the newest."""

        def find() -> Json | None:
            return next(
                (note for note in reversed(self.private(user)) if phrase in note["text"]), None
            )

        return await self.until(find, f"an answer with {phrase!r}")

    async def post(self, phrase: str) -> Json:
        """Wait for a post of the bot with this phrase, and return it."""

        def find() -> Json | None:
            return next((post for post in self.roots() if phrase in post["text"]), None)

        return await self.until(find, f"a post with {phrase!r}")

    async def send_form(self, user: str = ANA, **fields: str) -> Json:
        """Fill in the open modal and submit it."""
        view = await self.until(lambda: self.view(user), "a dialogue")
        values = {
            name: {name: {"type": "plain_text_input", "value": text}}
            for name, text in fields.items()
        }
        return await self.people.submit_view(user, view["id"], values)
