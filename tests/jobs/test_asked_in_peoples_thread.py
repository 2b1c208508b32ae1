"""A mention in a thread of people: what goes along, and what the bot asks."""

from __future__ import annotations

import pytest

from sandbox.workspace.state import Json
from tests.talk import Talk
from tests.talk_people import Shown

BOT = "@docs-agent"
SAID = "The limits differ: it is 100 since May"
STAYS = "I don't take a private thread along."


@pytest.fixture
def talk(talk: Talk) -> Talk:
    """Return a conversation with a private channel and a bot that answers questions."""
    talk.process.answers_questions()
    talk.opens_channel("secret", talk.ana, talk.ben, is_private=True)
    return talk


async def mentions(
    talk: Talk, text: str, channel: str = "docs", seconds: float = 3
) -> tuple[Json, Shown | None]:
    """Let Ana mention the bot under what Ben said; return that, and her newest private answer."""
    begun = await talk.ben.says(SAID, channel)
    await talk.ana.replies(f"{BOT} {text}", to=begun)
    await talk.time.passes(seconds)
    answers = talk.ana.reads()
    return begun, answers[-1] if answers else None


async def test_request_in_a_private_thread_spends_no_use_before_its_author_has_chosen(
    talk: Talk,
) -> None:
    begun, note = await mentions(talk, "please fix the limits page", "secret", seconds=60)
    assert note == STAYS
    assert note.buttons == ["Choose messages", "Start without them"]
    assert talk.thread(begun) == []
    assert talk.agent_got() == []
    await talk.ana.presses("Choose messages", note)
    assert await talk.ana.fills_in(take_earlier="yes") == {}
    await talk.time.passes(30)
    [prompt] = talk.agent_got()
    assert prompt.startswith("please fix the limits page\n\n")
    assert SAID in prompt
    assert talk.job(1).message["thread_ts"] == begun["ts"]
    talk.everything()


async def test_request_in_a_private_thread_starts_without_it_by_one_press(talk: Talk) -> None:
    _, note = await mentions(talk, "please fix the limits page", "secret")
    await talk.ana.presses("Start without them", note)
    await talk.time.passes(30)
    assert talk.agent_got() == ["please fix the limits page"]
    talk.everything()


async def test_messages_for_a_request_too_long_for_a_button_follow(talk: Talk) -> None:
    text = f"please fix the limits page {'and its table of limits ' * 100}"
    _, note = await mentions(talk, text, "secret", seconds=20)
    assert note == "This channel is private, so the thread's earlier messages stay here."
    await talk.ana.presses("Choose messages", note)
    assert await talk.ana.fills_in(take_earlier="yes") == {}
    await talk.time.passes(30)
    first, second = talk.agent_got()
    assert first == text.strip()
    assert second.startswith("These earlier messages are what it is about.")
    assert SAID in second
    assert len(talk.service.jobs) == 1
    talk.everything()


async def test_thread_of_direct_messages_is_not_asked_about(talk: Talk) -> None:
    said = await talk.ana.says("how do I rotate a key?", "dm")
    await talk.time.passes(minutes=1)
    await talk.ana.replies("please add a page on quotas", to=said)
    await talk.time.passes(minutes=1)
    assert STAYS not in talk.everything()
    assert len(talk.agent_got()) == 1


async def test_bot_without_context_asks_about_no_private_thread(talk: Talk) -> None:
    await talk.process.starts(context="none")
    _, note = await mentions(talk, "please fix the limits page", "secret", seconds=20)
    assert note is None
    assert talk.agent_got() == ["please fix the limits page"]
    talk.everything()


@pytest.mark.parametrize("text", ["^", "thoughts?"])
async def test_call_without_words_asks_what_to_do(talk: Talk, text: str) -> None:
    _, answer = await mentions(talk, text)
    assert answer == "What should I do with this thread?"
    assert answer.buttons == ["Write this thread up", "Answer it"]
    assert talk.agent_got() == []


async def test_thread_is_written_up_by_one_press(talk: Talk) -> None:
    _, answer = await mentions(talk, "^")
    await talk.ana.presses("Write this thread up", answer)
    await talk.time.passes(20)
    [prompt] = talk.agent_got()
    assert prompt.startswith("Write up what this thread says")
    assert SAID in prompt
    talk.everything()


async def test_thread_of_a_private_channel_is_written_up_by_a_form(talk: Talk) -> None:
    _, answer = await mentions(talk, "^", "secret")
    await talk.ana.presses("Write this thread up", answer)
    assert await talk.ana.fills_in(take_earlier="yes") == {}
    await talk.time.passes(20)
    [prompt] = talk.agent_got()
    assert SAID in prompt
    talk.everything()


async def test_last_words_of_a_thread_are_answered_by_one_press(talk: Talk) -> None:
    begun, answer = await mentions(talk, "thoughts?")
    await talk.ana.presses("Answer it", answer)
    await talk.time.passes(20)
    assert talk.service.questions == [(SAID, None)]
    assert "Rotate" in talk.thread(begun)[-1]
    assert talk.agent_got() == []
    talk.everything()


async def test_question_in_a_thread_is_answered_there(talk: Talk) -> None:
    begun, answer = await mentions(talk, "which plan has audit logs?", seconds=20)
    assert answer is None
    assert "Rotate" in talk.thread(begun)[-1]
    assert talk.agent_got() == []
    talk.everything()
