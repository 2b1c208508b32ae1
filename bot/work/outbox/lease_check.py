"""Beginning nothing that a lease might not outlast."""

from __future__ import annotations

from datetime import timedelta

from bot.model import Delivery
from bot.store import LeaseLost
from bot.work.context import WorkerContext

_SHARE = 1 / 3
"""Of the lease: what the slowest call to Slack may take."""


def check_lease(context: WorkerContext, delivery: Delivery) -> None:
    """Raise LeaseLost when there is not enough time left to say it.

    A process that was stopped for a while (a paused machine, a laptop asleep) must not say what another
    has said meanwhile. The row is looked for when its lease has run out.
    """
    needed = timedelta(seconds=context.timeouts.lease_seconds * _SHARE)
    if delivery.held_until is not None and context.clock() + needed > delivery.held_until:
        raise LeaseLost(f"delivery {delivery.id}")
