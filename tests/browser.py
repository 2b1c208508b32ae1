"""Debian's Chromium, for tests of what a person sees on a page."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.limits import HANG_SECONDS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="Chromium is not installed (apt install chromium)"
)
_HANG_MS = HANG_SECONDS * 1_000
expect.set_options(timeout=_HANG_MS)


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    """A browser without a window; it ends with the block."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=list(_QUIET), timeout=_HANG_MS
        )
        yield browser
        await browser.close()


@asynccontextmanager
async def opened(browser: Browser, url: str, *, height: int) -> AsyncIterator[Page]:
    """The page at this address, as for somebody new; what it complains of fails the test."""
    page = await browser.new_page(viewport={"width": 1280, "height": height})
    page.set_default_timeout(_HANG_MS)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    try:
        await page.goto(url)
        yield page
    finally:
        for context in tuple(browser.contexts):
            await context.close()
    assert errors == []
