"""The web page by keyboard and on a phone, and what a screen reader hears of it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, expect

from sandbox.workspace import Workspace
from sandbox.workspace.state import BOT_ID, BOT_USER
from tests.browser import needs_chromium, opened
from tests.sandbox.workspace.small_bot import ANA, BEN, DOCS, Json
from tests.sandbox.workspace.test_page import report

pytestmark = needs_chromium

FOCUS_RING_CONTRAST = """() => {
  const rgb = (color) => {
    const context = new OffscreenCanvas(1, 1).getContext("2d");
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (color) => {
    const linear = (one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = rgb(color).map((one) => linear(one / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)|transparent|rgba/.test(color)) return color;
    }
    return "white";
  };
  // The composer draws the ring of the field in it.
  const drawing = ".composer:has(textarea:focus)";
  const at = document.activeElement.closest(drawing) || document.activeElement;
  const style = getComputedStyle(at);
  const ring = style.outlineStyle !== "none" ? style.outlineColor : style.borderColor;
  const inside = style.outlineStyle === "none" || parseFloat(style.outlineOffset) < 0;
  const [a, b] = [light(ring), light(behind(inside ? at : at.parentElement))];
  const name = at.getAttribute("aria-label") || at.textContent.trim().slice(0, 40) || at.id;
  return [name, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
}"""


@pytest.fixture
async def page(browser: Browser, workspace: Workspace) -> AsyncIterator[Page]:
    for user, text in ((ANA, "One"), (BEN, "Two"), (ANA, "Three")):
        workspace.people.say(user, DOCS, text)
    workspace.state.add_message(DOCS, user=BOT_USER, bot_id=BOT_ID, text="Visitors", blocks=report())
    async with opened(browser, workspace.base_url, height=900) as page:
        await expect(page.get_by_role("article")).to_have_count(4)
        yield page


async def name_of_focus(page: Page) -> str | None:
    name: str | None = await page.evaluate("document.activeElement.getAttribute('aria-label')")
    return name


async def test_arrow_keys_move_between_messages_and_tab_enters_only_the_one_with_the_focus(
    page: Page,
) -> None:
    articles = page.get_by_role("log", name="Messages").get_by_role("article")
    await articles.last.focus()
    for number in (2, 1, 0, 0):
        await page.keyboard.press("ArrowUp")
        await expect(articles.nth(number)).to_be_focused()
    await page.keyboard.press("End")
    await page.keyboard.press("Home")
    await expect(articles.first).to_be_focused()
    await page.keyboard.press("Tab")
    await expect(articles.first.get_by_role("button", name="React with eyes")).to_be_focused()
    stops = page.locator("#messages").locator("article[tabindex='0']")
    await expect(stops).to_have_count(1)
    assert await articles.last.evaluate(
        "one => [...one.querySelectorAll('button')].every(b => b.tabIndex < 0)"
    )


async def test_a_message_that_changes_keeps_the_focus(page: Page, workspace: Workspace) -> None:
    first = page.get_by_role("article").first
    await first.focus()
    said = next(iter(workspace.state.messages[DOCS].values()))
    workspace.people.edit(ANA, DOCS, said["ts"], "One, corrected")
    await expect(first).to_contain_text("One, corrected")
    await expect(first).to_be_focused()


async def test_a_list_is_one_tab_stop_and_the_arrow_keys_go_on(page: Page) -> None:
    buttons = page.locator("#channels").get_by_role("button")
    assert await buttons.evaluate_all("all => all.filter((one) => one.tabIndex === 0).length") == 1
    await buttons.first.focus()
    await page.keyboard.press("ArrowDown")
    await expect(buttons.nth(1)).to_be_focused()


async def test_suggestions_are_a_list_box_whose_active_option_is_told(page: Page) -> None:
    field = page.get_by_role("textbox", name="Message #docs")
    combobox = page.get_by_role("combobox", name="Text with suggestions")
    await expect(combobox).to_have_attribute("aria-expanded", "false")
    await field.fill("Hello @b")
    await expect(combobox).to_have_attribute("aria-expanded", "true")
    await expect(page.get_by_role("option", name="@ben")).to_have_attribute("aria-selected", "true")
    active = await field.get_attribute("aria-activedescendant")
    await expect(page.locator(f"#{active}")).to_contain_text("@ben")
    await page.keyboard.press("Enter")
    await expect(field).to_have_value("Hello @ben ")
    await expect(combobox).to_have_attribute("aria-expanded", "false")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_focus_is_seen_wherever_tab_goes(page: Page, scheme: str) -> None:
    await page.emulate_media(color_scheme="light" if scheme == "light" else "dark")
    await page.get_by_role("link", name="Skip to messages").focus()
    weak, names = [], set[str]()
    for _ in range(40):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement === document.body"):
            break
        name, contrast = await page.evaluate(FOCUS_RING_CONTRAST)
        names.add(name)
        if contrast < 3:
            weak.append((name, round(contrast, 2)))
    assert weak == []
    assert len(names) > 12


async def test_on_a_phone_what_is_pressed_is_44_pixels_high_and_wide(page: Page) -> None:
    await page.set_viewport_size({"width": 390, "height": 844})
    small = await sizes(page, "#main, .top")
    await page.get_by_role("button", name="Show channels").click()
    small += await sizes(page, "#side")
    await page.get_by_role("button", name="Faults").click()
    small += await sizes(page, "#faults")
    assert small == []


async def sizes(page: Page, where: str) -> list[Json]:
    """Return what can be pressed there, is seen, and is smaller than 44 by 44 pixels."""
    found: list[Json] = await page.locator(where).evaluate_all(
        """(places) => places
          .flatMap((place) => [...place.querySelectorAll("button, select, input, a[href]")])
          .filter((one) => one.checkVisibility({ visibilityProperty: true }))
          .map((one) => [one, one.getBoundingClientRect()])
          .filter(([, box]) => box.width < 44 || box.height < 44)
          .map(([one, box]) => [one.ariaLabel || one.textContent, box.width, box.height])"""
    )
    return found


async def test_names_contain_the_words_that_stand_on_the_page(page: Page) -> None:
    """https://www.w3.org/WAI/WCAG22/Understanding/label-in-name.html"""
    other = await page.locator("button[aria-label], a[aria-label]").evaluate_all(
        """(all) => all.map((one) => [one.getAttribute("aria-label"), one.textContent.trim()])
          .filter(([, words]) => /\\p{L}/u.test(words))
          .filter(([name, words]) => !name.toLowerCase().includes(words.toLowerCase()))"""
    )
    assert other == []
    await expect(page.get_by_role("combobox", name="You are", exact=True)).to_be_visible()
