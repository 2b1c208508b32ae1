"""Subscriptions to the weekly digest."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time
from typing import TypedDict, Unpack

from pydantic import SecretStr
from sqlalchemy import ColumnElement, and_, select, update
from sqlalchemy.engine import RowMapping

from bot.model.digests import Subscription, SubscriptionState
from bot.model.ids import ChannelId, ProjectId, SubscriptionId
from bot.model.origin import Origin
from bot.model.weekly_time import Weekday, WeeklyTime
from bot.store.columns import Repository, reader
from bot.store.leases import readable
from bot.store.schema import subscriptions
from bot.store.upsert import insert_unless_there


def place_of(project: ProjectId, channel: ChannelId, section: str | None) -> str:
    """Return the unique key of a channel's subscription to a section."""
    return f"{project}\n{channel}\n{section or ''}"


class SubscriptionFields(TypedDict, total=False):
    """Columns of a subscription that change after it was added."""

    state: SubscriptionState
    zone: str
    next_run_at: datetime | None
    last_run_at: datetime
    last_result: str
    response_url: None


def _weekly(row: RowMapping) -> WeeklyTime:
    return WeeklyTime(Weekday(row["weekday"]), time.fromisoformat(row["at"]), row["zone"] or "UTC")


_to_subscription = reader(Subscription, subscriptions, weekly=_weekly, has_zone=lambda row: bool(row["zone"]))


class SubscriptionRepository(Repository):
    """The subscriptions, within one transaction."""

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
        """Subscribe a channel, or change its subscription; return the subscription's id.

        Whoever asked becomes the owner. The state becomes *new*: it is activated after its first post.
        ``zone`` None means the owner's zone, which is looked up before that.
        """
        channel = origin.channel
        place = place_of(project, channel, section)
        values: dict[str, object] = {
            "weekday": int(weekday),
            "at": at.isoformat("minutes"),
            "zone": zone or "",
            "owner": origin.user,
            "state": SubscriptionState.NEW,
            "next_run_at": None,
            "response_url": origin.response_url,
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
        """Return the subscription with this id; None when there is none."""
        found = self._many(subscriptions.c.id == subscription, 1)
        return found[0] if found else None

    def in_channel(self, channel: ChannelId) -> Sequence[Subscription]:
        """Return a channel's subscriptions that have not ended."""
        here = and_(subscriptions.c.channel == channel, subscriptions.c.state != SubscriptionState.ENDED)
        return self._many(here, 50)

    def new(self, limit: int) -> Sequence[Subscription]:
        """Return new subscriptions, which wait for their zone and their first post."""
        return self._many(subscriptions.c.state == SubscriptionState.NEW, limit)

    def any_due(self, until: datetime) -> bool:
        """Return whether an active subscription's next run is at or before ``until``."""
        due = and_(subscriptions.c.state == SubscriptionState.ACTIVE, subscriptions.c.next_run_at <= until)
        found = self.connection.execute(select(subscriptions.c.id).where(due).limit(1))
        return found.first() is not None

    def due(self, until: datetime, limit: int) -> Sequence[Subscription]:
        """Return active subscriptions whose next run is at or before ``until``, locked on PostgreSQL."""
        condition = and_(
            subscriptions.c.state == SubscriptionState.ACTIVE, subscriptions.c.next_run_at <= until
        )
        statement = (
            select(subscriptions)
            .where(condition)
            .order_by(subscriptions.c.next_run_at)
            .with_for_update(skip_locked=True)
        )
        # Without a limit in SQL, because those that cannot be read stay due.
        rows = self.connection.execute(statement).mappings()
        return readable(subscriptions, rows, _to_subscription)[0][:limit]

    def change(
        self,
        subscription: SubscriptionId,
        *,
        was: SubscriptionState | None = None,
        revision: int | None = None,
        **fields: Unpack[SubscriptionFields],
    ) -> bool:
        """Write columns if the subscription is in state ``was`` and has this revision (None: any).

        Return whether it was.
        """
        still = [subscriptions.c.id == subscription]
        still += [subscriptions.c.state == was] if was else []
        still += [subscriptions.c.revision == revision] if revision else []
        result = self.connection.execute(update(subscriptions).where(*still).values(dict(fields)))
        return result.rowcount == 1

    def response_url(self, subscription: SubscriptionId) -> SecretStr | None:
        """Return the response URL of the person who subscribed, which may have expired."""
        found = self.connection.execute(
            select(subscriptions.c.response_url).where(subscriptions.c.id == subscription)
        )
        return found.scalar_one_or_none()

    def _many(self, condition: ColumnElement[bool], limit: int) -> Sequence[Subscription]:
        statement = select(subscriptions).where(condition).order_by(subscriptions.c.id)
        rows = self.connection.execute(statement).mappings()
        return readable(subscriptions, rows, _to_subscription)[0][:limit]
