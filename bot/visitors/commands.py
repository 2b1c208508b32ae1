"""``/docs-visitors``: questions about visitors, people and AI, and the weekly digest."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date

from bot.commands.command import Answer, Command, FormState, Invocation, Press, Word, number_in
from bot.context import Context
from bot.ids import Message, PageKey, ProjectId, QuestionId, SubscriptionId
from bot.jobs.commands.job_lists import projects_to_choose
from bot.jobs.messages import forms
from bot.jobs.model.jobs import About
from bot.messages import slack_text
from bot.messages.blocks import Action
from bot.messages.general import unknown_in_options
from bot.projects import Project, Projects, UnknownProject
from bot.store import Transaction
from bot.visitors import reply_messages
from bot.visitors.content_gaps import GAP_TOPICS, Topic, page_row_key
from bot.visitors.gap_messages import asked_about, gap_prompt, gap_table
from bot.visitors.model import Numbers, QuestionKind
from bot.visitors.options import Misunderstood, parse_query, parse_section, parse_weekly
from bot.visitors.periods import BadPeriod, UnknownPeriod
from bot.visitors.questions import ask_visitors, find_answered, send_csv, share_report, show_rest
from bot.visitors.store import Questions, Snapshots
from bot.visitors.subscriptions import digest_now, list_subscriptions, subscribe, unsubscribe, unsubscribe_one

NAME = "/docs-visitors"


def _take_project(projects: Projects, text: str) -> tuple[str, Project | None]:
    return projects.take_any(slack_text.to_plain(text, {}, {}))


def _misunderstood(error: Exception, projects: Projects, is_word: bool) -> Message | None:
    if isinstance(error, UnknownProject):
        return reply_messages.misunderstood(unknown_in_options(error.name, projects), about_digest=is_word)
    if isinstance(error, Misunderstood):
        return reply_messages.misunderstood(str(error), about_digest=is_word)
    return None


def _chosen(invocation: Invocation) -> ProjectId | None:
    return invocation.project.id if invocation.project else None


async def _ask(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
    query = parse_query(match[1], context.analytics.today(context.clock()))
    return Answer(message=await ask_visitors(context, invocation.allowed, query, _chosen(invocation)))


async def _ask_gaps(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
    query = parse_query(match[2], context.analytics.today(context.clock()), Topic(match[1].lower()))
    return Answer(message=await ask_visitors(context, invocation.allowed, query, _chosen(invocation)))


async def _ideas(context: Context, press: Press) -> Answer:
    query = parse_query("", context.analytics.today(context.clock()), Topic.SEARCHES)
    return Answer(message=await ask_visitors(context, press.allowed, query))


async def _subscribe(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
    request = parse_weekly(match[1])
    return Answer(message=await subscribe(context, invocation.allowed, request, _chosen(invocation)))


async def _unsubscribe(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
    section = parse_section(match[1])
    return Answer(message=await unsubscribe(context, invocation.allowed, section, _chosen(invocation)))


async def _unsubscribe_one(context: Context, press: Press) -> Answer:
    number = SubscriptionId(number_in(press.value))
    return Answer(message=await unsubscribe_one(context, press.allowed, number), replaces=True)


async def _subscriptions(context: Context, invocation: Invocation, _match: re.Match[str]) -> Answer:
    return Answer(message=await list_subscriptions(context, invocation.origin.channel))


def _parse_digest(text: str) -> str | None:
    return parse_section(" ".join(word for word in text.split() if word.lower() != "now"))


async def _digest(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
    """Run ``digest now [path /api]``."""
    section = _parse_digest(match[1])
    return Answer(message=await digest_now(context, invocation.allowed, section or None, _chosen(invocation)))


async def _share(context: Context, press: Press) -> Answer:
    return Answer(
        message=await share_report(context, press.allowed, await _question(context, press, press.value))
    )


async def _csv_file(context: Context, press: Press) -> Answer:
    return Answer(message=await send_csv(context, await _question(context, press, press.value)))


async def _more(context: Context, press: Press) -> Answer:
    return Answer(message=await show_rest(context, await _question(context, press, press.value)))


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
    row = await context.store.read(lambda tx: Snapshots(tx).page(key))
    if row is None:
        return Answer(message=reply_messages.not_kept())
    page, snapshot = row
    source = asked_about(page_row_key(page.path), page.path)
    prompt = reply_messages.improve_prompt(page, snapshot.period)
    return await _form(context, press, prompt, snapshot.project, source)


async def _improve_gap(context: Context, press: Press) -> Answer:
    """Open the form with a prompt about a content gap. The value: the question and the row."""
    named, _, key = press.value.partition(":")
    number = await _question(context, press, named)
    row = await context.store.read(lambda tx: _find_row(tx, number, key))
    return row if isinstance(row, Answer) else await _form(context, press, *row)


def _find_row(tx: Transaction, number: QuestionId, key: str) -> tuple[str, ProjectId, About] | Answer:
    """Return the prompt about a row, its project and its reference; an answer if it is not kept."""
    answer = find_answered(tx, number)
    if isinstance(answer, Message):
        return Answer(message=answer)
    question, numbers = answer
    is_digest = question.kind is QuestionKind.DIGEST
    for topic in GAP_TOPICS if is_digest else (question.query.topic,):
        query = replace(question.query, topic=topic)
        for row in gap_table(Numbers(query, numbers.snapshots)) if topic.is_gaps else ():
            if row.key == key:
                return gap_prompt(query, row), question.project, asked_about(row.key, row.title)
    return Answer(message=reply_messages.not_kept())


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


_FAR_AHEAD = date(2200, 1, 1)
"""No period is in the future then."""


def _takes(parse: Callable[[str], object]) -> Callable[[str], bool]:
    """Return whether a parser of this module's words takes a text."""

    def takes(text: str) -> bool:
        rest = " ".join(word for word in text.split() if not word.lower().startswith("project:"))
        try:
            parse(rest)
        except Misunderstood as why:
            return isinstance(why.__cause__, BadPeriod) and not isinstance(why.__cause__, UnknownPeriod)
        return True

    return takes


def _gaps(topic: Topic, tells: str) -> Word:
    """Return the word about a topic of content gaps."""
    shape = rf"(?:visitors\s+)?({topic})(?!\S)(.*)"

    def takes(text: str) -> bool:
        rest = " ".join(word for word in text.split() if word.lower() != topic)
        return _takes(lambda options: parse_query(options, _FAR_AHEAD, topic))(rest)

    return Word(str(topic), shape, tells, _ask_gaps, example=f"{topic} last month", takes=takes)


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
        takes=_takes(lambda text: parse_query(text, _FAR_AHEAD)),
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
        _gaps(Topic.SEARCHES, "Shows what readers searched and didn't find."),
        _gaps(Topic.FEEDBACK, "Shows pages by readers' votes, with their comments."),
        _gaps(Topic.QUESTIONS, "Shows what the docs' assistant couldn't answer."),
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
    also=lambda _place: reply_messages.period_help(),
    full_help=reply_messages.FULL_HELP,
    buttons={
        Action.SHARE: _share,
        Action.CSV_FILE: _csv_file,
        Action.MORE: _more,
        Action.UNSUBSCRIBE: _unsubscribe_one,
        Action.HELLO_IDEAS: _ideas,
        Action.IMPROVE: _improve,
        Action.IMPROVE_PAGE: _improve,
        Action.IMPROVE_MISS: _improve_gap,
    },
)
