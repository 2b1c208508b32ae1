"""What is said in a job's thread is held for 8 seconds, and may be edited, deleted and added to meanwhile."""

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
async def test_a_follow_up_goes_after_8_seconds_and_is_seen_at_once(talk: Talk, mention: str) -> None:
    reply = await talk.ana.replies(f"{mention}Make it shorter")
    await talk.time.passes(1)
    assert talk.reactions(reply) == ["eyes"]
    await talk.time.passes(6)
    assert later(talk) == []
    await talk.time.passes(2)
    assert later(talk) == ["Make it shorter"]
    assert talk.service.ended_with == [IN_A_REPLY]


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


async def test_what_its_author_adds_joins_it_as_one_use(talk: Talk) -> None:
    for text in ("Make it shorter", "thanks!", "I'll look after lunch", "and add a table"):
        await talk.ana.replies(text)
        await talk.time.passes(2)
    await talk.time.passes(10)
    assert later(talk) == ["Make it shorter\n\nand add a table"]
    assert "98 of 100 jobs and follow-ups left" in await talk.ana.answer_to("/docs-agent limits")


async def test_it_goes_after_30_seconds_in_any_case(talk: Talk) -> None:
    for number in range(6):
        await talk.ana.replies(f"Add page {number}")
        await talk.time.passes(5.5)
    assert later(talk) == ["\n\n".join(f"Add page {number}" for number in range(6))]


async def test_what_somebody_else_says_does_not_join_it(talk: Talk) -> None:
    await talk.ana.replies("Make it shorter")
    await talk.ben.replies("Add a table")
    await talk.time.passes(60)
    assert later(talk) == ["Make it shorter", "Add a table"]


async def test_an_edit_of_what_has_joined_counts_and_a_deleted_beginning_leaves_the_rest(talk: Talk) -> None:
    first = await talk.ana.replies("Make it shorter")
    second = await talk.ana.replies("Add a table")
    await talk.time.passes(2)
    await talk.ana.edits(second, "Add two tables")
    await talk.time.passes(2)
    await talk.ana.deletes(first)
    await talk.time.passes(20)
    assert later(talk) == ["Add two tables"]


async def test_commands_forms_and_first_prompts_do_not_wait(talk: Talk) -> None:
    await talk.ana.types("/docs-followup 1 Make it shorter")
    await talk.ana.says("@docs-agent Add a glossary")
    await talk.time.passes(2)
    assert later(talk) == ["Make it shorter", "Add a glossary"]
    assert talk.service.ended_with == [""]


async def test_what_has_joined_goes_along_when_the_first_try_fails(talk: Talk) -> None:
    talk.service.says("follow_up", 429, seconds=30)
    first = await talk.ana.replies("Make it shorter")
    await talk.ana.replies("Add a table")
    await talk.time.passes(10)
    await talk.ana.edits(first, "Make it longer")
    await talk.time.passes(120)
    assert later(talk) == ["Make it longer\n\nAdd a table"]


async def test_a_process_that_dies_while_it_is_held_loses_nothing_and_sends_it_once(talk: Talk) -> None:
    await talk.ana.replies("Make it shorter")
    await talk.ana.replies("Add a table")
    await talk.time.passes(4)
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(300)
    assert later(talk) == ["Make it shorter\n\nAdd a table"]


async def test_what_has_joined_is_sent_again_with_it_when_its_answer_was_lost(talk: Talk) -> None:
    talk.service.hangs("follow_up")
    await talk.ana.replies("Make it shorter")
    await talk.ana.replies("Add a table")
    await talk.time.passes(10)
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(minutes=5)
    assert later(talk) == []
    await talk.ana.presses("Send again")
    await talk.time.passes(60)
    assert later(talk) == ["Make it shorter\n\nAdd a table"]


async def test_what_has_joined_is_dismissed_with_it_when_its_answer_was_lost(talk: Talk) -> None:
    talk.service.hangs("follow_up")
    await talk.ana.replies("Make it shorter")
    added = await talk.ana.replies("Add a table")
    await talk.time.passes(10)
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(minutes=5)
    await talk.ana.presses("Dismiss")
    await talk.ana.edits(added, "Add two tables")
    await talk.time.passes(60)
    assert later(talk) == []
    assert "the agent already has" not in talk.everything()


async def test_what_has_joined_is_refused_with_it(talk: Talk) -> None:
    talk.service.says("follow_up", 400)
    await talk.ana.replies("Make it shorter")
    added = await talk.ana.replies("Add a table")
    await talk.time.passes(10)
    await talk.ana.edits(added, "Add two tables")
    await talk.time.passes(60)
    assert later(talk) == []
    assert "the agent already has" not in talk.everything()
