"""Debian's Chromium, for tests of what a person sees on a page."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, ConsoleMessage, Error, Page, async_playwright, expect

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
    """The page at this address, as for somebody new; what it complains of fails the test.

    All use one tab after another, since a new one takes Chromium half a second of processor time. Each test
    has a server at a port of its own, so nothing that a page stores is found by another test.
    """
    page = browser.contexts[0].pages[0] if browser.contexts else await browser.new_page()
    page.set_default_timeout(_HANG_MS)
    await page.set_viewport_size({"width": 1280, "height": height})
    await page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    errors: list[str] = []

    def note_error(error: Error) -> None:
        errors.append(str(error))

    def note_message(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(message.text)

    page.on("pageerror", note_error)
    page.on("console", note_message)
    try:
        await page.goto(url)
        yield page
    finally:
        page.remove_listener("pageerror", note_error)
        page.remove_listener("console", note_message)
        for context in browser.contexts[1:]:
            await context.close()
        for popup in page.context.pages[1:]:
            await popup.close()
        await page.goto("about:blank")
    assert errors == []
