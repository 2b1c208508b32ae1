"""The outbox: order, pace, doubt, on both databases."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from sqlalchemy import select

from bot.model import (
    ChannelId,
    Delivery,
    DeliveryKind,
    DeliveryState,
    JobNumber,
    Message,
    NewDelivery,
)
from bot.store import Registry
from bot.store.schema import deliveries
from tests.builders import ANA, CHANNEL, NOW, add_job, claimer

PACE_SECONDS = 1.0
SOON = NOW + timedelta(seconds=1.5)
LATER = NOW + timedelta(seconds=90)


async def write(
    registry: Registry,
    key: str,
    job: JobNumber,
    kind: DeliveryKind = DeliveryKind.REPLY,
    channel: ChannelId = CHANNEL,
) -> None:
    async with registry.transaction() as tables:
        message = Message(f"words of {key}", ({"type": "divider"},))
        await tables.deliveries.add(NewDelivery(key, kind, channel, job=job, user=ANA, message=message), NOW)


async def take(registry: Registry, at: datetime = NOW, owner: str = "one") -> list[Delivery]:
    async with registry.transaction() as tables:
        return list(await tables.deliveries.claim(claimer(owner, at), 10, PACE_SECONDS))


async def sent(registry: Registry, delivery: Delivery) -> None:
    async with registry.transaction() as tables:
        await tables.deliveries.settle(delivery.id, owner="one", now=NOW, state=DeliveryState.SENT)


async def test_the_same_occasion_is_written_once(registry: Registry) -> None:
    job = await add_job(registry, root_ts="1.1")
    await write(registry, "end", job)
    await write(registry, "end", job)
    [delivery] = await take(registry)
    await sent(registry, delivery)
    await write(registry, "end", job)
    assert await take(registry, LATER) == []


async def test_two_processes_at_the_same_moment_never_both_post_into_a_channel(registry: Registry) -> None:
    """Two threads of one channel: who comes second learns in the database that the channel is taken."""
    for number in range(2):
        await write(registry, f"end {number}", await add_job(registry, root_ts=f"1.{number}"))
    for at in (NOW, SOON):  # the channel's first post at all, and a later one
        taken: list[list[Delivery]] = await asyncio.gather(
            *(take(registry, at, owner) for owner in ("one", "two", "three"))
        )
        assert sorted(len(each) for each in taken) == [0, 0, 1]
    async with registry.look() as tables:
        states = await tables.connection.execute(select(deliveries.c.state, deliveries.c.attempts))
    assert sorted(tuple(row) for row in states) == [("sending", 1), ("sending", 1)]


async def test_a_message_comes_back_as_it_was_written(registry: Registry) -> None:
    job = await add_job(registry, root_ts="1.1")
    await write(registry, "end", job)
    [delivery] = await take(registry)
    assert delivery.message == Message("words of end", ({"type": "divider"},))
    assert (delivery.root_ts, delivery.job, delivery.in_doubt) == ("1.1", job, False)


async def test_a_thread_is_told_in_order(registry: Registry) -> None:
    job = await add_job(registry, root_ts="1.1")
    await write(registry, "first", job)
    await write(registry, "second", job)
    [first] = await take(registry)
    assert first.key == "first"
    assert await take(registry, SOON) == []
    await sent(registry, first)
    [second] = await take(registry, SOON)
    assert second.key == "second"


async def test_a_channel_gets_one_post_at_a_time(registry: Registry) -> None:
    jobs = [await add_job(registry, root_ts=f"1.{n}") for n in range(3)]
    for job in jobs:
        await write(registry, f"end {job}", job)
    counts = [
        len(await take(registry, NOW + timedelta(seconds=seconds))) for seconds in (0, 0.5, 1.1, 2.2, 3.3)
    ]
    assert counts == [1, 0, 1, 1, 0]


async def test_channels_do_not_wait_for_each_other(registry: Registry) -> None:
    for channel in ("C1", "C2", "C3"):
        job = await add_job(registry, channel=ChannelId(channel), root_ts="1.1")
        await write(registry, channel, job, channel=ChannelId(channel))
    assert len(await take(registry)) == 3


async def test_a_newer_edit_takes_the_place_of_a_pending_one(registry: Registry) -> None:
    job = await add_job(registry, root_ts="1.1")
    await write(registry, "edit 1", job, DeliveryKind.EDIT)
    await write(registry, "edit 2", job, DeliveryKind.EDIT)
    assert [delivery.key for delivery in await take(registry)] == ["edit 2"]


async def test_a_private_note_waits_for_nobody(registry: Registry) -> None:
    job = await add_job(registry)
    await write(registry, "root", job, DeliveryKind.ROOT)
    await write(registry, "note", job, DeliveryKind.PRIVATE)
    assert {delivery.key for delivery in await take(registry)} == {"root", "note"}


async def test_what_was_being_sent_when_the_lease_ran_out_is_in_doubt(registry: Registry) -> None:
    job = await add_job(registry, root_ts="1.1")
    await write(registry, "end", job)
    await take(registry, owner="one")
    [again] = await take(registry, LATER, owner="two")
    assert again.in_doubt
    assert again.attempts == 2


async def test_a_thread_that_cannot_be_posted_to_is_given_up_whole(registry: Registry) -> None:
    job = await add_job(registry)
    await write(registry, "reply", job)
    await write(registry, "note", job, DeliveryKind.PRIVATE)
    async with registry.transaction() as tables:
        await tables.deliveries.bury(job, "is_archived", NOW)
    assert [delivery.key for delivery in await take(registry)] == ["note"]
    async with registry.look() as tables:
        assert await tables.deliveries.dead(10) == [(job, "reply", "is_archived")]
