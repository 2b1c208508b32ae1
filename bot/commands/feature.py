"""A feature: what a subject brings to the bot, as ``subjects.py`` lists it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bot.commands.command import Command, PressRun, Word
from bot.context import Claim, Hooks, WorkerContext
from bot.engine import Worker
from bot.intent.vocabulary import ButtonLabel
from bot.store.queues import QUEUE_TABLES


def queue_worker(
    context: WorkerContext,
    queue: str,
    name: str,
    claim: Claim[Any],
    work: Callable[[WorkerContext, Any], Awaitable[object]],
    **options: Any,
) -> Worker:
    """Return the worker of a queue.

    All workers of its table share the keys of the rows under way.
    """
    [table] = {entry.table.name for entry in QUEUE_TABLES if entry.queue == queue}
    of_table = context.under_way.setdefault(table, set())
    return Worker(
        name,
        claim=partial(claim, context),
        work=partial(work, context),
        queue=queue,
        of_table=of_table,
        **options,
    )


def _list_no_workers(_context: WorkerContext) -> Sequence[Worker]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """The parts of a feature."""

    workers: Callable[[WorkerContext], Sequence[Worker]] = _list_no_workers
    """Returns its workers."""
    command: Command | None = None
    help_prefix: str = ""
    """The shape of the text before ``help`` after a mention."""
    agent_words: tuple[Word, ...] = ()
    """Its words of ``/docs-agent``."""
    buttons: Mapping[str, PressRun] = field(default_factory=dict)
    """The handlers of its buttons outside of its command."""
    labels: tuple[ButtonLabel, ...] = ()
    """The labels of these buttons that are words at other doors, too."""
    hooks: tuple[Hooks, ...] = ()
    """Its functions that other subjects call."""
