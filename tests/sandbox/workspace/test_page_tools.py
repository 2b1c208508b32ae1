"""Invitations, the clock, forms and faults on the web page, in Debian's Chromium."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, expect

from sandbox.workspace import Workspace
from tests.browser import needs_chromium, opened
from tests.sandbox.workspace.small_bot import ANA, BEN, DOCS, FORM

pytestmark = needs_chromium


@pytest.fixture
async def page(browser: Browser, workspace: Workspace) -> AsyncIterator[Page]:
    async with opened(browser, workspace.base_url, height=900) as page:
        await expect(page.get_by_role("heading", name="#docs")).to_be_visible()
        yield page


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
    assert workspace.faults.waiting() == [{"match": "chat.postMessage", "fault": "lost_answer", "times": 1}]
    await drawer.get_by_role("button", name="Forget them").click()
    await expect(drawer).to_contain_text("Nothing is ordered.")
    assert workspace.faults.waiting() == []
    await page.keyboard.press("Escape")
    await expect(drawer).to_be_hidden()
    await expect(page.get_by_role("button", name="Faults")).to_be_focused()
