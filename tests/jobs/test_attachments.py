"""The earlier messages of a thread: offered in a form, shown to people, and sent to the agent once."""

from __future__ import annotations

import pytest

from sandbox.workspace.state import Json
from tests.talk import Talk
from tests.talk_people import Person

BOT = "@docs-agent"


async def says(talk: Talk, root: Json, text: str, by: Person | None = None) -> Json:
    """Let Ana or another person write in a thread."""
    message = await (by or talk.ana).replies(text, to=root)
    await talk.time.passes(20)
    return message


async def test_texts_that_the_bot_took_or_answered_are_not_attached(talk: Talk) -> None:
    root = await talk.ben.says("The page is wrong")
    for text in ("Fix the page on keys", "hello?", "status 1", "stop", "thanks!"):
        await says(talk, root, f"{BOT} {text}")
    await says(talk, root, "I think that it lacks a table", talk.ben)
    await says(talk, root, f"{BOT} Add keys")
    assert talk.agent_got()[-1].endswith("\n> Ben Okafor: I think that it lacks a table")
    assert talk.agent_got()[-1].count("\n> ") == 1
    talk.everything()


async def test_texts_that_no_agent_works_on_are_attached_to_the_next_prompt(talk: Talk) -> None:
    await talk.process.starts(allowed_users=talk.ana.id)
    root = await talk.ana.says("The page is wrong")
    await says(talk, root, f"{BOT} Explain the limit of 120", talk.ben)
    await says(talk, root, f"{BOT} Do what Ben wants")
    assert talk.agent_got()[-1].endswith(" Explain the limit of 120")
    await talk.ends("archived", pr_link=None)
    await talk.time.passes(60)
    await says(talk, root, f"{BOT} Again, please do it now")
    assert talk.agent_got()[-1].endswith(" Do what Ben wants")
    assert "with 3 earlier messages" in talk.job(2)
    talk.everything()


async def test_form_from_a_thread_starts_its_job_in_the_thread(talk: Talk) -> None:
    root = await talk.ben.says("The page is wrong")
    message = await says(talk, root, "Very wrong", talk.ben)
    await talk.ana.uses_shortcut("ask_about", on=message)
    edited = "Ben: The page & its index\n\nAna: Yes"
    assert await talk.ana.fills_in(prompt="Fix the page on keys", earlier=edited) == {}
    await talk.time.passes()
    assert len(talk.thread(root)) == 1
    [prompt] = talk.agent_got()
    assert prompt.startswith("Fix the page on keys\n\nEarlier")
    assert prompt.endswith("> Ben: The page & its index\n> \n> Ana: Yes")
    await says(talk, root, f"{BOT} Shorten the introduction")
    assert talk.agent_got()[-1] == "Shorten the introduction", "the agent has the rest"
    talk.everything()


async def test_form_says_that_slack_returned_no_thread(talk: Talk) -> None:
    root = await talk.ben.says("The page is wrong")
    reply = await says(talk, root, "Very wrong", talk.ben)
    talk.faults.refuses("conversations.replies", "not_in_channel")
    await talk.ana.uses_shortcut("ask_about", on=reply)
    assert "didn't let me read" in talk.ana.form()
    talk.slack.state.views.clear()
    await talk.ana.uses_shortcut("ask_about", on=await talk.ben.says("Another page is wrong"))
    assert "didn't let me read" not in talk.ana.form()


async def test_attached_messages_are_shown_to_readers_of_the_job(talk: Talk) -> None:
    talk.opens_channel("secret", talk.ana, talk.ben, is_private=True)
    root = await talk.ben.says("Between <us>", "secret")
    await talk.ana.uses_shortcut("ask_about", on=await says(talk, root, "Look", talk.ana))
    assert await talk.ana.fills_in(prompt="Fix it", take_earlier=["yes"]) == {}
    await talk.time.passes()
    answer = await talk.ben.answer_to("/docs-agent status 1", "secret")
    await talk.ben.presses("Details", on=answer)
    await talk.ben.presses("Whole prompt", on=talk.ben.reads()[-1])
    assert "> Ben Okafor: Between <us>" in talk.ben.form()
    await talk.operator("forget", talk.ana.id)
    await talk.ends()
    assert "audit" in await talk.operator("forget", talk.ana.id)
    assert talk.kept("Between") == []
    talk.everything()


@pytest.mark.parametrize("is_private", [False, True])
async def test_form_offers_what_members_said_before_its_message(
    talk: Talk, is_private: bool
) -> None:
    talk.opens_channel("group", is_private=is_private)
    root = await talk.ben.says("The page\nis wrong", "group")
    await says(talk, root, "From a guest", talk.gus)
    await says(talk, root, "aside: lunch?", talk.ben)
    await talk.ben.replies("", to=root, files=[("a.png", "PNG")])
    message = await says(talk, root, "The message itself")
    await talk.ana.uses_shortcut("ask_about", on=message)
    blocks = {block["block_id"]: block for block in talk.ana.form().message["blocks"]}
    assert blocks["earlier"]["element"]["initial_value"] == "Ben Okafor: The page is wrong"
    left_out = blocks["earlier"]["hint"]["text"]
    assert (
        left_out
        == "Left out: 1 from a guest, another organisation or a bot; 1 aside; 1 without words."
    )
    assert ("initial_options" in blocks["take_earlier"]["element"]) is not is_private
    talk.slack.state.views.clear()
    talk.faults.goes_down("users.info")
    await talk.ana.uses_shortcut("ask_about", on=message)
    assert "2 from people Slack didn't describe" in talk.ana.form()
