"""The project of a channel: ``project`` shows it, ``project acme`` chooses it."""

from __future__ import annotations

import re

from bot.commands.command import Answer, Invocation, Word
from bot.messages import general as say
from bot.model.ids import ChannelId, is_direct_message
from bot.model.projects import Project, UnknownProject
from bot.store import Transaction
from bot.work.context import Context


async def projects_to_choose(
    context: Context, channel: ChannelId, chosen: Project | None = None
) -> tuple[Project, ...]:
    """Return the projects that a form offers, first the one that it begins with; none where there is one."""
    if not context.projects.are_several:
        return ()
    if chosen is None:
        chosen = await context.store.read(lambda tx: context.project_of(tx, channel))
    return (chosen, *(each for each in context.projects.known if each != chosen))


async def _show(context: Context, invocation: Invocation, _found: re.Match[str]) -> Answer:
    channel = invocation.origin.channel
    project = await context.store.read(lambda tx: context.project_of(tx, channel))
    return Answer(message=say.project_here(project, context.projects))


async def _choose(context: Context, invocation: Invocation, found: re.Match[str]) -> Answer:
    origin, admins = invocation.origin, context.access_policy.admins
    try:
        project = context.projects.named(found[1])
    except UnknownProject as unknown:
        return Answer(message=say.unknown_choice(unknown.name, context.projects))
    if admins and origin.user not in admins and not is_direct_message(origin.channel):
        return Answer(message=say.may_not_choose(project))

    def choose(tx: Transaction) -> None:
        tx.channels.choose_project(origin.channel, project.id)
        tx.audit.chose_project(origin.user, project.id, origin.channel, context.clock())

    await context.store.write(choose)
    return Answer(message=say.chosen(project))


PROJECT = Word(
    usage="project",
    shape="project",
    tells="Shows which docs this channel's prompts are for.",
    run=_show,
)
CHOOSE_PROJECT = Word(
    usage="project acme",
    shape=r"project\s+`?([^\s`]+)`?",
    tells="Chooses one of several docs for the channel.",
    run=_choose,
    if_several=True,
)
