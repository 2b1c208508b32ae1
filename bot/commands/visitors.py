"""``/docs-visitors``: questions about visitors, people and AI, and the weekly digest."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from bot.commands.command import Answer, Command, FormState, Invocation, Press, Word, number_in
from bot.commands.job_lists import projects_to_choose
from bot.commands.periods import BadPeriod, UnknownPeriod
from bot.commands.visitors_options import (
    Misunderstood,
    parse_misses,
    parse_query,
    parse_section,
    parse_weekly,
)
from bot.context import Context
from bot.ids import Message, PageKey, ProjectId, QuestionId, SubscriptionId
from bot.messages import forms, slack_text, visitors_answers
from bot.messages.blocks import Action
from bot.messages.general import unknown_in_options
from bot.messages.help import about_periods
from bot.messages.misses import asked_about
from bot.model.jobs import About
from bot.model.misses import Topic, page_key
from bot.projects import Project, Projects, UnknownProject
from bot.store.questions import Questions
from bot.store.snapshots import Pages
from bot.work.visitors.misses import ask_misses, prompt_of
from bot.work.visitors.question import ask_visitors, more, send_csv, share
from bot.work.visitors.subscriptions import (
    SubscribeRequest,
    digest_now,
    list_subscriptions,
    subscribe,
    unsubscribe,
    unsubscribe_one,
)

NAME = "/docs-visitors"


def _take_project(projects: Projects, text: str) -> tuple[str, Project | None]:
    return projects.take_any(slack_text.to_plain(text, {}, {}))


def _misunderstood(error: Exception, projects: Projects, is_word: bool) -> Message | None:
    if isinstance(error, UnknownProject):
        return visitors_answers.misunderstood(unknown_in_options(error.name, projects), about_digest=is_word)
    if isinstance(error, Misunderstood):
        return visitors_answers.misunderstood(str(error), about_digest=is_word)
    return None


def _chosen(invocation: Invocation) -> ProjectId | None:
    return invocation.project.id if invocation.project else None


async def _ask(context: Context, invocation: Invocation, found: re.Match[str]) -> Answer:
    query = parse_query(found[1], context.clock(), context.analytics.zone)
    await ask_visitors(context, invocation.allowed, query, _chosen(invocation))
    return Answer()


async def _ask_misses(context: Context, invocation: Invocation, found: re.Match[str]) -> Answer:
    topic = Topic(found[1].lower())
    query = parse_misses(topic, found[2], context.clock(), context.analytics.zone)
    refusal = await ask_misses(context, invocation.allowed, query, _chosen(invocation))
    return Answer(message=refusal)


async def _ideas(context: Context, press: Press) -> Answer:
    query = parse_misses(Topic.SEARCHES, "", context.clock(), context.analytics.zone)
    return Answer(message=await ask_misses(context, press.allowed, query, None))


async def _subscribe(context: Context, invocation: Invocation, found: re.Match[str]) -> Answer:
    weekly = parse_weekly(found[1])
    request = SubscribeRequest(
        invocation.allowed, weekly.weekday, weekly.at, weekly.zone, weekly.section, _chosen(invocation)
    )
    return Answer(message=await subscribe(context, request))


async def _unsubscribe(context: Context, invocation: Invocation, found: re.Match[str]) -> Answer:
    section = parse_section(found[1])
    return Answer(message=await unsubscribe(context, invocation.allowed, section, _chosen(invocation)))


async def _unsubscribe_one(context: Context, press: Press) -> Answer:
    number = SubscriptionId(number_in(press.value))
    return Answer(message=await unsubscribe_one(context, press.allowed, number), replaces=True)


async def _subscriptions(context: Context, invocation: Invocation, _found: re.Match[str]) -> Answer:
    return Answer(message=await list_subscriptions(context, invocation.origin.channel))


def _parse_digest(text: str) -> str | None:
    return parse_section(" ".join(word for word in text.split() if word.lower() != "now"))


async def _digest(context: Context, invocation: Invocation, found: re.Match[str]) -> Answer:
    """Run ``digest now [path /api]``."""
    section = _parse_digest(found[1])
    return Answer(message=await digest_now(context, invocation.allowed, section or None, _chosen(invocation)))


async def _share(context: Context, press: Press) -> Answer:
    return Answer(message=await share(context, press.allowed, await _question(context, press, press.value)))


async def _csv_file(context: Context, press: Press) -> Answer:
    return Answer(message=await send_csv(context, await _question(context, press, press.value)))


async def _more(context: Context, press: Press) -> Answer:
    return Answer(message=await more(context, await _question(context, press, press.value)))


async def _question(context: Context, press: Press, named: str) -> QuestionId:
    """Return the question that a button is about, or 0, which no row has.

    An answer is as private as its channel: it is for who asked, for the people in its channel and for admins.
    """
    number, origin = QuestionId(number_in(named)), press.origin
    question = await context.store.read(lambda tx: Questions(tx).get(number))
    if question is None:
        return QuestionId(0)
    allowed = {question.user} | context.access_policy.admins
    return number if origin.user in allowed or origin.channel == question.channel else QuestionId(0)


async def _improve(context: Context, press: Press) -> Answer:
    """Open the form of ``/docs-agent`` with a prompt about a page and its numbers."""
    key = PageKey(press.value.removeprefix("page:"))
    known = await context.store.read(lambda tx: Pages(tx).one(key))
    if known is None:
        return Answer(message=visitors_answers.not_kept())
    page, period, project = known
    about = asked_about(page_key(page.path), page.path)
    return await _form(context, press, visitors_answers.improve_prompt(page, period), project, about)


async def _improve_miss(context: Context, press: Press) -> Answer:
    """Open the form with a prompt about a row of what readers miss. The value: the question and the row."""
    number, _, key = press.value.partition(":")
    known = await prompt_of(context, await _question(context, press, number), key)
    return (
        Answer(message=visitors_answers.not_kept()) if known is None else await _form(context, press, *known)
    )


async def _form(
    context: Context, press: Press, text: str, project: ProjectId, about: About | None = None
) -> Answer:
    state, channel = (
        replace(FormState.at(press.origin), about=(about.key, about.title) if about else None),
        press.origin.channel,
    )
    offered = await projects_to_choose(context, channel, context.projects.with_id(project))
    form = forms.ask_form(channel=channel, private=state.dumps(), text=text, projects=offered)
    return Answer(modal=form)


_FAR_AHEAD = datetime(2200, 1, 1, tzinfo=UTC)
"""No period is in the future then."""


def _takes(parse: Callable[[str], object]) -> Callable[[str], bool]:
    """Return whether a parser of this module's words takes a text."""

    def takes(text: str) -> bool:
        words = " ".join(word for word in text.split() if not word.lower().startswith("project:"))
        try:
            parse(words)
        except Misunderstood as why:
            return isinstance(why.__cause__, BadPeriod) and not isinstance(why.__cause__, UnknownPeriod)
        return True

    return takes


def _missed(topic: Topic, tells: str) -> Word:
    """Return the word about one thing that readers miss."""
    shape = rf"(?:visitors\s+)?({topic})(?!\S)(.*)"

    def takes(text: str) -> bool:
        words = " ".join(word for word in text.split() if word.lower() != topic)
        return _takes(lambda some: parse_misses(topic, some, _FAR_AHEAD, ZoneInfo("UTC")))(words)

    return Word(str(topic), shape, tells, _ask_misses, example=f"{topic} last month", takes=takes)


COMMAND = Command(
    name=NAME,
    summary="Who reads the docs, people and AI; and a weekly digest of it",
    other=Word(
        usage="last month path /api csv",
        shape=r"(?:visitors(?!\S)\s*)?(.*)",
        tells="Shows who read a section in a period of your choice, with a file.",
        run=_ask,
        hint="[last week] [top 20] [sort ai] [path /api] [csv]",
        after_mention=r"visitors(?!\S).*",
        head="visitors",
        takes=_takes(lambda text: parse_query(text, _FAR_AHEAD, ZoneInfo("UTC"))),
        in_help=True,
    ),
    alone=Word(
        "",
        "()",
        "Shows who read the docs in the last seven full days.",
        _ask,
        after_mention=None,
        in_help=True,
    ),
    words=(
        _missed(Topic.SEARCHES, "Shows what readers searched and didn't find."),
        _missed(Topic.FEEDBACK, "Shows pages by readers' votes, with their comments."),
        _missed(Topic.QUESTIONS, "Shows what the docs' assistant couldn't answer."),
        Word(
            usage="subscribe monday 09:00",
            shape=r"subscribe(?!\S)(.*)",
            tells="Posts a digest in this channel every week.",
            run=_subscribe,
            example="subscribe monday 09:00 Europe/Berlin",
            hint="subscribe monday 09:00",
            in_help=True,
            takes=_takes(parse_weekly),
        ),
        Word(
            usage="subscriptions",
            shape=r"subscriptions(?!\S).*",
            tells="Lists the channel's subscriptions and their next runs.",
            run=_subscriptions,
            after_mention="subscriptions",
            in_help=True,
        ),
        Word(
            "unsubscribe",
            r"unsubscribe(?!\S)(.*)",
            "Ends the channel's digest, or asks which one.",
            _unsubscribe,
            takes=_takes(parse_section),
        ),
        Word(
            "digest now",
            r"digest(?!\S)(.*)",
            "Posts the digest of the last full week now.",
            _digest,
            in_help=True,
            takes=_takes(_parse_digest),
        ),
    ),
    take_project=_take_project,
    misunderstood=_misunderstood,
    also=about_periods,
    buttons={
        Action.SHARE: _share,
        Action.CSV_FILE: _csv_file,
        Action.MORE: _more,
        Action.UNSUBSCRIBE: _unsubscribe_one,
        Action.HELLO_IDEAS: _ideas,
        Action.IMPROVE: _improve,
        Action.IMPROVE_PAGE: _improve,
        Action.IMPROVE_MISS: _improve_miss,
    },
)
