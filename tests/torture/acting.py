"""Carry out the acts of a plan in the sandbox workspace, and record the result of each."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any

import aiohttp

from sandbox.workspace import Workspace
from sandbox.workspace.people import Refused
from tests.torture.clocks import Clocks
from tests.torture.plan import Act
from tests.torture.record import Done

Json = dict[str, Any]
_PATIENCE_SECONDS = 4.0
"""How long a user waits for a thread or a form to appear."""
_LONG_PATIENCE_SECONDS = 12.0
"""How long for the end of a job, or for an answer."""
_AT_ONCE_SECONDS = 0.05
_BROKEN = ("Something went wrong on my side, and nothing was started", "Slack didn't tell me who you are")
_MAYBE = ("I may have taken this",)
_CALLED = re.compile(r"<@(U\w+)>")
_NUMBER = re.compile(r"· Job (\d+)")
_ADDRESSED = ("mention", "question")
_OPEN = (":hourglass_flowing_sand:", ":gear:", ":grey_question: *Unconfirmed*")


class NeverAppeared(Exception):
    """What an act is about never appeared, so that nobody could do it."""


class Acting:
    """Carries out the acts of all users of one workspace."""

    def __init__(self, workspace: Workspace, clocks: Clocks) -> None:
        self._clocks = clocks
        self._state = workspace.state
        self._people = workspace.people
        self._log = workspace.log
        self._known_notes: set[str] = set()
        self._filling_in: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._said: dict[str, Json] = {}

    async def do(self, act: Act) -> Done:
        """Carry out one act. Sets ``made`` to false if it was impossible."""
        done = Done(act, self._clocks.now())
        ways = {
            "command": self._command,
            "visitors": self._command,
            "digest": self._command,
            "weekly": self._command,
            "mention": self._say,
            "direct": self._say,
            "form": self._form,
            "reply": self._reply,
            "followup": self._follow_up,
            "press": self._press,
            "edit": self._change,
            "delete": self._change,
            "repeat": self._command,
            "anyway": self._ask_anyway,
            "again": self._run_again,
            "pull": self._end_pull_request,
            "question": self._say,
            "inquire": self._command,
            "on_answer": self._press_answer,
            "draft": self._draft,
            "gaps": self._dismiss_gap,
        }
        try:
            await ways[act.what](act, done)
        except (Refused, NeverAppeared):
            done.made = False
        done.ended_at = self._clocks.now()
        return done

    def settle(self, done: Done) -> None:
        """Record whether a message's events were acknowledged, which is known only at the end of the run."""
        if done.ts is not None:
            told = [entry for entry in self._log if entry.get("ts") == done.ts and entry["to"] == "bot"]
            if done.act.what in _ADDRESSED and not done.act.where.startswith("D"):
                # Of its two events, the bot takes it from this one.
                told = [entry for entry in told if entry["event"] == "app_mention"]
            ends = [entry["at"] + entry["seconds"] for entry in told if entry["acked"]]
            done.acknowledged = bool(ends)
            done.acknowledged_at = self._clocks.at(min(ends)) if ends else None

    async def _command(self, act: Act, done: Done) -> None:
        name = "/docs-agent" if act.what in ("command", "repeat", "inquire") else "/docs-visitors"
        line = f"ask {act.words}" if act.what == "inquire" else act.words
        await self._type(act, done, act.where, name, line)

    async def _type(self, act: Act, done: Done, where: str, name: str, words: str) -> None:
        answer = await self._people.command(act.who, where, name, words)
        done.acknowledged = bool(answer["ok"]) and not self._was_told(act, _MAYBE)
        done.broken = self._was_told(act, _BROKEN)

    def _was_told(self, act: Act, words: tuple[str, ...]) -> bool:
        """Return whether the user has just received a private message with some of these words."""
        for note in reversed(list(self._state.ephemerals.values())):
            if self._clocks.now().timestamp() - float(note["ts"]) > _AT_ONCE_SECONDS:
                return False
            mine = note["user"] == act.who and note["channel"] == act.where
            if mine and any(each in note["text"] for each in words) and note["id"] not in self._known_notes:
                self._known_notes.add(note["id"])
                return True
        return False

    async def _say(self, act: Act, done: Done) -> None:
        is_addressed = act.what in _ADDRESSED and not act.where.startswith("D")
        words = f"@docs-agent {act.words}" if is_addressed else act.words
        said = self._people.say(act.who, act.where, words)
        self._said[act.marker], done.ts = said, str(said["ts"])

    async def _form(self, act: Act, done: Done) -> None:
        """Open the form and submit it. These are two requests; only the second one stores something."""
        async with self._filling_in[act.who]:
            await self._people.command(act.who, act.where, "/docs-agent", "")
            await self._submit(act, done, "ask", f'"channel": "{act.where}"')

    async def _submit(self, act: Act, done: Done, callback_id: str, about: str) -> None:
        """Submit the form of this kind that the user was opened; its private metadata has ``about``."""
        view = await self._until(lambda: self._view(act.who, callback_id, about))
        values = {"prompt": {"prompt": {"type": "plain_text_input", "value": act.words}}}
        answer = await self._people.submit_view(act.who, view["id"], values)
        told = " ".join(map(str, (answer.get("errors") or {}).values()))
        done.broken = any(words in told for words in _BROKEN)
        done.acknowledged = (bool(answer["ok"]) or done.broken) and _MAYBE[0] not in told

    def _view(self, user: str, callback_id: str, about: str) -> Json | None:
        mine = (view for view in self._state.views.values() if view["user"] == user)
        asked = (view for view in mine if view["callback_id"] == callback_id)
        return next((view for view in asked if about in view["private_metadata"]), None)

    async def _run_again(self, act: Act, done: Done) -> None:
        """Press *Run again* in the status of a job that is over, and submit the form with another prompt."""
        async with self._filling_in[act.who]:
            face = await self._until(lambda: self._face_of_ended(act.about))
            number = _NUMBER.findall(face["text"])[0]
            await self._people.command(act.who, face["channel"], "/docs-agent", f"status {number}")
            note, button = await self._until(lambda: self._offer(act.who, "run_again", number))
            done.pressed = act.about
            await self._press_in(_private(note), act, button)
            await self._submit(act, done, "run_again", f'"job": {number},')

    def _face_of_ended(self, marker: str) -> Json | None:
        face = self._root(marker)
        return None if face is None or face["text"].startswith(_OPEN) else face

    async def _ask_anyway(self, act: Act, done: Done) -> None:
        """Press the button, which only the user sees, that runs a repeated command nevertheless."""
        note, button = await self._until(lambda: self._offer(act.who, "ask_anyway"))
        done.acknowledged = await self._press_in(_private(note), act, button)

    def _offer(self, user: str, button_id: str, value: str = "") -> tuple[Json, Json] | None:
        """Return a note that only the user sees with this button; "" for one of any value."""
        notes = (note for note in self._state.ephemerals.values() if note["user"] == user)
        found = ((note, self._with_action(note, button_id)) for note in notes)
        offered = ((note, button) for note, button in found if button)
        return next((each for each in offered if value in ("", each[1]["value"])), None)

    async def _reply(self, act: Act, done: Done) -> None:
        root = await self._until(lambda: self._root(act.about))
        said = self._people.say(act.who, root["channel"], act.words, thread_ts=_thread_of(root))
        self._said[act.marker], done.ts = said, str(said["ts"])

    async def _change(self, act: Act, done: Done) -> None:
        said = await self._until(lambda: self._said.get(act.about))
        mention = "@docs-agent " if _CALLED.match(said["text"]) else ""
        if act.what == "edit":
            self._people.edit(act.who, said["channel"], said["ts"], f"{mention}{act.words}")
        else:
            self._people.delete(act.who, said["channel"], said["ts"])
        done.ts = self._state.newest_ts

    async def _follow_up(self, act: Act, done: Done) -> None:
        root = await self._until(lambda: self._root(act.about))
        words = f"{_NUMBER.findall(root['text'])[0]} {act.words}"
        await self._type(act, done, root["channel"], "/docs-followup", words)

    async def _press(self, act: Act, done: Done) -> None:
        patience_seconds = _LONG_PATIENCE_SECONDS if act.words == "preview" else _PATIENCE_SECONDS
        await self._press_it(act, done, *await self._until(lambda: self._button(act), patience_seconds))

    async def _press_it(self, act: Act, done: Done, message: Json, button: Json) -> None:
        container = {"type": "message", "channel": message["channel"], "ts": message["ts"]}
        done.pressed = act.about
        done.acknowledged = await self._press_in(container, act, button)

    async def _press_in(self, container: Json, act: Act, button: Json) -> bool:
        """Press a button. Return whether that was acknowledged."""
        keys = ("type", "action_id", "value", "text")
        action = {key: button[key] for key in keys if key in button}
        return bool((await self._people.press(act.who, container, action))["ok"])

    async def _press_answer(self, act: Act, done: Done) -> None:
        look = partial(self._on_answer, act, act.words)
        container, button = await self._until(look, _LONG_PATIENCE_SECONDS)
        done.pressed = button["value"]
        done.acknowledged = await self._press_in(container, act, button)

    async def _draft(self, act: Act, done: Done) -> None:
        """Press *Change the docs* or *Draft a page on it*, and submit the form with a prompt of one's own."""
        async with self._filling_in[act.who]:
            look = partial(self._on_answer, act, "change_docs")
            container, button = await self._until(look, _LONG_PATIENCE_SECONDS)
            done.pressed = button["value"]
            await self._press_in(container, act, button)
            await self._submit(act, done, "ask", '"about": [')

    async def _dismiss_gap(self, act: Act, done: Done) -> None:
        """List the gaps of a channel and dismiss one of them."""
        await self._people.command(act.who, act.where, "/docs-agent", "gaps")
        container, button = await self._until(lambda: self._in_private(act, "dismiss_gap"))
        done.pressed = button["value"]
        done.acknowledged = await self._press_in(container, act, button)

    def _on_answer(self, act: Act, button_id: str) -> tuple[Json, Json] | None:
        """Return where the answer to a question stands, and its button. Only its asker sees a private one."""
        if (question := self._said.get(act.about)) is None:
            return self._in_private(act, button_id)
        for message in self._state.thread(question["channel"], question["ts"]):
            if button := self._with_action(message, button_id):
                return {"type": "message", "channel": message["channel"], "ts": message["ts"]}, button
        return None

    def _in_private(self, act: Act, button_id: str) -> tuple[Json, Json] | None:
        for note in self._state.ephemerals.values():
            is_theirs = (note["user"], note["channel"]) == (act.who, act.where)
            if is_theirs and (button := self._with_action(note, button_id)):
                return _private(note), button
        return None

    async def _end_pull_request(self, act: Act, _done: Done) -> None:
        """Merge or close the pull request of a job on the page of its host."""
        viewing = replace(act, words="view_pull_request")
        _, button = await self._until(lambda: self._button(viewing), _LONG_PATIENCE_SECONDS)
        if "/pull/" not in button["url"]:
            raise NeverAppeared
        async with aiohttp.ClientSession() as session, session.post(f"{button['url']}/{act.words}") as ended:
            # It may conflict with what was merged before, or be merged already.
            await ended.read()

    async def decide(self, button: str, asks: Sequence[Act]) -> list[Done]:
        """Press this button as each user whom the bot asked about an unconfirmed prompt."""
        done = []
        for message in [each for some in self._state.messages.values() for each in some.values()]:
            called, pressed = _CALLED.match(message["text"]), self._with_action(message, button)
            if message["thread_ts"] and called and pressed:
                # The face tells; the message that began the thread may have been deleted.
                faces = ((ask.marker, self._root(ask.marker)) for ask in asks)
                here = (each for each, face in faces if face and _thread_of(face) == message["thread_ts"])
                about = next(here, "")
                act = Act(0, "press", called[1], message["channel"], "decided in the end", button, about)
                made = Done(act, self._clocks.now())
                await self._press_until_it_works(act, made, message, pressed)
                done.append(made)
        return done

    async def _press_until_it_works(self, act: Act, done: Done, message: Json, button: Json) -> None:
        """Press again while Slack says that it did not work: a socket may be opening again."""
        deadline = monotonic() + _PATIENCE_SECONDS
        await self._press_it(act, done, message, button)
        while not done.acknowledged and monotonic() < deadline:
            await asyncio.sleep(0.3)
            await self._press_it(act, done, message, button)

    def _with_action(self, message: Json, action: str) -> Json | None:
        buttons = (each for block in message["blocks"] or [] for each in block.get("elements", []))
        return next((button for button in buttons if button.get("action_id") == action), None)

    def _root(self, marker: str) -> Json | None:
        for messages in self._state.messages.values():
            for message in messages.values():
                if message["bot_id"] and is_face(message["text"], marker):
                    return message
        return None

    def _button(self, act: Act) -> tuple[Json, Json] | None:
        """Return the newest message with the act's button in the thread that it is about, and the button."""
        root = self._root(act.about)
        if root is None:
            return None
        for message in reversed(self._state.thread(root["channel"], _thread_of(root))):
            button = self._with_action(message, act.words)
            if button is not None:
                return message, button
        return None

    async def _until(self, look: Callable[[], Any], patience_seconds: float = _PATIENCE_SECONDS) -> Any:
        """Return what appears within a user's patience. Raise :class:`NeverAppeared` otherwise."""
        deadline = monotonic() + patience_seconds
        while (found := look()) is None:
            if monotonic() > deadline:
                raise NeverAppeared
            await asyncio.sleep(0.03)
        return found


def _private(note: Json) -> Json:
    """Return where a press stands in a message that only one user sees."""
    return {"type": "ephemeral", "channel": note["channel"], "id": note["id"]}


def _thread_of(face: Json) -> str:
    """Return the thread of a job's face, which it begins or in which it is a reply."""
    return str(face["thread_ts"] or face["ts"])


def is_face(text: str, marker: str) -> bool:
    """Return whether this is the text of a job's face, with the marker of its prompt."""
    return marker in text and _NUMBER.search(text.partition("\n")[0]) is not None
