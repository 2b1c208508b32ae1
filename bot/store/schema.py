"""The metadata of all tables, the types of columns, and single rows.

A column's type defines its meaning, how it is read, and whether its row keeps it for ever.
`String`, `Text` and `JSON` do not, so a test refuses them in a table. Each statement is built once
and executed with values, because building takes longer than running it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from pydantic import SecretStr, TypeAdapter
from sqlalchemy import (
    JSON,
    Column,
    ColumnElement,
    DateTime,
    Index,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    literal_column,
)
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.engine import Connection, Dialect, RowMapping
from sqlalchemy.sql.dml import ReturningInsert

if TYPE_CHECKING:
    from sqlalchemy.sql.base import ReadOnlyColumnCollection

AnyTable: TypeAlias = Table["ReadOnlyColumnCollection[str, Column[object]]"]
"""Any of the tables, for functions that work with several."""
Record = TypeVar("Record")
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
"""The tables of all features: `app.py` imports every feature, and ``upgrade`` creates the tables."""


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime, stored in UTC.

    SQLite stores no time zones, so they are removed and added again.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time in UTC, without a zone on SQLite.

        Raises ValueError for a naive time.
        """
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone cannot be stored")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def bind_processor(self, dialect: Dialect) -> Callable[[datetime | None], object] | None:
        """Return the function that prepares times for the database.

        SQLite gets the text that SQLAlchemy would make, only sooner.
        """
        if dialect.name != "sqlite":
            return super().bind_processor(dialect)

        @lru_cache(100)  # a statement has the present time in many places
        def process(value: datetime | None) -> str | None:
            stored = self.process_bind_param(value, dialect)
            return None if stored is None else stored.isoformat(" ", "microseconds")

        return process

    def process_result_value(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002
    ) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            return value.replace(tzinfo=UTC)
        return value.astimezone(UTC)


class Due(UtcDateTime):
    """A time until which something waits, for ``longest`` at most.

    A time that lies further ahead was written by a clock that was ahead; ``DueTimes.sweep`` sets it
    to now.
    """

    cache_ok = True

    def __init__(self, **longest: float) -> None:
        super().__init__()
        self.longest = timedelta(**longest)


class Forgotten:
    """Taken out of a row when the row is forgotten."""


class Id(String):
    """An id or a name of the bot's, Slack's or the service's.

    It is not forgotten.
    """


class Channel(Id):
    """A channel of Slack's."""


class Person(Id, Forgotten):
    """Somebody whom a row names."""


class Owner(Person):
    """The person whose row it is: the row is forgotten with them."""


class Note(TypeDecorator[str]):
    """A text without personal data, which is not forgotten.

    It is the service's, Slack's or from the settings.

    It is stored without NUL and lone surrogates, which databases refuse.
    https://www.postgresql.org/docs/current/datatype-character.html
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Return the text without the characters that databases refuse."""
        if value is None or (value.isascii() and "\x00" not in value):
            return value
        return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")


class UserText(Note, Forgotten):
    """A text that somebody wrote, or an address that leads to it."""

    cache_ok = True


class OthersText(UserText):
    """A text with words and names of others than the row's owner, which goes with the row."""

    cache_ok = True


class Secret(TypeDecorator[SecretStr], Forgotten):
    """A text that no log may show."""

    impl = Text
    cache_ok = True

    def process_bind_param(
        self,
        value: SecretStr | str | None,
        dialect: Dialect,  # noqa: ARG002
    ) -> str | None:
        return value.get_secret_value() if isinstance(value, SecretStr) else value

    def process_result_value(
        self,
        value: str | None,
        dialect: Dialect,  # noqa: ARG002
    ) -> SecretStr | None:
        """Return the secret; None for an empty one."""
        return SecretStr(value) if value else None


class Choice(String):
    """A value of an enum.

    A row has it as text; ``reader`` makes it the member.
    """

    def __init__(self, kind: type[StrEnum]) -> None:
        super().__init__(20)
        self.kind = kind


class Json(TypeDecorator[object]):
    """A value that pydantic turns into JSON.

    A row has the JSON; ``reader`` makes it the value.
    """

    impl = JSON(none_as_null=True)
    cache_ok = True

    def __init__(self, kind: type[object]) -> None:
        super().__init__()
        self.kind = kind
        self._adapter = TypeAdapter[object](kind)
        self.read = self._adapter.validate_python
        """Returns the value of its JSON. Raises ValueError for JSON of another form."""

    def process_bind_param(self, value: object, dialect: Dialect) -> object:  # noqa: ARG002
        """Return the JSON of a value; JSON stays as it is."""
        is_json = value is None or isinstance(value, dict | list)
        return value if is_json else self._adapter.dump_python(value, mode="json")


class Packed(Json):
    """JSON of a value that is long, compressed."""

    impl = LargeBinary  # type: ignore[assignment]
    cache_ok = True

    def process_bind_param(self, value: object, dialect: Dialect) -> object:  # noqa: ARG002
        dumped = json.dumps(self._adapter.dump_python(value, mode="json"), separators=(",", ":"))
        return None if value is None else zlib.compress(dumped.encode())

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> object:  # noqa: ARG002
        return None if value is None else json.loads(zlib.decompress(value))


class UserJson(Json, Forgotten):
    """Texts that somebody wrote, in a structure."""

    cache_ok = True


class People(UserJson):
    """The ids of several people."""

    cache_ok = True

    def __init__(self) -> None:
        super().__init__(tuple[str, ...])


def blank_of(column: Column[object]) -> object:
    """Return the value of a column in a forgotten row."""
    if column.nullable:
        return None
    return {} if isinstance(column.type, Json) else ""


def list_emptied_values(table: AnyTable) -> dict[str, object]:
    """Return the values of the columns that a forgotten row loses."""
    return {
        column.key: blank_of(column) for column in table.c if isinstance(column.type, Forgotten)
    }


def reader(
    kind: type[Record], table: AnyTable, **made: Callable[[RowMapping], object]
) -> Callable[[RowMapping], Record]:
    """Return a function that makes records of rows.

    Each field of a record has the value of the column of its name. Raises TypeError for a field
    without one.

    An empty column gives the field's default. ``made``: the fields that are no columns. The
    function raises ValueError, LookupError or TypeError for a row that this version cannot read.
    """
    # Every dataclass may be given; typing has no name for them.
    members = [field for field in fields(kind) if field.name not in made]  # type: ignore[arg-type]
    names = [field.name for field in members]
    without_column = [name for name in names if name not in table.c]
    if without_column:
        fields_named = ", ".join(without_column)
        raise TypeError(f"{table.name} has no column for fields of {kind.__name__}: {fields_named}")
    defaults = [
        (member.name, member.default)
        for member in members
        if table.c[member.name].nullable and member.default not in (None, MISSING)
    ]
    typed = list[tuple[str, Callable[[object], object]]]()
    for name in names:
        type_ = table.c[name].type
        if isinstance(type_, Choice):
            # It raises ValueError for a value that only a newer version knows.
            typed.append((name, type_.kind))
        elif isinstance(type_, Json):
            typed.append((name, type_.read))

    def read(row: RowMapping) -> Record:
        values = {name: row[name] for name in names}
        for name, default in defaults:
            if values[name] is None:
                values[name] = default
        for name, typed_read in typed:
            if row[name] is not None:
                values[name] = typed_read(row[name])
        for name, make in made.items():
            values[name] = make(row)
        return kind(**values)

    return read


def diff(row: Record, new: Record, table: AnyTable) -> dict[str, object]:
    """Return the changed columns of a record, with their new values."""
    changed = dict[str, object]()
    for name in _list_fields(cast("Hashable", type(row)), table):
        value = getattr(new, name)
        if value != getattr(row, name):
            changed[name] = value
    return changed


def row_values(record: Record, table: AnyTable, *, without: str) -> dict[str, object]:
    """Return the columns of a new row that a record fills.

    ``without``: the key, which the database gives.
    """
    values = dict[str, object]()
    for name in _list_fields(cast("Hashable", type(record)), table):
        value = getattr(record, name)
        if name != without and value not in (None, ()):
            values[name] = value
    return values


@cache
def _list_fields(kind: Hashable, table: AnyTable) -> tuple[str, ...]:
    # Every dataclass may be given; typing has no name for them.
    members = fields(kind)  # type: ignore[arg-type]
    return tuple(member.name for member in members if member.name in table.c)


def lease() -> tuple[Column[str | None], Column[datetime | None]]:
    """Return the columns of a lease (``leases.py``)."""
    return Column("claimed_by", Id(80)), Column("claimed_until", Due(minutes=5))


def if_set(name: str, *columns: str) -> Index:
    """Return an index of the rows whose last column is set."""
    return partial_index(f"{columns[-1]} IS NOT NULL", name, *columns)


def partial_index(condition: str, name: str, *columns: str) -> Index:
    """Return an index of the rows that meet a condition.

    A query has to contain the condition literally to use the index.

    The condition is kept in ``info``: for an option of PostgreSQL's, SQLAlchemy would import the
    whole dialect, 2.5 MB. A revision has the condition for both databases.
    """
    return Index(name, *columns, info={"where": condition})


def is_set(column: ColumnElement[object]) -> ColumnElement[bool]:
    """Return the condition that a text is not empty.

    It is written literally, for the index of such rows.
    """
    return column != literal_column("''")


@dataclass(frozen=True, eq=False, slots=True)
class Transaction:
    """One database transaction.

    A repository is made from it where it is used: ``Jobs(tx).get(number)``.
    """

    connection: Connection
    changed: dict[int, object] = field(default_factory=dict)
    """The rows as they were before this transaction changed them, for ``Store.before_commit``."""


class Repository:
    """Statements about a group of tables, within one transaction."""

    def __init__(self, tx: Transaction) -> None:
        self.tx = tx
        self.connection = tx.connection


def insert_unless_there(
    connection: Connection, table: AnyTable, *rows: Mapping[str, object]
) -> bool:
    """Insert rows whose unique key is free.

    Return whether any row was inserted.

    Uses ``ON CONFLICT DO NOTHING``, because on PostgreSQL an error would abort the transaction.
    """
    statement = _insert_unless_there(table, connection.dialect.name)
    # RETURNING, because not every driver counts rows here.
    return connection.execute(statement, rows if len(rows) > 1 else rows[0]).first() is not None


@cache
def _insert_unless_there(table: AnyTable, dialect: str) -> ReturningInsert[tuple[object]]:
    key = next(iter(table.primary_key.columns))
    if dialect == "postgresql":
        # Imported here to save 2 MB in processes on SQLite.
        from sqlalchemy.dialects.postgresql import insert as postgresql_insert

        return postgresql_insert(table).on_conflict_do_nothing().returning(key)
    return sqlite_insert(table).on_conflict_do_nothing().returning(key)
