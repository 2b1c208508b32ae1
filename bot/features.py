"""The list of features, and the list of workers with their queues and places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from operator import attrgetter

import structlog

from bot.answers.feature import ANSWERS
from bot.commands.command import Command, with_help
from bot.commands.own_words import list_own_words, run_own_word
from bot.context import WorkerContext, queue_worker
from bot.engine import Worker, alone
from bot.feature import Feature, Hooks
from bot.inbox.commands import BUTTONS
from bot.inbox.hear import claim_messages, hear, tidy_inbox
from bot.inbox.outage import Reader
from bot.inbox.release import claim_held, must_wait, release
from bot.inbox.store import Inbox
from bot.intent.vocabulary import Vocabulary
from bot.jobs import settle_prompt
from bot.jobs.commands import catalogue
from bot.jobs.decisions import remind_threads
from bot.jobs.poll import claim_polls, poll
from bot.jobs.prepare import claim_new_prompts, prepare
from bot.jobs.previews import claim_previews, make_preview
from bot.jobs.pull_requests import claim_pull_requests, poll_pull_request
from bot.jobs.service_keys import check_key_ages
from bot.jobs.store.retention import JOBS_RULE
from bot.jobs.submit import claim_abandoned, claim_prompts, settle_abandoned, submit
from bot.outbox.deliver import claim_deliveries, deliver
from bot.projects import Projects
from bot.store.due_times import DueTimes
from bot.store.retention import forget_before
from bot.usage.feature import USAGE
from bot.visitors.feature import VISITORS

log = structlog.get_logger(__name__)
_MINUTE_SECONDS = 60.0
_HOUR_SECONDS = 3_600.0


def queue_workers(context: WorkerContext) -> list[Worker]:
    """Return the worker of each queue."""
    reader = Reader()
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
        worker(
            "pull_requests",
            "pull requests",
            claim_pull_requests,
            poll_pull_request,
            key=attrgetter("job"),
            places=5,
        ),
        worker(
            "previews", "preview", claim_previews, make_preview, key=attrgetter("job"), places=5
        ),
        worker(
            "deliveries",
            "deliver",
            claim_deliveries,
            deliver,
            key=attrgetter("id"),
            group=attrgetter("what.channel"),
            places_of_group=10,
        ),
        worker(
            "inbox",
            "hear",
            claim_messages,
            hear,
            key=attrgetter("id"),
            places=50,
        ),
        worker("held", "release", claim_held, release, key=attrgetter("id"), places=50),
        worker(
            "missed_messages",
            "read again",
            reader.claim,
            reader.read_again,
            key=attrgetter("id"),
            places=1,
        ),
    ]


def interval_workers(context: WorkerContext) -> list[Worker]:
    """Return the workers that run at intervals."""
    workers = {
        "remind": (remind_threads, _MINUTE_SECONDS),
        "forget": (forget_old, _HOUR_SECONDS),
        "inbox": (tidy_inbox, _HOUR_SECONDS),
        "keys": (check_key_ages, _HOUR_SECONDS),
        "sweep": (sweep_due_times, _MINUTE_SECONDS),
    }
    return [
        alone(name, partial(run, context), every_seconds=seconds)
        for name, (run, seconds) in workers.items()
    ]


async def sweep_due_times(context: WorkerContext) -> int:
    """Sweep due times that a clock wrote while it was ahead.

    Return how many there were.
    """
    swept = await context.store.write(lambda tx: DueTimes(tx).sweep(context.clock()))
    if swept:
        context.wake()
        log.warning("due_times_swept", rows=swept)
    return swept


async def forget_old(context: WorkerContext) -> int:
    """Forget some rows that are older than the settings allow.

    Return how many were forgotten.
    """
    days = context.settings.keep_days
    if not days:
        return 0
    forgotten = await forget_before(context.store, context.clock() - timedelta(days=days))
    if forgotten:
        log.info("rows_forgotten", jobs=forgotten[JOBS_RULE.name], rows=forgotten.total())
    return forgotten.total()


FEATURES: tuple[Feature, ...] = (VISITORS, ANSWERS, USAGE)
"""The features besides jobs."""


def list_commands(features: Sequence[Feature]) -> tuple[Command, ...]:
    """Return the commands of a bot with these features."""
    (agent, prefix), *others = catalogue.JOB_COMMANDS
    agent = replace(agent, buttons={**agent.buttons, **BUTTONS})
    for feature in features:
        words = (*agent.words, *feature.agent_words)
        buttons = {**agent.buttons, **feature.buttons}
        agent = replace(agent, words=words, buttons=buttons)
    commands = ((feature.command, feature.help_prefix) for feature in features if feature.command)
    return with_help((agent, prefix), *others, *commands)


def list_vocabulary(features: Sequence[Feature], projects: Projects) -> Vocabulary:
    """Return the own words of a bot with these features."""
    return list_own_words(list_commands(features), projects)


JOB_HOOKS = Hooks(
    on_posted=settle_prompt.on_posted,
    on_refused=settle_prompt.on_refused,
    on_blocks_refused=settle_prompt.on_blocks_refused,
)


INBOX_HOOKS = Hooks(
    find_sent=lambda tx, *between: Inbox(tx).sent_from(*between), must_wait=must_wait
)


def list_hooks(features: Sequence[Feature]) -> tuple[Hooks, ...]:
    """Return the hooks of a bot with these features."""
    words = Hooks(run_word=partial(run_own_word, list_commands(features)))
    return (JOB_HOOKS, INBOX_HOOKS, words, *(feature.hooks for feature in features))


COMMANDS = list_commands(FEATURES)


def all_workers(context: WorkerContext, features: Sequence[Feature] = FEATURES) -> list[Worker]:
    """Return the workers of a bot with these features."""
    workers = [*queue_workers(context), *interval_workers(context)]
    for feature in features:
        workers += feature.workers(context)
    return workers
