"""An office for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.registry import Registry
from bot.registry.database import open_engine
from bot.registry.migrate import migrate
from tests.work.office import Office


@pytest.fixture
async def office() -> AsyncIterator[Office]:
    engine = open_engine("sqlite+aiosqlite:///:memory:")
    await migrate(engine)
    office = Office(Registry(engine))
    yield office
    await office.shop.docs.aclose()
    await engine.dispose()
