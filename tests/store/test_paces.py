"""Slack's limits by method: shared by all processes, each for itself, and ends before redraws."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from pydantic import SecretStr

from bot.model import lifecycle
from bot.model.ids import ChannelId, JobNumber, Message, MessageTs
from bot.model.outbox import Delivery, DeliveryKind, Method, NewDelivery
from bot.store import Store, Transaction
from tests.builders import ANA, CHANNEL, NOW, add_job, claimer

SECOND = timedelta(seconds=1)
WORDS = Message("words")


async def claim(store: Store, at: datetime = NOW, owner: str = "one") -> Sequence[Delivery]:
    return await store.write(lambda tx: tx.outbox.claim(claimer(owner, at), 50, 1.0))


async def settle(store: Store, deliveries: Sequence[Delivery]) -> None:
    def settle_all(tx: Transaction) -> None:
        for each in deliveries:
            tx.outbox.settle(each, lifecycle.delivered(NOW, None), owner="one")

    await store.write(settle_all)


async def add(store: Store, *new: NewDelivery) -> None:
    def add_all(tx: Transaction) -> None:
        for each in new:
            tx.outbox.add(each, NOW)

    await store.write(add_all)


async def edits(store: Store, count: int) -> None:
    """Faces to redraw, of so many jobs."""
    for number in range(count):
        job = await add_job(store, root_ts=f"1.{number}")
        await add(store, NewDelivery(f"edit {job}", DeliveryKind.EDIT, CHANNEL, job=job, message=WORDS))


def posts(count: int) -> list[NewDelivery]:
    """Posts, each in a channel of its own."""
    return [NewDelivery.post(f"post {n}", ChannelId(f"C{n}"), ANA, WORDS) for n in range(count)]


def kinds(deliveries: Sequence[Delivery]) -> Counter[str]:
    return Counter(each.what.kind for each in deliveries)


async def test_faces_are_redrawn_at_the_pace_of_the_method(store: Store) -> None:
    await edits(store, 5)
    counts = [len(await claim(store, NOW + seconds * SECOND)) for seconds in (0, 0.5, 1.25, 2.5, 3)]
    assert counts == [2, 0, 1, 1, 0]


async def test_a_workspace_gets_so_many_posts_in_all_its_channels(store: Store) -> None:
    await add(store, *posts(40))
    counts = [len(await claim(store, NOW + seconds * SECOND)) for seconds in (0, 0.1, 1, 2)]
    assert counts == [12, 0, 4, 4]


async def test_processes_share_the_pace_of_a_method(store: Store, another: Store) -> None:
    await edits(store, 6)
    for at in (NOW, NOW + 1.25 * SECOND):
        taken = await asyncio.gather(
            claim(store, at, "one"), claim(another, at, "two"), claim(store, at, "three")
        )
        assert sum(map(len, taken)) == (2 if at == NOW else 1)


@pytest.mark.parametrize(
    ("method", "held"), [(Method.EDIT, DeliveryKind.EDIT), (Method.POST, DeliveryKind.POST)]
)
async def test_a_held_method_holds_nothing_else(store: Store, method: Method, held: DeliveryKind) -> None:
    await edits(store, 1)
    await add(store, *posts(1))
    await store.write(lambda tx: tx.paces.hold_method(method, NOW + 30 * SECOND))
    [other] = await claim(store, NOW + 29 * SECOND)
    assert other.what.kind is not held
    [late] = await claim(store, NOW + 30 * SECOND)
    assert late.what.kind is held


async def test_a_file_that_waits_for_its_method_lets_posts_of_its_channel_pass(store: Store) -> None:
    await add(store, NewDelivery("file", DeliveryKind.FILE, ChannelId("C0")), *posts(1))
    await store.write(lambda tx: tx.paces.hold_method(Method.END_UPLOAD, NOW + 30 * SECOND))
    assert kinds(await claim(store)) == {DeliveryKind.POST: 1}


async def test_answers_through_a_response_url_wait_for_no_method(store: Store) -> None:
    def note(number: int, url: SecretStr | None) -> NewDelivery:
        return NewDelivery.private(f"note {number} {url}", CHANNEL, ANA, WORDS, response_url=url)

    url = SecretStr("https://hooks.slack.com/commands/1")
    await add(store, *(note(n, None) for n in range(9)), *(note(n, url) for n in range(9)))
    taken = await claim(store)
    assert Counter(each.what.response_url is not None for each in taken) == {True: 9, False: 2}


async def test_what_is_searched_for_counts_as_a_search(store: Store) -> None:
    for number in range(4):
        job = await add_job(store, channel=ChannelId(f"C{number}"), root_ts="1.1")
        reply = NewDelivery(
            f"end {number}", DeliveryKind.REPLY, ChannelId(f"C{number}"), job=job, message=WORDS
        )
        await add(store, reply)
    await claim(store)
    lapsed = NOW + 90 * SECOND
    counts = [len(await claim(store, at)) for at in (lapsed, lapsed + SECOND, lapsed + 2 * SECOND)]
    assert counts == [2, 0, 1]


async def reply(store: Store, job: JobNumber, key: str) -> None:
    await add(store, NewDelivery(key, DeliveryKind.REPLY, CHANNEL, job=job, message=WORDS))


async def edit(store: Store, job: JobNumber, key: str) -> None:
    await add(store, NewDelivery(key, DeliveryKind.EDIT, CHANNEL, job=job, message=WORDS))


async def test_the_end_is_said_before_its_face_is_redrawn(store: Store) -> None:
    job = await add_job(store, root_ts="1.1")
    await edit(store, job, "working")
    await reply(store, job, "end")
    await edit(store, job, "ended")
    said = await claim(store)
    assert [each.what.key for each in said] == ["end"]
    assert await claim(store, NOW + 5 * SECOND) == []
    await settle(store, said)
    assert [each.what.key for each in await claim(store, NOW + 5 * SECOND)] == ["ended"]


async def test_the_end_does_not_wait_for_a_redraw_that_is_under_way(store: Store) -> None:
    job = await add_job(store, root_ts="1.1")
    await edit(store, job, "working")
    await claim(store)
    await reply(store, job, "end")
    assert [each.what.key for each in await claim(store, NOW + SECOND)] == ["end"]


async def test_an_edit_that_failed_is_dropped_when_a_newer_one_waits(store: Store) -> None:
    job = await add_job(store, root_ts="1.1")
    await edit(store, job, "older")
    [older] = await claim(store)
    await edit(store, job, "newer")
    step = lifecycle.delivery_postponed(NOW, plain=False)
    await store.write(lambda tx: tx.outbox.settle(older, step, owner="one"))
    assert [each.what.key for each in await claim(store, NOW + 5 * SECOND)] == ["newer"]
    assert await store.read(lambda tx: tx.outbox.state_of("older")) is None


async def test_an_edit_that_failed_is_tried_again_when_it_is_the_newest(store: Store) -> None:
    jobs = [await add_job(store, root_ts=f"1.{number}") for number in range(2)]
    await edit(store, jobs[0], "mine")
    [mine] = await claim(store)
    await edit(store, jobs[1], "of another job")
    step = lifecycle.delivery_postponed(NOW, plain=False)
    await store.write(lambda tx: tx.outbox.settle(mine, step, owner="one"))
    assert {each.what.key for each in await claim(store, NOW + 5 * SECOND)} == {"mine", "of another job"}


async def test_reactions_have_a_pace_of_their_own(store: Store) -> None:
    seen = [
        NewDelivery(
            f"eyes {n}", DeliveryKind.REACTION, CHANNEL, message_ts=MessageTs(f"1.{n}"), reaction="eyes"
        )
        for n in range(4)
    ]
    await edits(store, 3)
    await add(store, *seen)
    assert kinds(await claim(store)) == {DeliveryKind.EDIT: 2, DeliveryKind.REACTION: 2}
