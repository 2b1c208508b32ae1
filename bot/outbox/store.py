"""The outbox: adding deliveries, claiming them in order, and settling them."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache, partial

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    Select,
    String,
    Table,
    and_,
    bindparam,
    case,
    exists,
    or_,
    select,
    text,
    true,
)
from sqlalchemy.engine import RowMapping

from bot.ids import ChannelId, DeliveryId, JobNumber, Message, MessageTs, can_be_id
from bot.outbox.model import (
    CALLS_OF_KIND,
    PACED_KINDS,
    REPEATABLE_KINDS,
    SEARCH_OF_KIND,
    DeadLetter,
    Delivery,
    DeliveryKind,
    DeliveryState,
    NewDelivery,
)
from bot.outbox.threads import job_threads
from bot.ports import Method, ThreadRef, message_key
from bot.store.leases import (
    FREE_LEASE,
    HOLDER,
    NOW,
    Claimer,
    LeaseLost,
    claim,
    claiming,
    held,
    one_of,
    read_rows,
    unclaimed,
)
from bot.store.queues import QueueTable
from bot.store.schema import (
    Channel,
    Choice,
    Due,
    Id,
    Note,
    Owner,
    Repository,
    Secret,
    UserJson,
    UtcDateTime,
    diff,
    if_set,
    insert_unless_there,
    lease,
    metadata,
    reader,
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("id", Id(40), nullable=False, unique=True),
    Column("key", Id(400), nullable=False, unique=True),
    Column("kind", Choice(DeliveryKind), nullable=False),
    Column("state", Choice(DeliveryState), nullable=False),
    Column("job", Integer, ForeignKey("jobs.number")),
    Column("channel", Channel(40), nullable=False),
    Column("user", Owner(40)),
    # Empty once the delivery is settled.
    Column("message", UserJson(Message)),
    Column("message_ts", Id(40)),
    Column("reaction", Id(80)),
    Column("response_url", Secret),
    Column("is_plain", Boolean, nullable=False, server_default=text("false")),
    Column("created_at", UtcDateTime, nullable=False),
    Column("due_at", Due(minutes=11), nullable=False),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    *lease(),
    Column("posted_ts", Id(40)),
    Column("error", Note),
    Column("settled_at", UtcDateTime),
    Column("subscription", Integer),
    Column("question", Integer),
    Column("edited_key", Id(400)),
    Column("can_join", Boolean, nullable=False, server_default=text("false")),
    Index("ix_deliveries_state", "state", "due_at"),
    Index("ix_deliveries_job", "job", "state"),
    Index("ix_deliveries_channel", "channel", "state"),
    if_set("ix_deliveries_settled_at", "settled_at"),
    if_set("ix_deliveries_question", "channel", "question"),
    # A delivery with a lease is being sent, so a process that stops has none to free, and need not
    # look.
    info={"is_long": True},
    sqlite_autoincrement=True,
)

DELIVERIES = QueueTable("deliveries", deliveries, DeliveryState.PENDING, deliveries.c.due_at)
ABANDONED_DELIVERIES = QueueTable(
    "deliveries", deliveries, DeliveryState.SENDING, deliveries.c.due_at
)
UNCLEAR_DELIVERIES = QueueTable(
    "deliveries", deliveries, DeliveryState.UNCLEAR, deliveries.c.due_at
)

THREAD_POSTS = (DeliveryKind.STATUS, DeliveryKind.REPLY)
OPEN_STATES = (DeliveryState.PENDING, DeliveryState.SENDING, DeliveryState.UNCLEAR)
"""The states of deliveries with work left to do."""
_END_SUFFIX = ":end"
"""The last part of the keys of replies with the end of an iteration."""
_MAX_READY = 500


def is_being_delivered(
    belongs_to: ColumnElement[int], key: ColumnElement[int]
) -> ColumnElement[bool]:
    """Return the condition that a delivery of a row is under way.

    ``belongs_to``: the column of deliveries that refers to the row with this ``key``.
    """
    return exists().where(belongs_to == key, deliveries.c.state.in_(OPEN_STATES))


def waits_in_thread() -> ColumnElement[bool]:
    """Return the condition that others in the same thread go first.

    Posts keep their order, behind the status message, which begins the thread. A silent edit goes
    last.
    """
    other = deliveries.alias("other")
    is_open = exists().where(other.c.job == deliveries.c.job, one_of(other.c.state, OPEN_STATES))
    is_earlier = other.c.seq < deliveries.c.seq
    is_post = one_of(other.c.kind, THREAD_POSTS)
    goes_before_reply = or_(other.c.kind == DeliveryKind.STATUS, and_(is_post, is_earlier))
    edits_the_same = and_(
        other.c.kind == DeliveryKind.EDIT,
        other.c.edited_key.is_not_distinct_from(deliveries.c.edited_key),
    )
    # A job that waits to be sent gets its status message before that.
    threads = job_threads()
    lacks_status_message = exists().where(
        threads.number == deliveries.c.job, threads.awaits_status_message
    )
    reply_waits = or_(is_open.where(goes_before_reply), lacks_status_message)
    edit_waits = or_(
        is_open.where(is_post), is_open.where(edits_the_same, is_earlier), lacks_status_message
    )
    return or_(
        and_(deliveries.c.kind == DeliveryKind.REPLY, reply_waits),
        and_(deliveries.c.kind == DeliveryKind.EDIT, edit_waits),
    )


_EDITED_POST = deliveries.alias("edited")


# Built once, when they are used first: building takes longer than running them, and the threads
# are declared by a feature that imports the outbox.
@cache
def _select_threads() -> Select[*tuple[object, ...]]:
    """Return the statement that finds the threads of the chosen deliveries."""
    threads = job_threads()
    return (
        select(
            deliveries.c.seq,
            threads.status_ts.label("status_ts"),
            threads.thread_ts.label("thread_ts"),
            threads.request.label("request"),
            _EDITED_POST.c.posted_ts,
        )
        .outerjoin(threads.table, threads.number == deliveries.c.job)
        .outerjoin(_EDITED_POST, _EDITED_POST.c.key == deliveries.c.edited_key)
        .where(deliveries.c.seq.in_(bindparam("chosen", expanding=True)))
    )


@cache
def _select_ready() -> Select[*tuple[object, ...]]:
    """Return the statement that finds the deliveries that may go out."""
    is_open = one_of(deliveries.c.state, OPEN_STATES)
    is_quick = or_(
        ~one_of(deliveries.c.kind, PACED_KINDS),
        deliveries.c.channel.not_in(bindparam("busy", expanding=True)),
    )
    return (
        select(
            *deliveries.c["seq", "kind", "channel", "state"],
            deliveries.c.response_url.is_not(None).label("by_url"),
        )
        .where(is_open, deliveries.c.due_at <= NOW, unclaimed(deliveries))
        .where(~waits_in_thread(), is_quick)
        # Posts first: people wait for them, and an edit notifies nobody.
        .order_by(deliveries.c.kind == DeliveryKind.EDIT, deliveries.c.seq)
        .limit(_MAX_READY)
    )


_CLAIM = claiming(
    deliveries,
    candidates=select(deliveries.c.seq).where(
        deliveries.c.seq.in_(bindparam("chosen", expanding=True)),
        one_of(deliveries.c.state, OPEN_STATES),
        unclaimed(deliveries),
    ),
    values={
        # A delivery that was being sent when its lease ran out may have been posted.
        "state": case(
            (deliveries.c.state == DeliveryState.PENDING, DeliveryState.SENDING),
            else_=DeliveryState.UNCLEAR,
        ),
        "attempts": deliveries.c.attempts + 1,
    },
)
_to_new = reader(NewDelivery, deliveries)


def _to_delivery(row: RowMapping, places: Mapping[int, RowMapping]) -> Delivery:
    draft = _to_new(row)
    place = places[row["seq"]]
    return Delivery(
        id=DeliveryId(row["id"]),
        content=draft,
        created_at=row["created_at"],
        attempts=row["attempts"],
        status_ts=place["status_ts"],
        thread_ts=place["thread_ts"],
        edited_ts=place["posted_ts"] if draft.edited_key else place["status_ts"],
        state=DeliveryState(row["state"]),
        is_plain=row["is_plain"],
        claimed_until=row["claimed_until"],
        request=place["request"],
    )


@dataclass(frozen=True, slots=True)
class StatusMessage:
    """The status message of a job, which is posted or will be."""

    is_plain: bool
    """Whether Slack refused its blocks, so that it has plain ones."""


@dataclass(frozen=True, slots=True)
class ThreadPost:
    """A post about a job. ``is_end``: it has the end of an iteration."""

    ts: MessageTs
    job: JobNumber
    is_end: bool


@dataclass(frozen=True, slots=True)
class ReadyDelivery:
    """A delivery that may go out when Slack's paces allow it."""

    seq: int
    kind: DeliveryKind
    channel: ChannelId
    calls: tuple[Method, ...]


class Outbox(Repository):
    """The outbox, within one transaction."""

    def add(self, new: NewDelivery, now: datetime) -> None:
        """Add a delivery, unless there is one with the same key.

        An edit replaces earlier edits of the same message that are still pending.
        """
        values: dict[str, object] = {
            "id": secrets.token_hex(11),
            "state": DeliveryState.PENDING,
            "created_at": now,
            "due_at": now,
        }
        for member in fields(new):
            values[member.name] = getattr(new, member.name)
        is_added = insert_unless_there(self.connection, deliveries, values)
        if is_added and new.kind is DeliveryKind.EDIT:
            older = {"of_job": new.job, "edited": new.edited_key, "newest": new.key}
            self.connection.execute(_DROP_EDITS, older)

    def state_of(self, key: str) -> DeliveryState | None:
        """Return the state of the delivery with this key; None without one."""
        query = select(deliveries.c.state).where(deliveries.c.key == key)
        state = self.connection.execute(query).scalar()
        return None if state is None else DeliveryState(state)

    def posted_ts(self, key: str) -> MessageTs | None:
        """Return the timestamp of a post; None if it is not posted."""
        query = select(deliveries.c.posted_ts).where(deliveries.c.key == key)
        return self.connection.execute(query).scalar()

    def newest_end(self, job: JobNumber, iteration: int) -> str | None:
        """Return the key of the newest end of an iteration.

        Returns None without one.
        """
        statement = select(deliveries.c.key).where(
            deliveries.c.job == job,
            deliveries.c.kind == DeliveryKind.REPLY,
            deliveries.c.key.startswith(f"job:{job}:iteration:{iteration}:"),
            deliveries.c.key.endswith(_END_SUFFIX),
        )
        newest = statement.order_by(deliveries.c.seq.desc()).limit(1)
        return self.connection.execute(newest).scalar()

    def posts_in_threads_of(self, numbers: Collection[JobNumber]) -> Sequence[ThreadPost]:
        """Return the posts about some jobs: status messages, ends and notes."""
        is_post = and_(deliveries.c.job.in_(numbers), deliveries.c.posted_ts.is_not(None))
        columns = select(deliveries.c.posted_ts, deliveries.c.job, deliveries.c.key)
        return [
            ThreadPost(row.posted_ts, row.job, row.key.endswith(_END_SUFFIX))
            for row in self.connection.execute(columns.where(is_post))
        ]

    def posts_about_readers(self, thread: ThreadRef) -> frozenset[MessageTs]:
        """Return the digests and answers about visitors in a thread, which quote readers."""
        is_here = or_(
            deliveries.c.posted_ts == thread.ts,
            and_(deliveries.c.posted_ts.is_not(None), deliveries.c.message_ts == thread.ts),
        )
        of_channel = and_(
            deliveries.c.channel == thread.channel, deliveries.c.question.is_not(None)
        )
        query = select(deliveries.c.posted_ts).where(of_channel, is_here)
        return frozenset(self.connection.execute(query).scalars())

    def ready(self, now: datetime, busy_channels: Collection[str]) -> Sequence[ReadyDelivery]:
        """Return the deliveries that may go out: posts before edits, the oldest first.

        Posts into busy channels are left out.

        A post waits for the earlier posts in its thread, and an edit of the status message for all
        of them.
        """
        rows = self.connection.execute(_select_ready(), {NOW.key: now, "busy": list(busy_channels)})
        ready = list[ReadyDelivery]()
        for row in rows:
            kind = DeliveryKind(row.kind)
            calls = CALLS_OF_KIND[kind]
            if row.state != DeliveryState.PENDING:
                calls = (*SEARCH_OF_KIND.get(kind, (Method.SEARCH_CHANNEL,)), *calls)
            elif row.by_url:
                calls = ()  # a response URL has no limit
            ready.append(ReadyDelivery(row.seq, kind, row.channel, calls))
        return ready

    def claim(self, claimer: Claimer, chosen: Sequence[int]) -> Sequence[Delivery]:
        """Claim these deliveries, and mark them *sending* or *unclear*.

        A delivery is unclear if it may have been sent already.
        """
        rows = claim(self.connection, _CLAIM, claimer, chosen=list(chosen))
        mappings = self.connection.execute(_select_threads(), {"chosen": list(chosen)}).mappings()
        places = {place["seq"]: place for place in mappings}
        return read_rows(deliveries, rows, partial(_to_delivery, places=places))

    def save(self, delivery: Delivery, new: Delivery, *, owner: str) -> None:
        """Write a delivery's outcome and free its lease.

        Raises LeaseLost unless ``owner`` holds it.
        """
        changes = diff(delivery, new, deliveries) | diff(delivery.content, new.content, deliveries)
        row = {"this": delivery.id, HOLDER.key: owner}
        if self.connection.execute(_UPDATE_HELD, {**changes, **FREE_LEASE, **row}).rowcount != 1:
            raise LeaseLost(f"delivery {delivery.id}")
        if new.state is DeliveryState.PENDING:
            # A newer edit of the same message may wait already.
            self.connection.execute(_DROP_OUTDATED, {"this": delivery.id})

    def remove(self, delivery: Delivery, *, owner: str) -> None:
        """Delete an edit that Slack accepted, or an obsolete delivery. Raises LeaseLost."""
        row = {"this": delivery.id, HOLDER.key: owner}
        if self.connection.execute(_REMOVE, row).rowcount != 1:
            raise LeaseLost(f"delivery {delivery.id}")

    def dead_letter_thread(self, job: JobNumber, reason: str, now: datetime) -> None:
        """Mark the pending deliveries of a job without a thread as dead."""
        self.connection.execute(
            deliveries.update()
            .where(deliveries.c.job == job, deliveries.c.state == DeliveryState.PENDING)
            .values(state=DeliveryState.DEAD, error=reason, settled_at=now, message=None)
        )

    def status_message_being_posted(self, channel: ChannelId) -> bool:
        """Return whether a status message is being posted in a channel.

        It may be there while its timestamp is not stored yet.
        """
        statement = select(deliveries.c.seq).where(
            deliveries.c.channel == channel,
            deliveries.c.kind == DeliveryKind.STATUS,
            deliveries.c.state.in_((DeliveryState.SENDING, DeliveryState.UNCLEAR)),
        )
        return self.connection.execute(statement.limit(1)).first() is not None

    def status_message(self, job: JobNumber) -> StatusMessage | None:
        """Return the status message of a job.

        Returns None before there is one, and if Slack refused it.
        """
        is_status = and_(
            deliveries.c.job == job,
            deliveries.c.kind == DeliveryKind.STATUS,
            deliveries.c.state != DeliveryState.DEAD,
        )
        row = self.connection.execute(select(deliveries.c.is_plain).where(is_status)).one_or_none()
        return None if row is None else StatusMessage(row.is_plain)

    def answers_about(
        self, channel: ChannelId, first: MessageTs, last: MessageTs
    ) -> Sequence[tuple[MessageTs, str]]:
        """Return a channel's answered messages, each with the occasion.

        They are at least the messages from ``first`` to ``last``.
        """
        # However the database sorts punctuation, which differs: the answers stand before the next
        # second.
        end = message_key(channel, f"{int(float(last)) + 1}")
        then = deliveries.c.key.between(message_key(channel, first), end)
        keys = self.connection.execute(select(deliveries.c.key).where(then)).scalars()
        found = list[tuple[MessageTs, str]]()
        for key in keys:
            ts, *more = key.removeprefix(message_key(channel)).split(":")
            # An edited message has the time of its edit in the keys of its answers.
            occasions = [part for part in more if not part[:1].isdigit()]
            found.append((MessageTs(ts), occasions[0] if occasions else ""))
        return found

    def dead_letters(
        self, limit: int, *, channel: ChannelId | None = None, job: JobNumber | None = None
    ) -> Sequence[DeadLetter]:
        """Return the newest dead letters but reactions.

        ``channel`` and ``job`` limit them; None for all.
        """
        in_channel = deliveries.c.channel == channel if channel else true()
        of_job = deliveries.c.job == job if job else true()
        query = select(
            *deliveries.c["seq", "job", "kind", "channel", "error"], _CAN_GO.label("can_go")
        ).where(_IS_DEAD, in_channel, of_job, deliveries.c.kind != DeliveryKind.REACTION)
        rows = self.connection.execute(query.order_by(deliveries.c.seq.desc()).limit(limit))
        return [
            DeadLetter(
                number=row.seq,
                job=row.job,
                kind=DeliveryKind(row.kind),
                channel=row.channel,
                reason=row.error or "",
                can_go=bool(row.can_go),
            )
            for row in rows
        ]

    def doubt_open(self) -> None:
        """Have each delivery that is not settled searched in Slack before it is posted."""
        pending = deliveries.update().where(deliveries.c.state.in_(OPEN_STATES))
        self.connection.execute(pending.values(state=DeliveryState.UNCLEAR, **FREE_LEASE))

    def retry_dead_letter(self, number: int, now: datetime) -> bool:
        """Have a dead letter searched in Slack, and posted if missing.

        Return False if it cannot be retried.
        """
        if not can_be_id(number):
            return False
        values = {
            "state": DeliveryState.UNCLEAR,
            "attempts": 0,
            "due_at": now,
            "error": None,
            "settled_at": None,
            **FREE_LEASE,
        }
        retry = deliveries.update().where(deliveries.c.seq == number, _IS_DEAD, _CAN_GO)
        return self.connection.execute(retry.values(values)).rowcount == 1


_NEWER_DELIVERY = deliveries.alias("newer")
_DROP_OUTDATED = deliveries.delete().where(
    deliveries.c.id == bindparam("this"),
    deliveries.c.kind == DeliveryKind.EDIT,
    exists().where(
        _NEWER_DELIVERY.c.job == deliveries.c.job,
        _NEWER_DELIVERY.c.kind == DeliveryKind.EDIT,
        _NEWER_DELIVERY.c.state == DeliveryState.PENDING,
        _NEWER_DELIVERY.c.edited_key.is_not_distinct_from(deliveries.c.edited_key),
        _NEWER_DELIVERY.c.seq > deliveries.c.seq,
    ),
)
_STILL_HELD = and_(deliveries.c.id == bindparam("this"), held(deliveries))
_UPDATE_HELD = deliveries.update().where(_STILL_HELD)
_DROP_EDITS = deliveries.delete().where(
    deliveries.c.job == bindparam("of_job"),
    deliveries.c.kind == DeliveryKind.EDIT,
    deliveries.c.state == DeliveryState.PENDING,
    deliveries.c.edited_key.is_not_distinct_from(bindparam("edited", type_=String)),
    deliveries.c.key != bindparam("newest"),
)
_REMOVE = deliveries.delete().where(_STILL_HELD)
_IS_DEAD = deliveries.c.state == DeliveryState.DEAD
_HAS_WORDS = or_(deliveries.c.message.is_not(None), deliveries.c.kind == DeliveryKind.FILE)
_CAN_GO: ColumnElement[bool] = and_(
    deliveries.c.kind.in_(REPEATABLE_KINDS), deliveries.c.subscription.is_(None), _HAS_WORDS
)
