"""Slash commands: their words, handlers, requests, forms and help."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Generic, TypeVar

from pydantic import SecretStr

from bot.access.admit import Allowed, Claimed, Declined, admit
from bot.context import Context
from bot.ids import ChannelId, JobNumber, Message, MessageTs, is_direct_message
from bot.intent.vocabulary import ButtonLabel
from bot.messages import slack_text
from bot.messages.blocks import Action, bare
from bot.messages.general import too_long, unknown_project
from bot.messages.help import CommandHelp, Here, full_help, short_help
from bot.ports import Content, Origin
from bot.projects import Project, Projects, UnknownProject
from bot.store import Transaction
from bot.store.channels import Channels


@dataclass(frozen=True, slots=True)
class FormState:
    """The origin of a form."""

    channel: ChannelId | None = None
    response_url: SecretStr | None = None
    job: JobNumber | None = None
    """The job that the form is about; None for a new one."""
    thread: MessageTs | None = None
    """The thread for a new job."""
    gap: tuple[str, str] | None = None
    """The key and the title of the row at which the form was opened."""

    @classmethod
    def at(
        cls, origin: Origin, job: JobNumber | None = None, thread: MessageTs | None = None
    ) -> FormState:
        """Return the state of a form that answers a request."""
        return cls(origin.channel, origin.response_url, job, thread)

    def dumps(self) -> str:
        """Return the state as JSON."""
        url = self.response_url.get_secret_value() if self.response_url else None
        values = {
            "channel": self.channel,
            "response_url": url,
            "job": self.job,
            "thread": self.thread,
        }
        return json.dumps(values | {"gap": self.gap})

    @classmethod
    def loads(cls, text: str) -> FormState:
        """Return the state from its JSON; an empty one if malformed.

        Slack signs its requests, so the text is the bot's own, but another version may have written
        it.
        """
        try:
            values = json.loads(text or "{}")
        except ValueError:
            return cls()
        if not isinstance(values, dict):
            return cls()
        url = values.get("response_url")
        job = values.get("job")
        row = values.get("gap")
        return cls(
            channel=ChannelId(values["channel"]) if values.get("channel") else None,
            response_url=SecretStr(url) if url else None,
            job=JobNumber(job) if isinstance(job, int) else None,
            thread=MessageTs(values["thread"]) if values.get("thread") else None,
            gap=(str(row[0]), str(row[1])) if isinstance(row, list) and len(row) == 2 else None,
        )


FillModal = Callable[[], Awaitable[Mapping[str, Any]]]
"""Returns the view that takes the place of an open one."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The immediate reply to a person: a private message or a form.

    Without one, the request is stored or done, and a worker posts the outcome.
    """

    message: Message | None = None
    modal: Mapping[str, Any] | None = None
    """A form to open, as a Slack view object. https://docs.slack.dev/reference/views/modal-views"""
    fill_modal: FillModal | None = None
    """Reads what the form shows while ``modal`` stands in its place; None if ``modal`` has it all.

    A form has to be open three seconds after the press.
    """
    replaces: bool = False
    """Whether the message replaces the one whose button was pressed."""


@dataclass(frozen=True, slots=True)
class _Request:
    """A request to the bot."""

    allowed: Allowed
    """The request of a sender who may use the bot."""

    @property
    def origin(self) -> Origin:
        """Where it came from."""
        return self.allowed.origin


@dataclass(frozen=True, slots=True)
class Invocation(_Request):
    """A command as it was typed."""

    command: str
    """The slash command; empty for words after a mention of the bot."""
    full_text: str
    """Slack's wire text, with entities and ids."""
    text: str = ""
    """The same without the project that it names."""
    project: Project | None = None
    """The project that the text names."""
    is_reworded: bool = False
    """Whether the bot has put the text for people's own words, which it does once."""


@dataclass(frozen=True, slots=True)
class Press(_Request):
    """A pressed button or a selected menu option."""

    action_id: str
    value: str
    """The value of the button or the option."""


@dataclass(frozen=True, slots=True)
class Submission:
    """A submitted form."""

    claimed: Claimed
    fields: Mapping[str, str | None]
    """The text of each input by its action id; None for an empty one."""
    form: FormState
    """The state with which the form was opened."""


@dataclass(frozen=True, slots=True)
class ShortcutUse(_Request):
    """A message shortcut used on somebody's message."""

    content: Content
    is_own: bool = False
    """Whether the person who uses it wrote the message."""


@dataclass(frozen=True, slots=True)
class FormErrors:
    """Error messages by action id. The form stays open and shows them."""

    errors: Mapping[str, str]


class TooLong(Declined):
    """Nothing was read of a text that is longer than Slack lets a message be.

    ``most``: its limit in characters.
    """

    def __init__(self, most: int) -> None:
        super().__init__("a text is too long")
        self.most = most

    def answer(self, text: str, *, is_form: bool) -> Message:
        """Return the limit. The text itself is too long to be shown, too."""
        del text, is_form
        return too_long(self.most)


Request = TypeVar("Request", Invocation, Press, Submission, ShortcutUse)


@dataclass(frozen=True, slots=True)
class Arrived(Generic[Request]):
    """A request whose sender is not yet admitted."""

    origin: Origin
    request_of: Callable[[Allowed], Request]
    """Returns the request of the admitted sender."""
    channel: ChannelId | None = None
    """The channel for which the bot must be set up; None for any."""
    text: str = ""
    """The text that Slack no longer shows, to copy."""
    is_form: bool = False


TakeProject = Callable[[Projects, str], tuple[str, Project | None]]
WordRun = Callable[[Context, Invocation, re.Match[str]], Awaitable[Answer]]
PressRun = Callable[[Context, Press], Awaitable[Answer]]
SubmitRun = Callable[[Context, Submission], Awaitable[FormErrors | None]]
ShortcutRun = Callable[[Context, ShortcutUse], Awaitable[Answer]]


_compiled = cache(partial(re.compile, flags=re.IGNORECASE | re.DOTALL))


@dataclass(frozen=True, slots=True)
class Word:
    """A subcommand: its shape, its help and its handler.

    The help, the usage hint, mentions and the access tests use it; a test searches for it in the
    tables of docs/jobs.md and docs/visitors.md.
    """

    usage: str
    """The text to type. Words in capitals stand for people's own text."""
    shape: str
    """A regular expression that the whole plain text matches, in any case and in linear time."""
    tells: str
    """Its effect, in one sentence."""
    run: WordRun
    """Its handler, which gets the match of ``shape``. ``of_job`` makes one that gets a job."""
    example: str = ""
    """The text in the help, if it is more than the usage."""
    hint: str = ""
    """Its name in the usage hint; empty if it is not there."""
    after_mention: str | None = ""
    """Its shape after a mention of the bot, if another; None if it does not work there."""
    if_several: bool = False
    """Whether it works only where the bot serves several projects."""
    in_help: bool = False
    """Whether it is in the short help of its command."""
    head: str = ""
    """Its first word, if ``usage`` does not begin with it."""
    takes: Callable[[str], bool] | None = None
    """Returns whether its own parser takes the text after ``head``.

    After a mention, other texts are prompts.
    """

    is_own_word: bool = False
    """Whether it is one of the bot's own words at every door, although people's text follows."""

    @property
    def has_own_text(self) -> bool:
        """Whether people's own text follows it: ``42 PROMPT``."""
        return any(part.isupper() for part in self.usage.split())

    def match(
        self, plain: str, projects: Projects, *, after_mention: bool = False
    ) -> re.Match[str] | None:
        """Return the match if a plain text means this word."""
        if self.if_several and not projects.are_several:
            return None
        if not after_mention:
            return _compiled(self.shape).fullmatch(plain)
        if self.after_mention is None:
            return None
        # The shape first: a parser of options takes longer.
        match = _compiled(self.after_mention or self.shape).fullmatch(plain)
        if match is None or self.takes is None:
            return match
        return match if self.takes(" ".join(plain.split()[1:])) else None


def _explain_nothing(_error: Exception, _projects: Projects, _text: str) -> None:
    """Explain nothing: the default for ``Command.misunderstood``."""


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command with its words and its handlers."""

    name: str
    summary: str
    other: Word
    """Takes the texts that are none of the ``words``."""
    alone: Word
    """Takes the command without a text."""
    words: tuple[Word, ...]
    also: Callable[[Here], str]
    """Returns the lines of its short help below its words, in mrkdwn."""
    buttons: Mapping[str, PressRun] = field(default_factory=dict)
    """The handlers of its buttons and menus by action id."""
    forms: Mapping[str, SubmitRun] = field(default_factory=dict)
    """The handlers of its forms by callback id."""
    shortcuts: Mapping[str, ShortcutRun] = field(default_factory=dict)
    """The handlers of its shortcuts by callback id."""
    takes_project: bool = True
    """Whether a project at the start or the end of the text is not part of the text."""
    has_options_only: bool = False
    """Whether quotation marks around its words mean nothing, which phones put in."""
    take_project: TakeProject = Projects.take
    """Splits a text into its text and its project."""
    misunderstood: Callable[[Exception, Projects, str], Message | None] = _explain_nothing
    """Returns the answer to an error of a text, which it gets; None for errors of other kinds."""
    labels: tuple[ButtonLabel, ...] = ()
    """The labels of its buttons, which people also say as words."""
    full_help: str = ""
    """Its paragraph of the whole help about options, in mrkdwn."""

    @property
    def all_words(self) -> tuple[Word, ...]:
        """The words in the order of the help."""
        return self.other, self.alone, *self.words

    @property
    def usage_hint(self) -> str:
        """The hint that Slack shows while somebody types the command."""
        return " | ".join(word.hint for word in self.all_words if word.hint)

    def meaning(
        self, text: str, projects: Projects, *, after_mention: bool = False
    ) -> tuple[Word, re.Match[str]] | None:
        """Return the word that a wire text means, with its match.

        The text is without a project.

        Returns None for other texts after a mention.
        """
        plain = slack_text.to_plain(text, {}, {}).strip()
        if self.has_options_only:
            plain = slack_text.without_quotation_marks(plain)
        if slack_text.is_blank(plain):
            plain = ""
        for word in (*self.words, self.alone, self.other):
            if match := word.match(plain, projects, after_mention=after_mention):
                return word, match
        return None

    async def run(self, context: Context, invocation: Invocation) -> Answer:
        """Run the word and use the project that the text names."""
        text = invocation.full_text
        project = None
        try:
            if self.takes_project:
                text, project = self.take_project(context.projects, text)
            meaning = self.meaning(text, context.projects)
            if meaning is None:
                raise LookupError(f"a text that no word of {self.name} takes")
            word, match = meaning
            return await word.run(context, replace(invocation, text=text, project=project), match)
        except (UnknownProject, ValueError) as error:
            answer = self.misunderstood(error, context.projects, invocation.full_text)
            if answer is None:
                raise
            return Answer(message=answer)


async def run_if_allowed(
    context: Context,
    arrived: Arrived[Request],
    run: Callable[[Context, Request], Awaitable[Answer | FormErrors | None]],
) -> Answer | FormErrors | None:
    """Run a request if its sender may use the bot.

    Otherwise return the reason, and the text to copy.
    """
    try:
        allowed = await admit(context, arrived.origin, channel=arrived.channel)
        return await run(context, arrived.request_of(allowed))
    except Declined as error:
        return _told(arrived, error.answer(arrived.text, is_form=arrived.is_form))
    except UnknownProject as unknown:
        text = slack_text.to_plain(unknown.text, {}, {})
        return _told(arrived, unknown_project(unknown.name, context.projects, text))


def _told(arrived: Arrived[Request], message: Message) -> Answer | FormErrors:
    return FormErrors({"prompt": bare(message)}) if arrived.is_form else Answer(message=message)


def number_in(value: str | None) -> int:
    """Return the number in the value of a button or a field.

    Returns 0, which no row has, for another value.
    """
    return int(value) if value and value.isdecimal() and len(value) < 10 else 0


_SHAPE = r"help(?:\s+all)?"


def with_help(*commands: tuple[Command, str | None]) -> tuple[Command, ...]:
    """Return the commands with ``help`` among their words.

    The first one gets the button that shows the whole help.

    Each comes with the regular expression of the words before ``help`` after a mention; None if no
    mention asks for its help.
    """
    every: list[Command] = []

    async def more(context: Context, press: Press) -> Answer:
        return await _full(context, press.origin, every)

    for command, before in commands:
        every.append(_with_help(command, before))
    buttons = {**every[0].buttons, Action.HELP_MORE: more}
    every[0] = replace(every[0], buttons=buttons)
    return tuple(every)


def _with_help(command: Command, before: str | None) -> Command:
    async def show(context: Context, invocation: Invocation, _match: re.Match[str]) -> Answer:
        return await _short(context, invocation.origin, command)

    word = Word(
        usage="help",
        shape=f"(?:{before})?{_SHAPE}" if before else _SHAPE,
        tells="Shows the main words.",
        run=show,
        hint="help",
        after_mention=None if before is None else f"{before}{_SHAPE}",
    )
    return replace(command, words=(*command.words, word))


async def _short(context: Context, origin: Origin, command: Command) -> Answer:
    def look(tx: Transaction) -> Here:
        return Here(
            context.bot_name,
            context.projects,
            context.project_of(tx, origin.channel).name,
            in_thread=origin.thread is not None,
            is_direct=is_direct_message(origin.channel),
            is_mention_only=Channels(tx).is_mention_only(origin.channel),
            can_answer=bool(context.discovery),
        )

    place = await context.store.read(look)
    rows = []
    for word in command.all_words:
        if word.in_help and (word.after_mention == "" or not place.in_thread):
            text = word.example or word.usage
            typed = place.mentioned(text) if place.in_thread else f"{command.name} {text}".strip()
            rows.append((typed, word.tells))
    command_help = CommandHelp(command.name, command.summary, rows)
    return Answer(message=short_help(command_help, command.also(place), place))


async def _full(context: Context, origin: Origin, commands: Sequence[Command]) -> Answer:
    is_mention_only = await context.store.read(
        lambda tx: Channels(tx).is_mention_only(origin.channel)
    )
    pages = []
    for command in commands:
        rows = []
        for word in command.all_words:
            if word.hint != "help" and (context.projects.are_several or not word.if_several):
                typed = f"{command.name} {word.example or word.usage}".strip()
                rows.append((typed, word.tells))
        pages.append(CommandHelp(command.name, command.summary, rows, command.full_help))
    return Answer(modal=full_help(pages, context.projects, is_mention_only=is_mention_only))
