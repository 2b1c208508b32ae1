"""The feature *pull requests*: its workers, its buttons, and its hooks into jobs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter

from bot.commands.feature import Feature, queue_worker
from bot.context import WorkerContext
from bot.engine import Worker, single_worker
from bot.jobs.hooks import JobHooks
from bot.pulls.commands import BUTTONS, LABELS
from bot.pulls.previews import answer_preview, claim_previews, make_preview, remove_preview_button
from bot.pulls.pull_requests import answer_changes, claim_pull_requests, poll_pull_request
from bot.pulls.reminders import remind_threads
from bot.pulls.results import format_end, format_outdated_end, on_iteration_ended

_REMIND_SECONDS = 60.0


def _list_workers(context: WorkerContext) -> Sequence[Worker]:
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
        single_worker("remind", partial(remind_threads, context), every_seconds=_REMIND_SECONDS),
    ]


PULLS = Feature(
    buttons=BUTTONS,
    labels=LABELS,
    workers=_list_workers,
    hooks=(
        JobHooks(
            on_iteration_ended=on_iteration_ended,
            format_end=format_end,
            format_outdated_end=format_outdated_end,
            on_end_outdated=remove_preview_button,
            answer_words={"changes": answer_changes, "preview": answer_preview},
        ),
    ),
)
