"""The feature as ``subjects.py`` lists it: its workers, buttons, and hooks into jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from operator import attrgetter

from bot.commands.command import (
    Answer,
    Press,
)
from bot.context import Context, WorkerContext
from bot.engine import Worker, alone
from bot.feature import Feature, queue_worker
from bot.intent.vocabulary import ButtonLabel
from bot.jobs.access import Readable, admin_request
from bot.jobs.commands.agent import on_job
from bot.jobs.hooks import JobHooks
from bot.jobs.messages import job_answers as say
from bot.messages.blocks import Action
from bot.pulls.messages import changes
from bot.pulls.messages.pull_requests import repository_used
from bot.pulls.previews import (
    answer_preview,
    ask_by_press,
    claim_previews,
    fix_preview,
    make_preview,
    take_button,
)
from bot.pulls.pull_requests import (
    answer_changes,
    claim_pull_requests,
    poll_pull_request,
    read_changes,
    use_repository,
)
from bot.pulls.reminders import remind_threads
from bot.pulls.results import draw_end, draw_outdated_end, on_ended

_REMIND_SECONDS = 60.0


@on_job
async def _changes(context: Context, _press: Press, target: Readable) -> Answer:
    files = await read_changes(context, target)
    if files is None:
        return Answer(message=changes.unreadable(target.job))
    # In a thread, because the changes of 300 files take a tenth of a second to compare.
    view = await asyncio.to_thread(changes.changes_view, target.job, files)
    return Answer(modal=view)


@on_job
async def _preview(context: Context, _press: Press, target: Readable) -> Answer:
    return Answer(message=await ask_by_press(context, target))


@on_job
async def _fix_preview(context: Context, _press: Press, target: Readable) -> Answer:
    result = await fix_preview(context, target)
    if result is None or result.repeated:
        return Answer(message=say.TOO_LATE)
    return Answer() if result.accepted else Answer(message=say.cannot_follow_up(result.job))


async def _use_repository(context: Context, press: Press) -> Answer:
    """Read a project's pull requests in another repository, as an admin chose."""
    admin = admin_request(context, press.allowed)
    if admin is None:
        return Answer(message=say.ONLY_ADMINS)
    name = await use_repository(context, admin, press.value)
    return Answer(message=repository_used(name))


def _workers(context: WorkerContext) -> Sequence[Worker]:
    return [
        queue_worker(
            context,
            "pull_requests",
            "pull requests",
            claim_pull_requests,
            poll_pull_request,
            key=attrgetter("job"),
            places=5,
        ),
        queue_worker(
            context,
            "previews",
            "preview",
            claim_previews,
            make_preview,
            key=attrgetter("job"),
            places=5,
        ),
        alone("remind", partial(remind_threads, context), every_seconds=_REMIND_SECONDS),
    ]


PULLS = Feature(
    buttons={
        Action.CHANGES: _changes,
        Action.PREVIEW: _preview,
        Action.FIX_PREVIEW: _fix_preview,
        Action.USE_REPOSITORY: _use_repository,
    },
    labels=(
        ButtonLabel("Changes", "changes"),
        ButtonLabel("Preview", "preview"),
        ButtonLabel("Open preview", "preview"),
    ),
    workers=_workers,
    hooks=(
        JobHooks(
            on_ended=on_ended,
            draw_end=draw_end,
            draw_outdated_end=draw_outdated_end,
            on_overtaken=take_button,
            answer_words={"changes": answer_changes, "preview": answer_preview},
        ),
    ),
)
