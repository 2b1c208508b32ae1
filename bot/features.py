"""The features of the bot, and their workers, commands, words and hooks together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from operator import attrgetter

import structlog

from bot.answers.feature import ANSWERS
from bot.commands.command import Command, with_help
from bot.commands.feature import Feature, queue_worker
from bot.commands.own_words import WordHooks, list_own_words, run_own_word
from bot.context import Hooks, WorkerContext
from bot.engine import Worker, single_worker
from bot.inbox.feature import INBOX
from bot.intent.vocabulary import Vocabulary
from bot.jobs.commands import catalogue
from bot.jobs.feature import JOBS
from bot.jobs.store.retention import JOBS_RULE
from bot.outbox.deliver import claim_deliveries, deliver
from bot.projects import Projects
from bot.pulls.feature import PULLS
from bot.store.due_times import DueTimes
from bot.store.retention import forget_before
from bot.usage.feature import USAGE
from bot.visitors.feature import VISITORS

log = structlog.get_logger(__name__)
_MINUTE_SECONDS = 60.0
_HOUR_SECONDS = 3_600.0


async def sweep_due_times(context: WorkerContext) -> int:
    """Sweep the due times that a clock wrote while it was ahead, and return their number."""
    # Most often there are none, and a look holds up no writer.
    if not await context.store.read(lambda tx: DueTimes(tx).are_too_far_ahead(context.clock())):
        return 0
    swept = await context.store.write(lambda tx: DueTimes(tx).sweep(context.clock()))
    if swept:
        context.wake()
        log.warning("due_times_swept", rows=swept)
    return swept


async def forget_old(context: WorkerContext) -> int:
    """Forget some rows that are older than the settings allow, and return their number."""
    days = context.settings.keep_days
    if not days:
        return 0
    forgotten = await forget_before(context.store, context.clock() - timedelta(days=days))
    if forgotten:
        log.info("rows_forgotten", jobs=forgotten[JOBS_RULE.name], rows=forgotten.total())
    return forgotten.total()


REQUIRED_FEATURES: tuple[Feature, ...] = (JOBS, INBOX)
"""The features that every bot has."""
OPTIONAL_FEATURES: tuple[Feature, ...] = (PULLS, VISITORS, ANSWERS, USAGE)
"""The features that a bot can do without."""


def list_commands(features: Sequence[Feature]) -> tuple[Command, ...]:
    """Return the commands of a bot with these features."""
    (agent, prefix), *others = catalogue.JOB_COMMANDS
    for feature in (*REQUIRED_FEATURES, *features):
        words = (*agent.words, *feature.agent_words)
        buttons = {**agent.buttons, **feature.buttons}
        labels = (*agent.labels, *feature.labels)
        agent = replace(agent, words=words, buttons=buttons, labels=labels)
    commands = ((feature.command, feature.help_prefix) for feature in features if feature.command)
    return with_help((agent, prefix), *others, *commands)


def list_vocabulary(features: Sequence[Feature], projects: Projects) -> Vocabulary:
    """Return the own words of a bot with these features."""
    return list_own_words(list_commands(features), projects)


def list_hooks(features: Sequence[Feature]) -> tuple[Hooks, ...]:
    """Return the hooks of a bot with these features."""
    words = WordHooks(run_word=partial(run_own_word, list_commands(features)))
    of_features = [hooks for feature in (*REQUIRED_FEATURES, *features) for hooks in feature.hooks]
    return (words, *of_features)


COMMANDS = list_commands(OPTIONAL_FEATURES)


def all_workers(
    context: WorkerContext, features: Sequence[Feature] = OPTIONAL_FEATURES
) -> list[Worker]:
    """Return the workers of a bot with these features."""
    workers = [
        queue_worker(
            context,
            "deliveries",
            "deliver",
            claim_deliveries,
            deliver,
            key=attrgetter("id"),
            group=attrgetter("content.channel"),
            places_of_group=10,
        ),
        single_worker("forget", partial(forget_old, context), every_seconds=_HOUR_SECONDS),
        single_worker("sweep", partial(sweep_due_times, context), every_seconds=_MINUTE_SECONDS),
    ]
    for feature in (*REQUIRED_FEATURES, *features):
        workers += feature.workers(context)
    return workers
