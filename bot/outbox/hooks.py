"""What the outbox calls when Slack has taken or refused a delivery."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.context import Hooks, WorkerContext
from bot.outbox.model import CsvFile, Delivery, NotPosted
from bot.store import Transaction


def _do_nothing(*_arguments: object) -> None:
    """Do nothing, as the default of a hook."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxHooks(Hooks):
    """The functions of a subject that has deliveries. Each does nothing by default."""

    on_posted: Callable[[WorkerContext, Transaction, Delivery], None] = _do_nothing
    """Gets each delivery that Slack has taken."""
    on_refused: Callable[[WorkerContext, Transaction, Delivery, NotPosted], None] = _do_nothing
    """Gets each delivery that Slack has refused for good, and the reason."""
    on_blocks_refused: Callable[[WorkerContext, Transaction, Delivery], None] = _do_nothing
    """Gets each delivery that is tried again without its blocks."""
    make_file: Callable[[WorkerContext, Transaction, Delivery], CsvFile | None] = _do_nothing
    """Returns the file of a delivery; None if another subject makes it."""
