"""Lists of jobs: a channel's, one's own, the open ones; a job is as private as its channel."""

from __future__ import annotations

import re

import pytest

from bot.model.ids import ChannelId, Message
from bot.model.jobs import JobState
from bot.work.ports import SlackUnreachable
from tests.builders import ANA, BEN, add_job
from tests.work.office import Office

PRIVATE = ChannelId("G0TEAM")
OTHER = ChannelId("C0OTHER")


@pytest.fixture(autouse=True)
async def some_jobs(office: Office) -> None:
    """Twelve of Ana's here, an open one of Ben's, and one of Ana's in each of two other channels."""
    office.slack.private_rooms = {PRIVATE: frozenset({ANA})}
    for number in range(12):
        await add_job(office.store, text=f"Page {number}", root_ts=f"1.{number}", state=JobState.FAILED)
    await add_job(office.store, requester=BEN, text="Open", root_ts="1.20", state=JobState.WORKING)
    await add_job(office.store, channel=PRIVATE, text="Secret", root_ts="1.21", state=JobState.WORKING)
    await add_job(office.store, channel=OTHER, text="Elsewhere", root_ts="1.22", state=JobState.FAILED)


def numbers(message: Message | None) -> list[int]:
    assert message is not None
    return [int(found) for found in re.findall(r"^Job (\d+)", message.text, re.MULTILINE)]


def turns(message: Message | None) -> dict[str, tuple[str, str]]:
    """The action and the value of each button, by its words."""
    assert message is not None
    rows = [block["elements"] for block in message.blocks if block["type"] == "actions"]
    return {each["text"]["text"]: (each["action_id"], each["value"]) for row in rows for each in row}


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("jobs", list(range(13, 3, -1))),
        ("jobs open", [13]),
        ("jobs mine open", [14]),
        ("jobs OPEN <#C0DOCS|docs>", [13]),
        ("jobs <#C0OTHER|other>", [15]),
        ("jobs <#G0TEAM>", [14]),
    ],
)
async def test_a_list_shows_what_its_words_say(office: Office, words: str, shown: list[int]) -> None:
    assert numbers((await office.types("/docs-agent", words)).message) == shown
    assert office.docs.prompts == []


async def test_ones_own_jobs_of_all_channels_come_page_by_page_and_back(office: Office) -> None:
    first = (await office.types("/docs-agent", "jobs mine")).message
    assert numbers(first) == [15, 14, *range(12, 4, -1)]
    second = await office.press(*turns(first)["Next"])
    assert second.replaces
    assert numbers(second.message) == [4, 3, 2, 1]
    assert list(turns(second.message)) == ["Previous"]
    assert numbers((await office.press(*turns(second.message)["Previous"])).message) == numbers(first)


@pytest.mark.parametrize("words", ["jobs <#G0TEAM|team>", "jobs mine open"])
async def test_nobody_sees_the_jobs_of_a_channel_that_they_cannot_read(office: Office, words: str) -> None:
    answer = await office.told("/docs-agent", words, user=BEN)
    assert "Secret" not in answer
    pressed = await office.press("jobs_older", f"0 {PRIVATE}", user=BEN)
    assert pressed.message is not None
    assert "don't know that channel" in pressed.message.text


async def test_a_channel_is_not_shown_while_slack_cannot_tell_who_reads_it(office: Office) -> None:
    office.slack.trouble("is_public", SlackUnreachable("down"))
    answer = await office.told("/docs-agent", "jobs <#C0OTHER>")
    assert "don't know that channel" in answer


@pytest.mark.parametrize("value", ["", "x", "0 ", "-1 mine ", "99999 mine ", "0 open "])
async def test_a_page_that_no_button_offers_shows_nothing(office: Office, value: str) -> None:
    answer = await office.press("jobs_older", value)
    assert answer.message is not None
    assert numbers(answer.message) == []


async def test_a_channel_that_slack_did_not_link_starts_nothing(office: Office) -> None:
    answer = await office.told("/docs-agent", "jobs #docs")
    assert "Choose it from Slack's suggestions" in answer
    assert office.docs.prompts == []
