"""Reports, the keyboard, invitations, forms and faults on the web page, in Debian's Chromium."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import aiohttp
import pytest
from playwright.async_api import Browser, Page, expect
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.workspace import Workspace
from tests.browser import needs_chromium, opened
from tests.sandbox.workspace.small_bot import ANA, BEN, DOCS, FORM, Json, until

pytestmark = needs_chromium

DAYS = ["Mon 9", "Tue 10", "Wed 11", "Thu 12", "Fri 13", "Sat 14", "Sunday the 15th", "Mon 16"]
READERS = {
    "People": [254, 261, 240, 233, 228, 96, 88, 250],
    "AI": [91, 104, 99, 120, 97, 110, 101, 95],
    "Both counted once": [331, 349, 322, 338, 310, 197, 181, 330],
}
PATHS = [f"/api/page-{number:02}" for number in range(12)]


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def button(text: str, action_id: str) -> Json:
    return {"type": "button", "action_id": action_id, "value": text, "text": plain(text)}


def number(value: int) -> Json:
    return {"type": "raw_number", "value": value, "text": f"{value:,}"}


def report() -> list[Json]:
    """Return a message with every kind of block that a report about visitors has."""
    menu = {
        "type": "static_select",
        "action_id": "improve",
        "placeholder": plain("Improve a page…"),
        "options": [{"text": plain(path), "value": path} for path in PATHS],
    }
    series = [
        {
            "name": name,
            "data": [{"label": day, "value": v} for day, v in zip(DAYS, values, strict=True)],
        }
        for name, values in READERS.items()
    ]
    heads = [{"type": "raw_text", "text": name} for name in ("Page", "People", "AI", "Total")]
    rows = [
        [
            {"type": "raw_text", "text": path},
            number(90 * n),
            number(1500 - n),
            number(1500 + 80 * n),
        ]
        for n, path in enumerate(PATHS)
    ]
    suggestion = "*/api/page-03* is read by AI, hardly by people"
    numbers = ":bust_in_silhouette: *947* people · :robot_face: *641* AI"
    words = f"*Visitors of acme-docs*, 9–15 November\n{numbers}"
    return [
        {"type": "section", "text": {"type": "mrkdwn", "text": words}},
        {
            "type": "data_visualization",
            "title": "Readers a day",
            "chart": {"type": "line", "series": series, "axis_config": {"categories": DAYS}},
        },
        {"type": "data_table", "caption": "Top pages", "page_size": 5, "rows": [heads, *rows]},
        {
            "type": "section",
            "text": {"type": "mrkdwn", "text": suggestion},
            "accessory": button("Improve this page", "improve_one"),
        },
        {
            "type": "actions",
            "block_id": "doings",
            "elements": [menu, button("Share in channel", "share"), button("How counted", "how")],
        },
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "Taken 09:30 · approximate"}]},
    ]


@pytest.fixture
async def page(browser: Browser, workspace: Workspace) -> AsyncIterator[Page]:
    async with opened(browser, workspace.base_url, height=1000) as page:
        yield page


@pytest.fixture
async def pressed(workspace: Workspace) -> AsyncIterator[list[Json]]:
    """Acknowledge the bot's requests over a raw connection; yield the interactive ones."""
    heard: list[Json] = []

    async with aiohttp.ClientSession() as session:
        socket = await session.ws_connect(workspace.bot_connection.sockets.new_url())

        async def listen() -> None:
            async for frame in socket:
                said = frame.json()
                if said["type"] == "interactive":
                    heard.append(said["payload"])
                if "envelope_id" in said:
                    await socket.send_json({"envelope_id": said["envelope_id"]})

        task = asyncio.create_task(listen())
        yield heard
        await socket.close()
        await task


MARKDOWN = """
## Limits
See [Rate *limits*](https://docs.example/limits), or **bold `code`** and <b>a tag</b>;
![pixel](https://evil.example/p.png) and [no link](javascript:alert).

- one
  goes on
- two

1. first

| Plan | Requests |
|---|---|
| Free | 60 |

> quoted

```sh
curl "$URL" # **not bold**
```
"""


async def test_block_of_markdown_is_drawn_as_slack_draws_it(
    page: Page, workspace: Workspace
) -> None:
    block = {"type": "markdown", "text": MARKDOWN}
    workspace.state.add_message(
        DOCS, user="U0DOCSBOT", bot_id="B0DOCSBOT", text="x", blocks=[block]
    )
    message = page.get_by_role("log", name="Messages").get_by_role("article").first
    await expect(message.get_by_role("link", name="Rate limits")).to_have_attribute(
        "href", "https://docs.example/limits"
    )
    await expect(message.locator("ul > li")).to_have_text(["one goes on", "two"])
    await expect(message.locator("ol > li")).to_have_text("first")
    await expect(message.get_by_role("cell")).to_have_text(["Free", "60"])
    await expect(message.locator("pre")).to_have_text('curl "$URL" # **not bold**')
    await expect(message.locator("blockquote")).to_have_text("quoted")
    await expect(message).to_contain_text("bold code and <b>a tag</b>; pixel and no link.")
    await expect(message.locator(".markdown img")).to_have_count(0)
    await expect(message.get_by_role("link", name="no link")).to_have_count(0)


async def test_a_report_is_read_sorted_and_pressed(
    page: Page, workspace: Workspace, pressed: list[Json]
) -> None:
    """Without scrolling sideways, also on a phone; news leave the sorted table and the focus alone."""
    workspace.state.add_ephemeral(DOCS, ANA, text="Visitors", blocks=report())
    log = page.get_by_role("log", name="Messages")
    message = log.get_by_role("article").first
    chart = message.get_by_role("img", name=re.compile("^Readers a day. People: Mon 9 254"))
    await expect(chart.locator("circle")).to_have_count(len(READERS) * len(DAYS))
    await expect(chart.get_by_text("Mon 16", exact=True)).to_be_visible()
    await expect(chart.get_by_text("Sunday the 15th", exact=True)).to_have_count(0)
    first = message.get_by_role("table", name="Top pages").get_by_role("row").nth(1)
    following = message.get_by_role("button", name="Next rows")
    await expect(first).to_contain_text("/api/page-00")
    await following.click()
    await following.click()
    await expect(message).to_contain_text("11–12 of 12")
    await expect(following).to_be_disabled()
    await message.get_by_role("button", name="People").click()
    menu = message.get_by_role("combobox", name="Improve a page…")
    await menu.focus()
    workspace.people.say(ANA, DOCS, "something else")
    await expect(log.get_by_role("article")).to_have_count(2)
    await expect(first).to_contain_text("/api/page-11")
    await expect(menu).to_be_focused()
    await menu.select_option("/api/page-04")
    await message.get_by_role("button", name="How counted").click()
    await until(lambda: len(pressed) == 2 or None)
    (chosen,) = pressed[0]["actions"]
    option = {"text": plain("/api/page-04"), "value": "/api/page-04"}
    assert (chosen["action_id"], chosen["selected_option"]) == ("improve", option)
    assert pressed[0]["state"]["values"]["doings"]["improve"]["selected_option"] == option
    assert pressed[0]["container"]["is_ephemeral"] is True
    assert pressed[1]["actions"][0]["value"] == "How counted"
    await page.set_viewport_size({"width": 360, "height": 900})
    assert await log.evaluate("log => log.scrollWidth <= log.clientWidth")


async def test_a_click_is_not_lost_when_its_message_changes_between_press_and_release(
    page: Page, client: AsyncWebClient
) -> None:
    root = await client.chat_postMessage(channel=DOCS, text="Good morning")
    await client.chat_postMessage(channel=DOCS, text="One", thread_ts=root["ts"])
    await page.get_by_role("log", name="Messages").get_by_role("button", name="1 reply").hover()
    await page.mouse.down()
    await client.chat_postMessage(channel=DOCS, text="Another", thread_ts=root["ts"])
    await expect(page.locator("#announcer")).to_contain_text("Another")
    await page.evaluate("() => new Promise(requestAnimationFrame)")
    await page.mouse.up()
    await expect(page.get_by_role("log", name="Replies")).to_contain_text("Another")


async def test_first_steps_tick_themselves_and_stay_ticked(
    page: Page, workspace: Workspace
) -> None:
    steps, count = (
        page.get_by_role("list", name="Try this"),
        page.get_by_role("heading", name="Try this"),
    )
    await expect(count).to_have_text("Try this · 0 of 8")
    mistake = workspace.people.say(BEN, DOCS, "The limits page says 60, it is 100")
    workspace.people.say(ANA, DOCS, "Since Monday", thread_ts=mistake["ts"])
    await expect(page.get_by_role("article")).to_contain_text("1 reply")
    await steps.get_by_role("button", name="Have a mistake fixed").click()
    reply = page.get_by_role("textbox", name="Reply in thread")
    await expect(reply).to_have_value("@docs-agent fix the page please")
    await reply.press("Enter")
    await expect(count).to_have_text("Try this · 1 of 8")
    await steps.get_by_role("button", name="Break something").click()
    await page.get_by_role("button", name="Next post fails").click()
    await expect(count).to_have_text("Try this · 2 of 8")
    await steps.get_by_role("button", name="Be Gus").click()
    await expect(page.get_by_role("combobox", name="You are")).to_have_value("U04GUS")
    await page.reload()
    await expect(count).to_have_text("Try this · 2 of 8")
    await expect(steps.get_by_role("button", name="Break something (done)")).to_be_visible()
    await expect(page.get_by_role("navigation", name="Channels")).to_contain_text(
        "a simple stand-in"
    )


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


async def test_closing_a_dialogue_takes_the_focus_from_nobody_who_writes(
    page: Page, workspace: Workspace
) -> None:
    await page.get_by_role("button", name="Faults").focus()
    workspace.people.show_view(ANA, dict(FORM), await page.evaluate("sessionStorage.tab"))
    close = page.get_by_role("dialog", name="Ask").get_by_role("button", name="Close").first
    writes = page.get_by_role("textbox", name="Message #docs")
    await close.evaluate(
        "(close, writes) => { close.click(); writes.focus(); }", await writes.element_handle()
    )
    await page.keyboard.type("Still here", delay=20)
    await expect(writes).to_have_value("Still here")


async def test_faults_are_ordered_and_forgotten_in_their_drawer(
    page: Page, workspace: Workspace
) -> None:
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
