"""The newest message of each conversation, and catching up on messages after an outage."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import select

from bot.ids import ChannelId, MessageTs, RequestKey
from bot.jobs.model.jobs import UnreadConversation
from bot.jobs.store.conversations import MISSED_FOR, MOST_READ, Conversations
from bot.ports import Origin, ts_at
from bot.store import Claimer, Store
from tests import schema as s
from tests.builders import ANA, CHANNEL, NOW, add_job, claimer, rows_of

DIRECT = ChannelId("D0ANA")
SECOND = timedelta(seconds=1)


def message(at_seconds: float, *, channel: ChannelId = CHANNEL, root: str | None = None) -> Origin:
    """Return a message by its seconds after NOW."""
    ts = ts_at(NOW + timedelta(seconds=at_seconds))
    return Origin(RequestKey(f"message:{ts}"), ANA, channel, MessageTs(root) if root else None, ts)


async def begin(store: Store) -> tuple[int, int]:
    return await store.write(lambda tx: Conversations(tx).begin_reading(NOW, NOW))


async def claim(store: Store, who: Claimer | None = None) -> UnreadConversation | None:
    who = who or claimer(at=NOW)
    return await store.write(lambda tx: Conversations(tx).claim(who, who.now))


async def read_all(store: Store) -> list[tuple[str, str | None, str]]:
    """Claim and settle every conversation; return channel, thread and first message of each."""
    conversations: list[tuple[str, str | None, str]] = []
    while unread := await claim(store):
        conversations.append((unread.channel, unread.thread, unread.since))
        await settle(store, unread)
    return conversations


async def settle(store: Store, unread: UnreadConversation) -> None:
    await store.write(lambda tx: Conversations(tx).settle(unread, "one"))


async def note(store: Store, origin: Origin) -> None:
    await store.write(lambda tx: Conversations(tx).received(origin))


def root(seconds: float) -> str:
    return ts_at(NOW + timedelta(seconds=seconds))


async def test_thread_is_read_from_its_newest_received_message(store: Store) -> None:
    await add_job(store, root_ts=root(-50))
    for seconds in (-20, -10, -15):
        await note(store, message(seconds, root=root(-50)))
    await begin(store)
    assert await read_all(store) == [(CHANNEL, root(-50), root(-10))]


async def test_outage_while_a_conversation_is_read_repeats_the_reading(store: Store) -> None:
    await add_job(store, root_ts=root(-50))
    await begin(store)
    unread = await claim(store)
    assert unread
    await store.write(lambda tx: Conversations(tx).begin_reading(NOW + SECOND, NOW + SECOND))
    await settle(store, unread)
    again = await claim(store, claimer(at=NOW + SECOND))
    assert again
    assert (again.thread, again.since) == (unread.thread, unread.since)


async def test_of_thousands_of_threads_the_newest_are_read(store: Store) -> None:
    for number in range(MOST_READ + 5):
        await add_job(store, root_ts=root(number - 1_000))
    assert await begin(store) == (MOST_READ, 5)
    read = await read_all(store)
    assert [thread for _, thread, _ in read] == [root(n - 1_000) for n in range(MOST_READ + 4, 4, -1)]


async def test_second_process_claims_a_conversation_only_when_due(store: Store, another: Store) -> None:
    for number in range(2):
        await add_job(store, root_ts=root(number))
    await begin(store)
    assert await store.write(lambda tx: Conversations(tx).claim(claimer("one"), NOW + SECOND))
    assert await claim(another, claimer("two")) is None
    assert await claim(another, claimer("two", NOW + SECOND)) is not None


async def test_old_threads_are_forgotten_but_not_direct_messages(store: Store) -> None:
    await note(store, message(-10, root="1.1"))
    await note(store, message(-10, channel=DIRECT))
    await store.write(lambda tx: Conversations(tx).forget(NOW))
    assert len(await rows_of(store, select(s.conversations))) == 2
    await store.write(lambda tx: Conversations(tx).forget(NOW + 2 * MISSED_FOR))
    [row] = await rows_of(store, select(s.conversations))
    assert row["channel"] == DIRECT
