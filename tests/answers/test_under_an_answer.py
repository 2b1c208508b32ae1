"""A request under one of the bot's own posts takes that post along."""

from __future__ import annotations

from sandbox.workspace.state import Json
from tests.answers.conftest import QUESTION, asks, shares
from tests.talk import Talk

BOT = "@docs-agent"


async def requests(talk: Talk, under: Json, text: str = "Write that on the security page") -> str:
    """Let Ben ask for a change in a thread, and return the agent's prompt."""
    before = len(talk.agent_got())
    await talk.ben.replies(f"{BOT} {text}", to=under)
    await talk.time.passes(30)
    [prompt] = talk.agent_got()[before:]
    return prompt


async def test_question_and_its_answer_go_along(talk: Talk) -> None:
    answer = await asks(talk)
    prompt = await requests(talk, answer.message)
    assert f"\n> Ana Brandt: @docs-agent {QUESTION}\n> docs-agent: " in prompt
    assert "Open **Settings** and press *Rotate*." in prompt
    talk.everything()


async def test_post_that_begins_a_long_thread_goes_along(talk: Talk) -> None:
    root = (await shares(talk)).message
    for number in range(30):
        await talk.ana.replies(f"Remark {number} {'x' * 300}", to=root)
    prompt = await requests(talk, root)
    first, *others = [line for line in prompt.splitlines() if line.startswith("> ")]
    assert first.startswith("> docs-agent: ")
    assert QUESTION in first
    assert "Remark 29" in others[-1]
    assert "Remark 5 " not in prompt
    talk.everything()


async def test_posts_about_a_job_without_a_pull_request_stay(talk: Talk) -> None:
    root = (await shares(talk)).message
    await requests(talk, root)
    await talk.ends("archived", pr_link=None)
    await talk.time.passes(60)
    prompt = await requests(talk, root, "Write about the other page, too")
    assert QUESTION in prompt
    assert "Archived" not in prompt
    assert "archived" not in prompt
    talk.everything()


async def test_form_offers_the_post_above_its_message(talk: Talk) -> None:
    root = (await shares(talk)).message
    remark = await talk.ben.replies("That is not in the docs", to=root)
    await talk.ben.uses_shortcut("ask_about", on=remark)
    blocks = {block["block_id"]: block for block in talk.ben.form().message["blocks"]}
    assert QUESTION in blocks["earlier"]["element"]["initial_value"]
    talk.everything()


async def test_post_of_a_private_channel_stays_there(talk: Talk) -> None:
    talk.opens_channel("secret", talk.ana, talk.ben, is_private=True)
    answer = await asks(talk, channel="secret")
    await talk.ben.replies(f"{BOT} Write that on the security page", to=answer.message)
    await talk.time.passes(30)
    assert talk.agent_got() == []
    [note] = talk.ben.reads()
    assert note.buttons == ["Choose messages", "Start without them"]
    await talk.ben.presses("Start without them", note)
    await talk.time.passes(30)
    [prompt] = talk.agent_got()
    assert prompt.startswith("Write that on the security page")
    assert QUESTION not in prompt
    talk.everything()
