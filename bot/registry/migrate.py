"""Bringing a database to this version's schema."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import AsyncEngine

_FOLDER = Path(__file__).parent / "migrations"
_LOCK = 7_203_114
"""Any number, the same in every process: PostgreSQL's name for "migrating the docs bot"."""


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def newest() -> str:
    """The revision that this version of the bot works with."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    if head is None:
        raise RuntimeError("the migrations are missing from this installation")
    return head


async def current(engine: AsyncEngine) -> str | None:
    """The revision that a database is at; None for an empty one."""
    async with engine.connect() as connection:
        return await connection.run_sync(lambda sync: MigrationContext.configure(sync).get_current_revision())


async def migrate(engine: AsyncEngine) -> None:
    """Apply what is missing. Several processes may call it at once: one migrates, the others wait."""
    async with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        await connection.run_sync(lambda sync: command.upgrade(_config(sync), "head"))
