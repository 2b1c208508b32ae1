"""Carry out the acts of a plan in the sandbox workspace, and record the result of each."""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
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
"""A user's patience until a thread or a form appears."""
_LONG_PATIENCE_SECONDS = 12.0
"""A user's patience until a job ends or an answer appears."""
_AT_ONCE_SECONDS = 0.05
_BROKEN = (
    "Something went wrong on my side, and nothing was started",
    "Slack didn't tell me who you are",
)
_MAYBE = ("I may have taken this",)
_CALLED = re.compile(r"<@(U\w+)>")
_NUMBER = re.compile(r"· Job (\d+)")
_OPEN = (":hourglass_flowing_sand:", ":gear:", ":grey_question: *Unconfirmed*")


class NeverAppeared(Exception):
    """The target of an act never appeared."""


class Acting:
    """Carries out the acts of all users of one workspace."""

    def __init__(self, workspace: Workspace, clocks: Clocks) -> None:
        self._clocks = clocks
        self._state = workspace.state
        self._people = workspace.people
        self._log = workspace.log
        self._read_notes: set[str] = set()
        self._filling_in: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._messages: dict[str, Json] = {}

    async def do(self, act: Act) -> Done:
        """Carry out one act; ``made`` of the result is false if it was impossible."""
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
            "addition": self._say_beside,
            "stop": self._say_beside,
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
            await ways[act.kind](act, done)
        except (Refused, NeverAppeared):
            done.made = False
        done.ended_at = self._clocks.now()
        return done

    def settle(self, done: Done) -> None:
        """Record at the end of the run whether a message's events were acknowledged."""
        if done.ts is not None:
            events = [
                entry for entry in self._log if entry.get("ts") == done.ts and entry["to"] == "bot"
            ]
            if _is_mention(done.act):
                # The bot ignores the other of its two events.
                events = [entry for entry in events if entry["event"] == "app_mention"]
            ends = [entry["at"] + entry["seconds"] for entry in events if entry["acked"]]
            done.acknowledged = bool(ends)
            done.acknowledged_at = self._clocks.at(min(ends)) if ends else None

    async def _command(self, act: Act, done: Done) -> None:
        name = "/docs-agent" if act.kind in ("command", "repeat", "inquire") else "/docs-visitors"
        text = f"ask {act.text}" if act.kind == "inquire" else act.text
        await self._type(act, done, act.channel, name, text)

    async def _type(self, act: Act, done: Done, channel: str, name: str, text: str) -> None:
        answer = await self._people.command(act.user, channel, name, text)
        done.acknowledged = bool(answer["ok"]) and not self._has_new_note(act, _MAYBE)
        done.broken = self._has_new_note(act, _BROKEN)

    def _has_new_note(self, act: Act, phrases: tuple[str, ...]) -> bool:
        """Return whether the user has just received a private message with one of these phrases."""
        for note in reversed(list(self._state.ephemerals.values())):
            if self._clocks.now().timestamp() - float(note["ts"]) > _AT_ONCE_SECONDS:
                return False
            is_new = _is_for(note, act) and note["id"] not in self._read_notes
            if is_new and any(phrase in note["text"] for phrase in phrases):
                self._read_notes.add(note["id"])
                return True
        return False

    async def _say(self, act: Act, done: Done) -> None:
        text = f"@docs-agent {act.text}" if _is_mention(act) else act.text
        message = self._people.say(act.user, act.channel, text)
        self._messages[act.marker], done.ts = message, str(message["ts"])

    async def _form(self, act: Act, done: Done) -> None:
        """Open the form and submit it. These are two requests; only the second one stores something."""
        async with self._filling_in[act.user]:
            before = frozenset(self._state.views)
            await self._people.command(act.user, act.channel, "/docs-agent", "")
            await self._submit(act, done, "ask", before)

    async def _submit(
        self,
        act: Act,
        done: Done,
        callback_id: str,
        before: frozenset[str],
        job: int | None = None,
    ) -> None:
        """Submit the user's form of this kind that the act has opened.

        ``before``: the views that were open before. The bot knows one that an earlier act submitted.
        """

        def find_new_form() -> Json | None:
            views = self._state.views.items()
            opened = [view for view_id, view in views if view_id not in before]
            return find_form(opened, act, callback_id, job)

        view = await self._until(find_new_form)
        values = {"prompt": {"prompt": {"type": "plain_text_input", "value": act.text}}}
        answer = await self._people.submit_view(act.user, view["id"], values)
        errors = " ".join(map(str, (answer.get("errors") or {}).values()))
        done.broken = any(phrase in errors for phrase in _BROKEN)
        done.acknowledged = (bool(answer["ok"]) or done.broken) and _MAYBE[0] not in errors

    async def _run_again(self, act: Act, done: Done) -> None:
        """Press *Run again* in the status of an ended job, and submit the form with another prompt."""
        async with self._filling_in[act.user]:
            status = await self._until(lambda: self._ended_status_message(act.target))
            number = _NUMBER.findall(status["text"])[0]
            await self._people.command(
                act.user, status["channel"], "/docs-agent", f"status {number}"
            )
            note, button = await self._until(lambda: self._offer(act.user, "run_again", number))
            before = frozenset(self._state.views)
            await self._press_in(_private(note), act, button)
            await self._submit(act, done, "run_again", before, job=int(number))

    def _ended_status_message(self, marker: str) -> Json | None:
        status = self._status_message(marker)
        return None if status is None or status["text"].startswith(_OPEN) else status

    async def _ask_anyway(self, act: Act, done: Done) -> None:
        """Press the private button that runs a repeated command nevertheless."""
        note, button = await self._until(lambda: self._offer(act.user, "ask_anyway"))
        done.acknowledged = await self._press_in(_private(note), act, button)

    def _offer(self, user: str, button_id: str, value: str = "") -> tuple[Json, Json] | None:
        """Return a private message with this button, and the button; "" for one of any value."""
        notes = (note for note in self._state.ephemerals.values() if note["user"] == user)
        offers = ((note, self._with_action(note, button_id)) for note in notes)
        return next(
            (
                (note, button)
                for note, button in offers
                if button and value in ("", button["value"])
            ),
            None,
        )

    async def _reply(self, act: Act, done: Done) -> None:
        status = await self._until(lambda: self._status_message(act.target))
        message = self._people.say(
            act.user, status["channel"], act.text, thread_ts=_thread_of(status)
        )
        self._messages[act.marker], done.ts = message, str(message["ts"])

    async def _say_beside(self, act: Act, done: Done) -> None:
        """Say something in the conversation of an earlier message, without a look at the bot."""
        earlier = await self._until(lambda: self._messages.get(act.target))
        is_direct = earlier["channel"].startswith("D")
        thread = earlier["thread_ts"] or (None if is_direct else earlier["ts"])
        mention = "@docs-agent " if act.kind == "stop" and not is_direct else ""
        message = self._people.say(
            act.user, earlier["channel"], f"{mention}{act.text}", thread_ts=thread
        )
        self._messages[act.marker] = message
        done.ts = str(message["ts"])

    async def _change(self, act: Act, done: Done) -> None:
        message = await self._until(lambda: self._messages.get(act.target))
        mention = "@docs-agent " if _CALLED.match(message["text"]) else ""
        if act.kind == "edit":
            self._people.edit(act.user, message["channel"], message["ts"], f"{mention}{act.text}")
        else:
            self._people.delete(act.user, message["channel"], message["ts"])
        done.ts = self._state.newest_ts

    async def _follow_up(self, act: Act, done: Done) -> None:
        status = await self._until(lambda: self._status_message(act.target))
        text = f"{_NUMBER.findall(status['text'])[0]} {act.text}"
        await self._type(act, done, status["channel"], "/docs-followup", text)

    async def _press(self, act: Act, done: Done) -> None:
        patience_seconds = _LONG_PATIENCE_SECONDS if act.text == "preview" else _PATIENCE_SECONDS
        await self._press_it(
            act, done, *await self._until(lambda: self._button(act), patience_seconds)
        )

    async def _press_it(self, act: Act, done: Done, message: Json, button: Json) -> None:
        container = {"type": "message", "channel": message["channel"], "ts": message["ts"]}
        done.acknowledged = await self._press_in(container, act, button)

    async def _press_in(self, container: Json, act: Act, button: Json) -> bool:
        """Press a button. Return whether the press was acknowledged."""
        keys = ("type", "action_id", "value", "text")
        action = {key: button[key] for key in keys if key in button}
        return bool((await self._people.press(act.user, container, action))["ok"])

    async def _press_answer(self, act: Act, done: Done) -> None:
        look = partial(self._on_answer, act, act.text)
        container, button = await self._until(look, _LONG_PATIENCE_SECONDS)
        done.pressed = button["value"]
        done.acknowledged = await self._press_in(container, act, button)

    async def _draft(self, act: Act, done: Done) -> None:
        """Press *Change the docs* or *Draft a page on it*, and submit the form with another prompt."""
        async with self._filling_in[act.user]:
            look = partial(self._on_answer, act, "change_docs")
            container, button = await self._until(look, _LONG_PATIENCE_SECONDS)
            done.pressed = button["value"]
            before = frozenset(self._state.views)
            await self._press_in(container, act, button)
            await self._submit(act, done, "ask", before)

    async def _dismiss_gap(self, act: Act, done: Done) -> None:
        """List the gaps of a channel and dismiss one of them."""
        await self._people.command(act.user, act.channel, "/docs-agent", "gaps")
        container, button = await self._until(lambda: self._in_private(act, "dismiss_gap"))
        done.pressed = button["value"]
        done.acknowledged = await self._press_in(container, act, button)

    def _on_answer(self, act: Act, button_id: str) -> tuple[Json, Json] | None:
        """Return the container of an answer, in a thread or private, and its button."""
        if (question := self._messages.get(act.target)) is None:
            return self._in_private(act, button_id)
        for message in self._state.thread(question["channel"], question["ts"]):
            if button := self._with_action(message, button_id):
                return {
                    "type": "message",
                    "channel": message["channel"],
                    "ts": message["ts"],
                }, button
        return None

    def _in_private(self, act: Act, button_id: str) -> tuple[Json, Json] | None:
        for note in self._state.ephemerals.values():
            if _is_for(note, act) and (button := self._with_action(note, button_id)):
                return _private(note), button
        return None

    async def _end_pull_request(self, act: Act, _done: Done) -> None:
        """Merge or close the pull request of a job on the page of its host."""
        viewing = replace(act, text="view_pull_request")
        _, button = await self._until(lambda: self._button(viewing), _LONG_PATIENCE_SECONDS)
        if "/pull/" not in button["url"]:
            raise NeverAppeared
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{button['url']}/{act.text}") as answer,
        ):
            # The merge may conflict with an earlier one or be done already.
            await answer.read()

    async def decide(self, button: str, asks: Sequence[Act]) -> list[Done]:
        """Press this button as each user whom the bot asked about an unconfirmed prompt."""
        results = []
        for message in [
            message for channel in self._state.messages.values() for message in channel.values()
        ]:
            called, pressed = _CALLED.match(message["text"]), self._with_action(message, button)
            if message["thread_ts"] and called and pressed:
                target = self._asked_in(message["channel"], message["thread_ts"], asks)
                act = Act(
                    0, "press", called[1], message["channel"], "decided in the end", button, target
                )
                done = Done(act, self._clocks.now())
                await self._press_until_acknowledged(act, done, message, pressed)
                results.append(done)
        return results

    async def _press_until_acknowledged(
        self, act: Act, done: Done, message: Json, button: Json
    ) -> None:
        """Press again while Slack shows an error: a socket may be reopening."""
        deadline = monotonic() + _PATIENCE_SECONDS
        await self._press_it(act, done, message, button)
        while not done.acknowledged and monotonic() < deadline:
            await asyncio.sleep(0.3)
            await self._press_it(act, done, message, button)

    def _with_action(self, message: Json, action: str) -> Json | None:
        buttons = (
            button for block in message["blocks"] or [] for button in block.get("elements", [])
        )
        return next((button for button in buttons if button.get("action_id") == action), None)

    def _status_message(self, marker: str) -> Json | None:
        for messages in self._state.messages.values():
            for message in messages.values():
                if message["bot_id"] and is_status_message(message["text"], marker):
                    return message
        return None

    def _asked_in(self, channel: str, thread_ts: str, asks: Sequence[Act]) -> str:
        """Return the marker of the job of a thread; "" if nothing there has it.

        The first message may be deleted, and a status message may show the title of a pull request.
        """
        first = self._state.message(channel, thread_ts)
        for ask in asks:
            status = self._status_message(ask.marker)
            if status and _thread_of(status) == thread_ts:
                return ask.marker
            if first and ask.marker in first["text"]:
                return ask.marker
        return ""

    def _button(self, act: Act) -> tuple[Json, Json] | None:
        """Return the newest message with the act's button in its thread, and the button."""
        status = self._status_message(act.target)
        if status is None:
            return None
        for message in reversed(self._state.thread(status["channel"], _thread_of(status))):
            button = self._with_action(message, act.text)
            if button is not None:
                return message, button
        return None

    async def _until(
        self, look: Callable[[], Any], patience_seconds: float = _PATIENCE_SECONDS
    ) -> Any:
        """Return the first result within a user's patience. Raise :class:`NeverAppeared` otherwise."""
        deadline = monotonic() + patience_seconds
        while (result := look()) is None:
            if monotonic() > deadline:
                raise NeverAppeared
            await asyncio.sleep(0.03)
        return result


def _is_mention(act: Act) -> bool:
    return act.kind in ("mention", "question", "stop") and not act.channel.startswith("D")


def _is_for(note: Json, act: Act) -> bool:
    """Return whether a private message is for the act's user in its channel."""
    return (note["user"], note["channel"]) == (act.user, act.channel)


def _private(note: Json) -> Json:
    """Return the container of a press in a private message."""
    return {"type": "ephemeral", "channel": note["channel"], "id": note["id"]}


def _thread_of(status: Json) -> str:
    """Return the thread that a job's status message begins, or in which it is a reply."""
    return str(status["thread_ts"] or status["ts"])


def find_form(
    views: Iterable[Json], act: Act, callback_id: str, job: int | None = None
) -> Json | None:
    """Return the form of this kind that lies open before an act's user; None if none does.

    It is about the job, or else about the act's channel, and about a question only for a draft. The
    form of an earlier act may lie open until another one takes its place.
    """
    for view in views:
        if (view["user"], view["callback_id"]) != (act.user, callback_id) or not view.get("submit"):
            continue
        state = json.loads(view["private_metadata"])
        if job is not None:
            is_opened_by_act = state["job"] == job
        else:
            is_draft = state["gap"] is not None
            is_opened_by_act = (state["channel"], is_draft) == (act.channel, act.kind == "draft")
        if is_opened_by_act:
            return view
    return None


def is_status_message(text: str, marker: str) -> bool:
    """Return whether this is the status message of the job with this marker."""
    return marker in text and _NUMBER.search(text.partition("\n")[0]) is not None
