"""At what pace all processes together call Slack: for each method, and for posts in each channel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.engine import Connection

from bot.model import ChannelId, Method, pace_of
from bot.store.schema import paces
from bot.store.upsert import insert_unless_there

_METHODS = sorted(Method)


@dataclass(frozen=True, slots=True)
class MethodPaces:
    """What the pace of each method allows at ``now``.

    The rows are locked, so that one process at a time claims deliveries and sees what was claimed before.
    """

    connection: Connection
    now: datetime
    minute_seconds: float
    free_at: dict[Method, datetime]

    def room(self, calls: Collection[Method], limit: int) -> int:
        """Return how many deliveries with these calls may be claimed, ``limit`` at most."""
        return min([limit, *(self._room(method) for method in calls)])

    def _room(self, method: Method) -> int:
        return pace_of(method, self.minute_seconds).room(self.free_at[method], self.now)

    def take(self, calls: Iterable[Method]) -> None:
        """Count calls that the caller is about to make."""
        for method, count in Counter(calls).items():
            pace = pace_of(method, self.minute_seconds)
            self.free_at[method] = pace.after_calls(self.free_at[method], self.now, count)
            counted = update(paces).where(paces.c.subject == method).values(free_at=self.free_at[method])
            self.connection.execute(counted)


@dataclass(frozen=True, slots=True)
class PaceRepository:
    """The paces of methods and channels, within one transaction."""

    connection: Connection

    def lock_methods(self, now: datetime, minute_seconds: float) -> MethodPaces:
        """Return the paces of all methods; their rows stay locked until the transaction ends."""
        return MethodPaces(self.connection, now, minute_seconds, self._locked_times(now))

    def _locked_times(self, now: datetime) -> dict[Method, datetime]:
        query = select(paces).where(paces.c.subject.in_(_METHODS)).order_by(paces.c.subject)
        rows = self.connection.execute(query.with_for_update()).all()
        if len(rows) < len(_METHODS):
            new = ({"subject": method, "free_at": now} for method in _METHODS)
            insert_unless_there(self.connection, paces, *new)
            rows = self.connection.execute(query.with_for_update()).all()
        return {Method(row.subject): row.free_at for row in rows}

    def hold_method(self, method: Method, until: datetime, minute_seconds: float = 60.0) -> None:
        """Let no delivery call a method before ``until``."""
        self._hold([method], pace_of(method, minute_seconds).held(until))

    def hold_channels(self, channels: Iterable[ChannelId], until: datetime) -> None:
        """Let no delivery post in these channels before ``until``."""
        self._hold(sorted(set(channels)), until)

    def _hold(self, subjects: Sequence[str], until: datetime) -> None:
        if not subjects:
            return
        insert_unless_there(
            self.connection, paces, *({"subject": each, "free_at": until} for each in subjects)
        )
        # Every process locks in the same order.
        sooner = (
            select(paces.c.subject)
            .where(paces.c.subject.in_(subjects), paces.c.free_at < until)
            .order_by(paces.c.subject)
            .with_for_update()
            .cte("sooner")
        )
        held = update(paces).where(paces.c.subject.in_(select(sooner.c.subject))).values(free_at=until)
        self.connection.execute(held)
