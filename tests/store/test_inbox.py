"""The messages that the inbox keeps, and the conversations that are read again after an outage."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select

from bot.ids import ChannelId, MessageTs, RequestKey, UserId
from bot.inbox.model import Conversation, InboxMessage, MessageState
from bot.inbox.store import KNOWN_FOR, MAX_CONVERSATIONS, Inbox, MissedMessages
from bot.ports import Content, Mention, Origin, ThreadReply, message_key, ts_at
from bot.store import Claimer, LeaseLost, Store, Transaction
from tests import schema as s
from tests.builders import ANA, BEN, CHANNEL, NOW, add_job, claimer, rows_of

DIRECT = ChannelId("D0ANA")
REQUEST = RequestKey("message:C0DOCS:1.1")


def ts(seconds: float) -> MessageTs:
    """Return the timestamp that many seconds after NOW."""
    return ts_at(NOW + timedelta(seconds=seconds))


def message(
    seconds: float,
    *,
    channel: ChannelId = CHANNEL,
    root: MessageTs | None = None,
    user: UserId = ANA,
) -> ThreadReply | Mention:
    origin = Origin(message_key(channel, ts(seconds)), user, channel, root, ts(seconds))
    content = Content("Add a page on keys")
    return ThreadReply(origin, content) if root else Mention(origin, content)


async def receive(store: Store, *messages: ThreadReply | Mention) -> None:
    def add(tx: Transaction) -> None:
        for one in messages:
            Inbox(tx).add(one, NOW)

    await store.write(add)


async def claim(store: Store) -> list[MessageTs]:
    who = claimer(at=NOW)
    claimed = await store.write(lambda tx: Inbox(tx).claim(who, 20))
    return [one.ts for one in claimed]


async def settle_all(store: Store) -> None:
    """Settle every message, each in its turn."""

    def settle(tx: Transaction) -> int:
        claimed = Inbox(tx).claim(claimer(at=NOW), 20)
        for one in claimed:
            Inbox(tx).settle(one)
        return len(claimed)

    while await store.write(settle):
        pass


async def conversations(store: Store) -> list[Conversation]:
    found, _ = await store.read(lambda tx: Inbox(tx).conversations(NOW))
    return list(found)


async def test_messages_of_one_person_are_claimed_one_after_the_other(store: Store) -> None:
    root = ts(-60)
    await receive(
        store, *(message(n, root=root) for n in range(3)), message(3, root=root, user=BEN)
    )
    assert await claim(store) == [ts(0), ts(3)]


async def test_message_is_stored_once(store: Store) -> None:
    await receive(store, message(0), message(0))
    assert len(await rows_of(store, select(s.inbox))) == 1


async def test_outcome_of_an_edited_message_is_not_written(store: Store) -> None:
    await receive(store, message(0))

    def read(tx: Transaction) -> InboxMessage:
        found = Inbox(tx).at(CHANNEL, ts(0))
        assert found is not None
        return found

    before = await store.read(read)
    await store.write(lambda tx: Inbox(tx).change(before, text="Add two pages", version=ts(5)))
    with pytest.raises(LeaseLost):
        await store.write(lambda tx: Inbox(tx).take(before, REQUEST, "Add a page"))
    assert (await store.read(read)).state is MessageState.NEW


async def test_conversations_are_those_of_jobs_requests_and_direct_messages(store: Store) -> None:
    await add_job(store, status_ts=ts(-50))
    await receive(store, message(-10, root=ts(-100)), message(-5), message(-3, channel=DIRECT))
    assert await conversations(store) == [
        Conversation(CHANNEL, ts(-50)),
        Conversation(CHANNEL, ts(-5)),
        Conversation(CHANNEL, ts(-100)),
        Conversation(DIRECT, None),
    ]


async def test_of_thousands_of_threads_the_newest_are_read(store: Store) -> None:
    for number in range(MAX_CONVERSATIONS + 5):
        await add_job(store, status_ts=ts(number - 1_000))
    found, left_out = await store.read(lambda tx: Inbox(tx).conversations(NOW))
    newest = range(MAX_CONVERSATIONS + 4, 4, -1)
    assert left_out == 5
    assert [thread for _, thread in found] == [ts(number - 1_000) for number in newest]


async def test_settled_messages_are_deleted_but_not_the_newest_direct_one(store: Store) -> None:
    newest = message(-5, channel=DIRECT)
    await receive(store, message(-10, root=ts(-99)), message(-10, channel=DIRECT), newest)
    await settle_all(store)
    await store.write(lambda tx: Inbox(tx).tidy(NOW))
    assert len(await rows_of(store, select(s.inbox))) == 3
    await store.write(lambda tx: Inbox(tx).tidy(NOW + 2 * KNOWN_FOR))
    [row] = await rows_of(store, select(s.inbox))
    assert (row["channel"], row["ts"]) == (DIRECT, newest.origin.message_ts)


async def missed(store: Store, who: Claimer) -> list[MessageTs]:
    claimed = await store.write(lambda tx: MissedMessages(tx).claim(who))
    return [one.since_ts for one in claimed]


async def test_outages_before_the_reading_are_read_together(store: Store) -> None:
    await store.write(lambda tx: MissedMessages(tx).add(ts(-60), NOW))
    await store.write(lambda tx: MissedMessages(tx).add(ts(-90), NOW))
    assert await missed(store, claimer(at=NOW)) == [ts(-90)]
    assert await missed(store, claimer("two", NOW)) == []


async def test_outage_while_conversations_are_read_repeats_the_reading(store: Store) -> None:
    await store.write(lambda tx: MissedMessages(tx).add(ts(-60), NOW))
    [row] = await store.write(lambda tx: MissedMessages(tx).claim(claimer(at=NOW)))
    await store.write(lambda tx: MissedMessages(tx).add(ts(-10), NOW))
    await store.write(lambda tx: MissedMessages(tx).end(row, "one"))
    assert await missed(store, claimer("two", NOW)) == [ts(-10)]


async def test_reading_of_a_dead_process_is_taken_over(store: Store) -> None:
    await store.write(lambda tx: MissedMessages(tx).add(ts(-60), NOW))
    assert await missed(store, claimer("one", NOW)) == [ts(-60)]
    later = NOW + timedelta(minutes=2)
    assert await missed(store, claimer("two", later)) == [ts(-60)]
