"""The rule for migrations: while the new version is rolled out, the old one goes on working.

A migration may add tables, columns that old writers can leave out, and indexes that forbid nothing, also in
the place of one that it drops.
Everything else waits for a later version.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from io import StringIO

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext

_NEW_TABLE = re.compile(r"CREATE TABLE (\w+) ")
_INDEX = re.compile(r"CREATE (?P<unique>UNIQUE )?INDEX (?P<name>\w+) ON (?P<table>\w+) ")
_NO_INDEX = re.compile(r"DROP INDEX (\w+)")
_COLUMN = re.compile(r"ALTER TABLE (?P<table>\w+) ADD COLUMN (?P<column>.+)", re.DOTALL)
_BINDING = re.compile(r"\b(UNIQUE|REFERENCES|CHECK|PRIMARY KEY)\b")


def statements(upgrade: Callable[[], None]) -> list[str]:
    """What a migration's ``upgrade`` would do to a PostgreSQL, as SQL; nothing is done."""
    written = StringIO()
    context = MigrationContext.configure(
        dialect_name="postgresql", opts={"as_sql": True, "output_buffer": written}
    )
    with Operations.context(context):
        upgrade()
    return [" ".join(each.split()) for each in written.getvalue().split(";\n") if each.strip()]


def breaks(upgrade: Callable[[], None]) -> list[str]:
    """Those of its statements that would break the version before."""
    done = statements(upgrade)
    new_tables = {match[1] for each in done if (match := _NEW_TABLE.match(each))}
    new_indexes = {match["name"] for each in done if (match := _INDEX.match(each))}
    return [each for each in done if not _only_adds(each, new_tables, new_indexes)]


def _only_adds(statement: str, new_tables: set[str], new_indexes: set[str]) -> bool:
    if _NEW_TABLE.match(statement):
        return True
    if replaced := _NO_INDEX.match(statement):
        return replaced[1] in new_indexes
    if index := _INDEX.match(statement):
        return not index["unique"] or index["table"] in new_tables
    if added := _COLUMN.match(statement):
        demanded = "NOT NULL" in added["column"] and "DEFAULT" not in added["column"]
        return not demanded and not _BINDING.search(added["column"])
    return False
