"""Every slash command that the papers and the help show does what it is shown for."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from bot.features import COMMANDS
from bot.ids import UserId
from bot.jobs.store.tables import prompts
from tests.builders import rows_of
from tests.papers import DOCS, PAPERS, codes, rows, section, shown_in
from tests.work.office import Office
from tests.work.sites import open_sites

PLACEHOLDERS = {
    "PERIOD": "last week",
    "OPTIONS": "top 20 sort ai",
    "PROMPT": "Mention Python 3.11",
    "@docs-team": "<!subteam^S012AB3CD|@docs-team>",
}
"""What stands for a word that a paper leaves to the reader, or that Slack makes of it."""
PROMPTS = {
    "Mention Python 3.11",
    "Add a quickstart for the Python SDK",
    "jobs in the navigation are out of date",
    "Make the introduction shorter",
    "Mention Python 3.11 too",
}
"""All other texts must be words of the bot: a misspelt one would be sent to the agent as a prompt."""
_SORRY = (":no_entry:", ":warning:", "I don't know", "Did you mean")


def _shown() -> set[str]:
    papers = {each for paper in PAPERS for each in shown_in(paper.read_text()) if each.startswith("/docs-")}
    words = ((command.name, word.example or word.usage) for command in COMMANDS for word in command.all_words)
    return papers | {f"{name} {typed}".strip() for name, typed in words}


def _words() -> list[str]:
    """The words that docs/visitors.md explains in a table."""
    table = rows(section((DOCS / "visitors.md").read_text(), "Periods and options"))
    return [code for row in table for code in codes(row[0])]


async def _type(office: Office, shown: str) -> str | None:
    """Type a command as a person would; returns what is wrong with it."""
    # Later than what is the same: the bot would ask whether that is a slip.
    office.clock.pass_seconds(61)
    name, *words = shown.split()
    text = " ".join(PLACEHOLDERS.get(word, word) for word in words)
    if name not in {command.name for command in COMMANDS}:
        return "there is no such command"
    before = await _count_prompts(office)
    answer = await office.types(name, text)
    told = answer.message.text if answer.message else ""
    if told.startswith(_SORRY) or "so nothing was started" in told:
        return told
    is_sent = await _count_prompts(office) > before
    return "it would be sent as a prompt" if is_sent and text.removeprefix("42 ") not in PROMPTS else None


async def _count_prompts(office: Office) -> int:
    return len(await rows_of(office.store, select(prompts.c.id)))


@pytest.fixture
async def busy(office: Office) -> Office:
    """An office with two projects and the job 42, which the papers name. Others asked for those before it."""
    await open_sites(office)
    for number in range(1, 42):
        await office.ask(f"Write page {number}", user=UserId(f"U{number}"))
    await office.ask("Write page 42")
    return office


async def test_every_slash_command_that_is_shown_is_understood(busy: Office) -> None:
    wrong = {shown: await _type(busy, shown) for shown in sorted(_shown())}
    assert {shown: why for shown, why in wrong.items() if why} == {}


async def test_every_word_that_the_docs_explain_is_understood(busy: Office) -> None:
    words = _words()
    assert len(words) > 15
    wrong = {word: await _type(busy, f"/docs-visitors {word}") for word in words}
    assert {word: why for word, why in wrong.items() if why} == {}


async def test_a_slash_command_that_means_nothing_is_noticed(busy: Office) -> None:
    for shown in (
        "/docs-nothing",
        "/docs-agent stats 42",
        "/docs-agent show job 42 on the first page",
        "/docs-agent status 99",
        "/docs-followup list",
        "/docs-followup 99 PROMPT",
        "/docs-visitors lately",
        "/docs-visitors subscribe someday",
    ):
        assert await _type(busy, shown) is not None, shown
