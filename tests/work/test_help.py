"""The help of one command is about that command, in a few lines, with examples to type."""

from __future__ import annotations

import re

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


async def test_the_rest_has_every_word_of_every_command(office: Office) -> None:
    await office.started()
    short = await help_of(office, "/docs-followup")
    [action, value] = next(rest for label, *rest in buttons(short) if label == "More")
    rest = str((await office.press(action, value)).modal)
    words = [
        f"{command.name} {word.example or word.usage}"
        for command in COMMANDS
        for word in command.all_words
        if not word.if_several and word.hint != "help"
    ]
    assert [each for each in words if f"`{each.strip()}`" not in rest] == []
    for part in ("`aside`", "`!`", ":eyes:", "no slash commands in threads", "hourly limit"):
        assert part in rest
