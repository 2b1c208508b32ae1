"""What is said to one person after the acknowledgement is not lost at the first stumble."""

from __future__ import annotations

import pytest
import structlog
from pydantic import SecretStr

from bot.model.access import Origin
from bot.model.ids import ChannelId, Message, MessageTs, RequestKey, UserId
from bot.slack.intake import say_privately
from bot.slack.messenger import SlackMessenger
from sandbox.workspace import Workspace

ODD = {"type": "section"}
HELLO = Message("Hello")
ANA, DOCS = UserId("U01ANA"), ChannelId("C01DOCS")


def asker(workspace: Workspace, thread: str | None = None) -> Origin:
    """Ana, who pressed a button of a message in #docs, which stands in this thread."""
    url = SecretStr(workspace.people.tickets.response_url(ANA, DOCS))
    return Origin(RequestKey("1"), ANA, DOCS, MessageTs(thread) if thread else None, response_url=url)


def received(workspace: Workspace) -> list[str]:
    return [note["text"] for note in workspace.state.ephemerals.values()]


@pytest.mark.parametrize("fault", ["500", "502_html", "error:internal_error"])
async def test_a_private_word_is_said_again_when_slack_stumbles(
    workspace: Workspace, messenger: SlackMessenger, fault: str
) -> None:
    workspace.faults.order([{"method": "response_url", "fault": fault, "times": 3}])
    await say_privately(messenger, asker(workspace), HELLO, pause_seconds=0.01)
    assert received(workspace) == ["Hello"]


async def test_slacks_pause_is_kept(workspace: Workspace, messenger: SlackMessenger) -> None:
    workspace.faults.order([{"method": "response_url", "fault": "429", "seconds": 1}])
    await say_privately(messenger, asker(workspace), HELLO, pause_seconds=0.01)
    tries = [entry["at"] for entry in workspace.log if entry["method"] == "response_url"]
    assert tries[1] - tries[0] >= 0.9
    assert received(workspace) == ["Hello"]


async def test_it_is_given_up_in_the_end(workspace: Workspace, messenger: SlackMessenger) -> None:
    workspace.faults.order([{"method": "response_url", "fault": "500", "times": 40}])
    await say_privately(messenger, asker(workspace), HELLO, pause_seconds=0.01)
    assert received(workspace) == []
    assert len(workspace.log) == 4


async def test_words_about_a_button_in_a_thread_appear_in_that_thread(
    workspace: Workspace, messenger: SlackMessenger
) -> None:
    root = workspace.people.say(ANA, DOCS, "A job")["ts"]
    await say_privately(messenger, asker(workspace, root), HELLO, pause_seconds=0.01)
    [note] = workspace.state.ephemerals.values()
    assert (note["text"], note["user"], note["thread_ts"]) == ("Hello", ANA, root)


async def test_where_slack_refuses_them_in_the_thread_they_come_as_before(
    workspace: Workspace, messenger: SlackMessenger
) -> None:
    root = workspace.people.say(ANA, DOCS, "A job")["ts"]
    workspace.state.channels[DOCS].members.remove(ANA)
    await say_privately(messenger, asker(workspace, root), HELLO, pause_seconds=0.01)
    [note] = workspace.state.ephemerals.values()
    assert (note["text"], note["thread_ts"]) == ("Hello", None)


@pytest.mark.parametrize("is_in_thread", [True, False])
async def test_what_slack_refuses_to_draw_is_said_plainly_in_the_same_place(
    workspace: Workspace, messenger: SlackMessenger, is_in_thread: bool
) -> None:
    root = workspace.people.say(ANA, DOCS, "A job")["ts"] if is_in_thread else None
    await say_privately(messenger, asker(workspace, root), Message("Hello", (ODD,)), pause_seconds=0.01)
    [note] = workspace.state.ephemerals.values()
    assert (note["text"], note["thread_ts"]) == ("Hello", root)


async def test_words_that_replace_a_message_replace_it(
    workspace: Workspace, messenger: SlackMessenger
) -> None:
    root = workspace.people.say(ANA, DOCS, "A job")["ts"]
    await say_privately(messenger, asker(workspace, root), HELLO, replaces=True, pause_seconds=0.01)
    assert [entry["method"] for entry in workspace.log if entry["to"] == "slack"] == ["response_url"]


@pytest.mark.parametrize("failures", [0, 3])
async def test_what_a_response_url_does_not_take_is_said_in_the_channel(
    workspace: Workspace, messenger: SlackMessenger, failures: int
) -> None:
    url = {"method": "response_url"}
    failing = [url | {"fault": "500", "times": failures}] if failures else []
    workspace.faults.order([*failing, url | {"fault": "error:expired_url"}])
    await say_privately(messenger, asker(workspace), HELLO, pause_seconds=0.01)
    [note] = workspace.state.ephemerals.values()
    assert (note["text"], note["user"], note["channel"]) == ("Hello", ANA, DOCS)
    calls = [entry["method"] for entry in workspace.log]
    assert calls == ["response_url"] * (failures + 1) + ["chat.postEphemeral"]


async def test_what_slack_takes_nowhere_is_logged_once(
    workspace: Workspace, messenger: SlackMessenger
) -> None:
    workspace.faults.order([{"method": "*", "fault": "error:user_not_in_channel", "times": 9}])
    root = workspace.people.say(ANA, DOCS, "A job")["ts"]
    with structlog.testing.capture_logs() as logs:
        await say_privately(messenger, asker(workspace, root), HELLO, pause_seconds=0.01)
    assert received(workspace) == []
    told = [(line["log_level"], line["way"]) for line in logs]
    assert told == [("info", "thread"), ("info", "response_url"), ("warning", "channel")]
