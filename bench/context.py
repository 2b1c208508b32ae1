"""The context of the bot's workers in a benchmark's own process."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bench.silent import SilentMessenger
from bot.docs_api import DocsClient
from bot.model.ids import ProjectId, UserId
from bot.model.projects import Projects
from bot.store import Store
from bot.work.context import WorkerContext


def worker_context(
    store: Store, docs: DocsClient, messenger: SilentMessenger, **changes: Any
) -> WorkerContext:
    """Return a context with the real time and random numbers; ``changes`` are other values of its fields."""
    context = WorkerContext(
        store=store,
        docs=docs,
        messenger=messenger,
        clock=lambda: datetime.now(UTC),
        chance=random.random,
        owner=f"bench:{os.getpid()}",
        bot_user=UserId("U0BOT"),
        projects=Projects.only(ProjectId("bench")),
        wake=lambda: None,
    )
    return replace(context, **changes)
