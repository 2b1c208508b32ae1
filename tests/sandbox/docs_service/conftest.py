"""Fixtures: a running docs service with a clock that tests control, and a caller of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from sandbox.docs_service import DocsService, DocsServiceOptions
from tests.sandbox.docs_service.caller import Caller, HeldClock


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def options(tmp_path: Path) -> DocsServiceOptions:
    return DocsServiceOptions(tmp_path, projects=("acme-docs", "other-docs"), pages=12, days=9)


@pytest.fixture
async def caller(options: DocsServiceOptions, clock: HeldClock) -> AsyncIterator[Caller]:
    service = DocsService(options, clock)
    base_url = await service.start()
    async with aiohttp.ClientSession(auto_decompress=True) as session:
        yield Caller(session, base_url)
    await service.stop()
