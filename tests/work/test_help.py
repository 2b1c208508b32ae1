"""The help of one command is about that command, in a few lines, with examples to type."""

from __future__ import annotations

import re

import pytest

from bot.commands import COMMANDS
from bot.ids import ChannelId, Message
from tests.builders import ANA, BEN, CHANNEL
from tests.messages.samples import actions, buttons
from tests.work.office import BOT, Office
from tests.work.sites import open_sites

ELSEWHERE = ChannelId("C0ELSEWHERE")
DIRECT = ChannelId("D0ANA")
NAMES = [command.name for command in COMMANDS]
each_command = pytest.mark.parametrize("name", NAMES)


async def help_of(office: Office, name: str, text: str = "help", channel: ChannelId = CHANNEL) -> Message:
    """What ``help`` answers."""
    message = (await office.types(name, text, channel=channel)).message
    assert message is not None
    return message


def shown(message: Message, begin: str) -> list[str]:
    """What a message shows to type, if it begins so."""
    return [each for each in re.findall(r"`([^`]+)`", message.text) if each.startswith(begin)]


@each_command
async def test_help_is_about_one_command_in_ten_lines(office: Office, name: str) -> None:
    await office.started()
    said = await help_of(office, name)
    others = {each for each in shown(said, "/docs-") if not each.startswith(name)}
    assert others == ({f"{each} help" for each in NAMES[1:]} if name == NAMES[0] else set())
    assert 5 <= len(said.text.splitlines()) <= 10
    assert actions(said) == ["help_more"]


async def test_the_help_about_visitors_names_what_readers_miss_and_so_does_the_answer_to_a_slip(
    office: Office,
) -> None:
    said = await help_of(office, "/docs-visitors")
    assert said.text.endswith("*What readers miss*: `searches`, `feedback`, `questions`.")
    assert "`/docs-visitors searches last week`" in await office.told("/docs-visitors", "search")


async def test_help_and_lists_in_direct_messages_are_about_the_person_s_own_jobs(office: Office) -> None:
    await office.started(user=BEN)
    await office.started("Write a page")
    said = (await help_of(office, "/docs-agent", channel=DIRECT)).text
    assert "*Here* `Add a quickstart for the Python SDK` starts a job" in said
    listed = await office.told("/docs-agent", "jobs", channel=DIRECT)
    assert listed.startswith("*The only job of yours:*")
    assert (await office.types("/docs-followup", channel=DIRECT)).modal is not None
    nobody = await office.told("/docs-agent", "jobs", user=BEN, channel=ChannelId("D0BEN"))
    assert "Job 1" in nobody


async def test_of_several_projects_the_help_names_that_of_the_channel_and_another(office: Office) -> None:
    await open_sites(office)
    said = (await help_of(office, "/docs-agent")).text
    assert "*Which docs*: *Acme docs* here; begin with `project:beta` for others." in said


@pytest.mark.parametrize("text", ["help all", "button"])
async def test_the_rest_has_every_word_of_every_command(office: Office, text: str) -> None:
    await office.started()
    short = await help_of(office, "/docs-followup")
    [(label, action, value)] = buttons(short)
    assert label == "More"
    pressed = (await office.press(action, value)).message
    said = pressed if text == "button" else await help_of(office, "/docs-visitors", text)
    assert said is not None
    words = [
        f"{command.name} {word.example or word.usage}"
        for command in COMMANDS
        for word in command.all_words
        if not word.if_several
    ]
    assert [each for each in words if f"`{each.strip()}`" not in said.text] == []
    for part in ("`aside`", "`!`", ":eyes:", "no slash commands in threads", "hourly limit"):
        assert part in said.text


async def test_in_a_thread_where_slack_allows_no_commands_the_help_shows_mentions(
    office: Office,
) -> None:
    await office.started()
    await office.says(f"<@{BOT}> help", thread=office.slack.root().ts, parent=BOT)
    [(channel, thread, user, said)] = office.slack.whispers
    assert (channel, thread, user) == (CHANNEL, office.slack.root().ts, ANA)
    assert shown(said, "/docs-agent") == []
    assert "`@docs-agent status 42`" in said.text
    await office.says("visitors help", user=BEN)
    assert "*/docs-visitors*" in office.slack.whispers[-1][-1].text


async def test_bare_mention_gets_a_private_hello_with_an_example_and_buttons(office: Office) -> None:
    await office.says("")
    [(_, _, user, said)] = office.slack.whispers
    assert user == ANA
    assert shown(said, "@docs-agent ") == ["@docs-agent Add a quickstart for the Python SDK"]
    assert len(buttons(said)) == 3


async def test_in_a_job_s_thread_the_hello_is_as_private(office: Office) -> None:
    await office.started()
    posts = len(office.slack.posts)
    await office.says(f"<@{BOT}>", thread=office.slack.root().ts, parent=BOT, user=BEN)
    [(_, thread, user, said)] = office.slack.whispers
    assert (thread, user, len(office.slack.posts)) == (office.slack.root().ts, BEN, posts)
    assert said.text.startswith("Hi!")


async def test_no_open_jobs_says_how_many_wait_for_review_and_what_lists_them(office: Office) -> None:
    await office.finished()
    said = await office.told("/docs-agent", "jobs open")
    assert said == "*No open jobs here.*\n1 pull request waits for review: `/docs-agent jobs review`"
    assert "*The only job to review:*\n" in await office.told("/docs-agent", "jobs review", channel=ELSEWHERE)
    elsewhere = await office.told("/docs-agent", f"jobs open <#{CHANNEL}|docs>", channel=ELSEWHERE)
    assert elsewhere.endswith("`/docs-agent jobs review`")
