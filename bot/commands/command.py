"""What a command is made of: its name and help, and what it does with what people type, press and fill in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.commands.form_state import FormState
from bot.model import Message, Origin, UserId
from bot.work.context import Context


@dataclass(frozen=True, slots=True)
class Modal:
    """A dialogue to open, as Slack's view object (https://docs.slack.dev/reference/views/modal-views)."""

    view: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person gets back at once: a private message, a dialogue, or nothing.

    ``replaces``: the message takes the place of the one whose button was pressed.
    ``held_for``: it is not known yet whether this person may use the bot; nothing is shown before it is.
    ``later``: only Slack can tell what the answer is. Called after the acknowledgement, which shows nothing.
    ``then``: an act that nothing looks at again, and its words; done once it is known that the person may.
    ``stored``: what was asked is stored and looked at again; there who may not use the bot is told so.
    """

    message: Message | None = None
    modal: Modal | None = None
    replaces: bool = False
    held_for: UserId | None = None
    then: Callable[[], Awaitable[Message | None]] | None = None
    later: Callable[[], Awaitable[Answer]] | None = None
    stored: bool = False


@dataclass(frozen=True, slots=True)
class Invocation:
    """A slash command as it was typed. ``text`` is Slack's wire form: entities and ids in it."""

    origin: Origin
    command: str
    text: str


@dataclass(frozen=True, slots=True)
class Press:
    """A pressed button, or a choice from a menu (``value`` is then the option's)."""

    origin: Origin
    action_id: str
    value: str


@dataclass(frozen=True, slots=True)
class Submission:
    """A filled-in form. ``fields`` holds what stands in each input, by its action id; a text or None.

    ``form`` is what the form carried along; its channel and response URL are those of ``origin``.
    """

    origin: Origin
    callback_id: str
    fields: Mapping[str, str | None]
    form: FormState


@dataclass(frozen=True, slots=True)
class ShortcutUse:
    """A message shortcut used on somebody's message (``text`` in Slack's wire form)."""

    origin: Origin
    callback_id: str
    text: str


@dataclass(frozen=True, slots=True)
class FormErrors:
    """What is wrong with a dialogue, by action id; it stays open and shows this."""

    errors: Mapping[str, str]


Run = Callable[[Context, Invocation], Awaitable[Answer]]
PressRun = Callable[[Context, Press], Awaitable[Answer]]
SubmitRun = Callable[[Context, Submission], Awaitable[FormErrors | None]]
ShortcutRun = Callable[[Context, ShortcutUse], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Command:
    """One slash command with everything that belongs to it.

    The listeners, the help and the test of ``manifest.yml`` are all derived from these.
    """

    name: str
    usage_hint: str
    summary: str
    examples: tuple[str, ...]
    run: Run
    buttons: Mapping[str, PressRun]
    forms: Mapping[str, SubmitRun]
    shortcuts: Mapping[str, ShortcutRun]
