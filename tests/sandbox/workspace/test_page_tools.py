"""Search, the formatting bar, the clock, forms and faults on the web page, in Debian's Chromium."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, expect

from sandbox.workspace import Workspace
from tests.browser import needs_chromium, opened
from tests.sandbox.workspace.small_bot import ANA, BEN, DOCS, FORM, PRODUCT

pytestmark = needs_chromium


@pytest.fixture
async def page(browser: Browser, workspace: Workspace) -> AsyncIterator[Page]:
    async with opened(browser, workspace.base_url, height=900) as page:
        await expect(page.get_by_role("heading", name="#docs")).to_be_visible()
        yield page


async def test_search_finds_a_message_in_a_thread_and_goes_there(page: Page, workspace: Workspace) -> None:
    root = workspace.people.say(BEN, PRODUCT, "Webhooks are next")
    workspace.people.say(ANA, PRODUCT, "Signatures of webhooks, too", root["ts"])
    workspace.people.say(BEN, DOCS, "Nothing about that")
    await expect(page.get_by_role("log", name="Messages")).to_contain_text("Nothing about that")
    await page.keyboard.press("Control+k")
    await page.keyboard.type("webhooks from:ana")
    option = page.get_by_role("listbox", name="Found").get_by_role("option")
    await expect(option).to_have_count(1)
    await expect(option).to_contain_text("Ana Brandt in #product-docs, in a thread")
    await expect(option.locator("mark")).to_have_text("webhooks")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="#product-docs")).to_be_visible()
    await expect(page.get_by_role("log", name="Replies").get_by_role("article").last).to_be_focused()


async def test_search_finds_channels_and_says_when_it_finds_nothing(page: Page) -> None:
    field = page.get_by_role("combobox", name="Search messages and channels")
    await field.fill("secret")
    await field.press("Enter")
    await expect(page.get_by_role("heading", name="#docs-secret")).to_be_visible()
    await field.fill("no such words")
    await expect(page.get_by_role("listbox", name="Found").get_by_role("option")).to_contain_text(
        "Nothing found"
    )
    await field.press("Enter")
    await field.press("Escape")
    await expect(page.get_by_role("listbox", name="Found").get_by_role("option")).to_have_count(0)


async def test_the_formatting_bar_writes_mrkdwn_around_what_is_selected(page: Page) -> None:
    field = page.get_by_role("textbox", name="Message #docs")
    bar = page.get_by_role("toolbar", name="Formatting").first
    await field.fill("keys")
    await field.select_text()
    await bar.get_by_role("button", name="Bold").click()
    await page.keyboard.press("Control+i")
    await expect(field).to_have_value("*_keys_*")
    await bar.get_by_role("button", name="Quote").click()
    await expect(field).to_have_value("> *_keys_*")
    await field.press("Enter")
    said = page.get_by_role("log", name="Messages").get_by_role("article")
    await expect(said.locator("blockquote b i")).to_have_text("keys")


async def test_what_was_begun_in_a_channel_is_there_when_one_comes_back(page: Page) -> None:
    await page.get_by_role("textbox", name="Message #docs").fill("Half a thought")
    await page.get_by_role("button", name="general").click()
    await expect(page.get_by_role("textbox", name="Message #general")).to_have_value("")
    await page.locator("#channels").get_by_role("button", name="docs", exact=True).click()
    await expect(page.get_by_role("textbox", name="Message #docs")).to_have_value("Half a thought")


async def test_a_message_that_is_typed_right_after_an_invitation_is_said(
    page: Page, workspace: Workspace
) -> None:
    await page.get_by_role("button", name="docs-secret").click()
    field = page.get_by_role("textbox", name="Message #docs-secret")
    await field.fill("@docs-agent Explain rate limits")
    await field.press("Enter")
    await page.get_by_role("dialog").get_by_role("button", name="Invite", exact=True).click()
    await expect(page.get_by_role("log", name="Messages")).to_contain_text("was added by")
    await page.keyboard.type("@docs-agent Explain it again")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("article").last).to_contain_text("Explain it again")


async def test_the_page_says_whose_clock_it_shows(page: Page) -> None:
    await expect(page.get_by_role("banner")).to_contain_text("Times as Ana sees them:")
    await expect(page.get_by_role("banner")).to_contain_text("in Berlin")
    await page.get_by_label("You are").select_option(BEN)
    await expect(page.get_by_role("banner")).to_contain_text("Times as Ben sees them:")
    await expect(page.get_by_role("banner")).to_contain_text("in New York")


async def test_a_form_opens_in_the_tab_that_asked_for_it_and_stays_over_a_reload(
    page: Page, workspace: Workspace
) -> None:
    other = await page.context.browser.new_page()  # type: ignore[union-attr]
    await other.goto(workspace.base_url)
    await expect(other.get_by_role("heading", name="#docs")).to_be_visible()
    tab = await page.evaluate("sessionStorage.tab")
    workspace.people.show_view(ANA, dict(FORM), tab)
    dialogue = page.get_by_role("dialog", name="Ask")
    await expect(dialogue).to_be_visible()
    workspace.people.say(BEN, DOCS, "Later than the form")
    await expect(other.get_by_text("Later than the form", exact=True)).to_be_visible()
    await expect(other.get_by_role("dialog")).to_have_count(0)
    await other.reload()
    await expect(other.get_by_text("Later than the form", exact=True)).to_be_visible()
    await expect(other.get_by_role("dialog")).to_have_count(0)
    await page.reload()
    await expect(dialogue).to_be_visible()


async def test_faults_are_ordered_and_forgotten_in_their_drawer(page: Page, workspace: Workspace) -> None:
    await page.get_by_role("button", name="Faults").click()
    drawer = page.get_by_role("complementary", name="Faults")
    await expect(drawer).to_contain_text("Nothing is ordered.")
    await drawer.get_by_role("button", name="Next post: answer lost").click()
    await expect(drawer.get_by_role("listitem")).to_have_text("chat.postMessage: lost_answer")
    assert workspace.faults.waiting() == [{"method": "chat.postMessage", "fault": "lost_answer", "times": 1}]
    await drawer.get_by_role("button", name="Forget them").click()
    await expect(drawer).to_contain_text("Nothing is ordered.")
    assert workspace.faults.waiting() == []
    await page.keyboard.press("Escape")
    await expect(drawer).to_be_hidden()
    await expect(page.get_by_role("button", name="Faults")).to_be_focused()


async def test_a_phone_has_a_button_for_the_formatting_bar(page: Page) -> None:
    await page.set_viewport_size({"width": 390, "height": 844})
    bar = page.get_by_role("toolbar", name="Formatting").first
    await expect(bar).to_be_hidden()
    await page.get_by_role("button", name="Formatting").first.click()
    await expect(bar).to_be_visible()
