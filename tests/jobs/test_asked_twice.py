"""The very same request within a minute: asked about before it spends a second use."""

from __future__ import annotations

from tests.talk import Talk

BOT = "@docs-agent"


async def test_repeated_command_asks_and_starts_nothing(talk: Talk) -> None:
    await talk.ana.asks("Add a page on keys")
    await talk.time.passes(59)
    question = await talk.ana.answer_to("/docs-agent   Add a page on keys ")
    assert "it's Job 1. I started nothing new." in question
    await talk.time.passes()
    assert talk.agent_got() == ["Add a page on keys"]
    talk.status()


async def test_button_pressed_twice_starts_one_job(talk: Talk) -> None:
    await talk.ana.asks("Add a page on keys")
    question = await talk.ana.answer_to("/docs-agent Add a page on keys")
    [label] = question.buttons
    await talk.ana.presses(label, on=question)
    assert talk.ana.reads() == []
    await talk.ana.presses(label, on=question)
    assert "Job 2" in talk.ana.reads()[0]
    await talk.time.passes()
    assert talk.agent_got() == ["Add a page on keys"] * 2
    talk.everything()


async def test_another_channel_text_or_minute_is_another_request(talk: Talk) -> None:
    await talk.ana.asks("Add a page on keys")
    await talk.ana.asks("Add a page on keys", channel="partners")
    await talk.ana.asks("Add a page on keys.")
    await talk.time.passes(61)
    await talk.ana.asks("Add a page on keys")
    await talk.time.passes()
    assert len(talk.agent_got()) == 4
    assert talk.ana.reads() == []
    talk.everything()


async def test_refused_prompt_may_be_repeated_at_once(talk: Talk) -> None:
    talk.service.says("create", 400)
    await talk.started("Add a page on keys")
    await talk.ana.asks("Add a page on keys")
    await talk.time.passes()
    assert talk.agent_got() == ["Add a page on keys"]
    talk.everything()


async def test_repeated_mention_is_answered_privately(talk: Talk) -> None:
    first = await talk.ana.says(f"{BOT} Add a page on keys")
    second = await talk.ana.says(f"{BOT} Add a page on keys")
    await talk.time.passes()
    assert talk.agent_got() == ["Add a page on keys"]
    [note] = talk.ana.reads()
    assert "for exactly this" in note
    assert len(talk.thread(first)) == 1
    assert talk.thread(second) == []


async def test_run_again_is_no_slip(talk: Talk) -> None:
    await talk.started("Add a page on keys")
    await talk.ends("failed", pr_link=None)
    await talk.ana.presses("Run again")
    assert await talk.ana.fills_in() == {}
    await talk.time.passes()
    assert talk.agent_got() == ["Add a page on keys"] * 2
    talk.everything()


async def test_same_reply_again_is_held_until_its_button_is_pressed(talk: Talk) -> None:
    await talk.started("Add a page on keys")
    for _ in range(2):
        await talk.ana.replies("Write more")
        await talk.time.passes(15)
    [question] = talk.ana.reads()
    assert "less than a minute ago" in question
    [label] = question.buttons
    await talk.ana.presses(label, on=question)
    assert talk.ana.reads() == []
    await talk.ana.presses(label, on=question)
    assert len(talk.ana.reads()) == 1
    await talk.time.passes()
    assert talk.agent_got() == ["Add a page on keys", "Write more", "Write more"]
    talk.everything()


async def test_request_repeated_in_a_channel_goes_on_there(talk: Talk) -> None:
    """The question comes as a direct message where Slack refuses private answers."""
    await talk.process.starts(allowed_channels=talk.room("docs").id)
    for _ in range(2):
        await talk.ana.says(f"{BOT} Add a page on keys")
    talk.faults.refuses("chat.postEphemeral", "user_not_in_channel", times=9)
    await talk.time.passes()
    [question] = talk.ana.reads()
    assert question.message["channel"] == talk.room("dm").id
    await talk.ana.presses(question.buttons[0], on=question)
    await talk.time.passes()
    assert talk.agent_got() == ["Add a page on keys"] * 2
    assert talk.job(2).message["channel"] == talk.room("docs").id
    talk.everything()
