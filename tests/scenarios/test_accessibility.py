"""axe finds nothing on any page of the sandbox, in light and in dark."""

from __future__ import annotations

from typing import Literal

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, expect

from tests.browser import needs_chromium, opened
from tests.scenarios.story import ANA, BEN, DOCS, Story

pytestmark = needs_chromium

PROMPT = "Add a quickstart for the Python SDK"
_RUN = "async (options) => ({violations: (await axe.run(document, options)).violations})"


async def complaints(page: Page) -> list[str]:
    """Return what axe finds on the page: in light everything, in dark the contrasts, which alone differ."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(Axe().axe_script)
    found = []
    schemes: list[tuple[Literal["light", "dark"], dict[str, list[str]]]] = [
        ("light", {}),
        ("dark", {"runOnly": ["color-contrast"]}),
    ]
    for scheme, options in schemes:
        await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        answer = await page.evaluate(_RUN, {"resultTypes": ["violations"], **options})
        found += [
            f"{scheme}: {rule['id']}: {node['html'][:200]}"
            for rule in answer["violations"]
            for node in rule["nodes"]
        ]
    return found


async def test_axe_finds_nothing_on_the_workspaces_page(browser: Browser, story: Story) -> None:
    root = await story.finished(PROMPT)
    story.reply(root, "Thanks, that reads well", BEN)
    await story.command("/docs-visitors", "last week top 5", ANA)
    await story.answer("People")
    place = f"/#c={DOCS}&t={root['ts']}"
    async with opened(browser, story.world.workspace_url + place, height=900) as page:
        await expect(page.get_by_role("group", name="Changed files").first).to_be_visible()
        assert await complaints(page) == []
        await page.get_by_role("textbox", name="Message #docs").fill("@")
        await expect(page.get_by_role("option", name="@ana")).to_be_visible()
        assert await complaints(page) == []
        await page.get_by_role("button", name="Faults").click()
        await expect(page.get_by_role("complementary", name="Faults")).to_contain_text("Nothing is ordered.")
        assert await complaints(page) == []
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Help").click()
        assert await complaints(page) == []
        await page.keyboard.press("Escape")
        await page.get_by_role("textbox", name="Message #docs").fill("/docs-agent ")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog", name="Ask the docs agent")).to_be_visible()
        assert await complaints(page) == []
        await page.keyboard.press("Escape")
        await page.set_viewport_size({"width": 390, "height": 844})
        assert await complaints(page) == []
        await page.get_by_role("button", name="Close thread").click()
        await page.get_by_role("button", name="Show channels").click()
        assert await complaints(page) == []


async def test_axe_finds_nothing_on_the_pages_of_the_docs_service(browser: Browser, story: Story) -> None:
    await story.finished(PROMPT)
    url = story.world.docs_service_url
    async with opened(browser, url, height=900) as page:
        assert await complaints(page) == []
        await page.locator(".job a").click()
        assert await complaints(page) == []
        await page.goto(f"{url}/acme-docs/pull/1")
        assert await complaints(page) == []
