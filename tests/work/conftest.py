"""An office for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.store import Store
from bot.store.database import open_engine
from bot.store.schema import metadata
from tests.work.office import Office


@pytest.fixture
async def office() -> AsyncIterator[Office]:
    engine = open_engine("sqlite+aiosqlite:///:memory:")
    async with engine.begin() as connection:  # sooner there than by all migrations
        await connection.run_sync(metadata.create_all)
    office = Office(Store(engine))
    yield office
    await office.context.docs.aclose()
    await engine.dispose()
