"""Menus, tables, charts and files on the web page, in Debian's Chromium."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import aiohttp
import pytest
from playwright.async_api import Browser, Locator, Page, expect
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.workspace import Workspace
from tests.browser import needs_chromium, opened
from tests.sandbox.workspace.small_bot import ANA, DOCS, Json, until

pytestmark = needs_chromium

DAYS = ["Mon 9", "Tue 10", "Wed 11", "Thu 12", "Fri 13", "Sat 14", "Sun 15"]
READERS = {
    "People": [254, 261, 240, 233, 228, 96, 88],
    "AI": [91, 104, 99, 120, 97, 110, 101],
    "Both counted once": [331, 349, 322, 338, 310, 197, 181],
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
        {"name": name, "data": [{"label": day, "value": v} for day, v in zip(DAYS, values, strict=True)]}
        for name, values in READERS.items()
    ]
    heads = [{"type": "raw_text", "text": name} for name in ("Page", "People", "AI", "Total")]
    rows = [
        [{"type": "raw_text", "text": path}, number(90 * n), number(1500 - n), number(1500 + 80 * n)]
        for n, path in enumerate(PATHS)
    ]
    suggestion = "*/api/page-03* is read by AI, hardly by people"
    words = (
        "*Visitors of acme-docs*, 9–15 November\n:bust_in_silhouette: *947* people · :robot_face: *641* AI"
    )
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


async def shown(page: Page, workspace: Workspace, client: AsyncWebClient, *, private: bool) -> Locator:
    """The report on the page, as an ephemeral or an ordinary message."""
    if private:
        workspace.state.add_ephemeral(DOCS, ANA, text="Visitors", blocks=report())
    else:
        await client.chat_postMessage(channel=DOCS, text="Visitors", blocks=report())
    found = page.get_by_role("log", name="Messages").get_by_role("article")
    await expect(found).to_have_count(1)
    return found


@pytest.mark.parametrize("private", [True, False])
async def test_a_menu_and_buttons_tell_the_bot_what_was_chosen(
    page: Page, workspace: Workspace, client: AsyncWebClient, pressed: list[Json], private: bool
) -> None:
    message = await shown(page, workspace, client, private=private)
    menu = message.get_by_role("combobox", name="Improve a page…")
    await menu.select_option("/api/page-04")
    await message.get_by_role("button", name="Improve this page").click()
    await expect(menu).to_have_value("")
    await menu.select_option("/api/page-04")
    await message.get_by_role("button", name="How counted").click()
    await until(lambda: len(pressed) == 4 or None)
    first, accessory, again, last = pressed
    (action,) = first["actions"]
    assert (first["type"], action["type"], action["action_id"]) == (
        "block_actions",
        "static_select",
        "improve",
    )
    chosen = {"text": plain("/api/page-04"), "value": "/api/page-04"}
    assert action["selected_option"] == again["actions"][0]["selected_option"] == chosen
    assert first["state"]["values"]["doings"]["improve"]["selected_option"] == chosen
    assert first["container"]["is_ephemeral"] is private
    assert accessory["actions"][0]["action_id"] == "improve_one"
    assert last["actions"][0]["value"] == "How counted"


@pytest.mark.parametrize("private", [True, False])
async def test_a_chart_and_a_table_are_drawn(
    page: Page, workspace: Workspace, client: AsyncWebClient, private: bool
) -> None:
    message = await shown(page, workspace, client, private=private)
    chart = message.get_by_role("img", name=re.compile("^Readers a day. People: Mon 9 254"))
    await expect(chart.locator("circle")).to_have_count(3 * len(DAYS))
    await expect(chart).to_contain_text("Sun 15")
    await expect(message.get_by_role("table", name="Top pages").get_by_role("row")).to_have_count(6)


async def test_a_table_turns_its_pages_and_sorts_by_a_column(
    page: Page, workspace: Workspace, client: AsyncWebClient
) -> None:
    message = await shown(page, workspace, client, private=True)
    first = message.get_by_role("table").get_by_role("row").nth(1)
    before = message.get_by_role("button", name="Rows before")
    following = message.get_by_role("button", name="Next rows")
    await expect(first).to_contain_text("/api/page-00")
    await expect(before).to_be_disabled()
    await following.click()
    await following.click()
    await expect(message).to_contain_text("11–12 of 12")
    await expect(following).to_be_disabled()
    await message.get_by_role("button", name="People").click()
    await expect(first).to_contain_text("/api/page-11")
    await expect(message.get_by_role("columnheader", name="People")).to_have_attribute(
        "aria-sort", "descending"
    )
    await message.get_by_role("button", name="People").click()
    await expect(first).to_contain_text("/api/page-00")
    await message.get_by_role("button", name="AI").click()
    await following.click()
    await expect(first).to_contain_text("/api/page-05")


async def test_what_arrives_meanwhile_leaves_a_sorted_table_and_a_focused_menu_alone(
    page: Page, workspace: Workspace, client: AsyncWebClient
) -> None:
    message = await shown(page, workspace, client, private=False)
    await message.get_by_role("button", name="People").click()
    menu = message.get_by_role("combobox")
    await menu.focus()
    workspace.people.say(ANA, DOCS, "something else")
    articles = page.get_by_role("log", name="Messages").get_by_role("article")
    await expect(articles).to_have_count(2)
    table = articles.first.get_by_role("table")
    await expect(table.get_by_role("row").nth(1)).to_contain_text("/api/page-11")
    await expect(menu).to_be_focused()


async def test_a_changed_message_is_drawn_again(
    page: Page, workspace: Workspace, client: AsyncWebClient
) -> None:
    posted = await client.chat_postMessage(channel=DOCS, text="Fetching 1 of 4")
    messages = page.get_by_role("log", name="Messages")
    await expect(messages).to_contain_text("Fetching 1 of 4")
    await client.chat_update(channel=DOCS, ts=str(posted["ts"]), text="Fetching 2 of 4")
    await expect(messages).to_contain_text("Fetching 2 of 4")
    note = workspace.state.add_ephemeral(DOCS, ANA, text="Private 1")
    await expect(messages).to_contain_text("Private 1")
    url = workspace.people.tickets.response_url(
        ANA, DOCS, {"type": "ephemeral", "channel": DOCS, "id": note["id"]}
    )
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, json={"text": "Private 2", "replace_original": True}) as answer,
    ):
        assert answer.status == 200
    await expect(messages).to_contain_text("Private 2")
    await expect(messages).not_to_contain_text("Private 1")
    said = workspace.people.say(ANA, DOCS, "Wrong place")
    await expect(messages).to_contain_text("Wrong place")
    workspace.people.delete(ANA, DOCS, said["ts"])
    await expect(messages).not_to_contain_text("Wrong place")


async def test_a_file_shows_its_size_and_first_lines_and_can_be_fetched(
    page: Page, client: AsyncWebClient
) -> None:
    rows = "".join(f'/api/page-{n},{n},"a, ""b"""\n' for n in range(40))
    content = "\ufeffpath,total,note\n" + rows
    await client.files_upload_v2(channel=DOCS, filename="visitors.csv", title="All pages", content=content)
    message = page.get_by_role("log", name="Messages").get_by_role("article")
    await expect(message).to_contain_text("/api/page-4,4")
    await expect(message).not_to_contain_text("/api/page-5,5")
    await expect(message).to_contain_text("35 more lines")
    await expect(message).to_contain_text("visitors.csv · 1.1 kB")
    async with page.expect_download() as fetching:
        await message.get_by_role("link", name="All pages").click()
    fetched = await fetching.value
    assert fetched.suggested_filename == "visitors.csv"
    assert (await fetched.path()).read_text(encoding="utf-8") == content


@pytest.mark.parametrize("width", [360, 800, 1600])
async def test_a_report_fits_windows_of_any_width(
    page: Page, workspace: Workspace, client: AsyncWebClient, width: int
) -> None:
    await page.set_viewport_size({"width": width, "height": 900})
    message = await shown(page, workspace, client, private=True)
    log = page.get_by_role("log", name="Messages")
    assert await log.evaluate("log => log.scrollWidth <= log.clientWidth")
    assert await message.evaluate("one => one.scrollWidth <= one.clientWidth")


async def test_the_newest_message_stays_in_view_when_the_column_gets_narrower(
    page: Page, workspace: Workspace
) -> None:
    for number in range(30):
        workspace.people.say(ANA, DOCS, f"{number} " + "so many words that they take several lines " * 6)
    newest = page.get_by_role("log", name="Messages").get_by_role("article").last
    await expect(newest).to_contain_text("29 so")
    await expect(newest).to_be_in_viewport()
    await page.set_viewport_size({"width": 500, "height": 800})
    await expect(newest).to_be_in_viewport(ratio=0.5)


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
