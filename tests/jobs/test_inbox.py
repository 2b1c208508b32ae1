"""Messages while their request is held, in the order in which people write them."""

from __future__ import annotations

from tests.talk import Talk


async def test_others_reply_while_held_is_a_follow_up(talk: Talk) -> None:
    said = await talk.ana.says("@docs-agent Add a page on keys")
    await talk.time.passes(2)
    await talk.ben.replies("and a table", to=said)
    await talk.time.passes(60)
    talk.everything()
    assert talk.agent_got() == ["Add a page on keys", "and a table"]


async def test_memory_database_restarted(talk: Talk) -> None:
    await talk.process.starts(database_url="sqlite://")
    await talk.ana.says("Add a page on keys", "dm")
    await talk.time.passes(30)
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(60)
    await talk.ana.says("Add a guide", "dm")
    await talk.time.passes(60)
    await talk.ben.says("Add a table", "dm")
    await talk.time.passes(120)
    talk.everything()
    assert sorted(talk.agent_got()) == ["Add a guide", "Add a page on keys", "Add a table"]


async def test_talk_is_not_kept(talk: Talk) -> None:
    await talk.started()
    await talk.ben.replies("I'll look after lunch")
    await talk.time.passes(2)
    assert talk.kept("after lunch") == []
    talk.everything()


async def test_two_authors_in_one_thread_of_people(talk: Talk) -> None:
    await talk.process.starts(context="none")
    root = await talk.chika.says("The page is wrong")
    await talk.ana.replies("@docs-agent Fix the page on keys", to=root)
    await talk.time.passes(2)
    await talk.ben.replies("@docs-agent and the table", to=root)
    await talk.time.passes(3)
    await talk.ana.replies("@docs-agent and the picture", to=root)
    await talk.time.passes(60)
    talk.everything()
    assert talk.agent_got() == ["Fix the page on keys\n\nand the picture", "and the table"]


async def test_stop_in_a_direct_message(talk: Talk) -> None:
    await talk.ana.says("Add a page on keys", "dm")
    await talk.time.passes(2)
    await talk.ana.says("stop", "dm")
    await talk.time.passes(1)
    assert "Withdrawn" in talk.job(1)
    [note] = [note for note in talk.ana.reads() if "Taken back" in note]
    assert note == "Taken back: nothing was sent."
    await talk.time.passes(60)
    assert talk.agent_got() == []


async def test_question_and_instruction_in_a_row(talk: Talk) -> None:
    await talk.ana.says("Add a page on keys", "dm")
    await talk.time.passes(2)
    await talk.ana.says("How do I rotate an API key?", "dm")
    await talk.time.passes(2)
    await talk.ana.says("and link it from the index", "dm")
    await talk.time.passes(60)
    talk.everything()
    assert talk.agent_got() == ["Add a page on keys\n\nand link it from the index"]


async def test_reply_in_the_thread_of_the_second_direct_message_steers(talk: Talk) -> None:
    await talk.ana.says("Add a page on keys", "dm")
    await talk.time.passes(2)
    second = await talk.ana.says("and link it", "dm")
    await talk.time.passes(60)
    await talk.ana.replies("make it shorter", to=second)
    await talk.time.passes(60)
    talk.everything()
    assert talk.agent_got()[1:] == ["make it shorter"]


async def test_slack_silent_about_the_author_for_two_hours(talk: Talk) -> None:
    talk.faults.goes_down("users.info")
    await talk.ana.says("@docs-agent Add a page on keys")
    await talk.time.passes(hours=2)
    assert talk.agent_got() == []
    talk.faults.comes_back()
    await talk.time.passes(minutes=6)
    talk.everything()
    assert talk.agent_got() == ["Add a page on keys"]


async def test_edit_and_back_is_no_edit(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add something first", by=talk.ben)
    said = await talk.ana.says("@docs-agent Add a page on keys")
    await talk.time.passes(20)
    await talk.ana.edits(said, "@docs-agent Add two pages")
    await talk.ana.edits(said, "@docs-agent Add a page on keys")
    await talk.time.passes(hours=2)
    talk.everything()
    assert talk.agent_got() == ["Add something first", "Add a page on keys"]


async def test_addition_to_words_that_a_button_sent_is_a_request_of_its_own(talk: Talk) -> None:
    text = "Add a page on sk_live_a1b2c3d4e5f6a7b8c9d0"
    await talk.ana.says(text, "dm")
    await talk.time.passes(1)
    # Until the status message of an earlier job is found, the next prompt is not prepared.
    talk.faults.loses_the_answer("chat.postMessage")
    await talk.ana.asks("Add a quickstart", "dm")
    await talk.time.passes(0.1)
    await talk.ana.presses("Send it anyway")
    await talk.ana.says("and a table", "dm")
    await talk.time.passes(minutes=3)
    assert talk.agent_got() == ["Add a quickstart", text, "and a table"]
    talk.everything()
