"""The feature as ``subjects.py`` lists it: its workers, buttons, and hooks into jobs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter

from bot.commands.feature import Feature, queue_worker
from bot.context import WorkerContext
from bot.engine import Worker, alone
from bot.jobs.hooks import JobHooks
from bot.pulls.commands import BUTTONS, LABELS
from bot.pulls.previews import answer_preview, claim_previews, make_preview, take_button
from bot.pulls.pull_requests import answer_changes, claim_pull_requests, poll_pull_request
from bot.pulls.reminders import remind_threads
from bot.pulls.results import draw_end, draw_outdated_end, on_ended

_REMIND_SECONDS = 60.0


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
    buttons=BUTTONS,
    labels=LABELS,
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
