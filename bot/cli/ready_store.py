"""The store for commands that use the database of a bot, and make none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.store import Store
from bot.store.migrate import current, newest


class NotReady(Exception):
    """The database has no schema yet, or that of an older version."""


@asynccontextmanager
async def ready_store(sqlalchemy_url: str) -> AsyncIterator[Store]:
    """Yield the store, and close it. Raises NotReady when the schema is missing or outdated."""
    store = Store.open(sqlalchemy_url)
    try:
        if (await current(store.database) or "") < newest():
            raise NotReady(
                "The database is not at this version's schema yet. `docs-bot migrate` brings it there, "
                "and so does a start."
            )
        yield store
    finally:
        await store.close()
