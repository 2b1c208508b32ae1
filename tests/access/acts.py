"""Every act of a person towards the bot, as the payloads that Slack sends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

from bot.commands.command import FormState, Word
from bot.ids import ChannelId, JobNumber
from bot.subjects import COMMANDS
from sandbox.workspace.state import BOT_ID, BOT_USER, Json
from tests.talk import Talk
from tests.talk_people import Person

WORDS = "Add Zebras everywhere"
"""A part of every text of these acts; the bot keeps it of nobody without access."""


@dataclass(frozen=True)
class Scene:
    """The actor, the channel in which they act, and another person's or their own work."""

    talk: Talk
    actor: Person
    here: str
    """A channel's name."""
    owner: Person
    requests: dict[int, Json]
    """The message that asked for each job; empty unless the actor is in its channel."""

    @property
    def channel(self) -> str:
        return self.talk.room(self.here, self.actor).id

    def place(self, *, by_bot: bool = False) -> Json:
        """Add a message for buttons and shortcuts, in the first job's thread if possible."""
        thread = self.requests[1]["ts"] if self.requests else None
        author = {"user": BOT_USER, "bot_id": BOT_ID} if by_bot else {"user": self.owner.id}
        message: Json = self.talk.slack.state.add_message(
            self.channel, text=WORDS, thread_ts=thread, **author
        )
        return message

    def place_privately(self) -> Json:
        """Add a message of the bot for the actor alone."""
        message: Json = self.talk.slack.state.add_ephemeral(self.channel, self.actor.id, text=WORDS)
        return message

    async def say(self, text: str, **options: object) -> None:
        """Say a text to the bot where the actor is."""
        mention = "" if self.here == "dm" else "@docs-agent "
        await self.actor.says(f"{mention}{text}", self.here, **options)


@dataclass(frozen=True)
class Act:
    """One act, about the job or question of a number.

    ``about``: that number. ``names``: it has the number, so that the bot answers about it.
    ``is_message``: others see it, too. ``is_quiet``: nobody without access gets an answer to it.
    ``is_change``: it changes a message, which only its author can. ``takes_back``: it withdraws a request,
    which everybody may. ``is_query``: its meaning is stored, and not its text. ``typed``: a command's text.
    """

    name: str
    run: Callable[[Scene, int], Awaitable[object]]
    about: int = 1
    names: bool = False
    is_message: bool = False
    is_quiet: bool = False
    is_change: bool = False
    takes_back: bool = False
    is_query: bool = False
    typed: str | None = None
    is_button: bool = False

    def __str__(self) -> str:
        return self.name


_JOB_OF = {"send_again": 3, "dismiss": 3, "withdraw": 5, "undo_review": 2}
"""The owner's job, prompt or question for which a button has an effect; others are for the first."""
_VALUES: dict[str, Callable[[Scene, int], str]] = {
    "jobs_older": lambda scene, _: f"0 {scene.channel}",
    "jobs_newer": lambda scene, _: f"0 {scene.channel}",
    "send_with_key": lambda _, number: f"command:9||{number}|{WORDS}",
    "see_reviews": lambda scene, _: f"0 review {scene.channel}",
    "see_needs_you": lambda *_: "0 mine needs ",
    "run_visitors": lambda *_: "last week",
    "use_repository": lambda *_: "acme-docs acme/other",
    "run_word": lambda _, number: f"/docs-agent|status {number}",
    "improve_miss": lambda _, number: f"{number}:0",
}
_PRIVATE = frozenset({"run_word"})
"""Buttons of private answers alone, which replace the message that has the button."""
_NAMELESS = frozenset(
    {
        "gaps_older",
        "gaps_newer",
        "jobs_older",
        "jobs_newer",
        "see_reviews",
        "see_needs_you",
        "run_visitors",
        "all_numbers",
        "take_missed",
        "use_repository",
        "help_more",
        "improve",
        "improve_miss",
        "hello_ask",
        "hello_ideas",
    }
)


def _press(
    action: str, value: Callable[[Scene, int], str]
) -> Callable[[Scene, int], Awaitable[Json]]:
    async def run(scene: Scene, number: int) -> Json:
        is_private = action in _PRIVATE
        message = scene.place_privately() if is_private else scene.place(by_bot=True)
        container = {**message, "type": "ephemeral" if is_private else "message"}
        pressed = {"type": "button", "action_id": action, "value": value(scene, number)}
        done: Json = await scene.talk.slack.people.press(scene.actor.id, container, pressed)
        return done

    return run


_WITH_TEXT = (
    "send_anyway",
    "just_answer",
    "answer_it",
    "change_it",
    "draft_page",
    "dont",
    "write_thread",
    "answer_thread",
)
"""Buttons that hold the text of a message."""
_ALIKE = {
    *_WITH_TEXT,
    *("improve_page", "send_to_job", "cancel", "leave_it"),
}
"""Of the others one each is as ``improve`` and ``send_anyway``, and the last two do nothing."""


def _buttons() -> Iterator[Act]:
    for action in _WITH_TEXT:
        yield Act(f"press {action}", _press(action, _question), is_button=True)
    for action in sorted({each for command in COMMANDS for each in command.buttons} - _ALIKE):
        value = _VALUES.get(action, lambda _, number: str(number))
        about, names = _JOB_OF.get(action, 1), action not in _NAMELESS
        yield Act(f"press {action}", _press(action, value), about, names, is_button=True)


def _question(scene: Scene, _number: int) -> str:
    return f"message:{scene.channel}:1700000700.000001|1700000700.000001||{WORDS}"


def _forms() -> Iterator[Act]:
    for callback in sorted({each for command in COMMANDS for each in command.forms}):
        yield Act(f"send the form {callback}", _form(callback), names=callback != "ask")


def _form(callback: str) -> Callable[[Scene, int], Awaitable[Json]]:
    async def run(scene: Scene, number: int) -> Json:
        people = scene.talk.slack.people
        state = FormState(
            ChannelId(scene.channel), None, None if callback == "ask" else JobNumber(number)
        )
        view = {
            "type": "modal",
            "callback_id": callback,
            "private_metadata": state.dumps(),
            "blocks": [],
        }
        shown = people.show_view(scene.actor.id, view)
        values = {"prompt": {"prompt": {"type": "plain_text_input", "value": WORDS}}}
        done = await people.submit_view(scene.actor.id, shown["id"], values)
        people.close_view(scene.actor.id, shown["id"])
        return done

    return run


def _shortcuts() -> Iterator[Act]:
    for callback in sorted({each for command in COMMANDS for each in command.shortcuts}):
        yield Act(f"use the shortcut {callback}", _shortcut(callback))


def _shortcut(callback: str) -> Callable[[Scene, int], Awaitable[None]]:
    return lambda scene, _: scene.actor.uses_shortcut(callback, scene.place())


_MEANS = {"42": "{}", "/api": "/Zebras", "acme": "other", "monday": "tuesday"}
"""What stands in the place of a word of a command's usage. Words in capitals are what people write."""


_LIKE_OTHERS = ("feedback", "questions", "pause", "resume")
"""Words that run what another one does: two as ``searches``, two as ``unsubscribe``."""


def _words() -> Iterator[tuple[str, Word, str]]:
    """Every word of a command, with the command's name and a text that means it."""
    for command in COMMANDS:
        for word in command.all_words:
            if word.usage in _LIKE_OTHERS:
                continue
            said = (
                WORDS if each.isupper() else _MEANS.get(each, each) for each in word.usage.split()
            )
            yield command.name, word, " ".join(said)


def _typed() -> Iterator[Act]:
    for command, word, usage in _words():
        more = (
            ["#{}"] if word.usage == "42 PROMPT" else ["jobs mine"] if word.usage == "jobs" else []
        )
        for text in (usage, *more):
            is_query = command == "/docs-visitors" and word.run.__name__ in (
                "_ask",
                "_ask_misses",
                "_digest",
            )
            name = f"type {command} {text}".strip()
            yield Act(
                name, _command(command, text), names="{}" in text, is_query=is_query, typed=text
            )


def _command(command: str, text: str) -> Callable[[Scene, int], Awaitable[None]]:
    return lambda scene, number: scene.actor.types(
        f"{command} {text.format(number)}".strip(), scene.here
    )


def _message(text: str) -> Callable[[Scene, int], Awaitable[None]]:
    return lambda scene, number: scene.say(text.format(number))


def _reply(text: str, files: int = 0) -> Callable[[Scene, int], Awaitable[None]]:
    async def run(scene: Scene, number: int) -> None:
        if scene.requests:
            shared = [("a.png", "x")] * files
            await scene.actor.replies(text.format(number), scene.requests[1], files=shared)

    return run


def _messages() -> Iterator[Act]:
    means = {text for _, word, text in _words() if word.after_mention == "" and "{}" not in text}
    for text in (WORDS, "thanks", "visitors path /Zebras", *sorted(means)):
        yield Act(f"mention: {text}", _message(text), is_message=True, is_quiet=text == "thanks")
    yield Act("mention: #1 …", _message("#{} " + WORDS), names=True, is_message=True)
    yield Act("aside", _message(f"aside {WORDS}"), is_message=True, is_quiet=True)
    for text in (WORDS, "jobs", "thanks", "#1"):
        run, quiet = _reply(f"@docs-agent {text}"), text == "thanks"
        yield Act(f"mention in the thread: {text}", run, is_message=True, is_quiet=quiet)
    for text, files in ((WORDS, 0), ("", 1), ("thanks", 0), ("merged", 0)):
        run, quiet = _reply(text, files), text in ("thanks", "merged")
        yield Act(f"reply: {text or 'a file'}", run, is_message=True, is_quiet=quiet)


async def _edit(scene: Scene, number: int) -> None:
    if scene.requests and scene.owner is scene.actor:
        await scene.owner.edits(scene.requests[number], f"@docs-agent {WORDS}")


async def _delete(scene: Scene, number: int) -> None:
    if scene.requests and scene.owner is scene.actor:
        await scene.owner.deletes(scene.requests[number])


def _changes() -> Iterator[Act]:
    for number, when in ((1, "was sent"), (5, "waits")):
        yield Act(f"edit a request that {when}", _edit, number, is_message=True, is_change=True)
    yield Act(
        "delete a request that waits", _delete, 5, is_message=True, is_change=True, takes_back=True
    )


def dealt(acts: Sequence[Act], share: int, shares: int) -> list[Act]:
    """Return one of several shares of acts. An act's name decides, so that a new act moves no other."""
    return [act for act in acts if crc32(act.name.encode()) % shares == share]


ACTS = (*_buttons(), *_forms(), *_shortcuts(), *_typed(), *_messages(), *_changes())
