"""The outbox: adding deliveries, claiming them in order, and settling them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TypedDict

from pydantic import SecretStr
from sqlalchemy import ColumnElement, Select, and_, delete, exists, func, or_, select, update
from sqlalchemy.engine import Connection, RowMapping

from bot.model import (
    Block,
    ChannelId,
    Delivery,
    DeliveryId,
    DeliveryKind,
    DeliveryState,
    DeliveryStep,
    JobNumber,
    Message,
    MessageTs,
    NewDelivery,
)
from bot.store.leases import FREE, Claimer, LeaseLost, claim, first, held_by, unclaimed
from bot.store.schema import deliveries, jobs, paces
from bot.store.upsert import insert_unless_there, update_one, update_shrinking

_OPEN = (DeliveryState.PENDING, DeliveryState.SENDING)
_IN_THREAD = (DeliveryKind.ROOT, DeliveryKind.REPLY, DeliveryKind.EDIT)
_PACED = (DeliveryKind.ROOT, DeliveryKind.REPLY, DeliveryKind.POST, DeliveryKind.FILE)


class StoredMessage(TypedDict):
    """The JSON form of a message in its column."""

    text: str
    blocks: list[Block]
    plain_blocks: list[Block]


def to_message(stored: StoredMessage | None) -> Message | None:
    """Return a stored message as a Message."""
    if stored is None:
        return None
    return Message(stored["text"], tuple(stored["blocks"]), tuple(stored["plain_blocks"]))


def to_delivery(row: RowMapping, root_ts: MessageTs | None, *, unconfirmed: bool) -> Delivery:
    """Return a claimed row as a Delivery."""
    what = NewDelivery(
        key=row["key"],
        kind=DeliveryKind(row["kind"]),
        channel=row["channel"],
        job=row["job"],
        user=row["user"],
        message=to_message(row["message"]),
        message_ts=row["message_ts"],
        reaction=row["reaction"],
        response_url=SecretStr(row["response_url"]) if row["response_url"] else None,
        replaces=row["replaces"],
        subscription=row["subscription"],
        digest=row["digest"],
        question=row["question"],
    )
    return Delivery(
        id=DeliveryId(row["id"]),
        what=what,
        created_at=row["created_at"],
        attempts=row["attempts"],
        root_ts=root_ts,
        unconfirmed=unconfirmed,
        plain=row["plain"],
        held_until=row["claimed_until"],
    )


@dataclass(frozen=True, slots=True)
class OutboxRepository:
    """The outbox, within one transaction."""

    connection: Connection

    def add(self, new: NewDelivery, now: datetime) -> None:
        """Add a delivery, unless there is one with the same key.

        An edit of a face replaces the job's earlier edits that are still pending.
        """
        values = asdict(new) | {
            "id": str(uuid.uuid4()),
            "state": DeliveryState.PENDING,
            "message": asdict(new.message) if new.message else None,
            "response_url": new.response_url.get_secret_value() if new.response_url else None,
            "created_at": now,
            "due_at": now,
        }
        added = insert_unless_there(self.connection, deliveries, values)
        if added and new.kind is DeliveryKind.EDIT:
            self._drop_edits(new.job, new.key)

    def state_of(self, key: str) -> DeliveryState | None:
        """Return the state of the delivery with this key; None when there is none."""
        known = self.connection.execute(select(deliveries.c.state).where(deliveries.c.key == key))
        state = known.scalar_one_or_none()
        return None if state is None else DeliveryState(state)

    def _drop_edits(self, job: JobNumber | None, but: str) -> None:
        self.connection.execute(
            delete(deliveries).where(
                deliveries.c.job == job,
                deliveries.c.kind == DeliveryKind.EDIT,
                deliveries.c.state == DeliveryState.PENDING,
                deliveries.c.key != but,
            )
        )

    def claim(self, claimer: Claimer, limit: int, pace_seconds: float) -> Sequence[Delivery]:
        """Claim deliveries to carry out now and mark them *sending*.

        A delivery in a thread waits for the earlier ones. A channel gets one post at a time, and the next one
        ``pace_seconds`` later at the earliest (https://docs.slack.dev/apis/web-api/rate-limits).
        A delivery that was *sending* when its lease ran out is returned with ``unconfirmed`` set.
        """
        fresh = self._claim(claimer, self._paced(claimer.now, limit), DeliveryState.PENDING)
        fresh = self._reserve_channels(fresh, claimer.now, pace_seconds)
        free = self._claim(claimer, self._unpaced(claimer.now, limit), DeliveryState.PENDING)
        unconfirmed = self._claim(claimer, self._lapsed(claimer.now, limit), DeliveryState.SENDING)
        taken = [*((row, False) for row in (*fresh, *free)), *((row, True) for row in unconfirmed)]
        faces = self._faces({row["job"] for row, _ in taken if row["job"] is not None})
        return [to_delivery(row, faces.get(row["job"]), unconfirmed=lapsed) for row, lapsed in taken]

    def _claim(self, claimer: Claimer, candidates: Select[int], state: DeliveryState) -> Sequence[RowMapping]:
        still = deliveries.c.state == state
        values = {"state": DeliveryState.SENDING, "attempts": deliveries.c.attempts + 1}
        return claim(self.connection, deliveries, claimer, candidates=candidates, still=still, values=values)

    def _reserve_channels(
        self, claimed: Sequence[RowMapping], now: datetime, pace_seconds: float
    ) -> Sequence[RowMapping]:
        """Reserve the channels of claimed posts; put back those whose channel another process took."""
        channels = sorted({row["channel"] for row in claimed})
        if not channels:
            return claimed
        insert_unless_there(self.connection, paces, *({"channel": each, "free_at": now} for each in channels))
        # Every process locks in the same order. After waiting for a lock it sees the new ``free_at``.
        free = (
            select(paces.c.channel)
            .where(paces.c.channel.in_(channels), paces.c.free_at <= now)
            .order_by(paces.c.channel)
            .with_for_update()
            .cte("free")
        )
        until = now + timedelta(seconds=pace_seconds)
        taken = self.connection.execute(
            update(paces)
            .where(paces.c.channel.in_(select(free.c.channel)))
            .values(free_at=until)
            .returning(paces.c.channel)
        )
        ours = set(taken.scalars())
        late = [row["id"] for row in claimed if row["channel"] not in ours]
        if late:
            back = {"state": DeliveryState.PENDING, "attempts": deliveries.c.attempts - 1, **FREE}
            self.connection.execute(update(deliveries).where(deliveries.c.id.in_(late)).values(back))
        return [row for row in claimed if row["channel"] in ours]

    def _paced(self, now: datetime, limit: int) -> Select[int]:
        too_soon = exists().where(paces.c.channel == deliveries.c.channel, paces.c.free_at > now)
        condition = and_(_due(now), deliveries.c.kind.in_(_PACED), ~_waits_in_thread(), ~too_soon)
        heads = select(func.min(deliveries.c.seq)).where(condition).group_by(deliveries.c.channel)
        return first(deliveries, deliveries.c.seq.in_(heads), limit)

    def _unpaced(self, now: datetime, limit: int) -> Select[int]:
        alone = deliveries.c.kind.in_((DeliveryKind.PRIVATE, DeliveryKind.REACTION))
        edit = and_(deliveries.c.kind == DeliveryKind.EDIT, ~_waits_in_thread())
        return first(deliveries, and_(_due(now), or_(alone, edit)), limit)

    def _lapsed(self, now: datetime, limit: int) -> Select[int]:
        lapsed = and_(deliveries.c.state == DeliveryState.SENDING, unclaimed(deliveries, now))
        return first(deliveries, lapsed, limit)

    def _faces(self, numbers: set[JobNumber]) -> dict[JobNumber, MessageTs]:
        if not numbers:
            return {}
        statement = select(jobs.c.number, jobs.c.root_ts).where(
            jobs.c.number.in_(numbers), jobs.c.root_ts.is_not(None)
        )
        return {row.number: row.root_ts for row in self.connection.execute(statement)}

    def slow_down(self, channel: ChannelId, free_at: datetime) -> None:
        """Allow no post in this channel before ``free_at``."""
        values = {"channel": channel, "free_at": free_at}
        if not insert_unless_there(self.connection, paces, values):
            sooner = and_(paces.c.channel == channel, paces.c.free_at < free_at)
            self.connection.execute(update(paces).where(sooner).values(**values))

    def settle(self, delivery: DeliveryId, step: DeliveryStep, *, owner: str) -> None:
        """Write a delivery's outcome and free its lease, or set the lease that the step asks for.

        Raises LeaseLost unless ``owner`` holds the lease.
        """
        lease = {"claimed_by": None, "claimed_until": step.lease_until}
        values = {"state": step.state, **step.fields, **lease}
        mine = and_(deliveries.c.id == delivery, held_by(deliveries, owner))
        shrinks = "message" in step.fields
        if not (update_shrinking if shrinks else update_one)(self.connection, deliveries, mine, values):
            raise LeaseLost(f"delivery {delivery}")

    def remove_edit(self, delivery: DeliveryId, *, owner: str) -> None:
        """Delete an edit that Slack accepted. Raises LeaseLost unless ``owner`` holds the lease."""
        mine = and_(deliveries.c.id == delivery, held_by(deliveries, owner))
        if self.connection.execute(delete(deliveries).where(mine)).rowcount != 1:
            raise LeaseLost(f"delivery {delivery}")

    def dead_letter_thread(self, job: JobNumber, reason: str, now: datetime) -> None:
        """Mark all pending deliveries to a job's thread as dead, because it cannot be posted to."""
        self.connection.execute(
            update(deliveries)
            .where(
                deliveries.c.job == job,
                deliveries.c.kind.in_(_IN_THREAD),
                deliveries.c.state == DeliveryState.PENDING,
            )
            .values(state=DeliveryState.DEAD, error=reason, settled_at=now, message=None)
        )

    def face_being_posted(self, channel: ChannelId) -> bool:
        """Return whether a job's face may be in this channel while its timestamp is not stored yet."""
        statement = select(deliveries.c.seq).where(
            deliveries.c.channel == channel,
            deliveries.c.kind == DeliveryKind.ROOT,
            deliveries.c.state == DeliveryState.SENDING,
        )
        return self.connection.execute(statement.limit(1)).first() is not None

    def next_due_at(self) -> datetime | None:
        """Return the earliest due time of all pending deliveries; it is in the past when some are late."""
        statement = select(func.min(deliveries.c.due_at)).where(deliveries.c.state == DeliveryState.PENDING)
        due_at: datetime | None = self.connection.execute(statement).scalar_one_or_none()
        return due_at

    def dead(self, limit: int) -> Sequence[tuple[JobNumber | None, str, str]]:
        """Return job, kind and reason of dead letters, newest first; reactions are left out."""
        statement = (
            select(deliveries.c.job, deliveries.c.kind, deliveries.c.error)
            .where(deliveries.c.state == DeliveryState.DEAD, deliveries.c.kind != DeliveryKind.REACTION)
            .order_by(deliveries.c.seq.desc())
            .limit(limit)
        )
        return [(row.job, row.kind, row.error or "") for row in self.connection.execute(statement)]


def _due(now: datetime) -> ColumnElement[bool]:
    return and_(
        deliveries.c.state == DeliveryState.PENDING,
        deliveries.c.due_at <= now,
        unclaimed(deliveries, now),
    )


def _waits_in_thread() -> ColumnElement[bool]:
    """Return the condition that an earlier delivery in the same thread is not settled."""
    earlier = deliveries.alias("earlier")
    return exists().where(
        earlier.c.job == deliveries.c.job,
        earlier.c.seq < deliveries.c.seq,
        earlier.c.kind.in_(_IN_THREAD),
        earlier.c.state.in_(_OPEN),
    )
