"""Creating the tables in an empty database."""

from __future__ import annotations

import structlog
from sqlalchemy import Column, MetaData, String, Table, inspect, select, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DataError, IntegrityError, ProgrammingError

from bot.store.database import Database, explain_error
from bot.store.schema import metadata
from bot.store.sqlite_files import UnusableDatabase, make_private

log = structlog.get_logger(__name__)
HEAD = "1"
"""The only revision so far."""
_version = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))


async def schema_revision(database: Database) -> str | None:
    """Return the revision of a database; None when it is empty. Raises UnusableDatabase."""
    return await database.read(revision_of)


def revision_of(connection: Connection) -> str | None:
    """Return the revision. Raises UnusableDatabase for one of before 0.2.0, and for an encoding but UTF-8."""
    if connection.dialect.name == "postgresql":
        encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
        if encoding != "UTF8":
            raise UnusableDatabase(
                f"The database has the encoding {encoding}, in which not every text can be stored: make one "
                "with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, and name it in DATABASE_URL."
            )
    if not inspect(connection).has_table(_version.name):
        return None
    revision: str | None = connection.execute(select(_version.c.version_num)).scalar_one_or_none()
    if revision not in (None, HEAD):
        raise UnusableDatabase(
            "The database was made by another version, and this version cannot read it: "
            "move the SQLite file and those beside it away, or empty the PostgreSQL database."
        )
    return revision


async def migrate_schema(database: Database) -> None:
    """Create the tables. When several processes call it at once, one creates them and the others wait.

    Raises UnusableDatabase as ``revision_of``, and where that fails.
    """
    try:
        revision = await schema_revision(database)
    except UnusableDatabase as error:
        log.error("database_unusable", advice=str(error))
        raise
    try:  # a person may have made the SQLite file
        if database.file and (files := make_private(database.file)):
            log.warning("database_made_private", files=[file.name for file in files])
    except PermissionError:
        log.warning("database_not_private", advice="docs-bot doctor says what to do")
    if revision is None:
        try:
            await database.write(_migrate)
        except (ProgrammingError, IntegrityError, DataError) as error:
            raise UnusableDatabase(
                f"The database cannot be brought to revision {HEAD} ({explain_error(error).cause}): let its "
                "user create and change tables; otherwise go back to the version before, and report this."
            ) from None


def _migrate(connection: Connection) -> None:
    if revision_of(connection) is None:  # no other process has created them while we waited
        _create_tables(connection)


def _create_tables(connection: Connection) -> None:
    """Create the tables of the schema in an empty database, and stamp it with the newest revision."""
    dialect = connection.dialect.name
    for index in (index for table in metadata.tables.values() for index in table.indexes if index.info):
        index.dialect_options[dialect]["where"] = text(index.info["where"])
    metadata.create_all(connection)
    _version.create(connection)
    connection.execute(_version.insert().values(version_num=HEAD))
