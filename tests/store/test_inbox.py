"""Reading conversations again after an outage, and the messages that the inbox keeps."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import select

from bot.ids import ChannelId, MessageTs, RequestKey
from bot.jobs.model.inbox import UnreadConversation
from bot.jobs.store.inbox import MISSED_FOR, MOST_READ, RETRIED_FOR, Inbox
from bot.ports import Content, Mention, Origin, ThreadReply, ts_at
from bot.store import Claimer, Store, Transaction
from tests import schema as s
from tests.builders import ANA, CHANNEL, NOW, add_job, claimer, rows_of

DIRECT = ChannelId("D0ANA")
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


def ts(seconds: float) -> MessageTs:
    """Return the timestamp that many seconds after NOW."""
    return ts_at(NOW + timedelta(seconds=seconds))


def message(
    seconds: float, *, channel: ChannelId = CHANNEL, root: str | None = None
) -> ThreadReply | Mention:
    thread = MessageTs(root) if root else None
    key = RequestKey(f"message:{channel}:{ts(seconds)}")
    origin = Origin(key, ANA, channel, thread, ts(seconds))
    content = Content("Add a page on keys")
    return ThreadReply(origin, content) if thread else Mention(origin, content)


async def receive(store: Store, *messages: ThreadReply | Mention) -> None:
    def add(tx: Transaction) -> None:
        for one in messages:
            Inbox(tx).add(one, NOW)

    await store.write(add)


async def begin(store: Store, at: datetime = NOW) -> tuple[int, int]:
    return await store.write(lambda tx: Inbox(tx).begin_reading(at, at))


async def claim(store: Store, who: Claimer | None = None) -> UnreadConversation | None:
    who = who or claimer(at=NOW)
    return await store.write(lambda tx: Inbox(tx).claim_unread(who, who.now))


async def settle(store: Store, unread: UnreadConversation) -> None:
    await store.write(lambda tx: Inbox(tx).settle_unread(unread, "one"))


def settle_some(tx: Transaction) -> bool:
    """Settle the messages whose turn it is. Return whether there were any."""
    claimed = Inbox(tx).claim(claimer(at=NOW + MINUTE), 5)
    Inbox(tx).settle(claimed)
    return bool(claimed)


async def read_all(store: Store) -> list[tuple[str, str | None, str]]:
    """Claim and settle every conversation; return channel, thread and first message of each."""
    conversations: list[tuple[str, str | None, str]] = []
    while unread := await claim(store):
        conversations.append((unread.channel, unread.thread, unread.since))
        await settle(store, unread)
    return conversations


async def test_thread_is_read_from_ten_minutes_before_the_newest_message(store: Store) -> None:
    await add_job(store, root_ts=ts(-50))
    await receive(store, *(message(seconds, root=ts(-50)) for seconds in (-20, -10, -15)))
    await begin(store)
    since = ts(-10 - RETRIED_FOR.total_seconds())
    assert await read_all(store) == [(CHANNEL, ts(-50), since)]


async def test_outage_while_a_conversation_is_read_repeats_the_reading(store: Store) -> None:
    await add_job(store, root_ts=ts(-50))
    await begin(store)
    unread = await claim(store)
    assert unread
    await begin(store, NOW + SECOND)
    await settle(store, unread)
    again = await claim(store, claimer(at=NOW + SECOND))
    assert again
    assert (again.thread, again.since) == (unread.thread, ts_at(NOW + SECOND - MISSED_FOR))


async def test_of_thousands_of_threads_the_newest_are_read(store: Store) -> None:
    for number in range(MOST_READ + 5):
        await add_job(store, root_ts=ts(number - 1_000))
    assert await begin(store) == (MOST_READ, 5)
    read = await read_all(store)
    assert [thread for _, thread, _ in read] == [ts(n - 1_000) for n in range(MOST_READ + 4, 4, -1)]


async def test_second_process_claims_a_conversation_only_when_due(
    store: Store, another: Store
) -> None:
    for number in range(2):
        await add_job(store, root_ts=ts(number))
    await begin(store)
    assert await store.write(lambda tx: Inbox(tx).claim_unread(claimer("one"), NOW + SECOND))
    assert await claim(another, claimer("two")) is None
    assert await claim(another, claimer("two", NOW + SECOND)) is not None


async def test_settled_messages_are_deleted_but_not_the_newest_direct_one(store: Store) -> None:
    newest = message(-5, channel=DIRECT)
    await receive(store, message(-10, root="1.1"), message(-10, channel=DIRECT), newest)
    while await store.write(settle_some):
        pass
    await store.write(lambda tx: Inbox(tx).tidy(NOW))
    assert len(await rows_of(store, select(s.inbox))) == 3
    await store.write(lambda tx: Inbox(tx).tidy(NOW + 3 * MISSED_FOR))
    [row] = await rows_of(store, select(s.inbox))
    assert row["key"] == newest.origin.key
