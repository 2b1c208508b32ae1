"""The person who runs ``docs-bot doctor --try``: does in the sandbox what the trial asks for."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection
from typing import Any

from sandbox.workspace import Workspace

ANA = "U01ANA"
ASKS = "---> "
"""The beginning of the lines with instructions."""
Json = dict[str, Any]


class TrialPerson:
    """Does each act when its instruction is read. ``refuses``: the beginnings of those ignored."""

    def __init__(
        self, workspace: Workspace, channel: str, refuses: Collection[str] = (), user: str = ANA
    ) -> None:
        self.workspace = workspace
        self.people = workspace.people
        self.channel = channel
        self.user = user
        self.refuses = tuple(refuses)
        self.instructions: list[str] = []
        self.said: list[Json] = []
        self._tasks: list[asyncio.Task[None]] = []

    def read(self, instruction: str) -> None:
        """Read an instruction and begin with its act."""
        self.instructions.append(instruction)
        if instruction.startswith(self.refuses) and self.refuses:
            return
        self._tasks.append(asyncio.ensure_future(self._act(instruction)))

    async def ended(self) -> None:
        """Wait for all acts, and raise the error of one."""
        await asyncio.gather(*self._tasks)

    async def _act(self, instruction: str) -> None:
        text = re.sub(r" \(within [0-9.]+ s\)$", "", instruction)
        typed = text.partition(": ")[2]
        acts: dict[str, Callable[[], Any]] = {
            "Type in the channel: /": lambda: self._type(typed),
            "Type in the channel: @": lambda: self._say(self.channel, typed),
            "Reply in the bot's thread": lambda: self._say(self.channel, typed, self._root()),
            "Edit your reply": lambda: self._edit(text.partition(" to: ")[2]),
            "At your reply": self._use_shortcut,
            "Delete your reply": self._delete,
            "Write to the bot": lambda: self._say(self._direct(), typed),
            "Press the button": self._press,
            "Press *Next window*": self._press_in_form,
            "Press *Submit*": self._submit,
            "Open the Home tab": self._open_home,
        }
        for beginning, act in acts.items():
            if text.startswith(beginning):
                await act()
                return
        assert "cost" in text or "uses" in text, f"nobody knows how to do this: {text}"

    async def _type(self, typed: str) -> None:
        command, _, text = typed.partition(" ")
        answer = await self.people.command(self.user, self.channel, command, text)
        assert answer["ok"], answer

    async def _say(self, channel: str, text: str, thread: str | None = None) -> None:
        self.said.append(self.people.say(self.user, channel, text, thread))

    async def _edit(self, text: str) -> None:
        reply = self._reply()
        self.people.edit(self.user, self.channel, reply["ts"], text)

    async def _use_shortcut(self) -> None:
        await self.people.shortcut(self.user, "ask_about", self.channel, self._reply()["ts"])

    async def _delete(self) -> None:
        reply = self._reply()
        self.people.delete(self.user, self.channel, reply["ts"])
        self.said.remove(reply)

    async def _press(self) -> None:
        post = next(
            post for post in reversed(self.posts()) if post["text"].startswith("Press this")
        )
        container = {"type": "message", "channel": self.channel, "ts": post["ts"]}
        await self.people.press(self.user, container, post["blocks"][-1]["elements"][0])

    async def _press_in_form(self) -> None:
        view = self._view()
        assert "This form was changed" in str(view["blocks"])
        button = view["blocks"][-1]["elements"][0]
        await self.people.press(self.user, {"type": "view", "id": view["id"]}, button)

    async def _submit(self) -> None:
        answer = await self.people.submit_view(self.user, self._view()["id"], {})
        assert answer["ok"], answer

    async def _open_home(self) -> None:
        self.people.open_home(self.user)

    def posts(self) -> list[Json]:
        """Return the bot's posts in all conversations."""
        rooms = self.workspace.state.messages.values()
        return [post for room in rooms for post in room.values() if post["bot_id"]]

    def _root(self) -> str:
        first = next(post for post in self.posts() if post["channel"] == self.channel)
        return str(first["ts"])

    def _reply(self) -> Json:
        return next(one for one in reversed(self.said) if one["thread_ts"])

    def _direct(self) -> str:
        return self.workspace.state.im_of(self.user).id

    def _view(self) -> Json:
        return next(
            view for view in self.workspace.state.views.values() if view["user"] == self.user
        )
