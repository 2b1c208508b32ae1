"""An office for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.builders import new_store
from tests.work.office import Office


@pytest.fixture
async def office() -> AsyncIterator[Office]:
    office = Office(await new_store())
    yield office
    await office.close()
