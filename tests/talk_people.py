"""The people of a conversation: their acts in Slack, and their messages."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sandbox.workspace.state import Json, User

if TYPE_CHECKING:
    from tests.talk import Talk


class Shown(str):
    """The text of a message, as in a notification."""

    message: Json

    @classmethod
    def of(cls, message: Json) -> Shown:
        """Return the present text of a message."""
        text = cls((message.get("text") or "").replace("\xa0", " "))
        text.message = dict(message)
        return text

    @property
    def blocks(self) -> str:
        """Return the text of the blocks, with each button in brackets."""
        return "\n".join(filter(None, map(words_of, self.message["blocks"] or [])))

    @property
    def buttons(self) -> list[str]:
        """Return the labels of the buttons and of the options of menus."""
        return [label for label, _ in controls_of(self.message["blocks"])]


def words_of(part: Any) -> str:
    """Return the text of a block or of its part."""
    if isinstance(part, list):
        return " ".join(filter(None, map(words_of, part)))
    if not isinstance(part, dict):
        return part if isinstance(part, str) else ""
    if part.get("type") == "button":
        return f"[{part['text']['text']}]"
    inside = (
        "title",
        "label",
        "text",
        "fields",
        "elements",
        "accessory",
        "element",
        "options",
        "rows",
    )
    return words_of([part[key] for key in inside if key in part])


def controls_of(part: Any) -> Iterator[tuple[str, Json]]:
    """Yield the label and the action of each button and each option of a menu."""
    if isinstance(part, list):
        for item in part:
            yield from controls_of(item)
    if not isinstance(part, dict):
        return
    if "action_id" in part:
        action = {key: part[key] for key in ("type", "action_id", "value") if key in part}
        if part["type"] == "button":
            yield part["text"]["text"], action
        for option in part.get("options") or []:
            yield option["text"]["text"], {**action, "selected_option": option}
    for key in ("elements", "accessory", "element"):
        for label, action in controls_of(part.get(key)):
            yield label, {"block_id": part.get("block_id"), **action}


@dataclass(eq=False)
class Person:
    """A person in the workspace: acts in Slack, and reads private messages."""

    talk: Talk
    id: str
    name: str

    def __repr__(self) -> str:
        return self.name

    async def types(self, line: str, channel: str = "docs") -> None:
        """Type a slash command."""
        command, _, text = line.partition(" ")
        await self._act(
            f"types in {channel}: {line}",
            self._people.command(self.id, self._room(channel), command, text),
        )

    async def asks(self, prompt: str, channel: str = "docs") -> None:
        """Ask for a job with ``/docs-agent``."""
        await self.types(f"/docs-agent {prompt}", channel)

    async def answer_to(self, line: str, channel: str = "docs") -> Shown:
        """Type a slash command, and read its one private answer."""
        before = set(self.talk.slack.state.ephemerals)
        await self.types(line, channel)
        new = [note for key, note in self.talk.slack.state.ephemerals.items() if key not in before]
        assert len(new) == 1, f"{len(new)} private answers"
        return self.talk.mark_read(new[0])

    async def says(self, text: str, channel: str = "docs", **options: Any) -> Json:
        """Write a message outside threads.

        ``files``: names and texts. ``forwards``: a message. ``table``: rows that are pasted.
        """
        return await self._say(f"says in {channel}: {text}", self._room(channel), text, **options)

    async def replies(
        self, text: str, to: Json | None = None, nth: int = 1, channel: str = "docs", **options: Any
    ) -> Json:
        """Reply in the thread of a message, by default of the bot's nth post in the channel."""
        root = to or self.talk.root(nth, channel)
        thread = root["thread_ts"] or root["ts"]
        return await self._say(
            f"replies: {text}", root["channel"], text, thread_ts=thread, **options
        )

    async def _say(self, doing: str, channel: str, text: str, **options: Any) -> Json:
        self.talk.note(f"{self.name} {doing}")
        message: Json = self._people.say(self.id, channel, text, **options)
        await self.talk.hears()
        return message

    async def edits(self, message: Json, text: str, **options: Any) -> None:
        """Change a message of their own. ``table``: rows that are pasted into it."""
        self.talk.note(f"{self.name} edits {message['text']!r}: {text}")
        self._people.edit(self.id, message["channel"], message["ts"], text, **options)
        await self.talk.hears()

    async def deletes(self, message: Json) -> None:
        """Delete a message of their own."""
        self.talk.note(f"{self.name} deletes {message['text']!r}")
        self._people.delete(self.id, message["channel"], message["ts"])
        await self.talk.hears()

    async def presses(self, label: str, on: Shown | None = None) -> None:
        """Press a button or choose an option by its label, in the newest message or form with it."""
        messages = [on.message] if on else self._visible()
        for message in messages:
            actions = dict(controls_of(message["blocks"]))
            if label in actions:
                break
        else:
            labels = [text for message in messages for text, _ in controls_of(message["blocks"])]
            raise AssertionError(f"{self.name} sees no {label!r}, only {labels}")
        kind = "view" if "hash" in message else "ephemeral" if "id" in message else "message"
        container = {key: message[key] for key in ("id", "channel", "ts") if key in message} | {
            "type": kind
        }
        await self._act(
            f"presses [{label}]", self._people.press(self.id, container, actions[label])
        )

    def _visible(self) -> list[Json]:
        """Return the open form and the visible messages, newest first."""
        state = self.talk.slack.state
        rooms = [room.id for room in state.channels.values() if self.id in room.members]
        posts = [message for room in rooms for message in state.messages.get(room, {}).values()]
        notes = [note for note in state.ephemerals.values() if note["user"] == self.id]
        views = [view for view in state.views.values() if view["user"] == self.id]
        views += [state.homes[self.id]] if self.id in state.homes else []
        return views + sorted(
            [*posts, *notes], key=lambda message: str(message["ts"]), reverse=True
        )

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
        [view] = [view for view in self.talk.slack.state.views.values() if view["user"] == self.id]
        self.talk.mark_read(view)
        title, submit = (words_of(view.get(key)) for key in ("title", "submit"))
        return Shown.of({**view, "text": f"{title}\n{words_of(view['blocks'])}\n[{submit}]"})

    async def fills_in(self, **fields: str | list[str]) -> dict[str, str]:
        """Fill in the open form by the names of its fields, send it, and return its errors.

        Other fields keep their values. A menu takes the value of an option.
        """
        view = self.form().message
        values: Json = {}
        for block in view["blocks"]:
            if block["type"] == "input":
                element = block["element"]
                entry = fields.pop(element["action_id"], None)
                values[block["block_id"]] = {element["action_id"]: _filled(element, entry)}
        assert not fields, f"the form has no {list(fields)}, only {values}"
        self.talk.note(f"{self.name} sends the form")
        done = await self.talk.until_it_hangs(self._people.submit_view(self.id, view["id"], values))
        return dict((done or {}).get("errors") or {})

    def reads(self) -> list[Shown]:
        """Read the new private answers and direct messages of the bot."""
        slack = self.talk.slack
        notes = [
            message for message in slack.state.ephemerals.values() if message["user"] == self.id
        ]
        direct = slack.state.messages.get(slack.state.im_of(self.id).id, {}).values()
        messages = [*notes, *(message for message in direct if message["bot_id"])]
        messages.sort(key=lambda message: str(message["ts"]))
        return [
            self.talk.mark_read(message) for message in messages if self.talk.is_unread(message)
        ]

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
        """Carry out an act that Slack passes to the bot at once; its error is a private answer."""
        self.talk.note(f"{self.name} {doing}")
        done = await self.talk.until_it_hangs(acting)
        if done is not None and not done["ok"]:
            self.talk.slack.state.add_ephemeral(self._room("dm"), self.id, text=done["detail"])


def _filled(element: Json, entry: str | list[str] | None) -> Json:
    """Return the state of an input: the entry, or else its initial value."""
    kind = element["type"]
    match kind:
        case "static_select" | "radio_buttons":
            chosen = [option for option in element["options"] if option["value"] == entry]
            return {
                "type": kind,
                "selected_option": chosen[0] if chosen else element.get("initial_option"),
            }
        case "checkboxes" | "multi_static_select":
            ticked = [option for option in element["options"] if option["value"] in (entry or ())]
            return {
                "type": kind,
                "selected_options": element.get("initial_options") if entry is None else ticked,
            }
        case "conversations_select" | "channels_select" | "users_select":
            name = kind.removesuffix("s_select")
            return {"type": kind, f"selected_{name}": entry or element.get(f"initial_{name}")}
    return {"type": kind, "value": element.get("initial_value") if entry is None else entry}
