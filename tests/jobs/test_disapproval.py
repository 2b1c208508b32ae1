"""A no in a job's thread is never met with silence, and never taken for a yes."""

from __future__ import annotations

import pytest

from tests.talk import Talk

ASKED_BACK = "What should change? Reply with what it should say."


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    """A conversation in which a job has ended."""
    await talk.finished()
    return talk


async def reply(talk: Talk, text: str) -> tuple[list[str], list[str]]:
    """Let Ana reply, and return her private answers and the follow-ups."""
    await talk.ana.replies(text)
    await talk.time.passes(60)
    answers = [str(answer) for answer in talk.ana.reads()]
    talk.everything()
    return answers, talk.agent_got()[1:]


@pytest.mark.parametrize(
    "text",
    [
        "hm no",
        "nah",
        "not really",
        "no, that is bad",
        "that is incorrect",
        "this isn't right",
        "it's worse than before",
        "I think this is wrong",
        "it is wrong",
    ],
)
async def test_no_without_a_fact_is_asked_about(talk: Talk, text: str) -> None:
    assert await reply(talk, text) == ([ASKED_BACK], [])


@pytest.mark.parametrize(
    "text",
    [
        "it should be 100",
        "the limit is 100 now",
        "Ben says it's 100",
        "should be per minute",
        "we renamed it last week",
    ],
)
async def test_no_with_a_fact_is_sent(talk: Talk, text: str) -> None:
    assert await reply(talk, text) == ([], [text])


@pytest.mark.parametrize(
    "text", ["that isn't what we do", "this is not how it works", "doesn't look right to me"]
)
async def test_objection_gets_a_reaction(talk: Talk, text: str) -> None:
    answers, follow_ups = await reply(talk, text)
    assert answers or follow_ups
