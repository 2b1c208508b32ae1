"""``/docs-visitors``: questions about visitors, people and AI, and the weekly digest."""

from __future__ import annotations

import re
from dataclasses import replace

from bot import slack_text
from bot.commands.command import Answer, Command, FormState, Invocation, Modal, Press, Word
from bot.commands.job_lists import projects_to_choose
from bot.commands.visitors_options import Misunderstood, parse_query, parse_section, parse_weekly
from bot.messages import general, visitors_answers
from bot.messages.general import unknown_choice, unknown_in_options
from bot.model.ids import PageKey, ProjectId, QuestionId
from bot.model.projects import Project, UnknownProject
from bot.work.context import Context
from bot.work.visitors.question import ask_visitors, more, send_csv, share
from bot.work.visitors.subscriptions import (
    SubscribeRequest,
    digest_now,
    list_subscriptions,
    subscribe,
    unsubscribe,
)

NAME = "/docs-visitors"


async def _run(context: Context, invocation: Invocation) -> Answer:
    words, project = invocation.text, None
    try:
        words, project = _take_project(context, slack_text.to_plain(words, {}, {}))
        return await COMMAND.run_word(context, replace(invocation, words=words, project=project))
    except Misunderstood as why:
        meaning = COMMAND.meaning(words, context.projects)
        said = visitors_answers.misunderstood(
            str(why),
            about_digest=meaning is not None and meaning[0] in COMMAND.words,
            after_mention=not invocation.command,
        )
        return Answer(message=said)


def _take_project(context: Context, words: str) -> tuple[str, Project | None]:
    try:
        return context.projects.take_any(words)
    except UnknownProject as unknown:
        raise Misunderstood(unknown_in_options(unknown.name, context.projects)) from None


def _chosen(invocation: Invocation) -> ProjectId | None:
    return invocation.project.id if invocation.project else None


async def _ask(context: Context, invocation: Invocation, found: re.Match[str]) -> Answer:
    query = parse_query(found[1], context.clock(), context.analytics.zone)
    await ask_visitors(context, invocation.allowed, query, _chosen(invocation))
    return Answer()


async def _subscribe(context: Context, invocation: Invocation, found: re.Match[str]) -> Answer:
    weekly = parse_weekly(found[1])
    request = SubscribeRequest(
        invocation.allowed, weekly.weekday, weekly.at, weekly.zone, weekly.section, _chosen(invocation)
    )
    return Answer(message=await subscribe(context, request))


async def _unsubscribe(context: Context, invocation: Invocation, found: re.Match[str]) -> Answer:
    section = parse_section(found[1])
    return Answer(message=await unsubscribe(context, invocation.allowed, section, _chosen(invocation)))


async def _subscriptions(context: Context, invocation: Invocation, _found: re.Match[str]) -> Answer:
    return Answer(message=await list_subscriptions(context, invocation.origin.channel))


async def _digest(context: Context, invocation: Invocation, found: re.Match[str]) -> Answer:
    """Run ``digest now [path /api]``."""
    section = parse_section(" ".join(word for word in found[1].split() if word.lower() != "now"))
    return Answer(message=await digest_now(context, invocation.allowed, section, _chosen(invocation)))


async def _digest_again(context: Context, press: Press) -> Answer:
    """Send a digest once more, after it was confirmed.

    The value is ``section:`` and the section, or ``project:``, the project's name and the section.
    """
    kind, _, rest = press.value.partition(":")
    name, _, section = rest.partition(":") if kind == "project" else ("", "", rest)
    try:
        project = context.projects.named(name).id if name else None
    except UnknownProject as unknown:
        return Answer(message=unknown_choice(unknown.name, context.projects), replaces=True)
    message = await digest_now(context, press.allowed, section or None, project, again=True)
    return Answer(message=message, replaces=True)


async def _share(context: Context, press: Press) -> Answer:
    return Answer(message=await share(context, press.allowed, await _question(context, press)))


async def _csv_file(context: Context, press: Press) -> Answer:
    return Answer(message=await send_csv(context, await _question(context, press)))


async def _more(context: Context, press: Press) -> Answer:
    return Answer(message=await more(context, await _question(context, press)))


async def _question(context: Context, press: Press) -> QuestionId:
    """Return the question that a button is about, or 0, which no row has.

    An answer is as private as its channel: it is for who asked, for the people in its channel and for admins.
    """
    number, origin = QuestionId(int(press.value[:12]) if press.value.isdecimal() else 0), press.origin
    question = await context.store.read(lambda tx: tx.questions.get(number))
    if question is None:
        return QuestionId(0)
    allowed = {question.user} | context.access_policy.admins
    return number if origin.user in allowed or origin.channel == question.channel else QuestionId(0)


async def _improve(context: Context, press: Press) -> Answer:
    """Open the form of ``/docs-agent`` with a prompt about a page and its numbers."""
    key = PageKey(press.value.removeprefix("page:"))
    known = await context.store.read(lambda tx: tx.pages.one(key))
    if known is None:
        return Answer(message=visitors_answers.not_kept())
    page, period, project = known
    text, state = visitors_answers.improve_prompt(page, period), FormState.at(press.origin)
    offered = await projects_to_choose(context, press.origin.channel, context.projects.with_id(project))
    form = general.ask_form(channel=press.origin.channel, private=state.dumps(), text=text, projects=offered)
    return Answer(modal=Modal(form))


COMMAND = Command(
    name=NAME,
    summary="Who reads the docs, people and AI; and a weekly digest of it",
    other=Word(
        usage="last month path /api csv",
        shape=r"(?:visitors(?!\S)\s*)?(.*)",
        tells="Does so for a period, section and format of your choice.",
        run=_ask,
        example="last month path /api compare 2026-09 top 20 sort ai csv",
        hint="[last week] [top 20] [sort ai] [path /api] [csv]",
        after_mention=r"visitors(?!\S).*",
    ),
    alone=Word("", "()", "Shows who read the docs in the last seven full days.", _ask, after_mention=None),
    words=(
        Word(
            usage="subscribe monday 09:00",
            shape=r"subscribe(?!\S)(.*)",
            tells="Posts a digest in this channel every week.",
            run=_subscribe,
            example="subscribe monday 09:00 Europe/Berlin",
            hint="subscribe monday 09:00",
        ),
        Word(
            usage="subscriptions",
            shape=r"subscriptions(?!\S).*",
            tells="Lists the channel's subscriptions and their next runs.",
            run=_subscriptions,
            after_mention="subscriptions",
        ),
        Word("unsubscribe", r"unsubscribe(?!\S)(.*)", "Ends the channel's subscriptions.", _unsubscribe),
        Word("digest now", r"digest(?!\S)(.*)", "Posts the digest of the last full week now.", _digest),
    ),
    run=_run,
    buttons={
        "share": _share,
        "csv_file": _csv_file,
        "more": _more,
        "digest_again": _digest_again,
        "improve": _improve,
        "improve_page": _improve,
    },
    forms={},
    shortcuts={},
)
