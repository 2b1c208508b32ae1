"""Answers about visitors are shared in a channel or sent as a file, once, and lead to the form of a page."""

from __future__ import annotations

import csv
import io
import resource
import sys

import pytest

from bot.model.ids import ChannelId
from bot.model.visitors import Counts
from bot.slack.client import refused
from bot.store.snapshots import path_hash
from bot.work.ports import SlackUnclear
from bot.work.visitors.fetch import sweep_snapshots
from tests.builders import ANA, BEN, CHANNEL
from tests.site import Site
from tests.work.asking import DAY, FIRST, LAST, answered
from tests.work.office import Office


async def test_sharing_where_the_bot_may_not_post_tells_who_tried_and_can_be_tried_again(
    office: Office,
) -> None:
    number = await answered(office)
    office.slack.trouble("post", refused("channel_not_found"))
    await office.press("share", number)
    await office.reading(5)
    [(user, told, _)] = office.slack.direct
    assert (user, office.posted()) == (ANA, [])
    assert "/invite @docs-agent" in told.text
    await office.press("share", number)
    await office.reading(5)
    assert len(office.posted()) == 1


SEARCH = {"searchQuery": "limits", "hits": 41, "ctr": 0}


@pytest.mark.parametrize("text", ["", "searches"])
@pytest.mark.parametrize(("channel", "holds", "offered"), [(CHANNEL, 1, 1), ("D0ANA", 1, 0), (CHANNEL, 0, 0)])
async def test_sharing_is_offered_where_there_is_a_channel_and_something_to_share(
    office: Office, text: str, channel: str, holds: int, offered: int
) -> None:
    """``holds``: whether the service has anything of the period."""
    office.docs.site.fill(12 * holds, FIRST, LAST)
    office.docs.readers["searches"] = {"searches": [SEARCH] * holds, "totalSearches": 41 * holds}
    await office.types("/docs-visitors", text, channel=ChannelId(channel))
    await office.reading(20)
    [(_, message)] = office.slack.private
    assert str(message.blocks).count("'action_id': 'share'") == offered


async def test_all_pages_come_as_a_file_in_the_direct_messages(office: Office) -> None:
    office.docs.site.fill(1_200, FIRST, LAST)
    await office.visitors("compare none csv")
    await office.reading(20)
    [(channel, name, words, content)] = office.slack.files
    assert channel == "D0ANA"
    assert name.startswith("docs-visitors-2026-10-26-to-2026-11-01-")
    assert "1,200 pages" in words
    rows = list(csv.reader(io.StringIO(content.removeprefix("\ufeff"))))
    assert rows[0] == ["page", "human", "ai", "total"]
    truth = dict(Site.rows(office.docs.site.visits))
    assert {path: Counts(int(h), int(a), int(t)) for path, h, a, t in rows[1:]} == truth


async def test_a_file_comes_once_however_often_its_button_is_pressed(office: Office) -> None:
    number = await answered(office)
    first, second = [await office.press("csv_file", number) for _ in range(2)]
    await office.reading(5)
    third = await office.press("csv_file", number)
    await office.reading(5)
    assert first.message is not None
    assert "The CSV file comes in our direct messages" in first.message.text
    for answer in (second, third):
        assert answer.message is not None
        assert "didn't send it again" in answer.message.text
    assert len(office.slack.files) == 1


@pytest.mark.parametrize("code", ["not_in_channel", "channel_not_found"])
async def test_a_channel_in_which_a_file_is_refused_to_outsiders_is_joined(office: Office, code: str) -> None:
    """A post there is given up at once; with a file Slack hides also public channels from outsiders."""
    await office.visitors("7d compare none csv here")
    office.slack.trouble("upload", refused(code))
    await office.reading(20)
    assert office.slack.joined == {CHANNEL}
    assert [channel for channel, *_ in office.slack.files] == [CHANNEL]


async def test_a_conversation_is_never_joined_for_a_file(office: Office) -> None:
    office.slack.trouble("upload", refused("not_in_channel"))
    await office.visitors("7d compare none csv")
    await office.reading(20)
    assert (office.slack.joined, office.slack.files) == (set(), [])


async def test_file_that_slack_never_takes_is_given_up_and_its_asker_told(office: Office) -> None:
    number = await answered(office)
    office.slack.trouble("upload", *[refused("upload_broken_off")] * 12)
    await office.press("csv_file", number)
    await office.reading(900)
    assert "I couldn't send you the file: Slack refused it." in office.slack.direct[-1][1].text
    assert office.slack.files == []


async def test_a_file_that_slack_refused_can_be_asked_for_again_with_the_same_button(office: Office) -> None:
    number = await answered(office)
    office.slack.trouble("upload", refused("storage_limit_reached"))
    await office.press("csv_file", number)
    await office.reading(5)
    assert "I couldn't send you the file: Slack refused it." in office.slack.direct[-1][1].text
    assert office.slack.files == []
    await office.press("csv_file", number)
    await office.reading(5)
    assert len(office.slack.files) == 1


async def test_a_file_whose_answer_was_lost_is_looked_for_before_it_is_sent_again(office: Office) -> None:
    number = await answered(office)
    office.slack.lose_answer.append(SlackUnclear("reset"))
    await office.press("csv_file", number)
    await office.reading(20)
    assert len(office.slack.files) == 1
    assert await office.store.read(lambda tx: tx.outbox.dead_letters(5)) == []


async def test_cells_that_a_spreadsheet_would_run_are_harmless(office: Office) -> None:
    office.docs.site.read('=HYPERLINK("http://evil")', FIRST, LAST, people=3)
    await office.visitors("compare none csv")
    await office.reading(20)
    assert "\r\n\"'=HYPERLINK" in office.slack.files[0][3]


@pytest.mark.skipif(sys.platform != "linux", reason="how large a file may be is set as Linux does")
async def test_a_file_for_which_there_is_no_room_is_sent_when_there_is(office: Office) -> None:
    for page in range(250):
        office.docs.site.read(f"/guides/a-page-with-a-long-name-{page}", LAST, LAST, people=1)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, hard))
    try:
        await office.visitors("yesterday compare none csv")
        await office.reading(5)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert office.slack.files == []
    await office.reading(20)
    [(_, _, _, content)] = office.slack.files
    assert len(content.splitlines()) == 251


@pytest.mark.parametrize("action", ["share", "more", "csv_file"])
async def test_a_button_of_another_channels_answer_is_answered_as_for_an_unknown_one(
    office: Office, action: str
) -> None:
    number = await answered(office)
    posts, files = list(office.slack.posts), list(office.slack.files)
    elsewhere = ChannelId("C0OTHER")
    hidden = await office.press(action, number, user=BEN, channel=elsewhere)
    unknown = await office.press(action, "99", user=BEN, channel=elsewhere)
    assert hidden == unknown
    await office.reading(5)
    assert (office.slack.posts, office.slack.files) == (posts, files)
    inside = await office.press(action, number, user=BEN)
    assert inside != unknown


def improve_value(office: Office) -> str:
    """The value of the first page in the menu under the latest answer."""
    row = next(block for block in office.slack.private[-1][1].blocks if block["type"] == "actions")
    menu = next(element for element in row["elements"] if element["type"] == "static_select")
    return str(menu["options"][0]["value"])


async def test_an_old_button_never_opens_the_form_of_another_page(office: Office) -> None:
    office.docs.site.read("/guides/install", FIRST, LAST, people=12)
    await office.visitors("compare none")
    await office.reading(20)
    old = improve_value(office)
    office.clock.pass_seconds(210 * 86_400)
    assert await sweep_snapshots(office.context) == 1
    office.docs.site.read("/zzz", FIRST + 210 * DAY, LAST + 210 * DAY, people=5)
    await office.visitors("compare none")
    await office.reading(20)
    assert "/zzz" in office.answers()[-1]
    for value in (old, "page:1"):
        pressed = await office.press("improve", value)
        assert pressed.modal is None
        assert pressed.message is not None
        assert "no longer have those numbers" in pressed.message.text
    assert (await office.press("improve", improve_value(office))).modal is not None


async def test_a_page_of_an_answer_leads_to_the_form_of_the_agent(office: Office) -> None:
    office.docs.site.read("/webhooks", FIRST, LAST, people=12, agents=340)
    await office.visitors("compare none")
    await office.reading(20)
    answer = await office.press("improve", improve_value(office))
    assert answer.modal is not None
    text = answer.modal["blocks"][0]["element"]["initial_value"]
    assert "Improve the page “/webhooks”" in text
    assert "12 people, 340 AI agents, 352 in all" in text
    assert "mostly by AI agents" in text


async def test_a_page_whose_numbers_are_not_kept_any_more_says_so(office: Office) -> None:
    for value in ("page:99999", f"page:9999999999:{path_hash('/')}", "page:1:x", "nonsense", ""):
        answer = await office.press("improve", value)
        assert answer.message is not None
        assert "no longer have those numbers" in answer.message.text
