"""The inbox: what people write to the bot, stored as it is before Slack's event is acknowledged.

A row in state *unread* is no message but a conversation that is to be read again after an outage.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Text,
    and_,
    bindparam,
    case,
    exists,
    func,
    or_,
    select,
    update,
)

from bot.ids import ChannelId, MessageTs, RequestKey, UserId
from bot.jobs.model.inbox import Door, HeardState, InboxMessage, UnreadConversation
from bot.jobs.model.jobs import JobState
from bot.jobs.model.prompts import PromptState
from bot.jobs.store.tables import inbox, jobs, prompts
from bot.ports import Mention, Origin, ThreadReply, message_key, time_of, ts_at
from bot.store.leases import (
    FREE,
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
from bot.store.schema import UtcDateTime, insert_unless_there, is_set, reader

MISSED_FOR = timedelta(days=1)
"""Older messages are not taken, and jobs that ended earlier are not read again."""
RETRIED_FOR = timedelta(minutes=10)
"""Slack delivers an event again for about six minutes. https://docs.slack.dev/reference/events-api#retries"""
MOST_READ = 200
"""Maximum of threads, and of channels with direct messages, that are read again after an outage."""
_KEPT_FOR = 2 * MISSED_FOR
"""How long a message is known of which nothing has come."""
_c = inbox.c
_OTHER = inbox.alias("other")
_HERE = and_(_OTHER.c.channel == _c.channel, _OTHER.c.place == _c.place)
_HAS_NEW = exists().where(_HERE, _OTHER.c.user == _c.user, _OTHER.c.state == HeardState.NEW)
_IS_BEHIND = or_(_HAS_NEW.where(_OTHER.c.id < _c.id), and_(_c.state == HeardState.HELD, _HAS_NEW))
"""The condition that the same person has said something there that goes first: earlier, or for held files."""
_IS_IN_TURN = and_(_c.state != HeardState.UNREAD, ~_IS_BEHIND)
HEARD = QueueTable("inbox", inbox, None, _c.due_at, _IS_IN_TURN)
"""Messages to read, held ones whose time has come, and those that were changed after they were taken."""
_CLAIM = HEARD.claiming(_IS_IN_TURN)
_UPDATE_AS_READ = inbox.update().where(
    _c.id == bindparam("this"),
    _c.state == bindparam("was"),
    _c.text.is_not_distinct_from(bindparam("as_read", type_=Text)),
    _c.edited.is_not_distinct_from(bindparam("as_edited", type_=Text)),
    held(inbox),
)

UNREAD = QueueTable("unread", inbox, HeardState.UNREAD, _c.due_at)
"""Conversations to be read again after an outage."""
_NEWEST = select(_c.id).where(UNREAD.waits, UNREAD.is_free).order_by(_c.id.desc()).limit(1)
_CLAIM_UNREAD = claiming(inbox, candidates=_NEWEST)
_UNTIL: BindParameter[datetime] = bindparam("until", type_=UtcDateTime)
_WAITS = and_(_c.state == HeardState.UNREAD, _c.due_at < _UNTIL, _c.claimed_by.is_(None))
_HOLD = inbox.update().where(_WAITS).values(due_at=_UNTIL)
_TO_COME = (HeardState.NEW, HeardState.HELD)
INBOX = RetentionRule(
    "messages to the bot",
    inbox,
    _c.due_at.is_(None),
    _c.said_at,
    delete_when=_c.due_at.is_(None),
)


def place_of(origin: Origin) -> str:
    """Return the place of a message: what somebody says there within seconds belongs together."""
    return origin.thread or ("" if origin.is_direct else origin.message_ts or "")


class Inbox(Rows[InboxMessage]):
    """The inbox, within one transaction."""

    table = inbox
    read = staticmethod(reader(InboxMessage, inbox))

    def add(self, message: ThreadReply | Mention, said_at: datetime) -> bool:
        """Store a message, unless it is known. Return whether it is new.

        A mention in a thread comes as two events, of which one names the thread's first author.
        """
        is_new = self._add(message, said_at, state=HeardState.NEW, due_at=said_at)
        if not is_new and isinstance(message, ThreadReply) and message.parent:
            known = and_(
                _c.key == message.origin.key, _c.parent.is_(None), _c.state == HeardState.NEW
            )
            self.connection.execute(inbox.update().where(known).values(parent=message.parent))
        return is_new

    def add_deleted(self, message: ThreadReply | Mention, said_at: datetime) -> bool:
        """Note a message as deleted that is still to arrive."""
        return self._add(
            message, said_at, state=HeardState.SETTLED, user="", text=None, files=None, omitted=None
        )

    def _add(self, message: ThreadReply | Mention, said_at: datetime, **more: object) -> bool:
        origin = message.origin
        values: dict[str, object] = {
            "key": origin.key,
            "channel": origin.channel,
            "place": place_of(origin),
            "ts": origin.message_ts,
            "user": origin.user,
            "app": origin.app,
            "said_at": said_at,
            "thread": origin.thread,
            "parent": None if isinstance(message, Mention) else message.parent,
            "is_mention": isinstance(message, Mention),
            "text": message.content.text,
            "files": message.content.files or None,
            "omitted": message.content.omitted or None,
        }
        return insert_unless_there(self.connection, inbox, {**values, **more})

    def with_key(self, key: RequestKey) -> InboxMessage | None:
        """Return the message with this key; None for an unknown one."""
        return self._newest(_c.key == key)

    def claim(self, claimer: Claimer, limit: int) -> Sequence[InboxMessage]:
        """Claim the messages whose time has come, in the order of each person."""
        return read_rows(inbox, claim(self.connection, _CLAIM, claimer, limit=limit), self.read)

    def save(self, message: InboxMessage, owner: object = None, **values: object) -> None:
        """Write what has come of a message, and free its lease.

        Raises LeaseLost when it was edited since it was read, or when ``owner`` is given without the lease.
        """
        as_read = {
            "this": message.id,
            "was": message.state,
            "as_read": message.text,
            "as_edited": message.edited,
            HOLDER.key: owner,
        }
        new = {"attempts": 0, **values, **FREE}
        if self.connection.execute(_UPDATE_AS_READ, {**new, **as_read}).rowcount != 1:
            raise LeaseLost(f"message {message.id}")

    def settle(self, messages: Sequence[InboxMessage], owner: object = None) -> None:
        """Note messages that need nothing more, without their texts and people."""
        for message in messages:
            self.save(
                message,
                owner,
                state=HeardState.SETTLED,
                user="",
                parent=None,
                text=None,
                files=None,
                omitted=None,
                change=None,
                edited=None,
                due_at=None,
                request=None,
            )

    def drop_change(self, message: InboxMessage) -> None:
        """Leave a message as it was taken: its author's change is not carried out."""
        self.save(message, change=None, edited=None, due_at=None)

    def take(self, messages: Sequence[InboxMessage], request: RequestKey, door: Door) -> None:
        """Note messages as parts of a prompt. They keep their texts until it is sent."""
        for message in messages:
            self.save(message, state=HeardState.TAKEN, request=request, due_at=None, door=door)

    def held_by_author(self, message: InboxMessage) -> Sequence[InboxMessage]:
        """Return all that is held of a message's author in its place."""
        mine = and_(
            _c.channel == message.channel, _c.place == message.place, _c.user == message.user
        )
        return self._all(mine, _c.state == HeardState.HELD)

    def taken_beside(self, message: InboxMessage, within: timedelta) -> Sequence[InboxMessage]:
        """Return the taken messages of its author in the same place, from just before and just after."""
        first, last = (ts_at(time_of(message.ts) + by) for by in (-within, within))
        mine = and_(
            _c.channel == message.channel, _c.place == message.place, _c.user == message.user
        )
        return self._all(mine, _c.state == HeardState.TAKEN, _c.ts.between(first, last))

    def is_waited_for(self, channel: ChannelId, place: str) -> bool:
        """Return whether a job may still be started in a thread."""
        return self._has(_c.channel == channel, _c.place == place, one_of(_c.state, _TO_COME))

    def parts(self, request: RequestKey) -> Sequence[InboxMessage]:
        """Return the messages that a request was made of, oldest first."""
        return self._all(_c.request == request)

    def moved(
        self,
        request: RequestKey,
        to: RequestKey,
        state: HeardState,
        by: UserId,
        door: Door | None = None,
    ) -> None:
        """Let the messages of a request, or the one with its key, belong to another one.

        ``by``: who decided that, in an answer that only the author of a settled message sees. Such a message
        names no author any more. ``door``: for a message that was settled.
        """
        mine = or_(_c.request == request, and_(_c.key == request, _c.request.is_(None)))
        values: dict[str, object] = {
            "request": to,
            "state": state,
            "user": case((_c.user == "", by), else_=_c.user),
            "door": func.coalesce(_c.door, door),
            "due_at": None,
        }
        if state is HeardState.ASKED:
            values |= {"text": None, "files": None, "omitted": None}
        self.connection.execute(inbox.update().where(mine).values(values))

    def change(self, message: InboxMessage, **values: object) -> None:
        """Write a change by a message's author, whoever works on it."""
        self.connection.execute(
            inbox.update().where(_c.id == message.id).values({**values, **FREE})
        )

    def brought(self, channel: ChannelId, first: MessageTs, last: MessageTs) -> set[MessageTs]:
        """Return the messages from ``first`` to ``last`` that are parts of prompts of jobs that go on."""
        then = _c.key.between(message_key(channel, first), message_key(channel, last))
        going_on = jobs.c.state.not_in((JobState.ARCHIVED, JobState.REFUSED))
        of_job = (
            select(_c.ts)
            .join(prompts, prompts.c.key == _c.request)
            .join(jobs, jobs.c.number == prompts.c.job)
        )
        return set(self.connection.execute(of_job.where(then, going_on)).scalars())

    def _all(self, *which: ColumnElement[bool]) -> Sequence[InboxMessage]:
        rows = self.connection.execute(select(inbox).where(*which).order_by(_c.ts, _c.id))
        return [self.read(row) for row in rows.mappings()]

    # ---- reading again after an outage

    def knows_channel(self, channel: ChannelId) -> bool:
        """Return whether anything is known of a channel."""
        return self._has(_c.channel == channel)

    def oldest(self) -> MessageTs | None:
        """Return the first message of this database; None while it is empty."""
        return self.connection.execute(
            select(func.min(_c.ts)).where(_c.state != HeardState.UNREAD)
        ).scalar()

    def newest(self) -> MessageTs | None:
        """Return the newest message; None for an empty inbox."""
        return self.connection.execute(
            select(func.max(_c.ts)).where(_c.state != HeardState.UNREAD)
        ).scalar()

    def read_from(self, channel: ChannelId, place: str, since: MessageTs, due_at: datetime) -> None:
        """Make a conversation due to be read from a time on."""
        new = {
            "key": f"unread:{channel}:{place}",
            "channel": channel,
            "place": place,
            "thread": place or None,
            "ts": since,
            "user": "",
            "state": HeardState.UNREAD,
            "said_at": due_at,
            "due_at": due_at,
        }
        if insert_unless_there(self.connection, inbox, new):
            return
        earlier = case((_c.ts < since, _c.ts), else_=since)
        again = update(inbox).where(_c.key == new["key"])
        self.connection.execute(again.values(ts=earlier, due_at=due_at, attempts=0))

    def begin_reading(self, now: datetime, due_at: datetime) -> tuple[int, int]:
        """Make conversations due to be read again: what was said there and is not in the inbox was missed.

        These are the threads of jobs that are open or ended less than a day ago, those of other requests of
        the last day, and direct conversations. Return how many will be read, and how many are left out.
        """
        newest, longest = self.newest(), ts_at(now - MISSED_FOR)
        since = max(ts_at(time_of(newest) - RETRIED_FOR), longest) if newest else longest
        threads, left_out = self._threads(now)
        places = dict.fromkeys([*self._spoken_in(now), *reversed(threads)])
        for channel, place in places:
            self.read_from(channel, place, since, due_at)
        return len(places), left_out

    def _threads(self, now: datetime) -> tuple[Sequence[tuple[ChannelId, str]], int]:
        """Return the newest threads of jobs, and the number of others."""
        thread = func.coalesce(jobs.c.thread_ts, jobs.c.root_ts).label("thread")
        begun = select(jobs.c.number, jobs.c.channel, thread).where(
            jobs.c.root_ts.is_not(None), is_set(jobs.c.requester)
        )
        # Not joined with OR, for which SQLite would read all jobs.
        running = begun.where(jobs.c.ended_at.is_(None))
        which = running.union_all(begun.where(jobs.c.ended_at > now - MISSED_FOR)).subquery()
        newest = select(which.c.channel, which.c.thread).order_by(which.c.number.desc())
        rows = self.connection.execute(newest.limit(MOST_READ)).all()
        count = int(self.connection.execute(select(func.count()).select_from(which)).scalar_one())
        return [(row.channel, row.thread) for row in rows], count - len(rows)

    def _spoken_in(self, now: datetime) -> Sequence[tuple[ChannelId, str]]:
        """Return direct conversations and the threads of the last day's requests, the newest last."""
        places = (
            select(_c.channel, _c.place)
            .group_by(_c.channel, _c.place)
            .order_by(func.max(_c.ts).desc())
            .limit(MOST_READ)
        )
        asks = or_(_c.request.is_not(None), one_of(_c.state, _TO_COME))
        threads = places.where(asks, _c.said_at > now - MISSED_FOR, _c.place != "")
        direct = places.where(_c.place == "", _c.state != HeardState.UNREAD)
        asked = (
            select(jobs.c.channel)
            .where(jobs.c.channel.between("D", "E"))
            .group_by(jobs.c.channel)
            .order_by(func.max(jobs.c.number).desc())
            .limit(MOST_READ)
        )
        found = [(channel, "") for channel in self.connection.execute(asked).scalars()]
        for query in (direct, threads):
            found += [(row.channel, row.place) for row in self.connection.execute(query)]
        return found[::-1]

    def claim_unread(self, claimer: Claimer, next_at: datetime) -> UnreadConversation | None:
        """Claim the newest conversation to be read; no process gets another one before ``next_at``."""
        rows = claim(self.connection, _CLAIM_UNREAD, claimer)
        if not rows:
            return None
        self.hold_unread(next_at)
        row = rows[0]
        return UnreadConversation(
            id=row["id"],
            channel=row["channel"],
            thread=row["thread"],
            since=max(row["ts"], ts_at(claimer.now - MISSED_FOR)),
            due_at=row["due_at"],
            attempts=row["attempts"],
        )

    def hold_unread(self, until: datetime) -> None:
        """Let no conversation be claimed before ``until``."""
        self.connection.execute(_HOLD, {"until": until})

    def settle_unread(self, unread: UnreadConversation, owner: str) -> None:
        """Forget a conversation that was read, unless it has become due again meanwhile. Raises LeaseLost."""
        mine = and_(_c.id == unread.id, _c.claimed_by == owner)
        if (
            self.connection.execute(inbox.delete().where(mine, _c.due_at == unread.due_at)).rowcount
            != 1
        ):
            self._write_unread(unread, owner)

    def put_back_unread(self, unread: UnreadConversation, owner: str, due_at: datetime) -> None:
        """Count a failed attempt and free the lease. Raises LeaseLost unless ``owner`` holds it."""
        self._write_unread(unread, owner, due_at=due_at, attempts=_c.attempts + 1)

    def _write_unread(self, unread: UnreadConversation, owner: str, **values: object) -> None:
        mine = inbox.update().where(_c.id == unread.id, _c.claimed_by == owner)
        if self.connection.execute(mine.values({**values, **FREE})).rowcount != 1:
            raise LeaseLost(f"conversation {unread.id}")

    def tidy(self, now: datetime) -> None:
        """Delete the texts of prompts that are settled, and messages of which nothing has come for days.

        The newest message of a direct conversation stays, so that the conversation is known.
        """
        unsettled = (
            PromptState.NEW,
            PromptState.WAITING,
            PromptState.SENDING,
            PromptState.UNCONFIRMED,
        )
        waits = exists().where(prompts.c.key == _c.request, one_of(prompts.c.state, unsettled))
        done = and_(_c.state == HeardState.TAKEN, _c.change.is_(None), _c.text.is_not(None), ~waits)
        emptied = inbox.update().where(done).values(text=None, files=None, omitted=None)
        self.connection.execute(emptied)
        newer = exists().where(
            _OTHER.c.channel == _c.channel, _OTHER.c.place == "", _OTHER.c.ts > _c.ts
        )
        old = and_(
            _c.state == HeardState.SETTLED, _c.said_at < now - _KEPT_FOR, _c.request.is_(None)
        )
        self.connection.execute(inbox.delete().where(old, or_(_c.place != "", newer)))
