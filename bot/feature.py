"""A feature: a subject that ``app.py`` adds to the bot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.commands.command import Command, PressRun, Word
from bot.context import WorkerContext
from bot.engine import Worker


@dataclass(frozen=True, slots=True)
class Feature:
    """The parts of a feature."""

    workers: Callable[[WorkerContext], Sequence[Worker]]
    command: Command | None = None
    help_prefix: str = ""
    """The shape of the text before ``help`` after a mention."""
    agent_words: tuple[Word, ...] = ()
    """Its words of ``/docs-agent``."""
    buttons: Mapping[str, PressRun] = field(default_factory=dict)
    """The handlers of its buttons outside of its command."""
    hooks: tuple[object, ...] = ()
    """Its hooks, each of a class that its caller declares."""
