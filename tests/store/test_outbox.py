"""Claims of the outbox on both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, Engine, event

from bot.ids import ChannelId, JobNumber, Message
from bot.outbox.model import Delivery, DeliveryKind, NewDelivery
from bot.outbox.store import _MOST_READY, Outbox
from bot.store import Store, Transaction
from tests.builders import ANA, CHANNEL, NOW, add_job, claim_deliveries, claimer


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

    await write(store, "end", await add_job(store, root_ts="1.1"))
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
    job = await add_job(store, root_ts="1.1")
    await write(store, "edit 1", job, DeliveryKind.EDIT)
    await write(store, "edit 2", job, DeliveryKind.EDIT)
    assert [delivery.what.key for delivery in await take(store)] == ["edit 2"]


async def test_post_goes_before_hundreds_of_edits(store: Store) -> None:
    busy = await add_job(store, root_ts="1.1")

    def add_edits(tx: Transaction) -> None:
        for number in range(_MOST_READY + 1):
            edit = NewDelivery(f"edit {number}", DeliveryKind.EDIT, CHANNEL, job=busy)
            Outbox(tx).add(replace(edit, edits=f"post {number}"), NOW)

    await store.write(add_edits)
    await write(store, "post", await add_job(store, root_ts="2.2"))
    ready = await store.read(lambda tx: Outbox(tx).ready(NOW, ()))
    assert len(ready) == _MOST_READY
    assert [one.kind for one in ready[:2]] == [DeliveryKind.REPLY, DeliveryKind.EDIT]
