"""The migrations lead to the schema that the code works with."""

from __future__ import annotations

import asyncio

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy.engine import Connection

from bot.registry.database import open_engine
from bot.registry.migrate import current, migrate, newest
from bot.registry.schema import metadata


async def test_a_migrated_database_has_exactly_the_tables_of_the_schema(database_url: str) -> None:
    engine = open_engine(database_url)

    def differences(connection: Connection) -> list[object]:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return list(compare_metadata(context, metadata))

    await migrate(engine)
    async with engine.connect() as connection:
        found = await connection.run_sync(differences)
    await engine.dispose()
    assert found == []


async def test_processes_that_migrate_at_once_do_not_get_in_each_others_way(database_url: str) -> None:
    engines = [open_engine(database_url) for _ in range(3)]
    await asyncio.gather(*(migrate(engine) for engine in engines))
    revisions = [await current(engine) for engine in engines]
    for engine in engines:
        await engine.dispose()
    assert revisions == [newest()] * 3


async def test_an_empty_database_is_at_no_revision(database_url: str) -> None:
    engine = open_engine(database_url)
    assert await current(engine) is None
    await engine.dispose()
