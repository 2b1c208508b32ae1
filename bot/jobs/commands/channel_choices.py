"""The choices of a channel: its docs, and which replies steer its jobs."""

from __future__ import annotations

import re
from collections.abc import Callable

from bot.commands.command import Answer, Invocation, Word
from bot.context import Context
from bot.ids import ChannelId, is_direct_message
from bot.jobs.model.prompts import Act
from bot.jobs.store.audit import Audit
from bot.messages import general
from bot.ports import Origin
from bot.projects import Project, UnknownProject
from bot.store import Transaction
from bot.store.channels import Channels


async def projects_to_choose(
    context: Context, channel: ChannelId, chosen: Project | None = None
) -> tuple[Project, ...]:
    """Return the projects of a form's menu, ``chosen`` first.

    It has none if the bot serves one project.
    """
    if not context.projects.are_several:
        return ()
    if chosen is None:
        chosen = await context.store.read(lambda tx: context.project_of(tx, channel))
    return (chosen, *(project for project in context.projects.known if project != chosen))


def _change_nothing(_tx: Transaction) -> None:
    """Change nothing: the default for ``change``."""


async def choose(
    context: Context,
    origin: Origin,
    act: Act,
    change: Callable[[Transaction], None] = _change_nothing,
) -> None:
    """Write a choice for a channel, and its audit row."""

    def write(tx: Transaction) -> None:
        change(tx)
        Audit(tx).chose(act, origin, context.project_of(tx, origin.channel).id, context.clock())

    await context.store.write(write)


async def _show_docs(context: Context, invocation: Invocation, _match: re.Match[str]) -> Answer:
    channel = invocation.origin.channel
    project = await context.store.read(lambda tx: context.project_of(tx, channel))
    return Answer(message=general.project_here(project, context.projects))


async def _choose_project(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
    origin = invocation.origin
    admins = context.settings.admins
    try:
        project = context.projects.named(match[1])
    except UnknownProject as unknown:
        return Answer(message=general.unknown_choice(unknown.name, context.projects))
    if admins and origin.user not in admins and not is_direct_message(origin.channel):
        return Answer(message=general.may_not_choose(project, origin.channel))

    def change(tx: Transaction) -> None:
        Channels(tx).choose_project(origin.channel, project.id)

    await choose(context, origin, Act.CHOSE_PROJECT, change)
    return Answer(message=general.chosen(project))


PROJECT = Word(
    usage="project",
    shape="project",
    tells="Shows which docs this channel's prompts are for.",
    run=_show_docs,
)
CHOOSE_PROJECT = Word(
    usage="project acme",
    shape=r"project\s+`?([^\s`]+)`?",
    tells="Chooses one of several docs for the channel.",
    run=_choose_project,
    if_several=True,
)


async def _replies(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
    """Choose which replies steer the channel's jobs.

    A bare word shows the choice.
    """
    origin = invocation.origin
    is_mention_only = (match[1] or "").lower() == "off"
    if is_direct_message(origin.channel):
        return Answer(message=general.REPLIES_IN_DIRECT)
    if not match[1]:
        chosen = await context.store.read(lambda tx: Channels(tx).is_mention_only(origin.channel))
        return Answer(message=general.replies_setting(is_mention_only=chosen))

    def change(tx: Transaction) -> None:
        Channels(tx).choose_replies(origin.channel, is_mention_only=is_mention_only)

    await choose(context, origin, Act.CHOSE_REPLIES, change)
    return Answer(message=general.replies_chosen(is_mention_only=is_mention_only))


REPLIES = Word(
    usage="replies off",
    # "replies on the forum page are outdated" is a prompt.
    shape=r"replies(?:\s+(on|off))?",
    tells=(
        "Lets only mentions steer the channel's jobs; "
        "`replies on` lets every reply in their threads."
    ),
    run=_replies,
)

WORDS = (PROJECT, CHOOSE_PROJECT, REPLIES)
