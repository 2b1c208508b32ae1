"""Take the pictures of the README and the docs: the sandbox's page, on the past that it is opened with.

``python -m tests.pictures`` needs Chromium, and a font with emoji for the signs in messages.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from playwright.async_api import Browser, FloatRect, Locator, Page, expect

from bot.app import running_bot
from sandbox.past import ANA, DOCS, begins_at, tell_past
from sandbox.workspace.options import utcnow
from sandbox.world import World, WorldOptions, both_sides
from tests.browser import launched

DOCS_FOLDER = Path(__file__).parents[1] / "docs"
WIDTH = 400
"""In CSS pixels. A picture of this width keeps the size of its letters on a phone."""
DENSITY = 2
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_FRAME = """part => Object.assign(
    document.body.appendChild(document.createElement("div")).style,
    {
        position: "fixed", boxSizing: "border-box", zIndex: 9, pointerEvents: "none",
        border: "1px solid var(--line)", borderRadius: "8px",
        left: `${part.x}px`, top: `${part.y}px`, width: `${part.width}px`, height: `${part.height}px`,
    }
)"""
"""Without a frame two pictures on a light page look like one conversation."""
_HEIGHT = 2_000
"""More than any conversation in a picture, so that nothing is scrolled."""


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
    async with _opened(browser, world) as page:
        digest = page.get_by_role("article").filter(has_text="Your docs,")
        await _save(page, "digest", digest, digest)


async def _thread(browser: Browser, world: World) -> None:
    async with _opened(browser, world) as page:
        await page.get_by_role("button", name=re.compile("replies")).click()
        replies = page.get_by_role("log", name="Replies").get_by_role("article")
        asked = replies.filter(has_text="add a guide").first
        end = replies.filter(has=page.get_by_role("button", name="Preview"))
        await expect(replies.last).to_contain_text("thanks!")
        await _save(page, "thread", asked, end)


async def _visitors(browser: Browser, world: World) -> None:
    await world.workspace.people.command(ANA, DOCS, "/docs-visitors", "last week")
    async with _opened(browser, world) as page:
        answer = page.get_by_role("article").filter(has_text="Only visible to you").last
        await expect(answer.locator("svg.chart").first).to_be_visible()
        await _save(page, "visitors", answer, answer)


@asynccontextmanager
async def _opened(browser: Browser, world: World) -> AsyncIterator[Page]:
    """The workspace's page as on a phone; it closes with the block."""
    context = await browser.new_context(
        viewport={"width": WIDTH, "height": _HEIGHT}, device_scale_factor=DENSITY
    )
    page = await context.new_page()
    await page.goto(world.workspace_url)
    try:
        yield page
    finally:
        await context.close()


async def _save(page: Page, name: str, first: Locator, last: Locator) -> None:
    """Save the part of the page from one message to another in each color scheme."""
    await page.mouse.move(0, 0)
    top = await _box(first)
    end = await _box(last)
    begin = round(top["y"])
    part: FloatRect = {
        "x": 0,
        "y": begin,
        "width": WIDTH,
        "height": round(end["y"] + end["height"]) - begin,
    }
    await page.evaluate(_FRAME, dict(part))
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        await page.screenshot(path=DOCS_FOLDER / f"{name}-{scheme}.png", clip=part)


async def _box(message: Locator) -> FloatRect:
    box = await message.bounding_box()
    assert box is not None
    return box


if __name__ == "__main__":
    asyncio.run(take())
