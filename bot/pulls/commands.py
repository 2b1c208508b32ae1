"""The buttons of pull requests and previews, and the words that mean the same."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from bot.commands.command import Answer, Press, PressRun
from bot.context import Context
from bot.intent.vocabulary import ButtonLabel
from bot.jobs.access import Readable, prove_admin
from bot.jobs.commands.agent import on_job
from bot.jobs.messages import job_answers as say
from bot.messages.blocks import Action
from bot.pulls.messages import changes
from bot.pulls.messages.pull_requests import repository_used
from bot.pulls.previews import fix_preview, request_preview_by_button
from bot.pulls.pull_requests import read_changes, use_repository


@on_job
async def _show_changes(context: Context, _press: Press, target: Readable) -> Answer:
    files = await read_changes(context, target)
    if files is None:
        return Answer(message=changes.unreadable(target.job))
    # Outside the event loop, because the changes of 300 files take a tenth of a second to compare.
    view = await asyncio.to_thread(changes.changes_view, target.job, files)
    return Answer(modal=view)


@on_job
async def _show_preview(context: Context, _press: Press, target: Readable) -> Answer:
    return Answer(message=await request_preview_by_button(context, target))


@on_job
async def _fix_preview(context: Context, _press: Press, target: Readable) -> Answer:
    result = await fix_preview(context, target)
    if result is None or result.repeated:
        return Answer(message=say.DECIDED_BEFORE)
    return Answer() if result.accepted else Answer(message=say.cannot_follow_up(result.job))


async def _use_repository(context: Context, press: Press) -> Answer:
    """Read a project's pull requests in another repository, as an admin chose."""
    admin = prove_admin(context, press.allowed)
    if admin is None:
        return Answer(message=say.ONLY_ADMINS)
    name = await use_repository(context, admin, press.value)
    return Answer(message=repository_used(name))


BUTTONS: Mapping[str, PressRun] = {
    Action.CHANGES: _show_changes,
    Action.PREVIEW: _show_preview,
    Action.FIX_PREVIEW: _fix_preview,
    Action.USE_REPOSITORY: _use_repository,
}
LABELS = (
    ButtonLabel("Changes", "changes"),
    ButtonLabel("Preview", "preview"),
    ButtonLabel("Open preview", "preview"),
)
