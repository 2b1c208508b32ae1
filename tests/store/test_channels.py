"""A channel whose id has changed keeps everything, on both databases."""

from __future__ import annotations

import asyncio
from datetime import time, timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import insert, select

from bot.model import (
    ChannelId,
    Message,
    MessageTs,
    NewDelivery,
    Origin,
    Period,
    ProjectId,
    SubscriptionId,
    SubscriptionState,
    ThreadRef,
    Weekday,
    lifecycle,
    message_key,
)
from bot.store import Store, Transaction
from bot.store.schema import (
    deliveries,
    digests,
    heard,
    metadata,
    prompts,
    questions,
    snapshots,
    subscriptions,
)
from tests.builders import ANA, CHANNEL, NOW, PROJECT, add_job, add_prompt, claimer, origin, rows_of

NEW, NEWEST, OTHER = ChannelId("C0NEW"), ChannelId("C0NEWEST"), ChannelId("C0OTHER")
WEEK = Period(NOW.date() - timedelta(days=7), NOW.date())
TS = MessageTs("1.1")


async def rename(store: Store, old: ChannelId = CHANNEL, new: ChannelId = NEW) -> ChannelId:
    return await store.write(lambda tx: tx.channels.rename(old, new))


async def present(store: Store, channel: ChannelId) -> ChannelId:
    return await store.read(lambda tx: tx.channels.present(channel))


def ids_of(channel: ChannelId, tx: Transaction) -> frozenset[ChannelId]:
    return tx.channels.ids_of(channel)


async def channels_in(store: Store, table: Any) -> list[str]:
    return [row["channel"] for row in await rows_of(store, select(table.c.channel))]


async def fill(store: Store) -> None:
    """One row of the channel in each table that names one, and a job of another channel."""
    job = await add_job(store, root_ts=TS)
    await add_prompt(store, job, key=message_key(CHANNEL, TS))
    await add_job(store, channel=OTHER, root_ts=TS)

    def add(tx: Transaction) -> None:
        words = NewDelivery.private(f"{message_key(CHANNEL, TS)}:same", CHANNEL, ANA, Message("Hello"))
        tx.outbox.add(words, NOW)
        tx.digests.add(
            key="now:1",
            subscription=None,
            project=PROJECT,
            channel=CHANNEL,
            section=None,
            week=WEEK,
            now=NOW,
        )
        _question(tx)
        _subscribe(tx)
        tx.heard.note(_reply(CHANNEL, TS))

    await store.write(add)


def _reply(channel: ChannelId, ts: MessageTs) -> Origin:
    return Origin(message_key(channel, ts), ANA, channel, TS, ts)


def _question(tx: Transaction) -> None:
    about = {"project": PROJECT, "state": "requested", "generation": "1", "priority": 1}
    snapshot = about | {"first": WEEK.first, "end": WEEK.end, "is_final": True, "with_pages": False}
    times = {"created_at": NOW, "due_at": NOW}
    tx.connection.execute(insert(snapshots).values(**snapshot, **times))
    number = tx.connection.execute(select(snapshots.c.id)).scalar_one()
    asked = {
        "key": "q1",
        "project": PROJECT,
        "channel": CHANNEL,
        "user": ANA,
        "query": {},
        "state": "waiting",
    }
    tx.connection.execute(insert(questions).values(**asked, now=number, asked_at=NOW, due_at=NOW))


def _subscribe(tx: Transaction, channel: ChannelId = CHANNEL, section: str | None = None) -> None:
    tx.subscriptions.put(
        origin(channel=channel),
        project=PROJECT,
        section=section,
        weekday=Weekday.MONDAY,
        at=time(9),
        zone="UTC",
        now=NOW,
    )


def test_every_table_that_names_a_channel_is_known_here() -> None:
    named = {table.name for table in metadata.sorted_tables if "channel" in table.c}
    moved = {"jobs", "prompts", "deliveries", "questions", "digests", "subscriptions", "heard", "audit"}
    assert named == moved | {"former_channels", "channel_projects"}


async def test_everything_of_a_channel_moves_to_its_new_id_and_nothing_else(store: Store) -> None:
    await fill(store)
    assert await rename(store) == NEW
    for table in (prompts, deliveries, questions, digests, subscriptions, heard):
        assert await channels_in(store, table) == [NEW], table.name
    found = await store.read(lambda tx: tx.jobs.in_thread(ThreadRef(NEW, TS)))
    assert found is not None
    assert await store.read(lambda tx: tx.jobs.in_thread(ThreadRef(CHANNEL, TS))) is None
    assert await store.read(lambda tx: tx.jobs.in_thread(ThreadRef(OTHER, TS))) is not None


async def test_what_was_heard_under_the_new_id_counts(store: Store) -> None:
    await store.write(lambda tx: tx.heard.note(_reply(CHANNEL, MessageTs("1.2"))))
    await store.write(lambda tx: tx.heard.note(_reply(NEW, MessageTs("1.3"))))
    await rename(store)
    [row] = await rows_of(store, select(heard))
    assert (row["channel"], row["ts"]) == (NEW, "1.3")


async def test_a_message_of_the_channel_is_known_under_its_new_id(store: Store) -> None:
    await fill(store)
    await rename(store)
    said = Origin(message_key(CHANNEL, TS), ANA, CHANNEL, message_ts=TS)
    again = said.moved_to(await present(store, CHANNEL))
    assert (again.channel, again.key) == (NEW, message_key(NEW, TS))
    assert await store.read(lambda tx: tx.prompts.job_of(again.key)) is not None
    [row] = await rows_of(store, select(deliveries.c.key))
    assert row["key"] == f"{message_key(NEW, TS)}:same"


async def test_a_message_that_was_heard_under_both_ids_stays_as_it_is(store: Store) -> None:
    job = await add_job(store)
    for channel in (CHANNEL, NEW):
        await add_prompt(store, job, key=message_key(channel, TS))
    await rename(store)
    keys = {row["key"] for row in await rows_of(store, select(prompts.c.key))}
    assert keys == {message_key(CHANNEL, TS), message_key(NEW, TS)}
    assert set(await channels_in(store, prompts)) == {NEW}


async def test_a_change_that_is_told_again_moves_what_was_stored_since(store: Store) -> None:
    await fill(store)
    for _ in range(2):
        await add_job(store)
        assert await rename(store) == NEW
        assert await store.read(lambda tx: tx.jobs.in_channel(CHANNEL, 10, ANA)) == []
    assert len(await store.read(lambda tx: tx.jobs.in_channel(NEW, 10, ANA))) == 3


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 1, 0), (1, 0, 1)])
async def test_changes_may_be_told_in_any_order(store: Store, order: tuple[int, ...]) -> None:
    await fill(store)
    changes = [(CHANNEL, NEW), (NEW, NEWEST)]
    for each in order:
        await rename(store, *changes[each])
    for former in (CHANNEL, NEW, NEWEST):
        assert await present(store, former) == NEWEST
        assert await store.read(partial(ids_of, former)) == {CHANNEL, NEW, NEWEST}
    assert await channels_in(store, prompts) == [NEWEST]


async def test_an_id_that_comes_back_is_the_present_one(store: Store) -> None:
    await fill(store)
    await rename(store)
    await rename(store, NEW, CHANNEL)
    assert await present(store, NEW) == CHANNEL
    assert await channels_in(store, prompts) == [CHANNEL]


async def test_a_channel_that_was_never_renamed_has_its_one_id(store: Store) -> None:
    assert await present(store, CHANNEL) == CHANNEL
    assert await store.read(lambda tx: tx.channels.ids_of(CHANNEL)) == {CHANNEL}
    assert not await store.write(lambda tx: tx.channels.follow(CHANNEL))
    assert await rename(store, CHANNEL, CHANNEL) == CHANNEL


async def test_a_leased_delivery_is_settled_by_its_holder_after_the_change(store: Store) -> None:
    await fill(store)
    [held] = await store.write(lambda tx: tx.outbox.claim(claimer(), 1, 1.0))
    await rename(store)
    await store.write(lambda tx: tx.outbox.settle(held, lifecycle.delivered(NOW, None), owner="one"))
    [row] = await rows_of(store, select(deliveries.c.state, deliveries.c.channel))
    assert (row["state"], row["channel"]) == ("sent", NEW)


async def test_a_prompt_and_a_job_keep_their_leases(store: Store) -> None:
    await fill(store)
    [held] = await store.write(lambda tx: tx.prompts.claim_new(claimer(), 1))
    await rename(store)
    assert await store.write(lambda tx: tx.prompts.claim_new(claimer("two"), 1)) == []
    step = lifecycle.prompt_prepared(held, "Add a quickstart")
    await store.write(lambda tx: tx.prompts.apply(held.id, step, owner="one"))


async def test_a_subscription_made_under_the_new_id_takes_the_place_of_the_old(store: Store) -> None:
    def subscribe(tx: Transaction) -> None:
        for channel, section in ((CHANNEL, None), (CHANNEL, "/api"), (NEW, None)):
            _subscribe(tx, channel, section)

    await store.write(subscribe)
    await rename(store)
    left = await store.read(lambda tx: tx.subscriptions.in_channel(NEW))
    assert [(each.id, each.section) for each in left] == [(2, "/api"), (3, None)]
    ended = await store.read(lambda tx: tx.subscriptions.get(SubscriptionId(1)))
    assert ended is not None
    assert ended.state is SubscriptionState.ENDED
    await store.write(lambda tx: _subscribe(tx, NEW, "/api"))
    assert len(await store.read(lambda tx: tx.subscriptions.in_channel(NEW))) == 2


async def test_two_processes_that_are_told_at_once_do_it_once(store: Store, another: Store) -> None:
    await fill(store)
    assert set(await asyncio.gather(rename(store), rename(another))) == {NEW}
    assert await channels_in(store, prompts) == [NEW]
    assert await store.read(lambda tx: tx.channels.ids_of(NEW)) == {CHANNEL, NEW}


async def test_the_project_that_a_channel_has_chosen_moves_and_a_newer_choice_stays(store: Store) -> None:
    acme, beta = ProjectId("acme"), ProjectId("beta")
    await store.write(lambda tx: tx.channels.choose_project(CHANNEL, acme))
    await store.write(lambda tx: tx.channels.choose_project(OTHER, acme))
    await store.write(lambda tx: tx.channels.choose_project(OTHER, beta))
    await rename(store)
    await rename(store, OTHER, NEWEST)
    assert await chosen(store, NEW, CHANNEL, NEWEST) == [acme, acme, beta], "also by its former id"
    await store.write(lambda tx: tx.channels.choose_project(CHANNEL, beta))
    assert await chosen(store, NEW) == [beta]
    await rename(store, NEW, NEWEST)
    assert await chosen(store, NEW, NEWEST, ChannelId("C0NONE")) == [beta, beta, None]


async def chosen(store: Store, *channels: ChannelId) -> list[ProjectId | None]:
    return await store.read(lambda tx: [tx.channels.project(channel) for channel in channels])
