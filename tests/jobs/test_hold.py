"""Replies are held for 8 seconds, in which their author may edit, delete and extend them."""

from __future__ import annotations

import pytest

from tests.services import IN_A_REPLY
from tests.talk import Talk


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    """A conversation in which the agent works on Ana's job."""
    await talk.started()
    return talk


def later(talk: Talk) -> list[str]:
    """Read everything, and return the follow-ups that the agent got."""
    talk.everything()
    return talk.agent_got()[1:]


@pytest.mark.parametrize("mention", ["", "@docs-agent "])
async def test_follow_up_has_eyes_at_once_and_goes_after_8_seconds(
    talk: Talk, mention: str
) -> None:
    reply = await talk.ana.replies(f"{mention}Make it shorter")
    await talk.time.passes(1)
    assert talk.reactions(reply) == ["eyes"]
    await talk.time.passes(6)
    assert later(talk) == []
    await talk.time.passes(2)
    assert later(talk) == ["Make it shorter"]
    assert talk.service.ended_with[1:] == [IN_A_REPLY]


async def test_an_edited_follow_up_goes_as_edited(talk: Talk) -> None:
    reply = await talk.ana.replies("Make it shorter")
    await talk.time.passes(5)
    await talk.ana.edits(reply, "Make it longer")
    await talk.time.passes(7)
    assert later(talk) == []
    await talk.time.passes(3)
    assert later(talk) == ["Make it longer"]


async def test_a_deleted_follow_up_does_not_go(talk: Talk) -> None:
    reply = await talk.ana.replies("Make it shorter")
    await talk.time.passes(5)
    await talk.ana.deletes(reply)
    await talk.time.passes(60)
    assert later(talk) == []


async def test_replies_of_one_author_are_one_use(talk: Talk) -> None:
    for text in ("Make it shorter", "thanks!", "I'll look after lunch", "and add a table"):
        await talk.ana.replies(text)
        await talk.time.passes(2)
    await talk.time.passes(10)
    assert later(talk) == ["Make it shorter\n\nand add a table"]
    assert "98 of 100 jobs and follow-ups left" in await talk.ana.answer_to("/docs-agent limits")


async def test_joined_replies_go_after_30_seconds(talk: Talk) -> None:
    for number in range(6):
        await talk.ana.replies(f"Add page {number}")
        await talk.time.passes(5.5)
    assert later(talk) == ["\n\n".join(f"Add page {number}" for number in range(6))]


async def test_reply_of_another_author_does_not_join(talk: Talk) -> None:
    await talk.ana.replies("Make it shorter")
    await talk.ben.replies("Add a table")
    await talk.time.passes(60)
    assert later(talk) == ["Make it shorter", "Add a table"]


async def test_joined_reply_can_be_edited_and_its_first_deleted(talk: Talk) -> None:
    first = await talk.ana.replies("Make it shorter")
    second = await talk.ana.replies("Add a table")
    await talk.time.passes(2)
    await talk.ana.edits(second, "Add two tables")
    await talk.time.passes(2)
    await talk.ana.deletes(first)
    await talk.time.passes(20)
    assert later(talk) == ["Add two tables"]


async def test_commands_and_forms_do_not_wait(talk: Talk) -> None:
    await talk.ana.types("/docs-followup 1 Make it shorter")
    await talk.ana.says("@docs-agent Add a glossary")
    await talk.time.passes(2)
    assert later(talk) == ["Make it shorter"]
    assert "Waiting" in talk.job(2)
    await talk.time.passes(7)
    assert later(talk) == ["Make it shorter", "Add a glossary"]
    assert talk.service.ended_with[1:] == ["", ""]


async def test_joined_replies_go_together_after_a_failed_try(talk: Talk) -> None:
    talk.service.says("follow_up", 429, seconds=30)
    first = await talk.ana.replies("Make it shorter")
    await talk.ana.replies("Add a table")
    await talk.time.passes(10)
    await talk.ana.edits(first, "Make it longer")
    await talk.time.passes(120)
    assert later(talk) == ["Make it longer\n\nAdd a table"]


async def test_held_replies_survive_a_crash(talk: Talk) -> None:
    await talk.ana.replies("Make it shorter")
    await talk.ana.replies("Add a table")
    await talk.time.passes(4)
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(300)
    assert later(talk) == ["Make it shorter\n\nAdd a table"]


@pytest.mark.parametrize(
    ("decision", "prompts"), [("Send again", ["Make it shorter\n\nAdd a table"]), ("Dismiss", [])]
)
async def test_decision_about_a_lost_answer_holds_for_joined_replies(
    talk: Talk, decision: str, prompts: list[str]
) -> None:
    talk.service.hangs("follow_up")
    await talk.ana.replies("Make it shorter")
    added = await talk.ana.replies("Add a table")
    await talk.time.passes(10)
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(minutes=5)
    assert later(talk) == []
    await talk.ana.presses(decision)
    if decision == "Dismiss":
        await talk.ana.edits(added, "Add two tables")
    await talk.time.passes(60)
    assert later(talk) == prompts
    assert "the agent already has" not in talk.everything()


async def test_joined_replies_are_refused_together_and_an_edited_one_is_a_new_one(
    talk: Talk,
) -> None:
    talk.service.says("follow_up", 400)
    await talk.ana.replies("Make it shorter")
    added = await talk.ana.replies("Add a table")
    await talk.time.passes(10)
    assert later(talk) == []
    await talk.ana.edits(added, "Add two tables")
    await talk.time.passes(60)
    assert later(talk) == ["Add two tables"]
    assert "the agent already has" not in talk.everything()


async def test_edit_that_is_stored_as_the_hold_ends_counts(talk: Talk) -> None:
    said = await talk.ana.replies("Add a table")
    await talk.time.passes(1)
    talk.time.is_set(seconds=9)
    await talk.ana.edits(said, "Add two tables")
    await talk.time.passes(20)
    assert later(talk) == ["Add two tables"]
    talk.everything()


async def test_deletion_that_is_stored_as_the_hold_ends_counts(talk: Talk) -> None:
    said = await talk.ana.replies("Add a table")
    await talk.time.passes(1)
    talk.time.is_set(seconds=9)
    await talk.ana.deletes(said)
    await talk.time.passes(20)
    assert later(talk) == []
    talk.everything()


async def test_addition_that_is_not_read_as_the_hold_ends_joins(talk: Talk) -> None:
    await talk.ana.replies("Add a table")
    await talk.time.passes(1)
    talk.time.is_set(seconds=6)
    await talk.ana.replies("and a picture")
    talk.time.is_set(seconds=3)
    await talk.time.passes(20)
    assert later(talk) == ["Add a table\n\nand a picture"]
    talk.everything()


async def test_request_waits_until_slack_describes_the_author_of_its_edit(talk: Talk) -> None:
    said = await talk.ana.replies("Add a table")
    await talk.time.passes(1)
    await talk.process.stops()
    # With another list of people, what Slack told before does not count.
    await talk.process.starts(allowed_users=talk.ana.id)
    talk.faults.goes_down("users.info")
    await talk.ana.edits(said, "Add two tables")
    await talk.time.passes(60)
    assert later(talk) == []
    talk.faults.comes_back()
    await talk.time.passes(minutes=6)
    assert later(talk) == ["Add two tables"]
    talk.everything()


async def test_reply_that_is_written_while_the_clock_is_ahead_goes_once_it_is_set_back(
    talk: Talk,
) -> None:
    talk.time.bot_is_ahead(hours=10)
    await talk.ana.replies("Make it shorter")
    await talk.time.passes(1)
    talk.time.bot_is_ahead()
    await talk.time.passes(minutes=3)
    assert later(talk) == ["Make it shorter"]
