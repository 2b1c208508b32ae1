"""Subscriptions to the weekly digest, and the digests that come of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from typing import TypedDict, Unpack

from pydantic import SecretStr
from sqlalchemy import ColumnElement, and_, select, update
from sqlalchemy.engine import Connection, RowMapping

from bot.model import (
    ChannelId,
    Digest,
    DigestId,
    DigestState,
    Origin,
    Period,
    ProjectId,
    Subscription,
    SubscriptionId,
    SubscriptionState,
    Weekday,
    WeeklyTime,
)
from bot.store.leases import FREE, Claimer, LeaseLost, claim, first, held_by, unclaimed
from bot.store.schema import digests, subscriptions
from bot.store.upsert import insert_unless_there


class SubscriptionFields(TypedDict, total=False):
    """Columns of a subscription that change."""

    state: SubscriptionState
    zone: str
    next_run_at: datetime | None
    last_run_at: datetime
    last_result: str
    response_url: None


def to_subscription(row: RowMapping) -> Subscription:
    """A row as our noun."""
    return Subscription(
        id=row["id"],
        project=row["project"],
        channel=row["channel"],
        section=row["section"],
        weekly=WeeklyTime(Weekday(row["weekday"]), time.fromisoformat(row["at"]), row["zone"] or "UTC"),
        owner=row["owner"],
        state=SubscriptionState(row["state"]),
        revision=row["revision"],
        next_run_at=row["next_run_at"],
        last_result=row["last_result"],
        last_run_at=row["last_run_at"],
        has_zone=bool(row["zone"]),
    )


def to_digest(row: RowMapping) -> Digest:
    """A row as our noun."""
    return Digest(
        id=row["id"],
        subscription=row["subscription"],
        project=row["project"],
        channel=row["channel"],
        section=row["section"],
        week=Period(row["first"], row["end"]),
        begun_at=row["begun_at"],
        asked_by=row["asked_by"],
        attempts=row["attempts"],
    )


@dataclass(frozen=True, slots=True)
class SubscriptionRepository:
    """The subscriptions, seen through one connection."""

    connection: Connection

    def put(
        self,
        origin: Origin,
        *,
        project: ProjectId,
        section: str | None,
        weekday: Weekday,
        at: time,
        zone: str | None,
        now: datetime,
    ) -> SubscriptionId:
        """Subscribe a channel, or change its subscription; either way the first post has to prove it.

        Whoever asked becomes the owner; without a ``zone`` it will be theirs.
        """
        channel = origin.channel
        place = f"{project}\n{channel}\n{section or ''}"
        values: dict[str, object] = {
            "weekday": int(weekday),
            "at": at.isoformat("minutes"),
            "zone": zone or "",
            "owner": origin.user,
            "state": SubscriptionState.NEW,
            "next_run_at": None,
            "response_url": origin.stored_url,
        }
        where = {"place": place, "project": project, "channel": channel, "section": section}
        if not insert_unless_there(self.connection, subscriptions, where | values | {"created_at": now}):
            again = values | {"revision": subscriptions.c.revision + 1}
            self.connection.execute(
                update(subscriptions).where(subscriptions.c.place == place).values(**again)
            )
        found = self.connection.execute(select(subscriptions.c.id).where(subscriptions.c.place == place))
        return SubscriptionId(found.scalar_one())

    def get(self, subscription: SubscriptionId) -> Subscription | None:
        """The subscription with this id."""
        found = self._many(subscriptions.c.id == subscription, 1)
        return found[0] if found else None

    def in_channel(self, channel: ChannelId) -> Sequence[Subscription]:
        """A channel's subscriptions that have not been ended."""
        here = and_(subscriptions.c.channel == channel, subscriptions.c.state != SubscriptionState.ENDED)
        return self._many(here, 50)

    def new(self, limit: int) -> Sequence[Subscription]:
        """Subscriptions that wait for their zone and their first post."""
        return self._many(subscriptions.c.state == SubscriptionState.NEW, limit)

    def any_due(self, until: datetime) -> bool:
        """Whether a next run is not later than this."""
        due = and_(subscriptions.c.state == SubscriptionState.ACTIVE, subscriptions.c.next_run_at <= until)
        found = self.connection.execute(select(subscriptions.c.id).where(due).limit(1))
        return found.first() is not None

    def due(self, until: datetime, limit: int) -> Sequence[Subscription]:
        """Subscriptions whose next run is not later than this; locked where several processes look."""
        condition = and_(
            subscriptions.c.state == SubscriptionState.ACTIVE, subscriptions.c.next_run_at <= until
        )
        statement = (
            select(subscriptions)
            .where(condition)
            .order_by(subscriptions.c.next_run_at)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        return [to_subscription(row) for row in self.connection.execute(statement).mappings()]

    def change(
        self,
        subscription: SubscriptionId,
        *,
        was: SubscriptionState | None = None,
        **fields: Unpack[SubscriptionFields],
    ) -> bool:
        """Write columns, only while it is in state ``was``; return whether it was."""
        still = subscriptions.c.state == was if was else subscriptions.c.id == subscription
        result = self.connection.execute(
            update(subscriptions).where(subscriptions.c.id == subscription, still).values(dict(fields))
        )
        return result.rowcount == 1

    def response_url(self, subscription: SubscriptionId) -> SecretStr | None:
        """Where a private answer to the one who subscribed goes, while Slack allows it."""
        found = self.connection.execute(
            select(subscriptions.c.response_url).where(subscriptions.c.id == subscription)
        )
        url = found.scalar_one_or_none()
        return SecretStr(url) if url else None

    def _many(self, condition: ColumnElement[bool], limit: int) -> Sequence[Subscription]:
        statement = select(subscriptions).where(condition).order_by(subscriptions.c.id).limit(limit)
        return [to_subscription(row) for row in self.connection.execute(statement).mappings()]


@dataclass(frozen=True, slots=True)
class DigestRepository:
    """The digests, seen through one connection."""

    connection: Connection

    def add(
        self,
        *,
        key: str,
        subscription: SubscriptionId | None,
        project: ProjectId,
        channel: ChannelId,
        section: str | None,
        week: Period,
        now: datetime,
        origin: Origin | None = None,
    ) -> bool:
        """Write a digest to be made. Return False when this key has one: a week is told once.

        ``origin``: who asked for it, when it is not a subscription's.
        """
        values: dict[str, object] = {
            "key": key,
            "subscription": subscription,
            "project": project,
            "channel": channel,
            "section": section,
            "first": week.first,
            "end": week.end,
            "begun_at": now,
            "due_at": now,
            "state": DigestState.GATHERING,
            "asked_by": origin.user if origin else None,
            "response_url": origin.stored_url if origin else None,
        }
        return insert_unless_there(self.connection, digests, values)

    def has_key(self, key: str) -> bool:
        """Whether there is, or was, a digest under this key."""
        found = self.connection.execute(select(digests.c.id).where(digests.c.key == key))
        return found.first() is not None

    def get(self, digest: DigestId) -> Digest | None:
        """The digest with this id."""
        row = self.connection.execute(select(digests).where(digests.c.id == digest)).mappings().first()
        return to_digest(row) if row else None

    def any_due(self, now: datetime) -> bool:
        """Whether a digest waits for a look."""
        due = and_(digests.c.state == DigestState.GATHERING, digests.c.due_at <= now)
        return self.connection.execute(select(digests.c.id).where(due).limit(1)).first() is not None

    def claim(self, claimer: Claimer, limit: int) -> Sequence[Digest]:
        """Digests whose numbers are being gathered, due for a look."""
        due = and_(digests.c.state == DigestState.GATHERING, digests.c.due_at <= claimer.now)
        candidates = first(digests, and_(due, unclaimed(digests, claimer.now)), limit)
        rows = claim(self.connection, digests, claimer, candidates=candidates, still=due)
        return [to_digest(row) for row in rows]

    def told(self, digest: DigestId, state: DigestState, *, owner: str) -> None:
        """Write that it is over and free its lease. Raises LeaseLost when the owner has lost it."""
        self._settle(digest, owner, {"state": state, "response_url": None})

    def put_back(self, digest: DigestId, owner: str, due_at: datetime, attempts: int) -> None:
        """Free the lease of a digest that waits for numbers. Raises LeaseLost when the owner has lost it."""
        self._settle(digest, owner, {"due_at": due_at, "attempts": attempts})

    def _settle(self, digest: DigestId, owner: str, values: Mapping[str, object]) -> None:
        result = self.connection.execute(
            update(digests).where(digests.c.id == digest, held_by(digests, owner)).values({**values, **FREE})
        )
        if result.rowcount != 1:
            raise LeaseLost(f"digest {digest}")

    def response_url(self, digest: DigestId) -> SecretStr | None:
        """Where a private answer to the one who asked goes, while Slack allows it."""
        found = self.connection.execute(select(digests.c.response_url).where(digests.c.id == digest))
        url = found.scalar_one_or_none()
        return SecretStr(url) if url else None
