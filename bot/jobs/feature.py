"""The subject as ``subjects.py`` lists it: its workers, its tables, and its hooks into the outbox."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter

from bot.commands.feature import Feature, queue_worker
from bot.context import WorkerContext
from bot.engine import Worker, alone
from bot.jobs.deliveries import DELIVERY_HOOKS
from bot.jobs.poll import claim_polls, poll
from bot.jobs.prepare import claim_new_prompts, prepare
from bot.jobs.service_keys import check_key_ages
from bot.jobs.submit import claim_abandoned, claim_prompts, settle_abandoned, submit

_HOUR_SECONDS = 3_600.0


def _workers(context: WorkerContext) -> Sequence[Worker]:
    project = attrgetter("project")
    worker = partial(queue_worker, context)
    return [
        worker("requests", "prepare", claim_new_prompts, prepare, key=attrgetter("id"), places=200),
        worker(
            "prompts",
            "submit",
            claim_prompts,
            submit,
            key=attrgetter("id"),
            group=project,
            places_of_group=10,
        ),
        worker("abandoned", "abandoned", claim_abandoned, settle_abandoned, key=attrgetter("id")),
        worker(
            "polls",
            "poll",
            claim_polls,
            poll,
            key=attrgetter("number"),
            places=500,
            group=project,
            places_of_group=200,
        ),
        alone("keys", partial(check_key_ages, context), every_seconds=_HOUR_SECONDS),
    ]


JOBS = Feature(workers=_workers, hooks=(DELIVERY_HOOKS,))
