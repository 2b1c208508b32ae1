"""The metadata on which each subject declares its tables, types of columns, and access to single rows.

A column's type defines its meaning, how it is read, and whether its row keeps it for ever. `String`, `Text`
and `JSON` do not, so a test refuses them in a table. Each statement is built once and executed with
values, because building takes longer than running it.
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
"""The tables of all subjects: `app.py` imports every subject, and ``stamp`` creates the tables."""


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime, stored in UTC. SQLite stores no time zones, so they are removed and added again."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time in UTC, without a zone on SQLite. Raises ValueError for a naive time."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone cannot be stored")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def bind_processor(self, dialect: Dialect) -> Callable[[datetime | None], object] | None:
        """Return the processor of a value. SQLite gets the text that SQLAlchemy would make, only sooner."""
        if dialect.name != "sqlite":
            return super().bind_processor(dialect)

        @lru_cache(100)  # a statement has the present time in many places
        def process(value: datetime | None) -> str | None:
            stored = self.process_bind_param(value, dialect)
            return None if stored is None else stored.isoformat(" ", "microseconds")

        return process

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Due(UtcDateTime):
    """A time until which something waits, for ``longest`` at most.

    A time that lies further ahead was written by a clock that was ahead; ``DueTimes.sweep`` sets it to now.
    """

    cache_ok = True

    def __init__(self, **longest: float) -> None:
        super().__init__()
        self.longest = timedelta(**longest)


class Forgotten:
    """Taken out of a row when the row is forgotten."""


class Id(String):
    """A key, an id or a name of the bot's, Slack's or the service's. It stays."""


class Channel(Id):
    """A channel of Slack's."""


class Person(Id, Forgotten):
    """Somebody whom a row names."""


class Owner(Person):
    """The person whose row it is: the row is forgotten with them."""


class Note(TypeDecorator[str]):
    """A text of the service's, of Slack's or of the settings, without personal data. It stays.

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
    """A text that somebody wrote, or an address that leads to the text or the person."""

    cache_ok = True


class Secret(TypeDecorator[SecretStr], Forgotten):
    """A text that no log may show."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: SecretStr | str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return value.get_secret_value() if isinstance(value, SecretStr) else value

    def process_result_value(self, value: str | None, dialect: Dialect) -> SecretStr | None:  # noqa: ARG002
        """Return the secret; None for an empty one."""
        return SecretStr(value) if value else None


class Choice(String):
    """A value of an enum. A row has it as text; ``reader`` makes it the member."""

    def __init__(self, kind: type[StrEnum]) -> None:
        super().__init__(20)
        self.kind = kind


class Json(TypeDecorator[object]):
    """A value that pydantic turns into JSON. A row has the JSON; ``reader`` makes it the value."""

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


def emptied_values(table: AnyTable) -> dict[str, object]:
    """Return the values of the columns that a forgotten row loses."""
    return {
        column.key: blank_of(column) for column in table.c if isinstance(column.type, Forgotten)
    }


def reader(
    kind: type[Record], table: AnyTable, **made: Callable[[RowMapping], object]
) -> Callable[[RowMapping], Record]:
    """Return a function that makes a record of a row: each field has the column of its name.

    An empty column gives the field's default. ``made``: the fields that are no columns. The function raises
    ValueError, LookupError or TypeError for a row that this version cannot read.
    """
    # Every dataclass may be given; typing has no name for them.
    members = [field for field in fields(kind) if field.name not in made]  # type: ignore[arg-type]
    names = [field.name for field in members]
    defaults = [
        (member.name, member.default)
        for member in members
        if table.c[member.name].nullable and member.default not in (None, MISSING)
    ]
    typed = list[tuple[str, Callable[[object], object]]]()
    for name in names:
        type_ = table.c[name].type
        if isinstance(type_, Choice):
            typed.append(
                (name, type_.kind)
            )  # raises ValueError for a value that only a newer version knows
        elif isinstance(type_, Json):
            typed.append((name, type_.read))

    def read(row: RowMapping) -> Record:
        values = {name: row[name] for name in names}
        for name, default in defaults:
            if values[name] is None:
                values[name] = default
        for name, typed_read in typed:
            if (value := row[name]) is not None:
                values[name] = typed_read(value)
        return kind(**values, **{name: make(row) for name, make in made.items()})

    return read


def diff(row: Record, new: Record, table: AnyTable) -> dict[str, object]:
    """Return the columns in which a record differs from the one that was read, with their new values."""
    names = _fields_of(cast("Hashable", type(row)), table)
    return {name: value for name in names if (value := getattr(new, name)) != getattr(row, name)}


def row_values(record: Record, table: AnyTable, *, without: str) -> dict[str, object]:
    """Return the columns of a new row that a record fills, without the key that the database gives."""
    values = {
        name: getattr(record, name) for name in _fields_of(cast("Hashable", type(record)), table)
    }
    return {
        name: value for name, value in values.items() if name != without and value not in (None, ())
    }


@cache
def _fields_of(kind: Hashable, table: AnyTable) -> tuple[str, ...]:
    # Every dataclass may be given; typing has no name for them.
    return tuple(field.name for field in fields(kind) if field.name in table.c)  # type: ignore[arg-type]


def lease() -> tuple[Column[str | None], Column[datetime | None]]:
    """Return the columns of a lease (``leases.py``)."""
    return Column("claimed_by", Id(80)), Column("claimed_until", Due(minutes=5))


def if_set(name: str, *columns: str) -> Index:
    """Return an index of the rows in which its last column is set."""
    return partial_index(f"{columns[-1]} IS NOT NULL", name, *columns)


def partial_index(condition: str, name: str, *columns: str) -> Index:
    """Return an index of the rows that meet a condition, which a query has to contain literally.

    The condition is kept in ``info``: for an option of PostgreSQL's, SQLAlchemy would import the whole
    dialect, 2.5 MB. ``create_tables`` adds the option.
    """
    return Index(name, *columns, info={"where": condition})


def is_set(column: ColumnElement[object]) -> ColumnElement[bool]:
    """Return the condition that a text is not empty, written literally for the index of such rows."""
    return column != literal_column("''")


@dataclass(frozen=True, eq=False, slots=True)
class Transaction:
    """One database transaction. A repository is made from it where it is used: ``Jobs(tx).get(number)``."""

    connection: Connection
    changed: dict[int, object] = field(default_factory=dict)
    """The rows as they were before this transaction changed them, for ``Store.before_commit``."""


class Repository:
    """Statements about a group of tables, within one transaction."""

    def __init__(self, tx: Transaction) -> None:
        self.tx, self.connection = tx, tx.connection


def insert_unless_there(
    connection: Connection, table: AnyTable, *rows: Mapping[str, object]
) -> bool:
    """Insert rows, skipping those whose unique key is taken. Return whether any row was inserted.

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
