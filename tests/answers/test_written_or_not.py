"""Askers read that the docs have it only once a change is merged or published."""

from __future__ import annotations

import pytest

from tests.answers.conftest import QUESTION, asks, drafts
from tests.talk import Talk


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    """Return a conversation with an answer that did not help Ana, and that Ben has noted as a gap."""
    await talk.ben.presses("Didn't help", await asks(talk))
    return talk


async def test_job_without_a_pull_request_writes_nothing(talk: Talk) -> None:
    await drafts(talk, pr_link=None)
    talk.everything()
    assert "It is written now" not in "\n".join(talk.all_replies())
    assert QUESTION in await talk.ben.answer_to("/docs-agent gaps")


async def test_pull_request_that_cannot_be_looked_at_writes_nothing(talk: Talk) -> None:
    await drafts(talk, pr_link="https://code.example/acme/docs/pull/1")
    await talk.time.passes(days=3)
    talk.everything()
    assert "It is written now" not in "\n".join(talk.all_replies())
