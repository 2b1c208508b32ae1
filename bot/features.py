"""The list of features, with the commands and the workers of a bot that has them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from bot.commands.command import Command
from bot.commands.help import with_help
from bot.context import WorkerContext
from bot.engine import Worker
from bot.feature import Feature
from bot.jobs.commands import catalogue
from bot.jobs.model.intents import asks_help
from bot.visitors.feature import VISITORS
from bot.workers import interval_workers, queue_workers

FEATURES: tuple[Feature, ...] = (VISITORS,)
"""The features besides jobs."""


def list_commands(features: Sequence[Feature]) -> tuple[Command, ...]:
    """Return the commands of a bot with these features."""
    commands = ((feature.command, feature.help_prefix) for feature in features)
    return with_help(*catalogue.JOB_COMMANDS, *commands, asks_help=asks_help)


COMMANDS = list_commands(FEATURES)
take_message = partial(catalogue.take_message, COMMANDS)


def all_workers(context: WorkerContext, features: Sequence[Feature] = FEATURES) -> list[Worker]:
    """Return the workers of a bot with these features."""
    take = partial(catalogue.take_message, list_commands(features))
    workers = [*queue_workers(context, take), *interval_workers(context)]
    return [*workers, *(worker for feature in features for worker in feature.workers(context))]
