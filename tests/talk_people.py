"""The people of a conversation: what they do in Slack, and what messages show them."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sandbox.workspace.state import Json, User

if TYPE_CHECKING:
    from tests.talk import Talk


class Shown(str):
    """The text of a message, as a notification shows it."""

    message: Json

    @classmethod
    def of(cls, message: Json) -> Shown:
        """Return what a message shows now."""
        shown = cls((message.get("text") or "").replace("\xa0", " "))
        shown.message = dict(message)
        return shown

    @property
    def blocks(self) -> str:
        """Return the words in the blocks, with each button in brackets."""
        return "\n".join(filter(None, map(words_of, self.message["blocks"] or [])))

    @property
    def buttons(self) -> list[str]:
        """Return the labels of the buttons and of the options of menus."""
        return [label for label, _ in controls_of(self.message["blocks"])]


def words_of(part: Any) -> str:
    """Return the words of a block, or of a part of one."""
    if isinstance(part, list):
        return " ".join(filter(None, map(words_of, part)))
    if not isinstance(part, dict):
        return part if isinstance(part, str) else ""
    if part.get("type") == "button":
        return f"[{part['text']['text']}]"
    inside = ("title", "label", "text", "fields", "elements", "accessory", "element", "options", "rows")
    return words_of([part[key] for key in inside if key in part])


def controls_of(part: Any) -> Iterator[tuple[str, Json]]:
    """Yield each button and each option of a menu by its label, with the action that choosing it sends."""
    if isinstance(part, list):
        for each in part:
            yield from controls_of(each)
    if not isinstance(part, dict):
        return
    if "action_id" in part:
        action = {key: part[key] for key in ("type", "action_id", "value") if key in part}
        if part["type"] == "button":
            yield part["text"]["text"], action
        for option in part.get("options") or []:
            yield option["text"]["text"], {**action, "selected_option": option}
    for key in ("elements", "accessory", "element"):
        yield from (
            (label, {"block_id": part.get("block_id"), **it}) for label, it in controls_of(part.get(key))
        )


@dataclass(eq=False)
class Person:
    """Somebody in the workspace: acts in Slack, and reads what only this person sees."""

    talk: Talk
    id: str
    name: str

    def __repr__(self) -> str:
        return self.name

    async def types(self, line: str, channel: str = "docs") -> None:
        """Type a slash command."""
        command, _, text = line.partition(" ")
        await self._act(
            f"types in {channel}: {line}", self._people.command(self.id, self._room(channel), command, text)
        )

    async def asks(self, prompt: str, channel: str = "docs") -> None:
        """Ask for a job with ``/docs-agent``."""
        await self.types(f"/docs-agent {prompt}", channel)

    async def answer_to(self, line: str, channel: str = "docs") -> Shown:
        """Type a slash command, and read its one private answer."""
        before = set(self.talk.slack.state.ephemerals)
        await self.types(line, channel)
        new = [each for key, each in self.talk.slack.state.ephemerals.items() if key not in before]
        assert len(new) == 1, f"{len(new)} private answers"
        return self.talk.mark_read(new[0])

    async def says(self, text: str, channel: str = "docs", **options: Any) -> Json:
        """Say something outside threads: ``files`` (names and texts), ``forwards`` a message."""
        return await self._say(f"says in {channel}: {text}", self._room(channel), text, **options)

    async def replies(
        self, text: str, to: Json | None = None, nth: int = 1, channel: str = "docs", **options: Any
    ) -> Json:
        """Reply in the thread of a message; of the bot's nth post in the channel if none is given."""
        root = to or self.talk.root(nth, channel)
        thread = root["thread_ts"] or root["ts"]
        return await self._say(f"replies: {text}", root["channel"], text, thread_ts=thread, **options)

    async def _say(self, doing: str, channel: str, text: str, **options: Any) -> Json:
        self.talk.note(f"{self.name} {doing}")
        message: Json = self._people.say(self.id, channel, text, **options)
        await self.talk.hears()
        return message

    async def edits(self, message: Json, text: str) -> None:
        """Change a message of their own."""
        self.talk.note(f"{self.name} edits {message['text']!r}: {text}")
        self._people.edit(self.id, message["channel"], message["ts"], text)
        await self.talk.hears()

    async def deletes(self, message: Json) -> None:
        """Delete a message of their own."""
        self.talk.note(f"{self.name} deletes {message['text']!r}")
        self._people.delete(self.id, message["channel"], message["ts"])
        await self.talk.hears()

    async def presses(self, label: str, on: Shown | None = None) -> None:
        """Press a button or choose an option by its label, in the newest message or form that has it."""
        shown = [on.message] if on else self._visible()
        for each in shown:
            actions = dict(controls_of(each["blocks"]))
            if label in actions:
                break
        else:
            labels = [text for each in shown for text, _ in controls_of(each["blocks"])]
            raise AssertionError(f"{self.name} sees no {label!r}, only {labels}")
        kind = "view" if "hash" in each else "ephemeral" if "id" in each else "message"
        container: Json = {"type": kind, **{key: each[key] for key in ("id", "channel", "ts") if key in each}}
        await self._act(f"presses [{label}]", self._people.press(self.id, container, actions[label]))

    def _visible(self) -> list[Json]:
        """Return the open form, and the messages that this person can see, the newest first."""
        state = self.talk.slack.state
        rooms = [room.id for room in state.channels.values() if self.id in room.members]
        posts = [message for room in rooms for message in state.messages.get(room, {}).values()]
        notes = [note for note in state.ephemerals.values() if note["user"] == self.id]
        views = [view for view in state.views.values() if view["user"] == self.id]
        views += [state.homes[self.id]] if self.id in state.homes else []
        return views + sorted([*posts, *notes], key=lambda each: str(each["ts"]), reverse=True)

    async def uses_shortcut(self, callback_id: str, on: Json) -> None:
        """Use a shortcut of a message."""
        using = self._people.shortcut(self.id, callback_id, on["channel"], on["ts"])
        await self._act(f"uses {callback_id} on {on['text']!r}", using)

    async def opens_home(self) -> Shown:
        """Open the bot's Home tab, and read it."""
        self.talk.note(f"{self.name} opens the Home tab")
        self._people.open_home(self.id)
        await self.talk.hears()
        view = self.talk.slack.state.homes[self.id]
        return Shown.of({**view, "text": words_of(view["blocks"])})

    def form(self) -> Shown:
        """Read the open form."""
        [view] = [each for each in self.talk.slack.state.views.values() if each["user"] == self.id]
        self.talk.mark_read(view)
        title, submit = (words_of(view.get(key)) for key in ("title", "submit"))
        return Shown.of({**view, "text": f"{title}\n{words_of(view['blocks'])}\n[{submit}]"})

    async def fills_in(self, **fields: str | list[str]) -> dict[str, str]:
        """Fill in the open form, by the names of its fields, and send it; return the errors that are shown.

        What is not given stays as it is shown. Of a menu the value of an option is given.
        """
        view = self.form().message
        values: Json = {}
        for block in view["blocks"]:
            if block["type"] == "input":
                element = block["element"]
                given = fields.pop(element["action_id"], None)
                values[block["block_id"]] = {element["action_id"]: _filled(element, given)}
        assert not fields, f"the form has no {list(fields)}, only {values}"
        self.talk.note(f"{self.name} sends the form")
        done = await self.talk.until_it_hangs(self._people.submit_view(self.id, view["id"], values))
        return dict((done or {}).get("errors") or {})

    def reads(self) -> list[Shown]:
        """Read what is new and only for this person: private answers, and direct messages of the bot."""
        slack = self.talk.slack
        notes = [each for each in slack.state.ephemerals.values() if each["user"] == self.id]
        direct = slack.state.messages.get(slack.state.im_of(self.id).id, {}).values()
        mine = sorted(
            [*notes, *(each for each in direct if each["bot_id"])], key=lambda each: str(each["ts"])
        )
        return [self.talk.mark_read(each) for each in mine if self.talk.is_unread(each)]

    @property
    def user(self) -> User:
        """Return the profile in the workspace."""
        return self.talk.slack.state.users[self.id]

    @property
    def _people(self) -> Any:
        return self.talk.slack.people

    def _room(self, channel: str) -> str:
        return self.talk.room(channel, self).id

    async def _act(self, doing: str, acting: Coroutine[Any, Any, Json]) -> None:
        """Do something that Slack hands to the bot at once. Slack's own error is a private answer."""
        self.talk.note(f"{self.name} {doing}")
        done = await self.talk.until_it_hangs(acting)
        if done is not None and not done["ok"]:
            self.talk.slack.state.add_ephemeral(self._room("dm"), self.id, text=done["detail"])


def _filled(element: Json, given: str | list[str] | None) -> Json:
    """Return the state of an input: what is given, or what it shows."""
    kind = element["type"]
    match kind:
        case "static_select" | "radio_buttons":
            chosen = [each for each in element["options"] if each["value"] == given]
            return {"type": kind, "selected_option": chosen[0] if chosen else element.get("initial_option")}
        case "checkboxes" | "multi_static_select":
            ticked = [each for each in element["options"] if each["value"] in (given or ())]
            return {
                "type": kind,
                "selected_options": element.get("initial_options") if given is None else ticked,
            }
        case "conversations_select" | "channels_select" | "users_select":
            name = kind.removesuffix("s_select")
            return {"type": kind, f"selected_{name}": given or element.get(f"initial_{name}")}
    return {"type": kind, "value": element.get("initial_value") if given is None else given}
