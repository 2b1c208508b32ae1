"""All pages of the sandbox pass axe, in light and in dark."""

from __future__ import annotations

import re
from typing import Literal

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, expect

from tests.browser import needs_chromium, opened
from tests.scenarios.story import ANA, BEN, DOCS, Story

pytestmark = needs_chromium

PROMPT = "Add a quickstart for the Python SDK"
_RUN = "async (options) => ({violations: (await axe.run(document, options)).violations})"


async def complaints(page: Page) -> list[str]:
    """Return axe's complaints about the page: all in light, only contrasts in dark.

    axe ignores the contrast of lines, so the page measures those of charts.
    """
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(Axe().axe_script)
    violations = []
    schemes: list[tuple[Literal["light", "dark"], dict[str, list[str]]]] = [
        ("light", {}),
        ("dark", {"runOnly": ["color-contrast"]}),
    ]
    for scheme, options in schemes:
        await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        answer = await page.evaluate(_RUN, {"resultTypes": ["violations"], **options})
        violations += [
            f"{scheme}: {rule['id']}: {node['html'][:200]}"
            for rule in answer["violations"]
            for node in rule["nodes"]
        ]
        violations += [f"{scheme}: line {line}" for line in await page.evaluate(_FAINT)]
    return violations


_FAINT = """() => {
  const rgb = (colour) => {
    const pen = document.createElement("canvas").getContext("2d");
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => rgb(colour).slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const isSolid = (node) => rgb(getComputedStyle(node).backgroundColor)[3];
  const ground = (node) => (isSolid(node) ? node : ground(node.parentElement));
  const contrast = (line) => {
    const [low, high] = [getComputedStyle(line).stroke, getComputedStyle(ground(line)).backgroundColor]
      .map(light).sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  return [...document.querySelectorAll(".chart polyline")].map(contrast).filter((found) => found < 3);
}"""
"""The contrasts below 3:1 of charts' lines: https://www.w3.org/TR/WCAG22/#non-text-contrast"""


async def test_workspace_page_passes_axe(browser: Browser, story: Story) -> None:
    root = await story.finished(PROMPT)
    story.reply(root, "Thanks, that reads well", BEN)
    story.people.say(ANA, DOCS, "Good morning")
    await story.command("/docs-visitors", "last week top 5", ANA)
    await story.answer("People")
    async with opened(browser, story.world.workspace_url, height=900) as page:
        await expect(page.get_by_role("group", name="Examples", exact=True)).to_be_visible()
        await expect(page.locator(".chart polyline").first).to_be_attached()
        assert await complaints(page) == []
        await page.get_by_role("button", name=re.compile("replies")).click()
        await page.get_by_role("article").filter(has_text="Good morning").hover()
        await page.get_by_role("button", name="Edit message").click()
        assert await complaints(page) == []
        await page.keyboard.press("Escape")
        await page.get_by_role("textbox", name="Message #docs").fill("@")
        await expect(page.get_by_role("option", name="@ana")).to_be_visible()
        assert await complaints(page) == []
        await page.get_by_role("button", name="Faults").click()
        await expect(page.get_by_role("complementary", name="Faults")).to_contain_text(
            "No fault is set."
        )
        await page.get_by_role("button", name="Five calls fail").click()
        await expect(page.get_by_role("complementary", name="Faults")).to_contain_text("(5 left)")
        assert await complaints(page) == []
        await page.get_by_role("button", name="Forget them").click()
        await expect(page.get_by_role("complementary", name="Faults")).to_contain_text(
            "No fault is set."
        )
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Help", exact=True).click()
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
        await page.get_by_role("button", name="docs-secret").click()
        await expect(page.get_by_text("Nothing has been said in #docs-secret yet.")).to_be_visible()
        assert await complaints(page) == []


async def test_docs_service_pages_pass_axe(browser: Browser, story: Story) -> None:
    await story.finished(PROMPT)
    url = story.world.docs_service_url
    async with opened(browser, url, height=900) as page:
        assert await complaints(page) == []
        await page.locator(".job a").click()
        assert await complaints(page) == []
        await page.goto(f"{url}/acme/acme-docs/pull/1")
        assert await complaints(page) == []
