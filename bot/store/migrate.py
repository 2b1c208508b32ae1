"""Migrating a database to this version's schema.

Alembic is imported only when a migration is needed. Otherwise it would cost each start 0.1 s and each
process 8 MB.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import structlog
from sqlalchemy import Column, MetaData, String, Table, inspect, select, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DataError, IntegrityError, ProgrammingError

from bot.store.database import Database, explain_error
from bot.store.schema import metadata
from bot.store.sqlite_files import UnusableDatabase, make_private

if TYPE_CHECKING:
    from alembic.config import Config

log = structlog.get_logger(__name__)
FIRST, HEAD = "1001", "1005"
"""The first and the newest revision in ``migrations/versions``, as a test checks. Revisions sort as text.
An empty database gets the tables of `bot.store.schema` and the newest revision at once."""
_FOLDER = Path(__file__).parent / "migrations"
_LOCK = 7_203_114
"""Key of the PostgreSQL advisory lock for migrations; an arbitrary number, the same in every process."""
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
    if revision is not None and revision < FIRST:
        raise UnusableDatabase(
            "The database was made by a version before 0.2.0, and this version cannot read it: "
            "move the SQLite file and those beside it away, or empty the PostgreSQL database."
        )
    return revision


async def migrate_schema(database: Database) -> None:
    """Apply the missing migrations. When several processes call it at once, one migrates and the others wait.

    A database with a newer revision is left as it is, with a warning. Migrations only add to the schema, so
    this version can work with it and a deployment can be rolled back. Raises UnusableDatabase as
    ``revision_of``, and for a migration that fails.
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
    if _lacks(revision):
        try:
            await database.write(_migrate)
        except (ProgrammingError, IntegrityError, DataError) as error:
            raise UnusableDatabase(
                f"The database cannot be brought to revision {HEAD} ({explain_error(error).cause}): let its "
                "user create and change tables; otherwise go back to the version before, and report this."
            ) from None


def _migrate(connection: Connection) -> None:
    # On SQLite the transaction itself already excludes other writers.
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    # Another process, perhaps of a newer version, may have migrated while we waited.
    revision = revision_of(connection)
    if revision is None:
        _create_tables(connection)
    elif _lacks(revision):
        from alembic import command

        command.upgrade(alembic_config(connection), HEAD)


def _create_tables(connection: Connection) -> None:
    """Create the tables of the schema in an empty database, and stamp it with the newest revision."""
    dialect = connection.dialect.name
    for index in (index for table in metadata.tables.values() for index in table.indexes if index.info):
        index.dialect_options[dialect]["where"] = text(index.info["where"])
    metadata.create_all(connection)
    _version.create(connection)
    connection.execute(_version.insert().values(version_num=HEAD))


def _lacks(revision: str | None) -> bool:
    """Return whether migrations are missing; log a warning when the database has a newer revision."""
    if revision is not None and revision > HEAD:
        log.warning("database_is_newer", at=revision, known=HEAD)
    return revision is None or revision < HEAD


def alembic_config(connection: Connection | None = None) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
