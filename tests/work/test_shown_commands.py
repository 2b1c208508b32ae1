"""Every slash command that the papers and the help show does what it is shown for."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from tests.papers import DOCS, PAPERS, codes, rows, section, shown_in
from tests.talk import Talk

NAMES = ("acme", "beta")
PLACEHOLDERS = {
    "42": "1",
    "PERIOD": "last week",
    "OPTIONS": "top 20 sort ai",
    "PROMPT": "Mention Python 3.11",
    "@docs-team": "@writers",
}
"""Replacements of words that a paper leaves to the reader."""
PROMPTS = {
    "Write page 1",
    "Mention Python 3.11",
    "Add a quickstart for the Python SDK",
    "jobs in the navigation are out of date",
    "Make the introduction shorter",
    "Mention Python 3.11 too",
}
"""All other texts must be words of the bot: a misspelt one would be sent to the agent as a prompt."""
_SORRY = (":no_entry:", ":warning:", "I don't know", "Did you mean")
_NOTHING = ("so nothing was started", "is not a valid command")


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    """A conversation with two projects and a job of Ana's."""
    await talk.process.starts(
        docs_projects=json.dumps({name: {"id": f"{name}-docs"} for name in NAMES}),
        admins=talk.ana.id,  # some commands are for them alone
    )
    await talk.started("Write page 1")
    talk.everything()
    return talk


async def _shown(talk: Talk) -> set[str]:
    """Return the commands in the papers and in the whole help."""
    await talk.ana.presses("More", on=await talk.ana.answer_to("/docs-agent help"))
    texts = [*(paper.read_text() for paper in PAPERS), talk.ana.form()]
    return {shown for text in texts for shown in shown_in(text) if shown.startswith("/docs-")}


def _words() -> list[str]:
    """The words that docs/visitors.md explains in a table."""
    table = rows(section((DOCS / "visitors.md").read_text(), "Periods and options"))
    return [code for row in table for code in codes(row[0])]


async def _wrong(talk: Talk, lines: Iterable[str]) -> dict[str, str]:
    """Type commands as a person would; return the wrong ones and what is wrong with them."""
    wrong: dict[str, str] = {}
    for shown in lines:
        talk.time.is_set(seconds=61)  # sooner the bot would ask whether it is a slip
        line = " ".join(PLACEHOLDERS.get(word, word) for word in shown.split())
        await talk.ana.types(line)
        for answer in talk.ana.reads():
            if answer.startswith(_SORRY) or any(part in answer for part in _NOTHING):
                wrong[shown] = answer
        talk.slack.state.views.clear()
    await talk.time.passes(minutes=5)
    sent = set(talk.agent_got()) - PROMPTS
    talk.everything()
    return wrong | dict.fromkeys(sent, "it would be sent as a prompt")


async def test_slash_commands_that_are_shown_are_understood(talk: Talk) -> None:
    shown = await _shown(talk)
    assert len(shown) > 30
    assert await _wrong(talk, sorted(shown)) == {}


async def test_words_that_the_docs_explain_are_understood(talk: Talk) -> None:
    words = _words()
    assert len(words) > 15
    assert await _wrong(talk, (f"/docs-visitors {word}" for word in words)) == {}


async def test_slash_commands_that_mean_nothing_are_noticed(talk: Talk) -> None:
    lines = (
        "/docs-nothing",
        "/docs-agent show job 42 on the first page",
        "/docs-agent status 99",
        "/docs-followup list",
        "/docs-followup 99 PROMPT",
        "/docs-visitors lately",
        "/docs-visitors subscribe someday",
    )
    assert len(await _wrong(talk, lines)) == len(lines)
