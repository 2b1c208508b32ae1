"""The parts of a slash command: its help, its handlers, and the requests that they receive."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot import slack_text
from bot.commands.form_state import FormState
from bot.messages.help import CommandHelp, help_message
from bot.model.message import Message
from bot.model.origin import Origin
from bot.work.context import Context


@dataclass(frozen=True, slots=True)
class Modal:
    """A form to open, as a Slack view object (https://docs.slack.dev/reference/views/modal-views)."""

    view: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """The immediate reply to a person: a private message, a form, or nothing.

    Nothing means that the request is stored or done; a worker tells the outcome.
    ``replaces``: the message replaces the one whose button was pressed.
    ``is_refusal``: the message says that the person has no access.
    ``later``: only Slack can tell whether the person has access, so this is called after the
    acknowledgement, which shows nothing. Only ``commands/guard.py`` and its callers set it.
    """

    message: Message | None = None
    modal: Modal | None = None
    replaces: bool = False
    is_refusal: bool = False
    later: Callable[[], Awaitable[Answer]] | None = None

    @property
    def shows(self) -> bool:
        """Return whether the person sees something now."""
        return self.later is None and (self.message is not None or self.modal is not None)

    async def decided(self) -> Answer:
        """Return the final answer. Call it after the acknowledgement, because it may call Slack."""
        answer = self
        while answer.later is not None:
            answer = await answer.later()
        return answer


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command as it was typed. ``text`` is Slack's wire text, with entities and ids.

    ``command`` is the slash command, and empty for words after a mention of the bot.
    """

    origin: Origin
    command: str
    text: str

    @property
    def typed(self) -> str:
        """What Slack does not show any more, to copy; empty after a mention, which stays in the channel."""
        return f"{self.command} {slack_text.to_plain(self.text, {}, {})}".strip() if self.command else ""


@dataclass(frozen=True, slots=True)
class Press:
    """A pressed button or a selected menu option. ``value`` is that of the button or the option."""

    origin: Origin
    action_id: str
    value: str


@dataclass(frozen=True, slots=True)
class Submission:
    """A submitted form. ``fields`` maps the action id of each input to its text, or to None if it is empty.

    ``form`` is the state that the form was opened with. Its channel and response URL are also in ``origin``.
    """

    origin: Origin
    callback_id: str
    fields: Mapping[str, str | None]
    form: FormState


@dataclass(frozen=True, slots=True)
class ShortcutUse:
    """A message shortcut used on somebody's message. ``text`` is the message's wire text."""

    origin: Origin
    callback_id: str
    text: str


@dataclass(frozen=True, slots=True)
class FormErrors:
    """Error messages by action id. The form stays open and shows them."""

    errors: Mapping[str, str]


Run = Callable[[Context, Invocation], Awaitable[Answer]]
MeantBy = Callable[[Context, str], str | None]
PressRun = Callable[[Context, Press], Awaitable[Answer]]
SubmitRun = Callable[[Context, Submission], Awaitable[FormErrors | None]]
ShortcutRun = Callable[[Context, ShortcutUse], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command with its help and its handlers.

    The listeners, the help and the test of ``manifest.yml`` are derived from the commands.
    ``meant_by`` returns the text of the command that words after a mention mean, or None if they mean another
    command or are a prompt.
    ``buttons`` maps action ids to handlers; ``forms`` and ``shortcuts`` map callback ids.
    """

    name: str
    usage_hint: str
    summary: str
    examples: tuple[str, ...]
    run: Run
    meant_by: MeantBy
    buttons: Mapping[str, PressRun]
    forms: Mapping[str, SubmitRun]
    shortcuts: Mapping[str, ShortcutRun]


def with_help(*commands: Command) -> tuple[Command, ...]:
    """Return the commands so that each of them answers ``help`` with the help of all."""
    pages = [CommandHelp(each.name, each.usage_hint, each.summary, each.examples) for each in commands]

    def helped(command: Command) -> Command:
        async def run(context: Context, invocation: Invocation) -> Answer:
            if invocation.text.strip().lower() == "help":
                return Answer(message=help_message(pages, context.projects))
            return await command.run(context, invocation)

        return replace(command, run=run)

    return tuple(map(helped, commands))
