"""The outbox: adding deliveries, claiming them in order, and settling them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import ColumnElement, Integer, String, and_, bindparam, exists, or_, select, true
from sqlalchemy.engine import RowMapping

from bot.model.access import Origin, message_key
from bot.model.ids import ChannelId, DeliveryId, JobNumber, MessageTs, can_be_id
from bot.model.lifecycle import DeliveryStep
from bot.model.outbox import PACED, REPEATABLE, DeadLetter, Delivery, DeliveryKind, DeliveryState, NewDelivery
from bot.model.prompts import PromptKind
from bot.store.columns import Repository, insert_unless_there, reader, update_one
from bot.store.leases import FREE, HOLDER, Claimer, LeaseLost, held, readable_claims
from bot.store.outbox_claims import OPEN, THREAD_POSTS, PaceRepository, claim_pending, claim_unconfirmed
from bot.store.schema import deliveries, jobs, prompts

_IN_THREAD = (*THREAD_POSTS, DeliveryKind.EDIT)
_Place = tuple[MessageTs | None, MessageTs | None, str | None]
"""The face of a job, the thread in which it is a reply, and the key of the request that began the job."""
_END = ":end"
"""The last part of the keys of replies that tell the end of an iteration."""


_to_new = reader(NewDelivery, deliveries)


def _to_delivery(
    row: RowMapping, faces: dict[JobNumber, _Place], posted: dict[str, MessageTs | None], lapsed: set[int]
) -> Delivery:
    """Return a claimed row as a Delivery. ``posted``: the timestamps of posts to edit, by their keys."""
    place = faces.get(row["job"], (None, None, None))
    what = _to_new(row)
    return Delivery(
        id=DeliveryId(row["id"]),
        what=what,
        created_at=row["created_at"],
        attempts=row["attempts"],
        root_ts=place[0],
        thread_ts=place[1],
        edited_ts=posted.get(what.edits) if what.edits else place[0],
        unconfirmed=row["seq"] in lapsed,
        plain=row["plain"],
        held_until=row["claimed_until"],
        request=place[2],
    )


class OutboxRepository(Repository):
    """The outbox, within one transaction."""

    def add(self, new: NewDelivery, now: datetime) -> None:
        """Add a delivery, unless there is one with the same key.

        An edit replaces earlier edits of the same message that are still pending.
        """
        values = _fields(new) | {
            "id": secrets.token_hex(11),
            "state": DeliveryState.PENDING,
            "created_at": now,
            "due_at": now,
        }
        added = insert_unless_there(self.connection, deliveries, values)
        if added and new.kind is DeliveryKind.EDIT:
            older = {"of_job": new.job, "edited": new.edits, "newest": new.key}
            self.connection.execute(_DROP_EDITS, older)

    def state_of(self, key: str) -> DeliveryState | None:
        """Return the state of the delivery with this key; None when there is none."""
        state = self.connection.execute(select(deliveries.c.state).where(deliveries.c.key == key)).scalar()
        return None if state is None else DeliveryState(state)

    def drop_waiting(self, key: str) -> None:
        """Delete the delivery with this key if it waits for its first or another try."""
        waits = and_(deliveries.c.state.in_(OPEN), deliveries.c.claimed_by.is_(None))
        self.connection.execute(deliveries.delete().where(deliveries.c.key == key, waits))

    def newest_end(self, job: JobNumber, iteration: int) -> str | None:
        """Return the key of the reply that told the latest end of an iteration; None if none was told."""
        statement = select(deliveries.c.key).where(
            deliveries.c.job == job,
            deliveries.c.kind == DeliveryKind.REPLY,
            deliveries.c.key.startswith(f"job:{job}:iteration:{iteration}:"),
            deliveries.c.key.endswith(_END),
        )
        return self.connection.execute(statement.order_by(deliveries.c.seq.desc()).limit(1)).scalar()

    def claim(
        self, claimer: Claimer, limit: int, pace_seconds: float, minute_seconds: float = 60.0
    ) -> Sequence[Delivery]:
        """Claim deliveries to carry out now and mark them *sending*.

        A post waits for the earlier posts in its thread, and an edit of the face for all of them. A channel
        gets one post at a time, and the next one ``pace_seconds`` later at the earliest. No method is called
        faster than its pace allows (https://docs.slack.dev/apis/web-api/rate-limits).
        A delivery that was *sending* when its lease ran out is returned with ``unconfirmed`` set.
        """
        paces = PaceRepository(self.connection)
        methods = paces.lock_methods(claimer.now, minute_seconds)
        unconfirmed = claim_unconfirmed(self.connection, claimer, methods, limit)
        fresh = claim_pending(self.connection, claimer, methods, limit)
        posted_in = (row["channel"] for row in fresh if row["kind"] in PACED)
        paces.hold_channels(posted_in, claimer.now + timedelta(seconds=pace_seconds))
        taken, lapsed = [*fresh, *unconfirmed], {row["seq"] for row in unconfirmed}
        faces = self._faces({row["job"] for row in taken if row["job"] is not None})
        posted = self._posted({row["edits"] for row in taken if row["edits"] is not None})
        read = partial(_to_delivery, faces=faces, posted=posted, lapsed=lapsed)
        return readable_claims(self.connection, deliveries, taken, read, claimer.now)

    def _faces(self, numbers: set[JobNumber]) -> dict[JobNumber, _Place]:
        if not numbers:
            return {}
        found = self.connection.execute(_FACES, {"numbers": list(numbers)})
        return {row.number: (row.root_ts, row.thread_ts, row.key) for row in found}

    def _posted(self, keys: set[str]) -> dict[str, MessageTs | None]:
        if not keys:
            return {}
        statement = select(deliveries.c.key, deliveries.c.posted_ts).where(deliveries.c.key.in_(keys))
        return {row.key: row.posted_ts for row in self.connection.execute(statement)}

    def settle(self, delivery: Delivery, step: DeliveryStep, *, owner: str) -> None:
        """Write a delivery's outcome and free its lease, or set the lease that the step asks for.

        Raises LeaseLost unless ``owner`` still holds the lease of this claim.
        """
        values = {"state": step.state, **step.fields, **FREE, "claimed_until": step.lease_until}
        which, shrinks = _held(delivery, owner), "message" in step.fields
        if not update_one(self.connection, deliveries, _STILL_HELD, which, values, shrinks=shrinks):
            raise LeaseLost(f"delivery {delivery.id}")
        if step.state is DeliveryState.PENDING:
            self._drop_if_outdated(delivery.id)

    def remove(self, delivery: Delivery, *, owner: str) -> None:
        """Delete an edit that Slack accepted, or what is not to be said any more.

        Raises LeaseLost as ``settle`` does.
        """
        if self.connection.execute(_REMOVE, _held(delivery, owner)).rowcount != 1:
            raise LeaseLost(f"delivery {delivery.id}")

    def _drop_if_outdated(self, delivery: DeliveryId) -> None:
        """Drop an edit that failed if a newer one of the same message waits already."""
        newer = deliveries.alias("newer")
        is_newer = (
            newer.c.job == deliveries.c.job,
            newer.c.kind == DeliveryKind.EDIT,
            newer.c.state == DeliveryState.PENDING,
            newer.c.edits.is_not_distinct_from(deliveries.c.edits),
            newer.c.seq > deliveries.c.seq,
        )
        is_edit = and_(deliveries.c.id == delivery, deliveries.c.kind == DeliveryKind.EDIT)
        self.connection.execute(deliveries.delete().where(is_edit, exists().where(*is_newer)))

    def dead_letter_thread(self, job: JobNumber, reason: str, now: datetime) -> None:
        """Mark all pending deliveries to a job's thread as dead, because it cannot be posted to."""
        self.connection.execute(
            deliveries.update()
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

    def face_is_plain(self, job: JobNumber) -> bool:
        """Return whether Slack refused the blocks of the job's face when it was to be posted."""
        is_root = and_(deliveries.c.job == job, deliveries.c.kind == DeliveryKind.ROOT)
        return bool(self.connection.execute(select(deliveries.c.plain).where(is_root)).scalar_one_or_none())

    def was_answered(self, origin: Origin) -> bool:
        """Return whether anything was said about a message, instead of storing it as a prompt."""
        about_it = deliveries.c.key.startswith(f"{origin.key}:", autoescape=True)
        found = select(deliveries.c.seq).where(deliveries.c.channel == origin.channel, about_it).limit(1)
        return self.connection.execute(found).first() is not None

    def answers_about(
        self, channel: ChannelId, first: MessageTs, last: MessageTs
    ) -> Sequence[tuple[MessageTs, str]]:
        """Return which messages of a channel, from ``first`` to ``last``, were answered, and the occasion."""
        # However the database sorts punctuation, which differs: the answers stand before the next second.
        end = message_key(channel, f"{int(float(last)) + 1}")
        then = deliveries.c.key.between(message_key(channel, first), end)
        keys = self.connection.execute(select(deliveries.c.key).where(then)).scalars()
        parts = (key.removeprefix(message_key(channel)).split(":") for key in keys)
        return [(MessageTs(ts), occasion) for ts, occasion, *_ in parts if ts <= last]

    def dead_letters(
        self, limit: int, *, channel: ChannelId | None = None, job: JobNumber | None = None
    ) -> Sequence[DeadLetter]:
        """Return the newest dead letters, of a channel or a job if one is given; reactions are left out."""
        here = deliveries.c.channel == channel if channel else true()
        of_job = deliveries.c.job == job if job else true()
        columns = (deliveries.c.seq, deliveries.c.job, deliveries.c.kind, deliveries.c.channel)
        found = select(*columns, deliveries.c.error, _CAN_GO.label("can_go")).where(
            _DEAD, here, of_job, deliveries.c.kind != DeliveryKind.REACTION
        )
        rows = self.connection.execute(found.order_by(deliveries.c.seq.desc()).limit(limit))
        return [
            DeadLetter(
                row.seq, row.job, DeliveryKind(row.kind), row.channel, row.error or "", bool(row.can_go)
            )
            for row in rows
        ]

    def retry_dead_letter(self, number: int, step: DeliveryStep) -> bool:
        """Write that a dead letter is tried again. Return False if there is none that can be."""
        if not can_be_id(number):
            return False
        mine = and_(deliveries.c.seq == number, _DEAD, _CAN_GO)
        values = {"state": step.state, **step.fields, **FREE}
        return self.connection.execute(deliveries.update().where(mine).values(values)).rowcount == 1


def _fields(one: NewDelivery) -> dict[str, object]:
    """Return the fields, without copying what is in them as ``asdict`` does."""
    return {field.name: getattr(one, field.name) for field in fields(one)}


def _held(delivery: Delivery, owner: str) -> dict[str, object]:
    """Return the parameters of ``_STILL_HELD`` for a delivery that ``owner`` has claimed."""
    return {"this": delivery.id, HOLDER.key: owner, "this_attempt": delivery.attempts}


_FACES = (
    select(jobs.c.number, jobs.c.root_ts, jobs.c.thread_ts, prompts.c.key)
    .outerjoin(prompts, and_(prompts.c.job == jobs.c.number, prompts.c.kind == PromptKind.START))
    .where(jobs.c.number.in_(bindparam("numbers", expanding=True)))
)
_STILL_HELD = and_(
    deliveries.c.id == bindparam("this"),
    held(deliveries),
    deliveries.c.attempts == bindparam("this_attempt", type_=Integer),
)
"""The condition that somebody holds the lease with which they claimed a delivery.

A process whose writes wait for longer than a lease may claim a delivery again before it has written the
outcome of its earlier claim. That outcome must not free the new lease: another process would post again.
Each claim is an attempt of its own.
"""
_DROP_EDITS = deliveries.delete().where(
    deliveries.c.job == bindparam("of_job"),
    deliveries.c.kind == DeliveryKind.EDIT,
    deliveries.c.state == DeliveryState.PENDING,
    deliveries.c.edits.is_not_distinct_from(bindparam("edited", type_=String)),
    deliveries.c.key != bindparam("newest"),
)
_REMOVE = deliveries.delete().where(_STILL_HELD)
_DEAD = deliveries.c.state == DeliveryState.DEAD
_HAS_WORDS = or_(deliveries.c.message.is_not(None), deliveries.c.kind == DeliveryKind.FILE)
_CAN_GO: ColumnElement[bool] = and_(
    deliveries.c.kind.in_(REPEATABLE), deliveries.c.subscription.is_(None), _HAS_WORDS
)
