"""A feature: a subject that ``app.py`` adds to the bot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.commands.command import Command
from bot.context import PostHooks, RecommendationSource, WorkerContext
from bot.engine import Worker
from bot.store import Transaction


@dataclass(frozen=True, slots=True)
class Feature:
    """The parts of a feature."""

    command: Command
    help_prefix: str
    """The shape of the text before ``help`` after a mention."""
    workers: Callable[[WorkerContext], Sequence[Worker]]
    post_hooks: PostHooks
    gauges: Callable[[Transaction, datetime], Mapping[str, float]]
    """Returns the values of its gauges."""
    recommend: RecommendationSource | None = None
    """Returns its recommendations for digests."""
