"""What is said to one person after the acknowledgement is not lost at the first stumble."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from bot.model import Message
from bot.slack.answering import say_privately
from bot.slack.messenger import SlackMessenger
from sandbox.workspace import Workspace

ODD = {"type": "section"}
HELLO = Message("Hello")


def address(workspace: Workspace) -> SecretStr:
    return SecretStr(workspace.people.tickets.response_url("U01ANA", "C01DOCS"))


def heard(workspace: Workspace) -> list[str]:
    return [note["text"] for note in workspace.state.ephemerals.values()]


@pytest.mark.parametrize("fault", ["500", "502_html"])
async def test_a_private_word_is_said_again_when_slack_stumbles(
    workspace: Workspace, messenger: SlackMessenger, fault: str
) -> None:
    workspace.faults.order([{"method": "response_url", "fault": fault, "times": 3}])
    await say_privately(messenger, address(workspace), HELLO, pause_seconds=0.01)
    assert heard(workspace) == ["Hello"]


async def test_slacks_pause_is_kept(workspace: Workspace, messenger: SlackMessenger) -> None:
    workspace.faults.order([{"method": "response_url", "fault": "429", "seconds": 1}])
    await say_privately(messenger, address(workspace), HELLO, pause_seconds=0.01)
    tries = [entry["at"] for entry in workspace.log if entry["method"] == "response_url"]
    assert tries[1] - tries[0] >= 0.9
    assert heard(workspace) == ["Hello"]


async def test_it_is_given_up_in_the_end(workspace: Workspace, messenger: SlackMessenger) -> None:
    workspace.faults.order([{"method": "response_url", "fault": "500", "times": 40}])
    await say_privately(messenger, address(workspace), HELLO, pause_seconds=0.01)
    assert heard(workspace) == []
    assert len(workspace.log) == 4


async def test_what_slack_refuses_to_draw_is_said_plainly(
    workspace: Workspace, messenger: SlackMessenger
) -> None:
    await say_privately(messenger, address(workspace), Message("Hello", (ODD,)), pause_seconds=0.01)
    assert heard(workspace) == ["Hello"]
