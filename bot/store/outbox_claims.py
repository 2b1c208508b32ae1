"""Which deliveries are claimed next: in their order, at Slack's paces, and in doubt by conversation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from sqlalchemy import (
    CTE,
    BindParameter,
    ColumnElement,
    Integer,
    Select,
    and_,
    bindparam,
    exists,
    func,
    or_,
    select,
    union_all,
)
from sqlalchemy.engine import Connection, RowMapping

from bot.model.ids import ChannelId
from bot.model.jobs import JobState
from bot.model.outbox import PACED, DeliveryKind, DeliveryState, Method, Place, calls_of, pace_of, place_of
from bot.store.columns import AnyTable, Repository, UtcDateTime, insert_unless_there
from bot.store.leases import NOW, Claimer, ClaimStatement, claim, claiming, one_of, unclaimed
from bot.store.queues import DELIVERIES
from bot.store.schema import deliveries, jobs, paces

if TYPE_CHECKING:
    from sqlalchemy.sql.base import ReadOnlyColumnCollection
    from sqlalchemy.sql.elements import KeyedColumnElement

_METHODS = sorted(Method)
_LOCK_METHODS = (
    select(paces).where(one_of(paces.c.subject, _METHODS)).order_by(paces.c.subject).with_for_update()
)
_SET = paces.update().where(paces.c.subject == bindparam("of"))
_UNTIL: BindParameter[datetime] = bindparam("until", type_=UtcDateTime)
# Every process locks in the same order.
_SOONER = (
    select(paces.c.subject)
    .where(paces.c.subject.in_(bindparam("subjects", expanding=True)), paces.c.free_at < _UNTIL)
    .order_by(paces.c.subject)
    .with_for_update()
    .cte("sooner")
)
_HOLD = paces.update().where(paces.c.subject.in_(select(_SOONER.c.subject))).values(free_at=_UNTIL)


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
        paces_of = [(pace_of(method, self.minute_seconds), self.free_at[method]) for method in calls]
        return min([limit, *(pace.room(free_at, self.now) for pace, free_at in paces_of)])

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
        rows = self.connection.execute(_LOCK_METHODS).all()
        if len(rows) < len(_METHODS):
            new = ({"subject": method, "free_at": now} for method in _METHODS)
            insert_unless_there(self.connection, paces, *new)
            rows = self.connection.execute(_LOCK_METHODS).all()
        free_at = {Method(row.subject): row.free_at for row in rows}
        return MethodPaces(self.connection, now, minute_seconds, free_at)

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


THREAD_POSTS = (DeliveryKind.ROOT, DeliveryKind.REPLY)
OPEN = (DeliveryState.PENDING, DeliveryState.SENDING)
_Those: TypeAlias = CTE["ReadOnlyColumnCollection[str, KeyedColumnElement[object]]"]
"""Some of the deliveries, within a statement."""
_MOST_IN_DOUBT = 1_000
"""Maximum deliveries of unclear outcome that are looked at in one claim."""


def claim_pending(
    connection: Connection, claimer: Claimer, methods: MethodPaces, limit: int
) -> Sequence[RowMapping]:
    """Claim deliveries to begin with, as many as the paces of channels and methods allow."""
    rooms = {group.room.key: methods.room(group.calls, limit) for group in _GROUPS}
    rows = claim(connection, _CLAIM_PENDING, claimer, **rooms)
    kinds = [(DeliveryKind(row["kind"]), row["response_url"] is not None) for row in rows]
    methods.take(call for kind, by_url in kinds for call in calls_of(kind, by_url=by_url))
    return rows


def claim_unconfirmed(
    connection: Connection, claimer: Claimer, methods: MethodPaces, limit: int
) -> Sequence[RowMapping]:
    """Claim deliveries of unclear outcome whose lease ran out, as many as their methods allow.

    One reading of a conversation settles all that may stand in it, so they are claimed together: when the
    lease of the oldest has run out. While Slack does not answer, that is once a minute.
    """
    found = connection.execute(_IN_DOUBT, {NOW.key: claimer.now}).mappings().all()
    chosen, calls = _chosen(found, methods, limit)
    if not chosen:
        return ()
    connection.execute(_COME_ALONG, {"numbers": chosen})
    methods.take(calls)
    return claim(connection, _CLAIM_UNCONFIRMED, claimer, numbers=chosen)


def _chosen(
    rows: Sequence[RowMapping], methods: MethodPaces, limit: int
) -> tuple[Sequence[int], Sequence[Method]]:
    """Return which deliveries to claim, and the calls that they need: a search for each conversation."""
    room = Counter({method: methods.room([method], limit) for method in Method})
    chosen, calls, is_searched = list[int](), list[Method](), dict[Place, bool]()
    for row in rows:
        place, needed = _search(row)
        if place in is_searched:
            comes = is_searched[place] and row["may_come_along"]
        else:
            comes = row["has_lapsed"] and limit > 0 and all(room[each] > 0 for each in needed)
            if place is not None:
                is_searched[place] = comes
            if comes:
                limit -= 1
                room.subtract(needed)
                calls += needed
        if comes:
            chosen.append(row["seq"])
    return chosen, calls


def _search(row: RowMapping) -> tuple[Place | None, Sequence[Method]]:
    """Return where a delivery of unclear outcome is searched for, and the calls that it needs."""
    kind, by_url = DeliveryKind(row["kind"]), row["response_url"] is not None
    place = None if by_url else place_of(kind, row["channel"], row["user"], row["root_ts"], row["thread_ts"])
    return place, place.calls if place else calls_of(kind, by_url=by_url, unconfirmed=True)


@dataclass(frozen=True, slots=True)
class _Group:
    """Deliveries that call the same methods, and the parameter that says how many of them may be claimed.

    ``kinds`` is None for the deliveries by response URL.
    """

    calls: tuple[Method, ...]
    kinds: Sequence[DeliveryKind] | None
    room: BindParameter[int]

    def has(self, rows: AnyTable | _Those) -> ColumnElement[bool]:
        """Return the condition that a row belongs to the group."""
        if self.kinds is None:
            return rows.c.response_url.is_not(None)
        return and_(one_of(rows.c.kind, self.kinds), rows.c.response_url.is_(None))


def _groups() -> list[_Group]:
    kinds: dict[tuple[Method, ...], list[DeliveryKind]] = defaultdict(list)
    for kind in DeliveryKind:
        kinds[calls_of(kind, by_url=False)].append(kind)
    found = [*kinds.items(), ((), None)]
    return [_Group(*each, bindparam(f"room_{number}", type_=Integer)) for number, each in enumerate(found)]


def _pending() -> Select[int]:
    """Select deliveries to begin with, as many as the paces of channels and methods allow."""
    has_room = or_(*(and_(group.has(deliveries), group.room > 0) for group in _GROUPS))
    condition = and_(DELIVERIES.waits, DELIVERIES.is_free, has_room, ~waits_in_thread())
    ready = _those("ready", deliveries, condition)
    turn = or_(~one_of(ready.c.kind, PACED), ready.c.seq.in_(_heads(ready)))
    return _first_of(_those("in_turn", ready, turn))


def _those(name: str, rows: AnyTable | _Those, condition: ColumnElement[bool]) -> _Those:
    """Return the deliveries among ``rows`` that meet a condition. The database searches for them once."""
    return select(*rows.c["seq", "kind", "channel", "response_url"]).where(condition).cte(name)


def _heads(ready: _Those) -> Select[object]:
    """Select the delivery that each channel gets next, in channels that take a post now."""
    too_soon = exists().where(paces.c.subject == ready.c.channel, paces.c.free_at > NOW)
    posts = select(func.min(ready.c.seq)).where(one_of(ready.c.kind, PACED), ~too_soon)
    return posts.group_by(ready.c.channel)


def _first_of(those: _Those) -> Select[int]:
    """Select the oldest of each group, as many as there is room for."""
    oldest = select(those.c.seq).order_by(those.c.seq)
    picks = [oldest.where(group.has(those)).limit(group.room).subquery() for group in _GROUPS]
    chosen = union_all(*(select(pick.c.seq) for pick in picks))
    return select(deliveries.c.seq).where(deliveries.c.seq.in_(chosen)).order_by(deliveries.c.seq)


def waits_in_thread() -> ColumnElement[bool]:
    """Return the condition that others in the same thread go first.

    What people read keeps its order, behind the face, which begins the thread. An edit notifies nobody, so
    it waits until all is said.
    """
    other = deliveries.alias("other")
    is_open = exists().where(other.c.job == deliveries.c.job, one_of(other.c.state, OPEN))
    earlier, is_post = other.c.seq < deliveries.c.seq, one_of(other.c.kind, THREAD_POSTS)
    is_reply, is_edit = deliveries.c.kind == DeliveryKind.REPLY, deliveries.c.kind == DeliveryKind.EDIT
    before_reply = or_(other.c.kind == DeliveryKind.ROOT, and_(is_post, earlier))
    same = and_(other.c.kind == DeliveryKind.EDIT, other.c.edits.is_not_distinct_from(deliveries.c.edits))
    # A job that waits to be sent gets its face before that.
    comes = and_(jobs.c.root_ts.is_(None), jobs.c.state == JobState.WAITING)
    is_faceless = exists().where(jobs.c.number == deliveries.c.job, comes)
    return or_(
        and_(is_reply, or_(is_open.where(before_reply), is_faceless)),
        and_(is_edit, or_(is_open.where(is_post), is_open.where(same, earlier), is_faceless)),
    )


def _claiming(candidates: Select[int], state: DeliveryState) -> ClaimStatement:
    values = {"state": DeliveryState.SENDING, "attempts": deliveries.c.attempts + 1}
    return claiming(deliveries, candidates=candidates, still=deliveries.c.state == state, values=values)


_GROUPS = _groups()
_CLAIM_PENDING = _claiming(_pending(), DeliveryState.PENDING)
_SENDING = deliveries.c.state == DeliveryState.SENDING
_CHOSEN = deliveries.c.seq.in_(bindparam("numbers", expanding=True))
_WAITS_FOR_SEARCH = and_(_SENDING, deliveries.c.claimed_by.is_(None))
"""The condition that nobody is sending a delivery, and that it is searched for when its lease runs out."""
_IN_DOUBT = (
    select(
        *deliveries.c["seq", "kind", "channel", "user", "response_url"],
        *jobs.c["root_ts", "thread_ts"],
        unclaimed(deliveries).label("has_lapsed"),
        (deliveries.c.due_at <= NOW).label("may_come_along"),
    )
    .outerjoin(jobs, jobs.c.number == deliveries.c.job)
    .where(_SENDING, or_(unclaimed(deliveries), _WAITS_FOR_SEARCH))
    .order_by(deliveries.c.seq)
    .limit(_MOST_IN_DOUBT)
)
_COME_ALONG = deliveries.update().where(_CHOSEN, _WAITS_FOR_SEARCH).values(claimed_until=None)
_CLAIM_UNCONFIRMED = _claiming(
    select(deliveries.c.seq).where(_CHOSEN).order_by(deliveries.c.seq), DeliveryState.SENDING
)
