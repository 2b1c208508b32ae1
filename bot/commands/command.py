"""The parts of a slash command: its words, handlers, requests and forms, and who may use them."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Generic, TypeVar

from pydantic import SecretStr

from bot.access.admit import Allowed, Claimed, Declined, admit
from bot.context import Context
from bot.ids import ChannelId, JobNumber, Message, MessageTs
from bot.messages import slack_text
from bot.messages.blocks import bare
from bot.messages.general import unknown_project
from bot.messages.help import Here
from bot.ports import Origin
from bot.projects import Project, Projects, UnknownProject


@dataclass(frozen=True, slots=True)
class FormState:
    """Where a form was opened, for which job if it is for one, and the thread in which it starts one.

    ``about``: the key and the title of the row at which it was opened.
    """

    channel: ChannelId | None = None
    response_url: SecretStr | None = None
    job: JobNumber | None = None
    thread: MessageTs | None = None
    about: tuple[str, str] | None = None

    @classmethod
    def at(cls, origin: Origin, job: JobNumber | None = None, thread: MessageTs | None = None) -> FormState:
        """Return the state of a form that is opened in reply to a request with this origin."""
        return cls(origin.channel, origin.response_url, job, thread)

    def dumps(self) -> str:
        """Return the state as JSON."""
        url = self.response_url.get_secret_value() if self.response_url else None
        kept = {"channel": self.channel, "response_url": url, "job": self.job, "thread": self.thread}
        return json.dumps(kept | {"about": self.about})

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
        url, job, about = values.get("response_url"), values.get("job"), values.get("about")
        return cls(
            channel=ChannelId(values["channel"]) if values.get("channel") else None,
            response_url=SecretStr(url) if url else None,
            job=JobNumber(job) if isinstance(job, int) else None,
            thread=MessageTs(values["thread"]) if values.get("thread") else None,
            about=(str(about[0]), str(about[1])) if isinstance(about, list) and len(about) == 2 else None,
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """The immediate reply to a person: a private message, a form, or nothing.

    Nothing means that the request is stored or done; a worker tells the outcome.
    ``modal``: a form to open, as a Slack view object (https://docs.slack.dev/reference/views/modal-views).
    ``replaces``: the message replaces the one whose button was pressed.
    """

    message: Message | None = None
    modal: Mapping[str, Any] | None = None
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class _Request:
    """What everybody sends to the bot. ``allowed``: who sent it, and that they may."""

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
    """A message shortcut used on somebody's message. ``text`` is the message's wire text."""

    text: str


@dataclass(frozen=True, slots=True)
class FormErrors:
    """Error messages by action id. The form stays open and shows them."""

    errors: Mapping[str, str]


Request = TypeVar("Request", Invocation, Press, Submission, ShortcutUse)


@dataclass(frozen=True, slots=True)
class Arrived(Generic[Request]):
    """A request of somebody of whom it is not known yet whether they may.

    ``request_of`` returns it as the request of who was let in. ``channel``: where the bot must be set up for
    it; None for anywhere. ``typed``: what Slack does not show any more, to copy.
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
    """One thing that people can say to a command, and all that is known of it.

    What runs, the help, the command's usage hint, what works after a mention and the access tests follow from
    it; a test looks for it in the tables of docs/jobs.md and docs/visitors.md.

    ``usage``: how it is typed; words in capitals stand for what people write.
    ``shape``: a regular expression that the whole plain text matches, in any case and in linear time.
    ``tells``: what it does, in one sentence.
    ``run``: carries it out, with the match of ``shape``. ``of_job`` makes one that is given a job.
    ``example``: what the help shows, where that is more than the usage.
    ``hint``: how the usage hint names it; empty leaves it out.
    ``after_mention``: the shape that means it after a mention of the bot, if another; None if nothing does.
    ``if_several``: it means something only where the bot serves several projects.
    ``in_help``: it stands in the short help of its command.
    ``head``: its first word, if ``usage`` does not begin with it. ``takes``: whether its own parser takes
    what follows that word. After a mention, others of its texts are prompts.
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

    def match(self, plain: str, projects: Projects, *, after_mention: bool = False) -> re.Match[str] | None:
        """Return the match if this is what a plain text means."""
        shape = (self.after_mention or self.shape) if after_mention else self.shape
        if (after_mention and self.after_mention is None) or (self.if_several and not projects.are_several):
            return None
        if after_mention and self.takes is not None and not self.takes(" ".join(plain.split()[1:])):
            return None
        return _compiled(shape).fullmatch(plain)


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command with its words and its handlers.

    ``other`` takes the texts that are none of the ``words``, and ``alone`` the command without a text.
    ``also`` returns what its short help says below its words, in mrkdwn.
    ``full_help`` is its paragraph of the whole help about options, in mrkdwn.
    ``takes_project``: a project that is named at the start or the end of the text is not part of it.
    ``take_project`` returns a text without its project, and that. ``misunderstood`` returns the answer to an
    error of a text, and gets whether it meant one of ``words``; None for an error that it does not know.
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
    take_project: TakeProject = Projects.take
    misunderstood: Callable[[Exception, Projects, bool], Message | None] = lambda *_: None
    asks_help: Callable[[str], bool] = lambda _plain: False
    full_help: str = ""

    @property
    def all_words(self) -> tuple[Word, ...]:
        """The words in the order in which people read of them."""
        return self.other, self.alone, *self.words

    @property
    def usage_hint(self) -> str:
        """What Slack shows beside the command while somebody types it."""
        return " | ".join(word.hint for word in self.all_words if word.hint)

    def meaning(
        self, text: str, projects: Projects, *, after_mention: bool = False
    ) -> tuple[Word, re.Match[str]] | None:
        """Return the word that a wire text without a project means, with the match of its shape.

        Only after a mention is there a text that means none.
        """
        plain = slack_text.to_plain(text, {}, {}).strip()
        plain = "" if slack_text.is_blank(plain) else "help" if self.asks_help(plain) else plain
        for word in (*self.words, self.alone, self.other):
            if found := word.match(plain, projects, after_mention=after_mention):
                return word, found
        return None

    async def run(self, context: Context, invocation: Invocation) -> Answer:
        """Run the word that the text means, for the project that the text names."""
        words, project = invocation.text, None
        try:
            if self.takes_project:
                words, project = self.take_project(context.projects, words)
            meaning = self.meaning(words, context.projects)
            if meaning is None:
                raise LookupError(f"a text that no word of {self.name} takes")
            word, found = meaning
            return await word.run(context, replace(invocation, words=words, project=project), found)
        except (UnknownProject, ValueError) as why:
            meaning = self.meaning(words, context.projects)
            is_word = meaning is not None and meaning[0] in self.words
            if (answer := self.misunderstood(why, context.projects, is_word)) is None:
                raise
            return Answer(message=answer)


async def run_if_allowed(
    context: Context,
    arrived: Arrived[Request],
    run: Callable[[Context, Request], Awaitable[Answer | FormErrors | None]],
) -> Answer | FormErrors | None:
    """Run a request if its sender may use the bot. Otherwise return why not, and what they typed to copy."""
    try:
        allowed = await admit(context, arrived.origin, channel=arrived.channel)
        return await run(context, arrived.request_of(allowed))
    except Declined as why:
        return _told(arrived, why.answer(arrived.typed, is_form=arrived.is_form))
    except UnknownProject as unknown:
        text = slack_text.to_plain(unknown.text, {}, {})
        return _told(arrived, unknown_project(unknown.name, context.projects, text))


def _told(arrived: Arrived[Request], message: Message) -> Answer | FormErrors:
    return FormErrors({"prompt": bare(message)}) if arrived.is_form else Answer(message=message)


def number_in(value: str | None) -> int:
    """Return the number that a button or a field has as its value; 0, which no row has, if it has none."""
    return int(value) if value and value.isdecimal() and len(value) < 10 else 0
