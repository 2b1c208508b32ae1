"""``/docs-visitors``: questions about visitors, people and AI, and the weekly digest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

from bot import slack_text
from bot.commands.command import Answer, Command, Invocation, Modal, Press
from bot.commands.form_state import FormState
from bot.commands.guard import confirmed, once_allowed
from bot.commands.parsing.visitors_options import Misunderstood, parse_query, parse_section, parse_weekly
from bot.commands.projects import projects_to_choose
from bot.messages import modals, visitors_answers
from bot.messages.projects import unknown_choice, unknown_in_options
from bot.model.ids import PageKey, ProjectId, QuestionId
from bot.model.message import Message
from bot.model.origin import Origin
from bot.model.projects import Project, UnknownProject
from bot.work.context import Context
from bot.work.digests.subscriptions import (
    SubscribeRequest,
    digest_now,
    list_subscriptions,
    subscribe,
    unsubscribe,
)
from bot.work.visitors.buttons import more, send_csv, share
from bot.work.visitors.question import ask_visitors

NAME = "/docs-visitors"


async def _run(context: Context, invocation: Invocation) -> Answer:
    given = slack_text.to_plain(invocation.text, {}, {}).strip()
    action = _ACTIONS.get(given.partition(" ")[0].lower())
    try:
        words, project = _take_project(context, given)
        first, _, rest = words.partition(" ")
        action = _ACTIONS.get(first.lower())
        which = project.id if project else None
        if action is not None:
            return await action(context, invocation, rest.strip(), which)
        return await _ask(context, invocation, words, which)
    except Misunderstood as why:
        said = visitors_answers.misunderstood(
            str(why), about_digest=action is not None, after_mention=not invocation.command
        )
        return Answer(message=said)


def _take_project(context: Context, words: str) -> tuple[str, Project | None]:
    try:
        return context.projects.take_any(words)
    except UnknownProject as unknown:
        raise Misunderstood(unknown_in_options(unknown.name, context.projects)) from None


def _meant_by(context: Context, text: str) -> str | None:
    """Return the text for ``visitors last week``, ``subscribe monday 09:00`` and the other actions."""
    with suppress(UnknownProject):
        rest, project = context.projects.take(text)
        meant = _command_text(rest)
        return meant if meant is None or project is None else f"{meant} project:{project.name}"
    return None


def _command_text(text: str) -> str | None:
    words = slack_text.to_plain(text, {}, {}).split(maxsplit=1)
    first, rest = (words[0].lower() if words else ""), words[1:]
    if first == "visitors":
        return " ".join(text.split(maxsplit=1)[1:])
    return text if first in _ACTIONS and not (rest and first == "subscriptions") else None


async def _ask(context: Context, invocation: Invocation, words: str, project: ProjectId | None) -> Answer:
    query = parse_query(words, context.clock(), context.analytics.zone)
    await ask_visitors(context, invocation.origin, query, project)
    return Answer()


async def _subscribe(
    context: Context, invocation: Invocation, words: str, project: ProjectId | None
) -> Answer:
    weekly = parse_weekly(words)
    request = SubscribeRequest(
        invocation.origin, weekly.weekday, weekly.at, weekly.zone, weekly.section, project
    )
    return await _once_allowed(context, invocation.origin, lambda: subscribe(context, request))


async def _unsubscribe(
    context: Context, invocation: Invocation, words: str, project: ProjectId | None
) -> Answer:
    origin, section = invocation.origin, parse_section(words)
    return await _once_allowed(context, origin, lambda: unsubscribe(context, origin, section, project))


async def _subscriptions(
    context: Context, invocation: Invocation, words: str, project: ProjectId | None
) -> Answer:
    del words, project
    return Answer(message=await list_subscriptions(context, invocation.origin.channel))


async def _digest(context: Context, invocation: Invocation, words: str, project: ProjectId | None) -> Answer:
    """Run ``digest now [path /api]``."""
    section = parse_section(" ".join(word for word in words.split() if word.lower() != "now"))
    message, is_stored = await digest_now(context, invocation.origin, section, project)
    return await confirmed(context, invocation.origin, message, is_stored=is_stored)


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
    message, is_stored = await digest_now(context, press.origin, section or None, project, again=True)
    return replace(await confirmed(context, press.origin, message, is_stored=is_stored), replaces=True)


async def _once_allowed(
    context: Context, origin: Origin, act: Callable[[], Awaitable[Message | None]]
) -> Answer:
    """Act after access is confirmed, and return the message. For actions that no worker checks later."""

    async def do() -> Answer:
        return Answer(message=await act())

    return await once_allowed(context, origin, do)


_ACTIONS: dict[str, Callable[[Context, Invocation, str, ProjectId | None], Awaitable[Answer]]] = {
    "subscribe": _subscribe,
    "unsubscribe": _unsubscribe,
    "subscriptions": _subscriptions,
    "digest": _digest,
}


async def _share(context: Context, press: Press) -> Answer:
    question, user = await _question(context, press), press.origin.user
    return await _once_allowed(context, press.origin, lambda: share(context, question, user))


async def _csv_file(context: Context, press: Press) -> Answer:
    question = await _question(context, press)
    return await _once_allowed(context, press.origin, lambda: send_csv(context, question))


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
    form = modals.ask_form(channel=press.origin.channel, private=state.dumps(), text=text, projects=offered)
    return Answer(modal=Modal(form))


COMMAND = Command(
    name=NAME,
    usage_hint="[last week] [top 20] [sort ai] [path /api] [csv] | subscribe monday 09:00 | help",
    summary="Who reads the docs, people and AI; and a weekly digest of it",
    examples=(
        NAME,
        f"{NAME} last month path /api top 20 sort ai",
        f"{NAME} 2026-10-01..2026-10-15 compare 2026-09 csv",
        f"{NAME} subscribe monday 09:00 Europe/Berlin",
        f"{NAME} subscriptions",
        f"{NAME} unsubscribe",
        f"{NAME} digest now",
    ),
    run=_run,
    meant_by=_meant_by,
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
