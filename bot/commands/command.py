"""Slash commands: their words, handlers, requests and forms, who may use them, and their help."""

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
from bot.messages import slack_text
from bot.messages.blocks import Action, bare
from bot.messages.general import unknown_project
from bot.messages.help import CommandHelp, Here, full_help, short_help
from bot.messages.plain_text import without_quotation_marks
from bot.ports import Content, Origin
from bot.projects import Project, Projects, UnknownProject
from bot.store import Transaction
from bot.store.channels import Channels


@dataclass(frozen=True, slots=True)
class FormState:
    """The origin of a form: its channel, its job if it has one, and the thread for a new job.

    ``about``: the key and the title of the row at which it was opened.
    """

    channel: ChannelId | None = None
    response_url: SecretStr | None = None
    job: JobNumber | None = None
    thread: MessageTs | None = None
    about: tuple[str, str] | None = None

    @classmethod
    def at(
        cls, origin: Origin, job: JobNumber | None = None, thread: MessageTs | None = None
    ) -> FormState:
        """Return the state of a form that is opened in reply to a request with this origin."""
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
        return json.dumps(values | {"about": self.about})

    @classmethod
    def loads(cls, text: str) -> FormState:
        """Return the state from its JSON, or an empty state if it is malformed.

        Slack signs its requests, so the text is the bot's own, but another version may have written it.
        """
        try:
            values = json.loads(text or "{}")
        except ValueError:
            return cls()
        if not isinstance(values, dict):
            return cls()
        url, job, row = values.get("response_url"), values.get("job"), values.get("about")
        return cls(
            channel=ChannelId(values["channel"]) if values.get("channel") else None,
            response_url=SecretStr(url) if url else None,
            job=JobNumber(job) if isinstance(job, int) else None,
            thread=MessageTs(values["thread"]) if values.get("thread") else None,
            about=(str(row[0]), str(row[1])) if isinstance(row, list) and len(row) == 2 else None,
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """The immediate reply to a person: a private message, a form, or nothing.

    Without one, the request is stored or done, and a worker posts the outcome.
    ``modal``: a form to open, as a Slack view object (https://docs.slack.dev/reference/views/modal-views).
    ``replaces``: the message replaces the one whose button was pressed.
    """

    message: Message | None = None
    modal: Mapping[str, Any] | None = None
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class _Request:
    """A request to the bot. ``allowed``: its sender, who may use the bot."""

    allowed: Allowed

    @property
    def origin(self) -> Origin:
        """Where it came from."""
        return self.allowed.origin


@dataclass(frozen=True, slots=True)
class Invocation(_Request):
    """A command as it was typed. ``text`` is Slack's wire text, with entities and ids.

    ``command`` is the slash command, and empty for words after a mention of the bot. A word is run with
    ``words``, the text without the project that it names, and with that ``project``.
    """

    command: str
    text: str
    words: str = ""
    project: Project | None = None


@dataclass(frozen=True, slots=True)
class Press(_Request):
    """A pressed button or a selected menu option. ``value`` is that of the button or the option."""

    action_id: str
    value: str


@dataclass(frozen=True, slots=True)
class Submission:
    """A submitted form. ``fields`` maps the action id of each input to its text, or to None if it is empty.

    ``form`` is the state that the form was opened with.
    """

    claimed: Claimed
    fields: Mapping[str, str | None]
    form: FormState


@dataclass(frozen=True, slots=True)
class ShortcutUse(_Request):
    """A message shortcut used on somebody's message."""

    content: Content


@dataclass(frozen=True, slots=True)
class FormErrors:
    """Error messages by action id. The form stays open and shows them."""

    errors: Mapping[str, str]


Request = TypeVar("Request", Invocation, Press, Submission, ShortcutUse)


@dataclass(frozen=True, slots=True)
class Arrived(Generic[Request]):
    """A request whose sender is not yet admitted.

    ``request_of`` returns the request of the admitted sender. ``channel``: the bot must be set up there;
    None for any channel. ``typed``: the text that Slack no longer shows, to copy.
    """

    origin: Origin
    request_of: Callable[[Allowed], Request]
    channel: ChannelId | None = None
    typed: str = ""
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

    The help, the usage hint, mentions and the access tests use it; a test searches for it in the tables of
    docs/jobs.md and docs/visitors.md.

    ``usage``: how it is typed; words in capitals stand for people's own text.
    ``shape``: a regular expression that the whole plain text matches, in any case and in linear time.
    ``tells``: its effect, in one sentence.
    ``run``: its handler, which gets the match of ``shape``. ``of_job`` makes one that gets a job.
    ``example``: the text in the help, if it is more than the usage.
    ``hint``: its name in the usage hint; empty omits it.
    ``after_mention``: its shape after a mention of the bot, if another; None if it does not work there.
    ``if_several``: it works only where the bot serves several projects.
    ``in_help``: it stands in the short help of its command.
    ``head``: its first word, if ``usage`` does not begin with it. ``takes``: whether its own parser takes
    the text after that word. After a mention, other texts are prompts.
    """

    usage: str
    shape: str
    tells: str
    run: WordRun
    example: str = ""
    hint: str = ""
    after_mention: str | None = ""
    if_several: bool = False
    in_help: bool = False
    head: str = ""
    takes: Callable[[str], bool] | None = None

    def match(
        self, plain: str, projects: Projects, *, after_mention: bool = False
    ) -> re.Match[str] | None:
        """Return the match if a plain text means this word."""
        shape = (self.after_mention or self.shape) if after_mention else self.shape
        if (after_mention and self.after_mention is None) or (
            self.if_several and not projects.are_several
        ):
            return None
        if after_mention and self.takes is not None and not self.takes(" ".join(plain.split()[1:])):
            return None
        return _compiled(shape).fullmatch(plain)


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command with its words and its handlers.

    ``other`` takes the texts that are none of the ``words``, and ``alone`` the command without a text.
    ``also`` returns the lines of its short help below its words, in mrkdwn.
    ``full_help`` is its paragraph of the whole help about options, in mrkdwn.
    ``takes_project``: a project at the start or the end of the text is not part of the text.
    ``take_project`` splits a text into its text and its project. ``misunderstood`` returns the answer to an
    error of a text, which it gets; None for errors of other kinds.
    ``has_options_only``: quotation marks around its words mean nothing, which phones put in.
    ``asks_help`` returns whether a plain text asks for help in other words.
    ``buttons`` maps action ids to handlers; ``forms`` and ``shortcuts`` map callback ids.
    """

    name: str
    summary: str
    other: Word
    alone: Word
    words: tuple[Word, ...]
    also: Callable[[Here], str]
    buttons: Mapping[str, PressRun] = field(default_factory=dict)
    forms: Mapping[str, SubmitRun] = field(default_factory=dict)
    shortcuts: Mapping[str, ShortcutRun] = field(default_factory=dict)
    takes_project: bool = True
    has_options_only: bool = False
    take_project: TakeProject = Projects.take
    misunderstood: Callable[[Exception, Projects, str], Message | None] = lambda *_: None
    asks_help: Callable[[str], bool] = lambda _plain: False
    full_help: str = ""

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
        """Return the word that a wire text without a project means, with the match of its shape.

        Returns None for other texts after a mention.
        """
        plain = slack_text.to_plain(text, {}, {}).strip()
        if self.has_options_only:
            plain = without_quotation_marks(plain)
        plain = "" if slack_text.is_blank(plain) else "help" if self.asks_help(plain) else plain
        for word in (*self.words, self.alone, self.other):
            if match := word.match(plain, projects, after_mention=after_mention):
                return word, match
        return None

    async def run(self, context: Context, invocation: Invocation) -> Answer:
        """Run the word that the text means, for the project that the text names."""
        text, project = invocation.text, None
        try:
            if self.takes_project:
                text, project = self.take_project(context.projects, text)
            meaning = self.meaning(text, context.projects)
            if meaning is None:
                raise LookupError(f"a text that no word of {self.name} takes")
            word, match = meaning
            return await word.run(context, replace(invocation, words=text, project=project), match)
        except (UnknownProject, ValueError) as error:
            if (answer := self.misunderstood(error, context.projects, invocation.text)) is None:
                raise
            return Answer(message=answer)


async def run_if_allowed(
    context: Context,
    arrived: Arrived[Request],
    run: Callable[[Context, Request], Awaitable[Answer | FormErrors | None]],
) -> Answer | FormErrors | None:
    """Run a request if its sender may use the bot. Otherwise return the reason and the text to copy."""
    try:
        allowed = await admit(context, arrived.origin, channel=arrived.channel)
        return await run(context, arrived.request_of(allowed))
    except Declined as error:
        return _told(arrived, error.answer(arrived.typed, is_form=arrived.is_form))
    except UnknownProject as unknown:
        text = slack_text.to_plain(unknown.text, {}, {})
        return _told(arrived, unknown_project(unknown.name, context.projects, text))


def _told(arrived: Arrived[Request], message: Message) -> Answer | FormErrors:
    return FormErrors({"prompt": bare(message)}) if arrived.is_form else Answer(message=message)


def number_in(value: str | None) -> int:
    """Return the number that a button or a field has as its value; 0, which no row has, if it has none."""
    return int(value) if value and value.isdecimal() and len(value) < 10 else 0


_SHAPE = r"help(?:\s+all)?"


def with_help(
    *commands: tuple[Command, str | None], asks_help: Callable[[str], bool]
) -> tuple[Command, ...]:
    """Return the commands with ``help`` among their words, the first with the button that shows all of it.

    Each comes with the regular expression of the words before ``help`` after a mention; None if no mention
    asks for its help. ``asks_help`` returns whether a plain text asks for help in other words.
    """
    every: list[Command] = []

    async def more(context: Context, press: Press) -> Answer:
        return await _full(context, press.origin, every)

    every.extend(
        _with_help(replace(command, asks_help=asks_help), before) for command, before in commands
    )
    every[0] = replace(every[0], buttons={**every[0].buttons, Action.HELP_MORE: more})
    return tuple(every)


def _with_help(command: Command, before: str | None) -> Command:
    async def show(context: Context, invocation: Invocation, _match: re.Match[str]) -> Answer:
        return await _short(context, invocation.origin, command)

    word = Word(
        "help",
        f"(?:{before})?{_SHAPE}" if before else _SHAPE,
        "Shows the main words.",
        show,
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
            by_mention=Channels(tx).is_by_mention(origin.channel),
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
    by_mention = await context.store.read(lambda tx: Channels(tx).is_by_mention(origin.channel))
    pages = [
        CommandHelp(
            command.name,
            command.summary,
            [
                (f"{command.name} {word.example or word.usage}".strip(), word.tells)
                for word in command.all_words
                if word.hint != "help" and (context.projects.are_several or not word.if_several)
            ],
            command.full_help,
        )
        for command in commands
    ]
    return Answer(modal=full_help(pages, context.projects, by_mention=by_mention))
