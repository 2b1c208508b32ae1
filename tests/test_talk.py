"""The driver of conversations: acts and messages of people, and its insistence on reading."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.talk import Talk


async def test_job_starts_and_ends(talk: Talk) -> None:
    await talk.ana.types("/docs-agent Add a quickstart")
    await talk.time.passes()
    assert talk.agent_got() == ["Add a quickstart"]
    assert "Working on it" in talk.status()
    await talk.ends()
    [end] = talk.replies()
    assert "is done" in end
    assert "Pull request ready" in talk.status()


async def test_unread_messages_are_listed(talk: Talk) -> None:
    await talk.started()
    assert len(talk.unread()) == 1
    talk.status()
    assert talk.unread() == []
    await talk.ends()
    assert len(talk.unread()) == 2
    talk.everything()
    await talk.ben.types("/docs-agent jobs")
    [line] = talk.unread()
    assert "for Ben alone" in line
    talk.ben.reads()


async def test_unread_reactions_are_listed(talk: Talk) -> None:
    await talk.started()
    talk.status()
    reply = await talk.ben.replies("make it shorter")
    await talk.time.passes(60)
    talk.status()
    [line] = talk.unread()
    assert line == ":eyes: on 'make it shorter'"
    assert talk.reactions(reply) == ["eyes"]


async def test_button_opens_form_to_fill_in(talk: Talk) -> None:
    await talk.started()
    await talk.ends(status="failed", pr_link=None)
    talk.everything()
    await talk.ana.presses("Run again")
    assert "Add a quickstart" in str(talk.ana.form().message["blocks"])
    assert await talk.ana.fills_in(prompt="Add a short quickstart") == {}
    await talk.time.passes()
    assert talk.agent_got() == ["Add a quickstart", "Add a short quickstart"]
    talk.everything()


async def test_press_of_missing_button_fails(talk: Talk) -> None:
    await talk.started()
    talk.status()
    with pytest.raises(AssertionError, match="Ana sees no 'Merge'"):
        await talk.ana.presses("Merge")


async def test_edit_of_message_is_answered(talk: Talk) -> None:
    await talk.started()
    talk.status()
    reply = await talk.ben.replies("make it shorter")
    await talk.time.passes(60)
    talk.everything()
    await talk.ben.edits(reply, "make it longer")
    await talk.time.passes()
    [note] = talk.ben.reads()
    assert "You edited a message that the agent already has" in note


async def test_each_fault_of_slack_occurs_once(talk: Talk) -> None:
    talk.faults.limits("chat.postMessage", 30)
    talk.faults.loses_the_answer("chat.postMessage")
    await talk.ana.types("/docs-agent Add a quickstart")
    await talk.time.passes(20)
    assert talk.channel() == []
    await talk.time.passes(60)
    assert len(talk.channel()) == 1
    assert talk.faults.left() == []


async def test_process_killed_in_call_leaves_unconfirmed_prompt(talk: Talk) -> None:
    talk.service.hangs("create")
    await talk.ana.types("/docs-agent Add a quickstart")
    await talk.time.passes()
    talk.process.dies()
    await talk.ana.types("/docs-agent Add a glossary")
    [notice] = talk.ana.reads()
    assert "dispatch_failed" in notice
    await talk.process.starts()
    await talk.time.passes(minutes=5)
    assert talk.agent_got() == []
    assert "Unconfirmed" in talk.status()
    [line] = talk.replies()
    assert "Did Job 1 start?" in line


async def test_file_reaches_agent_with_message(talk: Talk) -> None:
    message = await talk.ana.says("@docs-agent add this", files=[("notes.md", "# Notes")])
    await talk.time.passes()
    [prompt] = talk.agent_got()
    assert "File “notes.md”:\n> # Notes" in prompt
    assert len(talk.thread(message)) == 1


async def test_database_and_log_can_be_read(talk: Talk) -> None:
    await talk.process.starts(log_level="INFO")
    await talk.started()
    assert "prompts.raw" in talk.kept("Add a quickstart")
    assert any('"event": "prompt_sent"' in line for line in talk.log())
    talk.status()


FAILING = """
async def test_somebody_reads_something_else(talk):
    await talk.started()
    assert "Pull request" in talk.status()

async def test_nobody_reads(talk):
    await talk.started()
"""


def test_failure_prints_conversation(tmp_path: Path) -> None:
    file = tmp_path / "test_failing.py"
    file.write_text(FAILING)
    command = [sys.executable, "-m", "pytest", "-c", "pyproject.toml", "-p", "tests.conftest", "-q"]
    root = Path(__file__).parents[1]
    ran = subprocess.run([*command, file], cwd=root, capture_output=True, text=True, check=False)
    assert "2 failed" in ran.stdout, ran.stdout
    assert ran.stdout.count("Ana types in docs: /docs-agent Add a quickstart") == 2
    assert "nobody has read this:" in ran.stdout
