"""Forgetting: texts and people are removed from the rows of work that is over.

Keys, states, numbers and times stay: they keep a request from being carried out twice, and they are
counted. Work under way is left alone. A forgotten job has no requester, and neither has a prompt or
question. The types of the columns (``schema.py``) determine which values are forgotten, the rules
determine when. Each feature declares the rules of its tables.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial

from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    Select,
    String,
    and_,
    bindparam,
    func,
    or_,
    select,
)

from bot.ids import UserId
from bot.store.leases import LIMIT
from bot.store.schema import (
    AnyTable,
    OthersText,
    Owner,
    People,
    Person,
    Repository,
    Transaction,
    UtcDateTime,
    blank_of,
    is_set,
    list_emptied_values,
)
from bot.store.store import Store

_BEFORE: BindParameter[datetime] = bindparam("before", type_=UtcDateTime)
_BATCH_SIZE = 50
"""Rows of each table in one transaction, so that no request waits for long."""
_PAUSE_SECONDS = 0.2
"""Longer than the 0.1 s after which SQLite tries again to get the lock that another process holds.

https://github.com/sqlite/sqlite/blob/master/src/main.c (sqliteDefaultBusyCallback)
"""
RowCounts = Counter[str]
"""The number of rows of each kind that were forgotten, or are under way."""
MENTIONS_KIND = "names in others' jobs"
"""The kind of rows for a person's mentions in others' jobs, such as a reviewer."""
RULES: list[RetentionRule] = []
"""The declared rules."""


def _in_no_column(_user: UserId) -> Mapping[str, ColumnElement[bool]]:
    return {}


@dataclass(frozen=True, eq=False)
class RetentionRule:
    """The rule by which finished rows of a table are forgotten.

    A person's rows are forgotten on request, all rows after a while.
    """

    name: str
    """The name of the rows for people."""
    table: AnyTable
    is_finished: ColumnElement[bool]
    """The condition that all work on a row is over."""
    ended_at: ColumnElement[datetime] | None
    """The time of a row's end; None for rows that are forgotten with the rows of another table."""
    delete_when: ColumnElement[bool] | None = None
    """The condition for old rows to be deleted; None for rows that are emptied."""
    extra_values: Mapping[str, object] = field(default_factory=dict)
    """Further values of an emptied row."""
    part_of: tuple[RetentionRule, Column[int]] | None = None
    """The rule of the rows with which these are forgotten, and the column that refers to them."""
    names_person: Callable[[UserId], Mapping[str, ColumnElement[bool]]] = _in_no_column
    """Returns columns that may contain a person in another form than their id alone, with the
    conditions.
    """

    def __post_init__(self) -> None:
        RULES.append(self)

    @property
    def key(self) -> ColumnElement[object]:
        return next(iter(self.table.primary_key.columns))

    @property
    def owner(self) -> Column[object] | None:
        """Return the column of the row's owner; None without one."""
        return next((column for column in self.table.c if isinstance(column.type, Owner)), None)

    @property
    def forgotten_values(self) -> dict[str, object]:
        """Return the values of a forgotten row."""
        return {**list_emptied_values(self.table), **self.extra_values}

    @property
    def forgotten_columns(self) -> Sequence[str]:
        """Return the columns that are blank in a forgotten row."""
        owner = self.owner
        if owner is not None and not owner.nullable:
            return [owner.key]
        return list(list_emptied_values(self.table))

    @property
    def is_old(self) -> ColumnElement[bool]:
        """Return the condition that a row is to be forgotten.

        It was over before ``_BEFORE``, and holds a value that is not forgotten yet.
        """
        is_old_enough = self.delete_when
        if is_old_enough is None:
            is_old_enough = or_(*(_is_kept(self.table.c[name]) for name in self.forgotten_columns))
        if self.ended_at is None:
            return is_old_enough
        return and_(is_old_enough, self.ended_at < _BEFORE, self.is_finished)


def _is_kept(column: Column[object]) -> ColumnElement[bool]:
    """Return the condition that a column is not yet blank."""
    blank = blank_of(column)
    return is_set(column) if blank == "" else column != blank


@dataclass(frozen=True, eq=False, slots=True)
class MentionRule:
    """Rows of one rule that mention a person."""

    rule: RetentionRule
    column: str | None
    """The column with the person's name; None for rows that are their own."""
    condition: ColumnElement[bool]


class Retention(Repository):
    """Forgets rows by the declared rules, within one transaction."""

    def forget_before(self, before: datetime, limit: int) -> RowCounts:
        """Forget rows that ended before ``before``, with their parts.

        At most ``limit`` rows of each table are forgotten.
        """
        counts = RowCounts()
        # Rows are deleted last, because the condition may be that rows of another table are
        # forgotten.
        for deletes in (False, True):
            for rule in RULES:
                if rule.ended_at is not None and (rule.delete_when is not None) is deletes:
                    values = {_BEFORE.key: before, LIMIT.key: limit}
                    keys = list(self.connection.execute(_select_old(rule), values).scalars())
                    counts += self.forget(rule, keys, deletes=deletes)
        return counts

    def find_person(self, user: UserId) -> list[tuple[MentionRule, list[object]]]:
        """Return one person's mentions in finished rows, with the rows' keys."""
        pairs = list[tuple[MentionRule, list[object]]]()
        for mention in mentions_of(user):
            is_over = and_(mention.condition, mention.rule.is_finished)
            pairs.append((mention, self._keys(mention.rule, is_over)))
        return [(mention, keys) for mention, keys in pairs if keys]

    def forget_mention(self, mention: MentionRule, keys: Sequence[object]) -> RowCounts:
        """Forget a person in the given rows that still mention them.

        Return how many rows were changed.
        """
        rule = mention.rule
        still_names = and_(rule.key.in_(keys), mention.condition, rule.is_finished)
        if mention.column is None:
            return self.forget(rule, self._keys(rule, still_names))
        values = {mention.column: blank_of(rule.table.c[mention.column])}
        return +RowCounts({MENTIONS_KIND: self.change(rule.table, still_names, values)})

    def under_way(self, user: UserId) -> RowCounts:
        """Return how many rows of a person `find_person` leaves out."""
        counts = RowCounts()
        for rule, owner in _list_owners():
            theirs = select(func.count()).where(owner == user, ~rule.is_finished)
            counts[rule.name] = int(self.connection.execute(theirs).scalar_one())
        return +counts

    def count_quotations(self, user: UserId) -> RowCounts:
        """Return how many rows of others may hold words of a person whose id is not beside them."""
        counts = RowCounts()
        for rule, owner in _list_owners():
            quoting = [is_set(each) for each in rule.table.c if isinstance(each.type, OthersText)]
            if quoting:
                of_others = select(func.count()).where(owner != user, or_(*quoting))
                counts[rule.name] = int(self.connection.execute(of_others).scalar_one())
        return +counts

    def forget(
        self, rule: RetentionRule, keys: Sequence[object], *, deletes: bool = False
    ) -> RowCounts:
        """Forget the rows with these keys and their parts.

        Return how many rows were changed.
        """
        counts = RowCounts({rule.name: 0})
        parts = list(parts_of(rule)) if keys else []
        if parts:
            # A follow-up may have come meanwhile.
            keys = self._keys(rule, and_(rule.key.in_(keys), rule.is_finished))
        for part, refers in parts:
            counts.update(self._empty(part, refers.in_(keys)))
        if keys and (deletes or (rule.owner is not None and rule.owner.primary_key)):
            deletion = rule.table.delete().where(rule.key.in_(keys))
            counts[rule.name] = self.connection.execute(deletion).rowcount
        elif keys:
            counts[rule.name] = self.change(rule.table, rule.key.in_(keys), rule.forgotten_values)
        return +counts

    def _empty(self, part: RetentionRule, of_rows: ColumnElement[bool]) -> RowCounts:
        """Empty the columns of some parts, and count the parts that have owners."""
        owner = part.owner
        if owner is None or owner.nullable:
            self.change(part.table, of_rows, part.forgotten_values)
            return RowCounts()
        return RowCounts(
            {part.name: self.change(part.table, and_(of_rows, owner != ""), part.forgotten_values)}
        )

    def _keys(self, rule: RetentionRule, where: ColumnElement[bool]) -> list[object]:
        return list(self.connection.execute(select(rule.key).where(where)).scalars())

    def change(
        self, table: AnyTable, where: ColumnElement[bool], values: Mapping[str, object]
    ) -> int:
        """Write values into the rows that match; return their number."""
        return self.connection.execute(table.update().where(where).values(values)).rowcount


@cache
def _select_old(rule: RetentionRule) -> Select[object]:
    """Return the statement that selects the keys of old rows."""
    # No ORDER BY: SQLite would scan the primary key instead of the index of old rows.
    return select(rule.key).where(rule.is_old).limit(LIMIT)


def parts_of(rule: RetentionRule) -> Iterator[tuple[RetentionRule, Column[int]]]:
    """Yield the rules of the parts of a row, each with the column that refers to the row."""
    for part in RULES:
        if part.part_of is not None:
            whole, refers = part.part_of
            if whole is rule:
                yield part, refers


def mentions_of(user: UserId) -> Iterator[MentionRule]:
    """Yield a person's mentions in other people's rows, then their own rows, finished or not."""
    for rule in RULES:
        for name, condition in rule.names_person(user).items():
            yield MentionRule(rule, name, condition)
    for rule, owner in _list_owners():
        others = owner.is_distinct_from(user)
        for column in rule.table.c:
            if isinstance(column.type, People):
                among = column.cast(String).contains(f'"{user}"', autoescape=True)
                yield MentionRule(rule, column.key, and_(among, others))
            elif isinstance(column.type, Person) and not isinstance(column.type, Owner):
                yield MentionRule(rule, column.key, and_(column == user, others))
    for rule, owner in _list_owners():
        yield MentionRule(rule, None, owner == user)


def _list_owners() -> list[tuple[RetentionRule, Column[object]]]:
    return [(rule, rule.owner) for rule in RULES if rule.owner is not None]


async def forget_before(store: Store, before: datetime) -> RowCounts:
    """Forget some rows that ended before ``before``; return how many."""
    return await store.forget(lambda tx: Retention(tx).forget_before(before, _BATCH_SIZE))


async def forget_person(store: Store, user: UserId) -> tuple[RowCounts, RowCounts]:
    """Forget one person and their texts.

    Return how many rows were forgotten, and how many are under way and stay.
    """
    forgotten = RowCounts()
    # The search reads all rows, so it is outside the transactions that write: a bot may be waiting
    # to write.
    while mentions := await store.read(lambda tx: Retention(tx).find_person(user)):
        for mention, keys in mentions:
            for start in range(0, len(keys), _BATCH_SIZE):
                change = partial(_forget_mention, mention, keys[start : start + _BATCH_SIZE])
                forgotten += await store.write(change)
                if start + _BATCH_SIZE < len(keys):
                    await asyncio.sleep(_PAUSE_SECONDS)
    await store.database.empty_log()
    return forgotten, await store.read(lambda tx: Retention(tx).under_way(user))


async def count_quotations(store: Store, user: UserId) -> RowCounts:
    """Return how many rows of others may quote a person, which no search by their id finds."""
    return await store.read(lambda tx: Retention(tx).count_quotations(user))


def _forget_mention(mention: MentionRule, keys: Sequence[object], tx: Transaction) -> RowCounts:
    return Retention(tx).forget_mention(mention, keys)
