"""A feature: a subject that ``app.py`` adds to the bot, with its hooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.commands.command import Command, PressRun, Word
from bot.context import Hooks, WorkerContext
from bot.engine import Worker
from bot.intent.vocabulary import ButtonLabel


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
