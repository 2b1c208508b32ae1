"""What a command is made of: its name and help, and what it does with what people type, press and fill in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.commands.form_state import FormState
from bot.model import Message, Origin
from bot.work.context import Context


@dataclass(frozen=True, slots=True)
class Modal:
    """A form to open, as Slack's view object (https://docs.slack.dev/reference/views/modal-views)."""

    view: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person gets back at once: a private message, a form, or nothing.

    Nothing means that the request is stored, or done; a worker tells what comes of it.
    ``replaces``: the message takes the place of the one whose button was pressed.
    ``later``: only Slack can tell who may, so the answer is decided after the acknowledgement, which shows
    nothing. Made by ``commands/guard.py``.
    """

    message: Message | None = None
    modal: Modal | None = None
    replaces: bool = False
    later: Callable[[], Awaitable[Answer]] | None = None

    @property
    def shows(self) -> bool:
        """Whether the person sees something now."""
        return self.later is None and (self.message is not None or self.modal is not None)

    async def decided(self) -> Answer:
        """Return what is shown in the end. Call it after the acknowledgement: it may ask Slack."""
        answer = self
        while answer.later is not None:
            answer = await answer.later()
        return answer


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
    """What is wrong with a form, by action id; it stays open and shows this."""

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
