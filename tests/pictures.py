"""Take the pictures of the README and the docs: the sandbox's page, on the past that it is opened with.

``python -m tests.pictures`` needs Chromium, and a font with emoji for the signs in messages.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from pathlib import Path
from typing import Literal

from playwright.async_api import Browser, Locator, Page, ViewportSize, expect

from bot.app import running_bot
from sandbox.past import ANA, DOCS, begins_at, tell_past
from sandbox.workspace.options import utcnow
from sandbox.world import World, WorldOptions, both_sides
from tests.browser import launched, opened

DOCS_FOLDER = Path(__file__).parents[1] / "docs"
SIZE = ViewportSize(width=1120, height=735)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


async def take() -> None:
    """Take all pictures anew."""
    with tempfile.TemporaryDirectory(prefix="docs-bot-") as folder:
        # The port stands on the button to the pull request.
        async with both_sides(WorldOptions(Path(folder), port=8800)) as world:
            world.clock.set(begins_at(utcnow()))
            async with running_bot(world.settings, clock=world.clock):
                await tell_past(world, world.settings.uses_an_hour)
                async with launched() as browser:
                    await _digest(browser, world)
                    await _thread(browser, world)
                    await _visitors(browser, world)


async def _digest(browser: Browser, world: World) -> None:
    async with opened(browser, world.workspace_url, height=1000) as page:
        await page.set_viewport_size({"width": 900, "height": 1400})
        await _save(page, "digest", page.get_by_role("article").filter(has_text="Your docs,"))


async def _thread(browser: Browser, world: World) -> None:
    async with opened(browser, world.workspace_url, height=1000) as page:
        await page.set_viewport_size(SIZE)
        await page.get_by_role("button", name=re.compile("replies")).click()
        await expect(page.get_by_role("log", name="Replies")).to_contain_text("thanks!")
        await _save(page, "thread")


async def _visitors(browser: Browser, world: World) -> None:
    await world.workspace.people.command(ANA, DOCS, "/docs-visitors", "last week")
    async with opened(browser, world.workspace_url, height=1000) as page:
        # As for somebody who has asked before, and needs no examples.
        await page.evaluate("localStorage.asked = 'yes'")
        await page.reload()
        answer = page.get_by_role("article").filter(has_text="Only visible to you").last
        await expect(answer.locator("svg.chart").first).to_be_visible()
        await answer.evaluate("one => one.scrollIntoView({ block: 'start' })")
        await _save(page, "visitors")


async def _save(page: Page, name: str, part: Locator | None = None) -> None:
    """Save the page, or a part of it, in each color scheme."""
    await page.mouse.move(0, 0)
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        await (part or page).screenshot(path=DOCS_FOLDER / f"{name}-{scheme}.png")


if __name__ == "__main__":
    asyncio.run(take())
