"""A bot that may ask the docs."""

from __future__ import annotations

import pytest

from tests.services import LINK
from tests.talk import Talk
from tests.talk_people import Person, Shown

QUESTION = "How do I rotate an API key?"


@pytest.fixture
def talk(talk: Talk) -> Talk:
    """Return a conversation with a bot that may ask the docs."""
    talk.process.answers_questions()
    return talk


async def asks(talk: Talk, text: str = QUESTION, channel: str = "docs") -> Shown:
    """Let Ana ask by a mention, and read the answer in its thread."""
    asked = await talk.ana.says(f"@docs-agent {text}", channel)
    await talk.time.passes()
    assert talk.reactions(asked) == ["eyes"]
    return talk.thread(asked)[-1]


async def shares(talk: Talk) -> Shown:
    """Let Ana ask by a command, and share the answer in the channel; return its post there."""
    await talk.ana.asks(f"ask {QUESTION}")
    await talk.time.passes()
    talk.everything()
    await talk.ana.presses("Share")
    await talk.time.passes()
    return talk.status()


async def drafts(
    talk: Talk,
    label: str = "Draft it",
    on: Shown | None = None,
    *,
    by: Person | None = None,
    pr_link: str | None = LINK,
) -> None:
    """Let Ben or another person draft the answer to a question; the agent makes a pull request, or none."""
    person = by or talk.ben
    await person.presses(label, on)
    await person.fills_in()
    await talk.time.passes()
    await talk.ends(pr_link=pr_link)


async def merges(talk: Talk, by: str | None = "ana-b") -> None:
    """Let somebody merge the pull request, or close it if nobody is given; the bot learns of it."""
    talk.github.merge(talk.time.at, by)
    await talk.time.passes(minutes=12)
