"""The outbox: order and doubt, on both databases."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection, Engine, event

from bot.ids import ChannelId, JobNumber, Message, MessageTs
from bot.outbox.model import (
    Delivery,
    DeliveryKind,
    NewDelivery,
    delivered,
)
from bot.outbox.store import Outbox
from bot.ports import message_key
from bot.store import Store
from tests.builders import ANA, CHANNEL, NOW, add_job, claim_deliveries, claimer

SOON = NOW + timedelta(seconds=1.5)
LATER = NOW + timedelta(seconds=90)


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


async def settle(store: Store, delivery: Delivery, new: Delivery) -> None:
    await store.write(lambda tx: Outbox(tx).save(delivery, new, owner="one"))


async def sent(store: Store, delivery: Delivery) -> None:
    await settle(store, delivery, delivered(delivery, NOW, None))


async def test_the_same_occasion_is_written_once(store: Store) -> None:
    job = await add_job(store, root_ts="1.1")
    await write(store, "end", job)
    await write(store, "end", job)
    [delivery] = await take(store)
    await sent(store, delivery)
    await write(store, "end", job)
    assert await take(store, LATER) == []


async def test_a_thread_is_told_in_order(store: Store) -> None:
    job = await add_job(store, root_ts="1.1")
    await write(store, "first", job)
    await write(store, "second", job)
    [first] = await take(store)
    assert first.what.key == "first"
    assert await take(store, SOON) == []
    await sent(store, first)
    [second] = await take(store, SOON)
    assert second.what.key == "second"


async def test_a_newer_edit_takes_the_place_of_a_pending_one(store: Store) -> None:
    job = await add_job(store, root_ts="1.1")
    await write(store, "edit 1", job, DeliveryKind.EDIT)
    await write(store, "edit 2", job, DeliveryKind.EDIT)
    assert [delivery.what.key for delivery in await take(store)] == ["edit 2"]


async def test_a_private_note_waits_for_nobody(store: Store) -> None:
    job = await add_job(store)
    await write(store, "root", job, DeliveryKind.ROOT)
    await write(store, "note", job, DeliveryKind.PRIVATE)
    assert {delivery.what.key for delivery in await take(store)} == {"root", "note"}


async def test_a_thread_that_cannot_be_posted_to_is_given_up_whole(store: Store) -> None:
    job = await add_job(store)
    await write(store, "reply", job)
    await write(store, "note", job, DeliveryKind.PRIVATE)
    await store.write(lambda tx: Outbox(tx).dead_letter_thread(job, "is_archived", NOW))
    assert [delivery.what.key for delivery in await take(store)] == ["note"]
    [letter] = await store.read(lambda tx: Outbox(tx).dead_letters(10))
    assert (letter.job, letter.kind, letter.reason) == (job, DeliveryKind.REPLY, "is_archived")


async def test_what_was_answered_is_found_from_the_first_to_the_last_message(store: Store) -> None:
    job, other = await add_job(store, root_ts="1.1"), ChannelId("C0OTHER")
    for number in range(4):
        key = message_key(CHANNEL, f"170000040{number}.000009")
        await write(store, f"{key}:thanks", job, DeliveryKind.REACTION)
        await write(store, f"{message_key(other, '1700000402.000009')}:{number}", job)
    await write(store, f"{message_key(CHANNEL, '1700000402.000010')}:answer", job)
    await write(store, f"{message_key(CHANNEL, '1700000402.000009')}:changed:sent", job)
    first, last = MessageTs("1700000401.000009"), MessageTs("1700000402.000009")
    found = await store.read(lambda tx: Outbox(tx).answers_about(CHANNEL, first, last))
    assert set(found) == {(first, "thanks"), (last, "thanks"), (last, "changed")}


async def test_a_claim_asks_once_which_deliveries_wait_for_others(store: Store) -> None:
    """That is most of its work. It was asked again for each group of methods, ten times in all."""
    asked: list[str] = []

    def note(_connection: Connection, _cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    await write(store, "end", await add_job(store, root_ts="1.1"))
    event.listen(Engine, "before_cursor_execute", note)
    try:
        assert len(await take(store)) == 1
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    edits_and_posts = 3
    assert [said.count("deliveries AS other") for said in asked if " AS other" in said] == [edits_and_posts]
