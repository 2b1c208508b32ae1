"""An unclear answer in a channel that the bot has not joined yet: looking takes a member as posting does."""

from __future__ import annotations

import pytest

from bot.slack.client import refused
from bot.work.ports import SlackUnclear
from tests.builders import CHANNEL
from tests.work.office import Office


async def test_a_root_in_doubt_is_looked_for_as_a_member_and_then_posted(office: Office) -> None:
    office.slack.outside.add(CHANNEL)
    office.slack.trouble("post", SlackUnclear("cut"))
    office.slack.trouble("find_posted", refused("not_in_channel"))
    await office.ask("Add a quickstart")
    await office.settle(10)
    await office.settle(10)
    assert CHANNEL in office.slack.joined
    assert len(office.slack.posts) == 1
    assert [text for _, text in office.docs.prompts] == ["Add a quickstart"]


async def test_a_file_in_doubt_is_looked_for_as_a_member_and_then_sent(office: Office) -> None:
    await office.visitors("7d compare none csv here")
    office.slack.trouble("upload", SlackUnclear("cut"))
    office.slack.trouble("find_file", refused("not_in_channel"))
    await office.reading()
    await office.settle(10)
    assert [channel for channel, *_ in office.slack.files] == [CHANNEL]


@pytest.mark.parametrize(
    ("method", "code"),
    [
        ("find_file", "invalid_blocks"),
        ("find_file", "team_added_to_org"),
        ("conversation_with", "team_added_to_org"),
    ],
)
async def test_a_look_that_is_refused_ends_no_doubt_about_a_file(
    office: Office, method: str, code: str
) -> None:
    await office.visitors("7d compare none csv")
    office.slack.lose_answer.append(SlackUnclear("cut"))
    while not office.slack.files:
        await office.reading(1)
    office.slack.trouble(method, refused(code))
    await office.reading()
    await office.settle(10)
    assert len(office.slack.files) == 1


async def test_a_channel_that_cannot_be_joined_is_still_given_up(office: Office) -> None:
    office.slack.outside.add(CHANNEL)
    office.slack.trouble("post", SlackUnclear("cut"))
    office.slack.trouble("find_posted", refused("not_in_channel"))
    office.slack.trouble("join", refused("is_archived"))
    await office.ask("Add a quickstart")
    await office.settle(10)
    await office.settle(10)
    assert office.slack.posts == []
    assert office.docs.prompts == []
