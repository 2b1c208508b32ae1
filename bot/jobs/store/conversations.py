"""The newest message of each conversation, and the conversations to be read again after an outage."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import BindParameter, and_, bindparam, case, func, or_, select, tuple_, update

from bot.ids import ChannelId, MessageTs, is_direct_message
from bot.jobs.model.jobs import UnreadConversation
from bot.jobs.store.tables import conversations, jobs
from bot.ports import Origin, time_of, ts_at
from bot.store.leases import FREE, Claimer, LeaseLost, claim, claiming
from bot.store.queues import QueueTable
from bot.store.schema import Repository, UtcDateTime, insert_unless_there, is_set

MISSED_FOR = timedelta(days=1)
"""Older messages are not taken, and jobs that ended earlier are not read again."""
RETRIED_FOR = timedelta(minutes=10)
"""Slack delivers an event again for about six minutes. https://docs.slack.dev/apis/events-api#retries"""
MOST_READ = 200
"""Maximum of threads, and of channels with direct messages, that are read again after an outage."""
_AT_ONCE = datetime.fromtimestamp(0, UTC)
"""Slack's clock, from which a message has its time, may be ahead of this machine's."""
_TIMELINE = ""
"""In place of a thread: the messages of a channel outside of threads."""
_c = conversations.c

UNREAD = QueueTable("unread", conversations, None, _c.due_at)
"""Conversations to be read again after an outage."""
_NEWEST = select(_c.id).where(UNREAD.waits, UNREAD.is_free).order_by(_c.missed_since.desc()).limit(1)
_CLAIM = claiming(conversations, candidates=_NEWEST)
_UNTIL: BindParameter[datetime] = bindparam("until", type_=UtcDateTime)
_HOLD = conversations.update().where(_c.due_at < _UNTIL, _c.claimed_by.is_(None)).values(due_at=_UNTIL)


class Conversations(Repository):
    """The conversations, within one transaction."""

    def received(self, origin: Origin) -> None:
        """Record a message as received, and so all before it in its conversation.

        The first one in direct messages is an exception. Others around it may have been missed by a bot that
        did not know of the conversation, so it is read once.
        """
        if origin.message_ts is None:
            return
        place = {"channel": origin.channel, "thread": origin.thread or _TIMELINE}
        first: dict[str, object] = {"newest_ts": origin.message_ts}
        if origin.thread is None and is_direct_message(origin.channel):
            said_at = time_of(origin.message_ts)
            first |= {"missed_since": ts_at(said_at - RETRIED_FOR), "due_at": _AT_ONCE}
        if not insert_unless_there(self.connection, conversations, {**place, **first}):
            older = and_(_c.channel == place["channel"], _c.thread == place["thread"])
            newer = _c.newest_ts < origin.message_ts
            self.connection.execute(
                conversations.update().where(older, newer).values(newest_ts=origin.message_ts)
            )

    def begin_reading(self, now: datetime, due_at: datetime) -> tuple[int, int]:
        """Make conversations due at ``due_at`` to be read again from the newest message received now.

        These are the threads of jobs that are open or ended less than a day ago, and the direct messages.
        Return how many of them, the newest, will be read, and how many threads are left out. A conversation
        that is due already will be read from where it was to be read.
        """
        threads, left_out = self._threads(now)
        self._add_direct_channels(now)
        direct = select(_c.id).where(_c.thread == _TIMELINE)
        newest = (
            self.connection.execute(direct.order_by(_c.newest_ts.desc()).limit(MOST_READ)).scalars().all()
        )
        in_threads = tuple_(_c.channel, _c.thread).in_(threads)
        either = or_(in_threads, _c.id.in_(newest))
        chosen = self.connection.execute(select(_c.id).where(either)).scalars().all()
        since = func.coalesce(_c.missed_since, _c.newest_ts)
        due = (
            conversations.update()
            .where(_c.id.in_(chosen))
            .values(missed_since=since, due_at=due_at, attempts=0)
        )
        self.connection.execute(due)
        return len(chosen), left_out

    def read_thread(self, channel: ChannelId, root: MessageTs, now: datetime) -> None:
        """Make a thread due to be read from its beginning: replies to it could not be taken until now."""
        new = {"channel": channel, "thread": root, "newest_ts": root, "missed_since": root, "due_at": now}
        insert_unless_there(self.connection, conversations, new)

    def read_later(self, origin: Origin, due_at: datetime) -> None:
        """Make a conversation due to be read from this message on, because it could not be taken now.

        A mention outside of threads is read as the thread under it.
        """
        if origin.message_ts is None:
            return
        thread = origin.thread_for_job or _TIMELINE
        before = ts_at(time_of(origin.message_ts) - timedelta(microseconds=1))
        new: dict[str, object] = {"channel": origin.channel, "thread": thread}
        new |= {"newest_ts": before, "missed_since": before, "due_at": due_at}
        if insert_unless_there(self.connection, conversations, new):
            return
        is_same = and_(_c.channel == origin.channel, _c.thread == thread)
        since = case((_c.missed_since < before, _c.missed_since), else_=before)
        soon = func.coalesce(_c.due_at, due_at)
        self.connection.execute(update(conversations).where(is_same).values(missed_since=since, due_at=soon))

    def _threads(self, now: datetime) -> tuple[Sequence[tuple[ChannelId, MessageTs]], int]:
        """Return the newest threads to read, and the number of others. Each gets a row."""
        thread = func.coalesce(jobs.c.thread_ts, jobs.c.root_ts).label("thread")
        begun = select(jobs.c.number, jobs.c.channel, thread).where(
            jobs.c.root_ts.is_not(None), is_set(jobs.c.requester)
        )
        # Not joined with OR, for which SQLite would read all jobs.
        running = begun.where(jobs.c.ended_at.is_(None))
        which = running.union_all(begun.where(jobs.c.ended_at > now - MISSED_FOR)).subquery()
        newest = select(which.c.channel, which.c.thread).order_by(which.c.number.desc())
        rows = self.connection.execute(newest.limit(MOST_READ)).all()
        threads = list(dict.fromkeys((row.channel, row.thread) for row in rows))
        count = int(self.connection.execute(select(func.count()).select_from(which)).scalar_one())
        new = [{"channel": channel, "thread": root, "newest_ts": root} for channel, root in sorted(threads)]
        if new:
            insert_unless_there(self.connection, conversations, *new)
        return threads, count - len(rows)

    def _add_direct_channels(self, now: datetime) -> None:
        """Add rows for direct messages that jobs were asked for in before received messages were written."""
        newest = func.max(jobs.c.number).desc()
        direct = jobs.c.channel.between("D", "E")
        channels = select(jobs.c.channel).where(direct).group_by(jobs.c.channel).order_by(newest)
        ids = self.connection.execute(channels.limit(MOST_READ)).scalars().all()
        ts = ts_at(now - MISSED_FOR)
        new = [{"channel": channel, "thread": _TIMELINE, "newest_ts": ts} for channel in sorted(ids)]
        if new:
            insert_unless_there(self.connection, conversations, *new)

    def claim(self, claimer: Claimer, next_at: datetime) -> UnreadConversation | None:
        """Claim the newest conversation to be read; no process gets another one before ``next_at``."""
        rows = claim(self.connection, _CLAIM, claimer)
        if not rows:
            return None
        self.hold(next_at)
        row = rows[0]
        since = max(row["missed_since"], ts_at(claimer.now - MISSED_FOR))
        thread = row["thread"] or None
        return UnreadConversation(row["id"], row["channel"], thread, since, row["due_at"], row["attempts"])

    def hold(self, until: datetime) -> None:
        """Let no conversation be claimed before ``until``."""
        self.connection.execute(_HOLD, {"until": until})

    def settle(self, unread: UnreadConversation, owner: str) -> None:
        """Record a conversation as read, unless it has become due again meanwhile; free its lease.

        Raises LeaseLost unless ``owner`` holds the lease.
        """
        was_read = _c.due_at == unread.due_at
        self._write(
            unread,
            owner,
            missed_since=case((was_read, None), else_=_c.missed_since),
            due_at=case((was_read, None), else_=_c.due_at),
        )

    def put_back(self, unread: UnreadConversation, owner: str, due_at: datetime) -> None:
        """Count a failed attempt and free the lease. Raises LeaseLost unless ``owner`` holds it."""
        self._write(unread, owner, due_at=due_at, attempts=_c.attempts + 1)

    def _write(self, unread: UnreadConversation, owner: str, **values: object) -> None:
        mine = conversations.update().where(_c.id == unread.id, _c.claimed_by == owner)
        if self.connection.execute(mine.values({**values, **FREE})).rowcount != 1:
            raise LeaseLost(f"conversation {unread.id}")

    def forget(self, now: datetime) -> None:
        """Delete threads whose newest message is more than a day old."""
        old = and_(_c.newest_ts < ts_at(now - MISSED_FOR), _c.due_at.is_(None))
        self.connection.execute(conversations.delete().where(old, _c.thread != _TIMELINE))
