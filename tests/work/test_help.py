"""The help of one command is about that command, in a few lines, with examples to type."""

from __future__ import annotations

import re

import pytest

from bot.features import COMMANDS
from bot.ids import ChannelId, Message
from tests.builders import CHANNEL
from tests.messages.samples import buttons
from tests.work.office import Office


async def help_of(office: Office, name: str, text: str = "help", channel: ChannelId = CHANNEL) -> Message:
    """What ``help`` answers."""
    message = (await office.types(name, text, channel=channel)).message
    assert message is not None
    return message


def shown(message: Message, begin: str) -> list[str]:
    """What a message shows to type, if it begins so."""
    return [each for each in re.findall(r"`([^`]+)`", message.text) if each.startswith(begin)]


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
