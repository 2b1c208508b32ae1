"""At what pace all processes together call Slack: for each method, and for posts in each channel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import BindParameter, bindparam, select, update
from sqlalchemy.engine import Connection

from bot.model.ids import ChannelId
from bot.model.pace import Method, pace_of
from bot.store.columns import Repository, UtcDateTime
from bot.store.leases import one_of
from bot.store.schema import paces
from bot.store.upsert import insert_unless_there

_METHODS = sorted(Method)
_LOCK_METHODS = (
    select(paces).where(one_of(paces.c.subject, _METHODS)).order_by(paces.c.subject).with_for_update()
)
_SET = update(paces).where(paces.c.subject == bindparam("of"))
_UNTIL: BindParameter[datetime] = bindparam("until", type_=UtcDateTime)
# Every process locks in the same order.
_SOONER = (
    select(paces.c.subject)
    .where(paces.c.subject.in_(bindparam("subjects", expanding=True)), paces.c.free_at < _UNTIL)
    .order_by(paces.c.subject)
    .with_for_update()
    .cte("sooner")
)
_HOLD = update(paces).where(paces.c.subject.in_(select(_SOONER.c.subject))).values(free_at=_UNTIL)


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
            self.connection.execute(_SET, {"of": method, "free_at": self.free_at[method]})


class PaceRepository(Repository):
    """The paces of methods and channels, within one transaction."""

    def lock_methods(self, now: datetime, minute_seconds: float) -> MethodPaces:
        """Return the paces of all methods; their rows stay locked until the transaction ends."""
        return MethodPaces(self.connection, now, minute_seconds, self._locked_times(now))

    def _locked_times(self, now: datetime) -> dict[Method, datetime]:
        rows = self.connection.execute(_LOCK_METHODS).all()
        if len(rows) < len(_METHODS):
            new = ({"subject": method, "free_at": now} for method in _METHODS)
            insert_unless_there(self.connection, paces, *new)
            rows = self.connection.execute(_LOCK_METHODS).all()
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
        rows = ({"subject": each, "free_at": until} for each in subjects)
        insert_unless_there(self.connection, paces, *rows)
        self.connection.execute(_HOLD, {"subjects": subjects, "until": until})
