"""The main story by typing and clicking only, in Debian's Chromium."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, FilePayload, Locator, Page, expect

from tests.browser import needs_chromium, opened
from tests.scenarios.story import Story

PRIVATE = ".eye"
"""Slack's own line "Only visible to you"."""
PROMPT = "/docs-agent Add a quickstart for the Python SDK"
READ_PULL_REQUEST = re.compile(r"Pull request ready.*PR #1 · \+\d+ −\d+")
"""A status message once the bot has read the pull request; a moment before it has a button, too."""
pytestmark = needs_chromium


@pytest.fixture
async def page(browser: Browser, story: Story) -> AsyncIterator[Page]:
    async with opened(browser, story.world.workspace_url, height=800) as page:
        yield page


async def type_in(page: Page, label: str, text: str) -> None:
    """Type into a composer and send."""
    field = page.get_by_role("textbox", name=label)
    await field.press_sequentially(text, delay=1)
    await field.press("Enter")


async def test_job_pull_request_and_follow_up(page: Page) -> None:
    await type_in(page, "Message #docs", PROMPT)
    messages = page.get_by_role("log", name="Messages")
    await expect(messages).to_contain_text("Pull request ready")
    await page.get_by_role("button", name=re.compile("1 reply")).click()
    thread = page.get_by_role("log", name="Replies")
    await expect(thread).to_contain_text("New page ")
    async with page.expect_popup() as opened:
        await thread.get_by_role("button", name="Review #").last.click()
    pull_request = await opened.value
    await expect(pull_request.locator("body")).to_contain_text("docs/sdks/python-quickstart.md")
    await expect(pull_request.locator("body")).to_contain_text("# Python SDK quickstart")
    await type_in(page, "Reply in thread", "Mention Python 3.11 too")
    await expect(thread).to_contain_text("Mention Python 3.11 too is done: PR #")
    await expect(thread.get_by_role("button", name="eyes, 1")).to_be_visible()
    await expect(messages.get_by_role("article")).to_have_count(1)


async def test_visitors_show_chart_and_table_and_are_shared(page: Page) -> None:
    await type_in(page, "Message #docs", "/docs-visitors last week top 5")
    messages = page.get_by_role("log", name="Messages")
    answer = (
        messages.get_by_role("article")
        .filter(has_text="Only visible to you")
        .filter(has_text=re.compile("Who read the docs"))
    )
    chart = answer.locator("svg.chart").first
    await expect(chart).to_be_visible()
    wide = await chart.get_attribute("viewBox") or ""
    await page.set_viewport_size({"width": 390, "height": 800})
    await expect(chart).not_to_have_attribute("viewBox", wide)
    await page.set_viewport_size({"width": 1280, "height": 800})
    await expect(chart).to_have_attribute("viewBox", wide)
    await expect(answer).to_contain_text("AI's share")
    await expect(answer.get_by_role("table")).to_have_count(0)
    await answer.get_by_role("button", name="More").click()
    rest = messages.get_by_role("article").filter(has_text="More about")
    await expect(rest.get_by_role("table")).to_contain_text("/quickstart")
    await answer.get_by_role("button", name="Share in channel").click()
    shared = messages.get_by_role("article").filter(has_text="Shared by")
    await expect(shared.locator("svg").first).to_be_visible()
    await expect(shared).to_contain_text("AI's share")
    await answer.get_by_role("combobox").select_option(index=1)
    dialogue = page.get_by_role("dialog", name="Ask the docs agent")
    await expect(dialogue.get_by_label(re.compile("What should be written"))).to_have_value(
        re.compile("^Improve the page “/")
    )


async def test_next_digest_begins_with_merge_of_recommendation(
    page: Page,
) -> None:
    await type_in(page, "Message #docs", "/docs-visitors digest now")
    messages = page.get_by_role("log", name="Messages")
    digests = messages.get_by_role("article").filter(has_text="Your docs,")
    await digests.get_by_role("button", name=re.compile("^(Draft|Improve) it$")).first.click()
    await page.get_by_role("dialog").get_by_role("button", name="Send").click()
    await expect(messages).to_contain_text("Pull request ready")
    await expect(digests).to_contain_text("asked for it · Job 1")
    await page.get_by_role("button", name=re.compile("repl")).click()
    async with page.expect_popup() as opened:
        await page.get_by_role("log", name="Replies").get_by_role("button", name="Review #").click()
    pull_request = await opened.value
    await pull_request.get_by_role("button", name="Merge").click()
    await expect(messages).to_contain_text("Merged")
    # The bot repeats a digest once a minute at most, but one of a section is another.
    await type_in(page, "Message #docs", "/docs-visitors digest now path /guides")
    await expect(digests).to_have_count(2)
    await expect(digests.last).to_contain_text("Merged since: ")


@pytest.mark.parametrize(("width", "most"), [(1280, 380), (390, 620)])
async def test_digest_leaves_room_on_screen(
    page: Page, story: Story, width: int, most: int
) -> None:
    for number in (1, 2):
        await story.finished(f"Add a page about teams, number {number}")
    await page.set_viewport_size({"width": width, "height": 900})
    await type_in(page, "Message #docs", "/docs-visitors digest now")
    digest = page.get_by_role("article").filter(has_text="Your docs,")
    await expect(digest.get_by_role("button", name="All numbers")).to_be_visible()
    await expect(
        digest.get_by_role("button", name=re.compile("^(Draft|Improve) it$"))
    ).to_have_count(3)
    assert await height_of(digest) <= most
    await digest.get_by_role("button", name="All numbers").click()
    await digest.get_by_role("button", name=re.compile("1 reply")).click()
    replies = page.get_by_role("log", name="Replies")
    await expect(replies.locator("svg.chart").first).to_be_visible()


async def test_files_that_agent_cannot_read_are_named(page: Page) -> None:
    notes = FilePayload(name="notes.txt", mimeType="text/plain", buffer=b"Use uv")
    screen = FilePayload(name="screen.png", mimeType="image/png", buffer=b"pixels")
    picker = page.get_by_role("main").locator("input[type=file]").first
    await picker.set_input_files([notes, screen])
    await expect(page.get_by_text("notes.txt, screen.png")).to_be_visible()
    await type_in(page, "Message #docs", "@docs-agent Add a quickstart for the Python SDK")
    messages = page.get_by_role("log", name="Messages")
    await messages.get_by_role("button", name=re.compile("repl")).first.click()
    await expect(page.get_by_role("log", name="Replies")).to_contain_text(
        "Not sent to the agent: screen.png."
    )


async def test_forms_open_complain_and_send(page: Page) -> None:
    await type_in(page, "Message #docs", "/docs-agent ")
    dialogue = page.get_by_role("dialog", name="Ask the docs agent")
    await dialogue.get_by_role("button", name="Send").click()
    await expect(dialogue).to_contain_text("Please complete this field.")
    await dialogue.get_by_label(re.compile("What should be written")).fill("Explain rate limits")
    await page.keyboard.press("Control+Enter")
    await expect(dialogue).to_be_hidden()
    await expect(page.get_by_role("log", name="Messages")).to_contain_text("Explain rate limits")


async def test_private_answer_survives_reload_for_its_person(page: Page) -> None:
    await type_in(page, "Message #docs", "/docs-agent help")
    messages = page.get_by_role("log", name="Messages")
    await expect(messages).to_contain_text("Only visible to you")
    await page.reload()
    await expect(messages).to_contain_text("Only visible to you")
    await page.get_by_label("You are").select_option(label="Ben Okafor, SDK engineer")
    await expect(messages).to_contain_text("Nothing has been said in #docs yet.")


@pytest.mark.parametrize("command", ["/docs-agent", "/docs-followup", "/docs-visitors"])
async def test_help_leaves_room_on_screen(page: Page, command: str) -> None:
    await page.set_viewport_size({"width": 1280, "height": 900})
    await type_in(page, "Message #docs", f"{command} help")
    answer = page.get_by_role("article").filter(has_text="Only visible to you")
    await expect(answer.get_by_role("button", name="More")).to_be_visible()
    assert await height_of(answer) <= 320
    await answer.get_by_role("button", name="More").click()
    await expect(page.get_by_role("dialog")).to_contain_text("What it costs")


async def test_commands_are_refused_in_threads(page: Page) -> None:
    await type_in(page, "Message #docs", "Good morning")
    await page.get_by_role("article").hover()
    await page.get_by_role("button", name="Reply in thread").click()
    await type_in(page, "Reply in thread", PROMPT)
    await expect(
        page.get_by_text("/docs-agent is not supported in threads. Sorry!")
    ).to_be_visible()


async def test_page_works_on_phone_and_by_keyboard(page: Page) -> None:
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.get_by_role("button", name="Show channels").press("Enter")
    await page.get_by_role("button", name="product-docs").press("Enter")
    await expect(page.get_by_role("heading", name="#product-docs")).to_be_visible()
    await page.keyboard.press("Alt+ArrowUp")
    await expect(page.get_by_role("heading", name="#general")).to_be_visible()
    wide = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    assert not wide


async def test_link_of_job_leads_to_its_thread(page: Page, story: Story) -> None:
    await story.finished("Add a quickstart for the Python SDK")
    await type_in(page, "Message #docs", "/docs-agent status 1")
    await page.get_by_role("button", name="Details").click()
    async with page.expect_popup() as opened:
        await page.get_by_role("link", name="Go to its thread").click()
    thread = (await opened.value).get_by_role("log", name="Replies")
    await expect(thread).to_contain_text("New page ")


async def test_thread_from_talk_to_merge(page: Page, story: Story) -> None:
    root = story.people.say("U02BEN", "C01DOCS", "How do customers change an API key?")
    story.people.say("U03CHIKA", "C01DOCS", "Two keys work at the same time", root["ts"])
    await page.get_by_role("button", name=re.compile("1 reply")).click()
    thread = page.get_by_role("log", name="Replies")
    await type_in(page, "Reply in thread", "@docs-agent add a guide on rotating API keys")
    await expect(thread).to_contain_text("with 2 earlier messages")
    await expect(thread).to_contain_text("New page ")
    await type_in(page, "Reply in thread", "@docs-agent status 1")
    await thread.get_by_role("button", name="Details").click()
    await thread.get_by_role("button", name="Whole prompt").click()
    prompt = page.get_by_role("dialog", name="What the agent got")
    await expect(prompt).to_contain_text("Two keys work at the same time")
    await prompt.get_by_role("button", name="Close").last.click()
    await type_in(page, "Reply in thread", "@docs-agent thanks!")
    await expect(thread.get_by_role("button", name="+1, 1")).to_be_visible()
    await type_in(page, "Reply in thread", "@docs-agent mention that only admins can make keys")
    await expect(thread).to_contain_text(
        re.compile(r"mention that only .* is done: PR #1, \+\d+ −\d+")
    )
    await thread.get_by_role("button", name="Changes").click()
    view = page.get_by_role("dialog", name="What changed")
    await expect(view).to_contain_text("PR #1")
    await expect(view).to_contain_text("Only admins can make keys.")
    await view.get_by_role("button", name="Close").last.click()
    status_and_end = thread.get_by_role("article").filter(has_not_text="Only visible")
    names = re.compile("^(Review #1|Reviewed)$")
    # The bot polls the merge.
    await expect(status_and_end.get_by_role("button", name=names)).to_have_count(1)
    async with page.expect_popup() as opened:
        await thread.get_by_role("button", name="Review #1").first.click()
    await (await opened.value).get_by_role("button", name="Merge").click()
    await expect(thread).to_contain_text("Merged · Job 1")
    await expect(thread).to_contain_text("The pull request of Job 1 was merged after")
    await expect(thread).to_contain_text("by ana-b.")


async def test_greeting_and_home_tab_leave_room_on_the_screen(page: Page, story: Story) -> None:
    for prompt in ("Add a page about labels", "Add a page and fail on purpose"):
        await story.finished(prompt)
    await page.locator("#dms button", has_text=re.compile("^docs-agent$")).click()
    await type_in(page, "Message docs-agent", "hi")
    greeting = page.get_by_role("article").filter(has_text="tell me what to change")
    await expect(greeting.get_by_role("button", name="My jobs")).to_be_visible()
    assert await height_of(greeting) <= 260
    await page.get_by_role("button", name="Home", exact=True).click()
    home = page.get_by_role("region", name="Home")
    await expect(home.get_by_role("button", name="1 to review")).to_be_visible()
    await page.set_viewport_size({"width": 390, "height": 800})
    assert await height_of(home.locator(".body")) <= 900
    await expect(home.get_by_role("link")).to_have_count(0)
    await home.get_by_role("button", name="1 needs you").click()
    window = page.get_by_role("dialog")
    await expect(window).to_contain_text("fail on purpose")
    await window.get_by_role("button", name="Close").last.click()
    await home.get_by_role("button", name="Ask for a change").click()
    await expect(page.get_by_role("dialog")).to_contain_text("Where should I report?")


async def test_answers_about_job_leave_room_on_screen(page: Page, story: Story) -> None:
    await story.finished("Add a quickstart for the Python SDK")
    for line, phrase, most in (("status 1", "Details", 90), ("satus 1", "Did you mean", 100)):
        await type_in(page, "Message #docs", f"/docs-agent {line}")
        answer = page.get_by_role("log", name="Messages").get_by_role("article").last
        await expect(answer).to_contain_text(phrase)
        assert await height_of(answer) - await height_of(answer.locator(PRIVATE)) <= most
    await page.get_by_role("button", name=re.compile("1 reply")).click()
    # A person's first end of a new page: its sections, and how to change it, in two lines.
    end = page.get_by_role("log", name="Replies").get_by_role("article").last
    await expect(end).to_contain_text("Just reply to change it.")
    assert await height_of(end) <= 125


async def test_a_job_leaves_room_on_the_screen_at_each_of_its_steps(
    page: Page, story: Story
) -> None:
    long = "Add a quickstart for the Python SDK with uv and pip, and explain each step, " * 3
    await type_in(page, "Message #docs", f"/docs-agent {long} Take your time")
    job = page.get_by_role("log", name="Messages").get_by_role("article")
    await expect(job).to_contain_text("Working on it")
    assert await height_of(job) <= 90
    await expect(job).to_contain_text(READ_PULL_REQUEST)
    replies = job.get_by_role("button", name=re.compile("1 reply"))
    await expect(replies).to_be_visible()
    assert await height_of(job) - await height_of(replies) <= 90


async def test_five_rows_of_a_list_leave_room_on_the_screen(page: Page, story: Story) -> None:
    prompts = [f"Add a page about {subject}" for subject in ("audit log", "labels", "parcels")]
    for prompt in (
        *prompts,
        "Add a page and fail on purpose",
        "Add another page and fail on purpose",
    ):
        await story.finished(prompt)
    await type_in(page, "Message #docs", "/docs-agent jobs")
    answer = page.get_by_role("article").filter(has_text="Only visible to you")
    await expect(answer).to_contain_text(re.compile("2 need you.*3 to review", re.DOTALL))
    assert await height_of(answer) - await height_of(answer.locator(PRIVATE)) <= 200


async def test_a_job_about_searches_leaves_room_on_the_screen(page: Page) -> None:
    await type_in(page, "Message #docs", "/docs-visitors searches")
    await page.get_by_role("button", name=re.compile("^(Draft|Improve) it$")).first.click()
    await page.get_by_role("dialog").get_by_role("button", name="Send").click()
    job = page.get_by_role("article").filter(has_text="Pull request ready")
    await job.get_by_role("button", name=re.compile("1 reply")).click()
    thread = page.get_by_role("log", name="Replies").get_by_role("article")
    await expect(thread).to_have_count(2)
    await expect(thread.first).to_contain_text(READ_PULL_REQUEST)
    assert sum([await height_of(one) for one in await thread.all()]) <= 330


async def height_of(part: Locator) -> float:
    """Return the height of a message on the page, or of a part of it.

    The page draws a message anew when it changes: then the part that was found has no box, and
    another stands there.
    """
    while (box := await part.bounding_box()) is None:
        await expect(part).to_be_visible()
    return box["height"]
