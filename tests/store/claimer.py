"""Claimers in processes of their own: ``python -m tests.store.claimer ORDER``, the order as JSON.

The process imports once and forks the claimers. Each takes from every queue until nothing is left, and
writes down what it took (a line in a file of its own) between the claim and its outcome, as the work
would call the docs service or Slack. With ``doomed`` a claimer goes first, takes from every queue, and
kills itself with what it holds.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Table, func, select

from bot.model import lifecycle
from bot.model.digests import DigestState
from bot.model.ids import MessageTs
from bot.model.outbox import Delivery, DeliveryKind, DeliveryState
from bot.model.prompts import Prompt, PromptState
from bot.model.questions import QuestionState
from bot.model.visitors import Counts, Priority, Snapshot, SnapshotState
from bot.store import Claimer, Store, Transaction
from bot.store import schema as s
from bot.store.snapshots import ReadPage
from tests.builders import PROJECT

Claimed = TypeVar("Claimed")
_FREE: dict[str, Any] = {"claimed_by": None, "claimed_until": None}
_AT_ONCE = 40


@dataclass(frozen=True)
class Order:
    """What the claimers are to do, and within which limits."""

    url: str
    folder: str
    processes: int = 4
    uses_an_hour: int = 10_000
    calls_an_hour: int = 10_000
    pace_seconds: float = 0.02
    minute_seconds: float = 0.5
    lease_seconds: float = 60.0
    doomed: bool = False
    doomed_lease_seconds: float = 0.8


class ClaimingProcess:
    """One process that claims."""

    def __init__(self, order: Order, name: str, lease_seconds: float) -> None:
        self.order, self.name, self.lease_seconds = order, name, lease_seconds
        self.store = Store.open(order.url)
        self._file = os.open(
            Path(order.folder) / f"{name}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644
        )
        self.queues: list[Callable[[], Awaitable[int]]] = [
            self.polls,
            self.abandoned,
            self.prompts,
            self.deliveries,
            self.snapshots,
            self.questions,
            self.digests,
        ]

    def claimer(self) -> Claimer:
        return Claimer(self.name, datetime.now(UTC), self.lease_seconds)

    def write_down(self, queue: str, key: int | str, claimer: Claimer, **more: Any) -> None:
        """At once on its way out of the process, so that a kill takes nothing back."""
        times = {"claimed_at": claimer.now.timestamp(), "at": datetime.now(UTC).timestamp()}
        line = {"queue": queue, "key": key, "by": self.name, **times, **more}
        os.write(self._file, json.dumps(line).encode() + b"\n")

    async def until_nothing_is_left(self) -> None:
        while True:
            handled = [await queue() for queue in self.queues]
            if not any(handled):
                if not await self.store.read(self._left):
                    break
                await asyncio.sleep(0.005)
        await self.store.close()

    def _left(self, tx: Transaction) -> int:
        order, now = self.order, datetime.now(UTC)
        uses = len(tx.prompts.uses(PROJECT, now))
        budget = tx.budget.read(PROJECT, order.calls_an_hour, now)
        more = uses < order.uses_an_hour
        to_send = (PromptState.SENDING, PromptState.WAITING) if more else (PromptState.SENDING,)
        held = s.snapshots.c.claimed_by.is_not(None)
        return sum(
            [
                _count(tx, s.jobs, s.jobs.c.poll_at.is_not(None)),
                _count(tx, s.prompts, s.prompts.c.state.in_(to_send)),
                _count(tx, s.deliveries, s.deliveries.c.state != DeliveryState.SENT),
                _count(tx, s.snapshots, _wanted() if budget.free else held),
                _count(tx, s.questions, s.questions.c.state == QuestionState.WAITING),
                _count(tx, s.digests, s.digests.c.state == DigestState.GATHERING),
            ]
        )

    async def polls(self) -> int:
        claimer = self.claimer()
        claimed = await self.store.write(lambda tx: tx.jobs.claim_due(claimer, _AT_ONCE))
        for job, _ in claimed:
            self.write_down("polls", job.number, claimer)
        await self._each(
            [job for job, _ in claimed],
            lambda tx, job: tx.jobs.put_back(job.number, self.name, poll_at=None),
        )
        return len(claimed)

    async def _each(self, claimed: Sequence[Claimed], settle: Callable[[Transaction, Claimed], Any]) -> None:
        """Settle all in one transaction; none if there is nothing to settle."""

        def settle_all(tx: Transaction) -> None:
            for one in claimed:
                settle(tx, one)

        if claimed:
            await self.store.write(settle_all)

    async def abandoned(self) -> int:
        claimer = self.claimer()

        def claim(tx: Transaction) -> Sequence[Prompt]:
            left = tx.prompts.claim_abandoned(claimer, _AT_ONCE)
            for prompt in left:
                tx.prompts.apply(prompt.id, lifecycle.prompt_unconfirmed(prompt), owner=self.name)
            return left

        left = await self.store.write(claim)
        for prompt in left:
            self.write_down("abandoned", prompt.id, claimer)
        return len(left)

    async def prompts(self) -> int:
        claimer, claimed = await self.claim_prompts()
        await self._each(claimed, self.mark_sending)
        for prompt in claimed:
            self.write_down("prompts", prompt.id, claimer, job=prompt.job)
        await self._each(claimed, self._accepted)
        return len(claimed)

    async def claim_prompts(self) -> tuple[Claimer, list[Prompt]]:
        claimer = self.claimer()

        def claim(tx: Transaction) -> list[Prompt]:
            tx.quota.lock(PROJECT)
            uses = len(tx.prompts.uses(PROJECT, claimer.now))
            queue = tx.prompts.quota_queue(PROJECT, claimer.now)
            free = min(max(0, self.order.uses_an_hour - uses), 10)
            return list(tx.prompts.claim_these(claimer, [each.id for each in queue[:free]]))

        return claimer, await self.store.write(claim)

    def mark_sending(self, tx: Transaction, prompt: Prompt) -> None:
        step = lifecycle.prompt_sending(prompt, datetime.now(UTC))
        tx.prompts.begin_sending(prompt.id, step, self.claimer())

    def _accepted(self, tx: Transaction, prompt: Prompt) -> None:
        step = lifecycle.prompt_sent(replace(prompt, state=PromptState.SENDING))
        tx.prompts.apply(prompt.id, step, owner=self.name)

    async def deliveries(self) -> int:
        claimer = self.claimer()
        claimed = await self.store.write(lambda tx: self._claim_deliveries(claimer, tx))
        for one in claimed:
            self.write_down(
                "deliveries",
                one.what.key,
                claimer,
                job=one.what.job,
                channel=one.what.channel,
                doubt=one.unconfirmed,
            )
        await self._each(claimed, self._sent)
        return len(claimed)

    def _claim_deliveries(self, claimer: Claimer, tx: Transaction) -> Sequence[Delivery]:
        return tx.outbox.claim(claimer, _AT_ONCE, self.order.pace_seconds, self.order.minute_seconds)

    def _sent(self, tx: Transaction, one: Delivery) -> None:
        tx.outbox.settle(one, lifecycle.delivered(datetime.now(UTC), None), owner=self.name)
        if one.what.kind is DeliveryKind.ROOT and one.what.job is not None:
            tx.jobs.update(one.what.job, root_ts=MessageTs(f"{one.what.job}.0"))

    async def snapshots(self) -> int:
        claimer = self.claimer()

        def claim(tx: Transaction) -> Sequence[Snapshot]:
            tx.budget.lock(PROJECT)
            budget = tx.budget.read(PROJECT, self.order.calls_an_hour, claimer.now)
            claimed = tx.snapshots.claim(claimer, PROJECT, min(budget.free, 4), Priority.AHEAD)
            tx.budget.take(PROJECT, len(claimed), claimer.now)
            return claimed

        claimed = await self.store.write(claim)
        for snapshot in claimed:
            self.write_down("snapshots", snapshot.id, claimer)
        await self._each(claimed, self._read)
        return len(claimed)

    def _read(self, tx: Transaction, snapshot: Snapshot) -> None:
        page = ReadPage(Counts(2, 1, 3), [("/", Counts(2, 1, 3))], datetime.now(UTC))
        tx.snapshots.store(snapshot, page, owner=self.name, next_offset=250, is_last=True)

    async def questions(self) -> int:
        claimer = self.claimer()
        claimed = await self.store.write(lambda tx: tx.questions.claim(claimer, _AT_ONCE))
        for question in claimed:
            self.write_down("questions", question.id, claimer)
        await self._each(claimed, lambda tx, question: tx.questions.answered(question.id, self.name))
        return len(claimed)

    async def digests(self) -> int:
        claimer = self.claimer()
        claimed = await self.store.write(lambda tx: tx.digests.claim(claimer, _AT_ONCE))
        for digest in claimed:
            self.write_down("digests", digest.id, claimer)
        await self._each(
            claimed, lambda tx, digest: tx.digests.finish(digest.id, DigestState.TOLD, owner=self.name)
        )
        return len(claimed)

    async def die_with_all_hands_full(self) -> None:
        """Take from every queue, begin to send half of the prompts, and be gone."""
        claimer, prompts = await self.claim_prompts()
        await self._each(prompts[::2], self.mark_sending)
        for number, prompt in enumerate(prompts):
            self.write_down("abandoned" if number % 2 == 0 else "prompts", prompt.id, claimer, job=prompt.job)
        for queue, keys in (await self.store.write(partial(self._claim_each, claimer))).items():
            for key in keys:
                self.write_down(queue, key, claimer)
        os.kill(os.getpid(), signal.SIGKILL)

    def _claim_each(self, claimer: Claimer, tx: Transaction) -> dict[str, list[Any]]:
        return {
            "polls": [job.number for job, _ in tx.jobs.claim_due(claimer, _AT_ONCE)],
            "deliveries": [one.what.key for one in self._claim_deliveries(claimer, tx)],
            "snapshots": [one.id for one in tx.snapshots.claim(claimer, PROJECT, 4, Priority.AHEAD)],
            "questions": [one.id for one in tx.questions.claim(claimer, _AT_ONCE)],
            "digests": [one.id for one in tx.digests.claim(claimer, _AT_ONCE)],
        }


def _wanted() -> ColumnElement[bool]:
    return s.snapshots.c.state == SnapshotState.REQUESTED


def _count(tx: Transaction, table: Table, condition: ColumnElement[bool]) -> int:
    counted = select(func.count()).select_from(table).where(condition)
    return int(tx.connection.execute(counted).scalar_one())


def _fork(run: Callable[[], Awaitable[None]]) -> int:
    """A claimer of its own, forked before any loop or thread exists here."""

    async def complete() -> None:
        await run()

    pid = os.fork()
    if pid:
        return pid
    try:
        asyncio.run(complete())
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)


async def _claim_all(order: Order, name: str) -> None:
    await ClaimingProcess(order, name, order.lease_seconds).until_nothing_is_left()


def main(order: Order) -> int:
    """Fork the claimers and wait for them; answers how many failed."""
    if order.doomed:
        lease_seconds = order.doomed_lease_seconds
        doomed = _fork(lambda: ClaimingProcess(order, "doomed", lease_seconds).die_with_all_hands_full())
        _, status = os.waitpid(doomed, 0)
        if not os.WIFSIGNALED(status):
            return 1
    names = [f"claimer{number}" for number in range(order.processes - order.doomed)]
    pids = [_fork(partial(_claim_all, order, name)) for name in names]
    return sum(os.waitpid(pid, 0)[1] != 0 for pid in pids)


if __name__ == "__main__":
    sys.exit(main(Order(**json.loads(sys.argv[1]))))
