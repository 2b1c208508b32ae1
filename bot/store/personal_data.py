"""The stored data of one person: the columns that forgetting empties, with their values.

`docs-bot export` writes it and `docs-bot forget` takes it away. Both read the same rules
(``retention.py``) and the same types of columns (``schema.py``), so that both treat the
same columns.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import cast

from pydantic import SecretStr
from sqlalchemy import Column, ColumnElement, null, select
from sqlalchemy.engine import RowMapping

from bot.ids import UserId
from bot.store.retention import MentionRule, RetentionRule, mentions_of, parts_of
from bot.store.schema import OthersText, People, Person, Repository, Transaction, emptied_values
from bot.store.store import Store

_BATCH_SIZE = 500
"""Rows that are read at once, which bounds the memory."""
MASKED = "(a secret, not written)"
"""Stands for a value that no file may show, such as an address at which Slack takes answers."""
WORDS_OF_OTHERS = "(somebody else's words, not written)"
"""Stands for words of others in a job of this person: they are forgotten with the job."""
_ENDED = "row_ended_at"
_FINISHED = "row_is_finished"


@dataclass(frozen=True, slots=True)
class PersonalRow:
    """A row with the words or the id of a person."""

    kind: str
    """The name of the row's rule, as in the report of `docs-bot forget`."""
    key: object
    at: datetime | None
    """When the work on the row ended; None while it is under way, and for a part of another row."""
    is_under_way: bool
    """Whether `docs-bot forget` would leave it for now."""
    values: Mapping[str, object]
    """The columns that forgetting would empty, without empty ones."""


class PersonalData(Repository):
    """The stored data of persons, within one transaction."""

    def keys_of(self, mention: MentionRule) -> list[object]:
        """Return the keys of the rows of a mention."""
        statement = select(mention.rule.key).where(mention.condition)
        return list(self.connection.execute(statement).scalars())

    def naming_rows(
        self, user: UserId, mention: MentionRule, keys: Sequence[object]
    ) -> list[PersonalRow]:
        """Return the rows of others that name the person, with only the name."""
        name = cast("str", mention.column)
        return [
            _to_row(mention.rule, row, {name: user})
            for row in self._rows(mention.rule, mention.rule.key.in_(keys))
        ]

    def owned_rows(
        self, user: UserId, rule: RetentionRule, keys: Sequence[object]
    ) -> list[PersonalRow]:
        """Return the person's rows, and the parts that are forgotten with them."""
        rows = self._rows(rule, rule.key.in_(keys))
        found = [_to_row(rule, row, _values_of(user, rule, row)) for row in rows]
        open_rows = {row[rule.key] for row in rows if not row[_FINISHED]}
        for part, refers in parts_of(rule):
            for row in self._rows(part, refers.in_(keys)):
                if part.owner is None or row[part.owner] != user:  # else read by its own rule
                    made = _to_row(part, row, _values_of_part(user, part, row))
                    found.append(replace(made, is_under_way=row[refers] in open_rows))
        return found

    def _rows(self, rule: RetentionRule, where: ColumnElement[bool]) -> Sequence[RowMapping]:
        ended_at = null() if rule.ended_at is None else rule.ended_at
        statement = select(
            *rule.table.c, ended_at.label(_ENDED), rule.is_finished.label(_FINISHED)
        ).where(where)
        return self.connection.execute(statement).mappings().all()


def _to_row(rule: RetentionRule, row: RowMapping, values: Mapping[str, object]) -> PersonalRow:
    return PersonalRow(
        kind=rule.name,
        key=row[rule.key],
        at=row[_ENDED],
        is_under_way=not row[_FINISHED],
        values=values,
    )


def _values_of(user: UserId, rule: RetentionRule, row: RowMapping) -> dict[str, object]:
    """Return the values of a row that forgetting would empty, without words and ids of others."""
    values = dict[str, object]()
    for name in emptied_values(rule.table):
        value = row[name]
        if value not in (None, "", [], {}):
            shown = _value_for(user, rule.table.c[name], value)
            if shown is not None:
                values[name] = shown
    return values


def _value_for(user: UserId, column: Column[object], value: object) -> object:
    """Return a column's value as a person may see it; None for the id of somebody else."""
    kind = column.type
    if isinstance(value, SecretStr):
        return MASKED
    if isinstance(kind, OthersText):
        return WORDS_OF_OTHERS
    if isinstance(kind, People):
        return [user] if user in cast("list[str]", value) else None
    if isinstance(kind, Person):
        return value if value == user else None
    return value


def _values_of_part(user: UserId, part: RetentionRule, row: RowMapping) -> dict[str, object]:
    """Return the values of a part, without the words of others."""
    values = _values_of(user, part, row)
    if part.owner is not None and row[part.owner]:
        return dict.fromkeys(values, WORDS_OF_OTHERS)
    return values


async def read_personal_data(store: Store, user: UserId) -> AsyncIterator[PersonalRow]:
    """Yield the rows of a person. Some are read at a time."""
    for mention in mentions_of(user):
        keys = await store.read(partial(_keys_of, mention))
        for start in range(0, len(keys), _BATCH_SIZE):
            batch = keys[start : start + _BATCH_SIZE]
            for row in await store.read(partial(_read, user, mention, batch)):
                if row.values:
                    yield row


def _keys_of(mention: MentionRule, tx: Transaction) -> list[object]:
    return PersonalData(tx).keys_of(mention)


def _read(
    user: UserId, mention: MentionRule, keys: Sequence[object], tx: Transaction
) -> list[PersonalRow]:
    if mention.column is None:
        return PersonalData(tx).owned_rows(user, mention.rule, keys)
    return PersonalData(tx).naming_rows(user, mention, keys)
