"""The inbox: people's messages to the bot, stored before Slack's event is acknowledged."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Index,
    Integer,
    Table,
    and_,
    bindparam,
    exists,
    func,
    or_,
    select,
    text,
)

from bot.ids import ChannelId, MessageTs, RequestKey, UserId, is_direct_message
from bot.inbox.model import Conversation, InboxMessage, MessageState, MissedSpan
from bot.jobs.model.jobs import JobState
from bot.jobs.model.prompts import PromptState
from bot.jobs.store.tables import jobs, prompts
from bot.ports import Mention, Origin, SharedFile, ThreadReply, time_of, ts_at
from bot.store.leases import (
    FREE_LEASE,
    HOLDER,
    Claimer,
    LeaseLost,
    Rows,
    claim,
    claiming,
    held,
    one_of,
    read_rows,
)
from bot.store.queues import QueueTable
from bot.store.retention import RetentionRule
from bot.store.schema import (
    Channel,
    Choice,
    Due,
    Id,
    Owner,
    Person,
    UserJson,
    UserText,
    UtcDateTime,
    if_set,
    insert_unless_there,
    is_set,
    lease,
    metadata,
    reader,
)

inbox = Table(
    "inbox",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("channel", Channel(40), nullable=False),
    Column("ts", Id(40), nullable=False),
    # Empty for the messages of direct conversations outside of threads.
    Column("conversation_ts", Id(40), nullable=False),
    Column("user", Owner(40), nullable=False),
    Column("state", Choice(MessageState), nullable=False),
    Column("said_at", UtcDateTime, nullable=False),
    Column("parent_user", Person(40)),
    Column("text", UserText),
    Column("files", UserJson(tuple[SharedFile, ...])),
    Column("omitted_parts", UserJson(tuple[str, ...])),
    Column("app", Id(40)),
    Column("version", Id(40), nullable=False, server_default=text("''")),
    Column("due_at", Due(minutes=11)),
    Column("request", Id(400)),
    *lease(),
    Index("ix_inbox_ts", "channel", "ts", unique=True),
    Index("ix_inbox_conversation_ts", "channel", "conversation_ts", "user"),
    if_set("ix_inbox_due_at", "due_at"),
    if_set("ix_inbox_request", "request"),
    sqlite_autoincrement=True,
)
missed_messages = Table(
    "missed_messages",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("since_ts", Id(40), nullable=False),
    # Empty for all conversations.
    Column("channel", Channel(40)),
    Column("is_invited", Boolean, nullable=False, server_default=text("false")),
    Column("due_at", Due(minutes=11), nullable=False),
    *lease(),
    sqlite_autoincrement=True,
)

SETTLED_KEPT_FOR = timedelta(days=1)
"""Maximum age of a message that is heard, and the time for which a settled message is known."""
REDELIVERED_FOR = timedelta(minutes=10)
"""Slack delivers an event again for about six minutes.

https://docs.slack.dev/reference/events-api#retries
"""
MAX_CONVERSATIONS = 200
"""The most threads, and the most direct conversations, that are read again after an outage."""
_c = inbox.c
_OTHER = inbox.alias("other")
_IS_BESIDE = and_(
    _OTHER.c.channel == _c.channel,
    _OTHER.c.conversation_ts == _c.conversation_ts,
    _OTHER.c.user == _c.user,
)
_HAS_NEW_BESIDE = exists().where(_IS_BESIDE, _OTHER.c.state == MessageState.NEW)
_IS_IN_TURN = and_(
    ~_HAS_NEW_BESIDE.where(_OTHER.c.ts < _c.ts),
    ~and_(_c.state == MessageState.HELD, _HAS_NEW_BESIDE),
)
"""The condition that no other message of its author there goes first.

Earlier messages go first, by Slack's clock: a reply may arrive before the mention for which it
waits. Words go before the files that are held for them.
"""
INBOX_QUEUE = QueueTable("inbox", inbox, None, _c.due_at, _IS_IN_TURN)
"""New messages, also edited and deleted ones, and files whose words have not come."""
_CLAIM = INBOX_QUEUE.claiming(_IS_IN_TURN)
# Built once, because building takes longer than running it.
_UPDATE_AS_READ = inbox.update().where(
    _c.id == bindparam("this"),
    _c.state == bindparam("was"),
    _c.version == bindparam("as_read"),
    held(inbox),
)
MISSED_MESSAGES = QueueTable("missed_messages", missed_messages, None, missed_messages.c.due_at)
_CLAIM_MISSED = claiming(
    missed_messages,
    candidates=select(missed_messages.c.id)
    .where(MISSED_MESSAGES.waits, MISSED_MESSAGES.is_free)
    .order_by(missed_messages.c.id)
    .limit(1),
)
_UNDECIDED = (MessageState.NEW, MessageState.HELD)
_UNSETTLED_PROMPTS = (
    PromptState.NEW,
    PromptState.WAITING,
    PromptState.SENDING,
    PromptState.UNCONFIRMED,
)
SETTLED: dict[str, object] = {
    "state": MessageState.SETTLED,
    "user": "",
    "parent_user": None,
    "text": None,
    "files": None,
    "omitted_parts": None,
    "app": None,
    "due_at": None,
    "request": None,
}
"""The values of a message of which nothing more comes."""
INBOX_RULE = RetentionRule(
    "messages to the bot",
    inbox,
    _c.due_at.is_(None),
    _c.said_at,
    delete_when=_c.due_at.is_(None),
)


def place_of(origin: Origin) -> str:
    """Return the place of a message. A person's messages there within seconds belong together."""
    return origin.thread or ("" if origin.is_direct else origin.message_ts or "")


class Inbox(Rows[InboxMessage]):
    """The inbox, within one transaction."""

    table = inbox
    read = staticmethod(reader(InboxMessage, inbox))

    # ---- writes of Slack's events

    def add(self, message: ThreadReply | Mention, said_at: datetime) -> bool:
        """Store a message, unless it is known. Return whether it is new.

        A mention in a thread comes as two events, of which one names the thread's first author.
        """
        origin = message.origin
        parent = message.parent_user if isinstance(message, ThreadReply) else None
        values = {
            "channel": origin.channel,
            "ts": origin.message_ts,
            "conversation_ts": place_of(origin),
            "user": origin.user,
            "state": MessageState.NEW,
            "said_at": said_at,
            "parent_user": parent,
            "text": message.content.text,
            "files": message.content.files or None,
            "omitted_parts": message.content.omitted_parts or None,
            "app": origin.app,
            "version": message.version,
            "due_at": said_at,
        }
        is_new = insert_unless_there(self.connection, inbox, values)
        if not is_new and parent:
            known = and_(
                _c.channel == origin.channel,
                _c.ts == origin.message_ts,
                _c.parent_user.is_(None),
                _c.state == MessageState.NEW,
            )
            self.connection.execute(inbox.update().where(known).values(parent_user=parent))
        return is_new

    def add_settled(self, origin: Origin, version: str, now: datetime) -> bool:
        """Note a message of which nothing may come. Return False if it is known."""
        values = {
            "channel": origin.channel,
            "ts": origin.message_ts,
            "conversation_ts": place_of(origin),
            "user": "",
            "state": MessageState.SETTLED,
            "said_at": now,
            "version": version,
        }
        return insert_unless_there(self.connection, inbox, values)

    def change(self, message: InboxMessage, **values: object) -> None:
        """Write an act of a message's author, even if a worker has claimed the message."""
        change = inbox.update().where(_c.id == message.id)
        self.connection.execute(change.values({**values, **FREE_LEASE}))

    # ---- writes of a worker

    def claim(self, claimer: Claimer, limit: int) -> Sequence[InboxMessage]:
        """Claim the messages whose time has come, in the order of each person."""
        return self._claim(_CLAIM, claimer, limit=limit)

    def save(self, message: InboxMessage, owner: str | None = None, **values: object) -> None:
        """Write the outcome of a message, and free its lease.

        Raises LeaseLost when it was edited since it was read, or when ``owner`` is given without
        the lease.
        """
        as_read = {
            "this": message.id,
            "was": message.state,
            "as_read": message.version,
            HOLDER.key: owner,
        }
        written = self.connection.execute(_UPDATE_AS_READ, {**values, **FREE_LEASE, **as_read})
        if written.rowcount != 1:
            raise LeaseLost(f"message {message.id}")

    def settle(self, message: InboxMessage) -> None:
        """Keep only the place and the time of a message."""
        self.save(message, owner=None, **SETTLED)

    def take(
        self,
        message: InboxMessage,
        request: RequestKey,
        text: str | None,
        user: UserId | None = None,
    ) -> None:
        """Note a message as part of a request.

        ``text``: its part for the agent, until that is sent.
        """
        files = None if text is None else message.files or None
        omitted_parts = None if text is None else message.omitted_parts or None
        self.save(
            message,
            state=MessageState.TAKEN,
            user=message.user or user,
            text=text,
            files=files,
            omitted_parts=omitted_parts,
            request=request,
            due_at=None,
        )

    # ---- looking

    def at(self, channel: ChannelId, ts: MessageTs) -> InboxMessage | None:
        """Return the message that was written at this time; None for an unknown one."""
        return self._newest(_c.channel == channel, _c.ts == ts)

    def messages_of(self, request: RequestKey) -> Sequence[InboxMessage]:
        """Return the messages of a request, oldest first."""
        return self._all(_c.request == request)

    def held_files(self, message: InboxMessage) -> Sequence[InboxMessage]:
        """Return the files without words of a message's author in its place."""
        return self._all(_is_beside(message), _c.state == MessageState.HELD)

    def taken_beside(self, message: InboxMessage, within: timedelta) -> Sequence[InboxMessage]:
        """Return an author's taken messages in the same place, from just before and just after."""
        first = ts_at(time_of(message.ts) - within)
        last = ts_at(time_of(message.ts) + within)
        taken = and_(_c.state == MessageState.TAKEN, _c.ts.between(first, last))
        return self._all(_is_beside(message), taken)

    def requests_of(self, message: InboxMessage) -> Sequence[RequestKey]:
        """Return the requests of a message's author in the message's place, the newest first."""
        theirs = self._all(_is_beside(message), _c.request.is_not(None))
        return list(dict.fromkeys(each.request for each in reversed(theirs) if each.request))

    def has_new_beside(self, message: InboxMessage) -> bool:
        """Return whether its author has said something in its place that is not decided."""
        return self._has(_is_beside(message), _c.state == MessageState.NEW)

    def is_undecided(self, channel: ChannelId, ts: MessageTs) -> bool:
        """Return whether a request may still be made of a message."""
        is_message = and_(_c.channel == channel, _c.ts == ts)
        return self._has(is_message, one_of(_c.state, _UNDECIDED))

    def sent_from(self, channel: ChannelId, first: MessageTs, last: MessageTs) -> set[MessageTs]:
        """Return the messages from ``first`` to ``last`` that are parts of prompts of open jobs."""
        then = and_(_c.channel == channel, _c.ts.between(first, last))
        going_on = jobs.c.state.not_in((JobState.ARCHIVED, JobState.REFUSED))
        of_job = (
            select(_c.ts)
            .join(prompts, prompts.c.key == _c.request)
            .join(jobs, jobs.c.number == prompts.c.job)
        )
        return set(self.connection.execute(of_job.where(then, going_on)).scalars())

    def undecided_of(self, user: UserId) -> Sequence[InboxMessage]:
        """Return a person's messages that are not decided."""
        return self._all(_c.user == user, _c.due_at.is_not(None))

    def _all(self, *conditions: ColumnElement[bool]) -> Sequence[InboxMessage]:
        rows = self.connection.execute(select(inbox).where(*conditions).order_by(_c.ts, _c.id))
        return [self.read(row) for row in rows.mappings()]

    # ---- reading again after an outage

    def knows_channel(self, channel: ChannelId) -> bool:
        """Return whether any message of a channel is known."""
        return self._has(_c.channel == channel)

    def newest(self) -> MessageTs | None:
        """Return the message that was stored last; None for an empty inbox."""
        last = select(_c.ts).order_by(_c.id.desc()).limit(1)
        return self.connection.execute(last).scalar()

    def conversations(self, now: datetime) -> tuple[Sequence[Conversation], int]:
        """Return the conversations in which messages may have been missed, and the number left out.

        These are the threads of jobs that are open or ended less than a day ago, those of other
        requests of the last day, and direct conversations, the newest of each first.
        """
        threads, left_out = self._list_threads_of_jobs(now)
        direct = [Conversation(channel, None) for channel in self._list_direct_channels()]
        found = [*threads, *self._list_threads_of_requests(now), *direct]
        return list(dict.fromkeys(found)), left_out

    def _list_threads_of_jobs(self, now: datetime) -> tuple[Sequence[Conversation], int]:
        """Return the newest threads of jobs, and the number of others."""
        thread = func.coalesce(jobs.c.thread_ts, jobs.c.status_ts).label("thread")
        begun = select(jobs.c.number, jobs.c.channel, thread).where(
            jobs.c.status_ts.is_not(None), is_set(jobs.c.requester)
        )
        # Not joined with OR, for which SQLite would read all jobs.
        running = begun.where(jobs.c.ended_at.is_(None))
        recent = begun.where(jobs.c.ended_at > now - SETTLED_KEPT_FOR)
        threads = running.union_all(recent).subquery()
        newest = select(threads.c.channel, threads.c.thread).order_by(threads.c.number.desc())
        rows = self.connection.execute(newest.limit(MAX_CONVERSATIONS)).all()
        counting = select(func.count()).select_from(threads)
        count = int(self.connection.execute(counting).scalar_one())
        return [Conversation(row.channel, row.thread) for row in rows], count - len(rows)

    def _list_threads_of_requests(self, now: datetime) -> Sequence[Conversation]:
        """Return the threads of the last day's messages that led, or may lead, to a request."""
        return self._threads(_c.said_at > now - SETTLED_KEPT_FOR)

    def threads_since(self, channel: ChannelId, since: MessageTs) -> Sequence[Conversation]:
        """Return the threads of a channel's messages since a time that may lead to a request."""
        return self._threads(_c.channel == channel, _c.ts >= since)

    def _threads(self, *conditions: ColumnElement[bool]) -> Sequence[Conversation]:
        """Return the threads of messages that led, or may lead, to a request, newest first."""
        asks = or_(_c.request.is_not(None), one_of(_c.state, _UNDECIDED))
        places = (
            select(_c.channel, _c.conversation_ts)
            .where(asks, *conditions, _c.conversation_ts != "")
            .group_by(_c.channel, _c.conversation_ts)
            .order_by(func.max(_c.ts).desc())
            .limit(MAX_CONVERSATIONS)
        )
        return [
            Conversation(row.channel, row.conversation_ts)
            for row in self.connection.execute(places)
        ]

    def _list_direct_channels(self) -> Sequence[ChannelId]:
        """Return the channels of direct conversations, with messages or with jobs of a command."""
        spoken = (
            select(_c.channel)
            .where(_c.conversation_ts == "")
            .group_by(_c.channel)
            .order_by(func.max(_c.ts).desc())
            .limit(MAX_CONVERSATIONS)
        )
        asked = (
            select(jobs.c.channel)
            .where(jobs.c.channel.between("D", "E"))
            .group_by(jobs.c.channel)
            .order_by(func.max(jobs.c.number).desc())
            .limit(MAX_CONVERSATIONS)
        )
        channels = list[ChannelId]()
        for query in (spoken, asked):
            channels += self.connection.execute(query).scalars()
        return [channel for channel in channels if is_direct_message(channel)]

    # ---- forgetting

    def tidy(self, now: datetime) -> None:
        """Delete the texts of settled prompts, and messages of which nothing has come for a day.

        The newest message of a direct conversation stays, so that the conversation is known.
        """
        waits = exists().where(
            prompts.c.key == _c.request, one_of(prompts.c.state, _UNSETTLED_PROMPTS)
        )
        is_taken = and_(_c.state == MessageState.TAKEN, _c.text.is_not(None))
        self.connection.execute(
            inbox.update().where(is_taken, ~waits).values(text=None, files=None, omitted_parts=None)
        )
        newer = exists().where(
            _OTHER.c.channel == _c.channel, _OTHER.c.conversation_ts == "", _OTHER.c.ts > _c.ts
        )
        old = and_(_c.state == MessageState.SETTLED, _c.ts < ts_at(now - SETTLED_KEPT_FOR))
        self.connection.execute(inbox.delete().where(old, or_(_c.conversation_ts != "", newer)))


def _is_beside(message: InboxMessage) -> ColumnElement[bool]:
    """Return the condition that a message has the same author and place."""
    return and_(
        _c.channel == message.channel,
        _c.conversation_ts == message.conversation_ts,
        _c.user == message.user,
    )


class MissedMessages(Rows[MissedSpan]):
    """The times from which on messages may have been missed, within one transaction."""

    table = missed_messages
    read = staticmethod(reader(MissedSpan, missed_messages))

    def add(
        self,
        since: MessageTs,
        due_at: datetime,
        channel: ChannelId | None = None,
        *,
        is_invited: bool = False,
    ) -> None:
        """Queue conversations to be read again, also conversations that are in the queue.

        The new row takes the place of a waiting one, whose reading may have begun before. A reader
        begins each row anew.
        """
        same = and_(
            missed_messages.c.channel.is_not_distinct_from(channel),
            missed_messages.c.is_invited == is_invited,
            missed_messages.c.claimed_by.is_(None),
        )
        found = self.connection.execute(select(missed_messages).where(same)).mappings()
        waits = [self.read(row) for row in found]
        self.connection.execute(missed_messages.delete().where(same))
        values = {
            "since_ts": min([since, *(span.since_ts for span in waits)]),
            "channel": channel,
            "is_invited": is_invited,
            "due_at": max((span.due_at for span in waits), default=due_at),
        }
        self.connection.execute(missed_messages.insert(), values)

    def claim(self, claimer: Claimer) -> Sequence[MissedSpan]:
        """Claim the oldest, if its time has come."""
        return read_rows(missed_messages, claim(self.connection, _CLAIM_MISSED, claimer), self.read)

    def list_ids(self) -> Collection[int]:
        """Return the ids of all rows."""
        return set(self.connection.execute(select(missed_messages.c.id)).scalars())

    def renew(self, row: MissedSpan, claimer: Claimer) -> None:
        """Hold a lease for longer. Raises LeaseLost."""
        until = claimer.now + timedelta(seconds=claimer.lease_seconds)
        self._write(row.id, claimer.owner, {"claimed_until": until})

    def put_back(self, row: MissedSpan, owner: str, due_at: datetime) -> None:
        """Let the reading go on later. Raises LeaseLost."""
        self._write(row.id, owner, {"due_at": due_at, **FREE_LEASE})

    def end(self, row: MissedSpan, owner: str) -> None:
        """Delete it, since all has been read. Raises LeaseLost."""
        is_held = and_(missed_messages.c.id == row.id, missed_messages.c.claimed_by == owner)
        if self.connection.execute(missed_messages.delete().where(is_held)).rowcount != 1:
            raise LeaseLost(f"missed messages {row.id}")
