"""Claims of the outbox on both databases."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, Engine, event

from bot.ids import ChannelId, JobNumber, Message, MessageTs
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.store.jobs import Jobs
from bot.outbox.model import Delivery, DeliveryKind, NewDelivery
from bot.outbox.store import _MAX_READY, Outbox
from bot.store import Store, Transaction
from tests.builders import (
    ANA,
    CHANNEL,
    NOW,
    PROJECT,
    add_job,
    claim_deliveries,
    claimer,
    set_job,
)


async def write(
    store: Store,
    key: str,
    job: JobNumber,
    kind: DeliveryKind = DeliveryKind.REPLY,
    channel: ChannelId = CHANNEL,
) -> None:
    message = Message(f"words of {key}", ({"type": "divider"},))
    delivery = NewDelivery(key, kind, channel, job=job, user=ANA, message=message)
    await store.write(lambda tx: Outbox(tx).add(delivery, NOW))


async def take(store: Store, at: datetime = NOW, owner: str = "one") -> list[Delivery]:
    return list(await store.write(lambda tx: claim_deliveries(tx, claimer(owner, at))))


async def test_claim_checks_the_order_of_deliveries_once(store: Store) -> None:
    """The check takes most of the time of a claim."""
    statements: list[str] = []

    def note(_connection: Connection, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    await write(store, "end", await add_job(store, status_ts="1.1"))
    event.listen(Engine, "before_cursor_execute", note)
    try:
        assert len(await take(store)) == 1
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    checks = [
        statement.count("deliveries AS other")
        for statement in statements
        if " AS other" in statement
    ]
    assert checks == [3], "one statement, for edits and posts"


async def test_newer_edit_replaces_a_pending_one(store: Store) -> None:
    job = await add_job(store, status_ts="1.1")
    await write(store, "edit 1", job, DeliveryKind.EDIT)
    await write(store, "edit 2", job, DeliveryKind.EDIT)
    assert [delivery.what.key for delivery in await take(store)] == ["edit 2"]


async def test_post_goes_before_hundreds_of_edits(store: Store) -> None:
    message = Message("Working on it", ())

    def add_edits(tx: Transaction) -> None:
        for number in range(_MAX_READY + 5):
            wanted = TrackedJob(JobNumber(0), PROJECT, CHANNEL, ANA, "Add a page", NOW)
            job = Jobs(tx).add(wanted)
            set_job(tx, job, status_ts=MessageTs(f"{number}.1"))
            key = f"edit {number}"
            edit = NewDelivery(key, DeliveryKind.EDIT, CHANNEL, job=job, message=message)
            Outbox(tx).add(edit, NOW)

    await store.write(add_edits)
    await write(store, "first message", await add_job(store), DeliveryKind.STATUS)
    ready = await store.read(lambda tx: Outbox(tx).ready(NOW, ()))
    assert len(ready) == _MAX_READY
    assert [one.kind for one in ready[:2]] == [DeliveryKind.STATUS, DeliveryKind.EDIT]
