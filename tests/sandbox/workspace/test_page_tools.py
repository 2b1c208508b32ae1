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


async def test_an_invitation_takes_one_enter(page: Page, workspace: Workspace) -> None:
    await page.get_by_role("button", name="docs-secret").click()
    field = page.get_by_role("textbox", name="Message #docs-secret")
    await field.press_sequentially("/invite")
    await field.press("Enter")
    await expect(page.get_by_role("status")).to_contain_text(["Say whom: /invite @docs-agent"])
    await field.fill("/invite @docs-agent")
    await field.press("Enter")
    await expect(page.get_by_role("log", name="Messages")).to_contain_text("was added by")
    await expect(field).to_have_value("")


async def test_examples_write_into_the_composer_until_somebody_has_asked(
    page: Page, workspace: Workspace
) -> None:
    examples = page.get_by_role("group", name="Examples", exact=True)
    field = page.get_by_role("textbox", name="Message #docs")
    await expect(examples).to_be_visible()
    workspace.people.say(BEN, DOCS, "Good morning")
    await examples.get_by_role("button", name="Add a quickstart").click()
    await expect(field).to_have_value("/docs-agent Add a quickstart for the Python SDK")
    await field.fill("Good morning, too")
    await field.press("Enter")
    await expect(page.get_by_role("article")).to_have_count(2)
    await expect(examples).to_be_visible()
    await field.fill("@docs-agent Add a quickstart")
    await field.press("Enter")
    await expect(examples).to_be_hidden()


async def test_a_thread_among_people_offers_to_ask_the_bot_there(page: Page, workspace: Workspace) -> None:
    root = workspace.people.say(BEN, DOCS, "The rate limits page says 60, it is 100")
    workspace.people.say(ANA, DOCS, "Somebody should fix that", root["ts"])
    await page.get_by_role("button", name="In Ben’s thread: @docs-agent fix the page please").click()
    field = page.get_by_role("textbox", name="Reply in thread")
    await expect(field).to_have_value("@docs-agent fix the page please")
    await expect(page.get_by_role("group", name="Examples for this thread")).to_be_visible()


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
    await expect(drawer).to_contain_text("No fault is set.")
    for name in ("Next post: answer lost", "Five calls fail"):
        await drawer.get_by_role("button", name=name).click()
    await expect(drawer.get_by_role("listitem")).to_have_text(
        ["Next post: answer lost", "Five calls fail (5 left)"]
    )
    assert [one["fault"] for one in workspace.faults.waiting()] == ["lost_answer", "502_html"]
    await drawer.get_by_role("button", name="Forget them").click()
    await expect(drawer).to_contain_text("No fault is set.")
    assert workspace.faults.waiting() == []
    await page.keyboard.press("Escape")
    await expect(drawer).to_be_hidden()
    await expect(page.get_by_role("button", name="Faults")).to_be_focused()
