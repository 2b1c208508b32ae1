"""The context of the bot's workers in a benchmark's own process."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

from sqlalchemy import insert

from bench.running_jobs import PROJECT, answer_about, root_ts
from bot.context import WorkerContext
from bot.docs_api import DocsClient
from bot.ids import ChannelId, DeliveryId, Message, MessageTs, ProjectId, UserId
from bot.jobs.deliveries import DELIVERY_HOOKS
from bot.jobs.model.jobs import JobState
from bot.jobs.store.tables import jobs as jobs_table
from bot.ports import Messenger, Posted
from bot.projects import Projects
from bot.settings import Settings
from bot.store import Store


class SilentMessenger:
    """Accepts each post and edit immediately; nothing else is called in a benchmark."""

    def __init__(self) -> None:
        self._ts = itertools.count(1)

    async def post(
        self,
        channel: ChannelId,
        message: Message,
        *,
        delivery: DeliveryId,
        thread: MessageTs | None,
    ) -> Posted:
        """Return a new timestamp."""
        del channel, message, delivery, thread
        return Posted(MessageTs(f"1700000000.{next(self._ts):06}"))

    async def edit(self, channel: ChannelId, ts: MessageTs, message: Message) -> None:
        """Do nothing."""


def worker_context(
    store: Store, docs: DocsClient, messenger: SilentMessenger, **changes: Any
) -> WorkerContext:
    """Return a context with the real time and random numbers; ``changes`` are other values of its fields."""
    context = WorkerContext(
        store=store,
        docs=docs,
        messenger=cast("Messenger", messenger),
        clock=lambda: datetime.now(UTC),
        chance=random.random,
        owner=f"bench:{os.getpid()}",
        bot_user=UserId("U0BOT"),
        projects=Projects.only(ProjectId(PROJECT)),
        wake=lambda: None,
        hooks=[DELIVERY_HOOKS],
        settings=Settings(),
    )
    return replace(context, **changes)


async def add_running_jobs(
    store: Store, docs_url: str, count: int, channels: int, poll_at: Callable[[int], datetime]
) -> None:
    """Add jobs that have just begun, each with a thread; ``poll_at`` gives each one's first poll."""
    now = datetime.now(UTC)
    answers = [answer_about(docs_url, number) for number in range(count)]
    rows = [
        {
            "project": PROJECT,
            "channel": f"C{number % channels:03}",
            "requester": "U1",
            "text": f"Add part {number} of the glossary",
            "asked_at": now,
            "state": JobState.WORKING,
            "status_ts": root_ts(number),
            "iteration": 1,
            "iteration_requester": "U1",
            "iteration_started_at": now,
            "has_been_active": True,
            "poll_at": poll_at(number),
            # As the docs service answers, so that a poll finds no change.
            "service_id": answer["id"],
            "repository": answer["repository"],
            "ref": answer["ref"],
            "model": answer["model"],
            "service_created_at": answer["created_at"],
        }
        for number, answer in enumerate(answers)
    ]
    await store.write(lambda tx: tx.connection.execute(insert(jobs_table), rows).close())
