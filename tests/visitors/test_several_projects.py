"""Visitors and digests where the bot serves several projects."""

from __future__ import annotations

import json

import pytest

from tests.services import BETA_KEY
from tests.site import Site
from tests.talk import Talk
from tests.work.readers import FIRST, LAST, asked, digests, subscribe, until

ACME, BETA = {"id": "acme-docs", "label": "Acme docs"}, {"id": "beta-docs", "label": "Beta"}
BOTH, ONLY_ACME = json.dumps({"acme": ACME, "beta": BETA}), json.dumps({"acme": ACME})
TWO_KEYS = json.dumps({"acme": ACME, "beta": {**BETA, "key": BETA_KEY}})
CALLS_OF_BOTH = pytest.mark.parametrize("keys", [BOTH, TWO_KEYS])


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    """Return a conversation with a bot for two projects, Acme's by default, with a key for each."""
    talk.service.site.fill(3, FIRST, LAST)
    talk.service.sites["beta-docs"] = Site()
    talk.service.sites["beta-docs"].fill(5, FIRST, LAST)
    await talk.process.starts(docs_projects=TWO_KEYS)
    return talk


async def serves(talk: Talk, projects: str, **settings: object) -> None:
    """Restart the bot with other projects."""
    await talk.process.stops()
    await talk.process.starts(docs_projects=projects, **settings)


def calls_of_beta(talk: Talk) -> int:
    return len(talk.service.sites["beta-docs"].calls)


async def test_answer_is_about_the_channels_project(talk: Talk) -> None:
    assert "Who read the docs (Acme docs)" in await asked(talk, "compare none")
    assert calls_of_beta(talk) == 0
    await talk.ana.types("/docs-agent project beta")
    talk.everything()
    answer = await asked(talk, "compare none")
    assert "Who read the docs (Beta)" in answer
    await talk.ana.presses("/page-0 · 1", on=answer)
    assert "Beta" in talk.ana.form()
    [choice] = [
        block for block in talk.ana.form().message["blocks"] if block.get("block_id") == "project"
    ]
    assert choice["element"]["initial_option"]["value"] == "beta"
    assert "Who read the docs (Acme docs)" in await asked(talk, "compare none project:acme top 3")


async def test_unknown_project_makes_no_calls(talk: Talk) -> None:
    answer = await asked(talk, "last week project:gamma")
    assert "I don't know the project “gamma”. I know `acme` (Acme docs), `beta` (Beta)." in answer
    assert talk.service.calls == []


async def test_refused_key_of_one_project_holds_no_other(talk: Talk) -> None:
    talk.service.says("visitors", 401)
    assert "doesn't accept the bot's key" in await asked(talk, "compare none project:beta")
    assert "Who read the docs (Acme docs)" in await asked(talk, "compare none top 1")


@CALLS_OF_BOTH
async def test_projects_with_one_key_share_its_budget_of_calls(talk: Talk, keys: str) -> None:
    await serves(talk, keys, analytics_calls_an_hour=2)
    await asked(talk, "compare none project:acme top 1")
    await asked(talk, "compare none project:acme 2026-10-01")
    answer = await asked(talk, "compare none project:beta")
    assert ("of this hour are used" in answer) == (keys == BOTH)
    assert bool(calls_of_beta(talk)) == (keys != BOTH)
    assert (await talk.ana.answer_to("/docs-agent limits")).count("0 of 2 reads left") == 1 + (
        keys == BOTH
    )


@CALLS_OF_BOTH
async def test_429_holds_all_projects_with_the_key(talk: Talk, keys: str) -> None:
    await serves(talk, keys)
    talk.service.says("visitors", 429, seconds=600)
    await talk.ana.types("/docs-visitors compare none project:acme")
    await talk.time.passes(1)
    await talk.ana.types("/docs-visitors compare none project:beta")
    await talk.time.passes(60)
    assert bool(calls_of_beta(talk)) == (keys != BOTH)
    await talk.time.passes(600)
    assert any(
        "(Beta)" in answer for answer in [*talk.ana.reads(), await asked(talk, "project:beta")]
    )


async def test_hanging_service_delays_no_other_project(talk: Talk) -> None:
    talk.service.hangs("visitors")
    await talk.ana.types("/docs-visitors compare none project:acme")
    await talk.time.passes(1)
    await talk.ben.types("/docs-visitors compare none project:beta")
    await talk.time.passes(20)
    assert "(Beta)" in talk.ben.reads()[-1]
    talk.everything()


async def test_channel_has_a_digest_of_each_project(talk: Talk) -> None:
    await subscribe(talk)
    await subscribe(talk, "monday 09:00 UTC project:beta")
    again = await talk.ana.answer_to("/docs-visitors subscribe monday 09:00 UTC project:beta")
    assert "A digest comes here already" in again
    listed = await talk.ana.answer_to("/docs-visitors subscriptions")
    assert "for Acme docs" in listed
    assert "for Beta" in listed
    await until(talk, 9)
    names = sorted(post.split(",")[0] for post in digests(talk))
    assert names == ["*Your docs (Acme docs)", "*Your docs (Beta)"]
    await talk.ana.types("/docs-visitors unsubscribe project:acme")
    talk.everything()
    listed = await talk.ana.answer_to("/docs-visitors subscriptions")
    assert ("for Acme docs" in listed, "for Beta" in listed) == (False, True)


async def test_digest_of_a_removed_project_ends_with_one_note(talk: Talk) -> None:
    await subscribe(talk, "monday 09:00 UTC project:beta")
    await serves(talk, ONLY_ACME)
    for day in (9, 16, 23):
        await until(talk, day, 9, 5)
    [note] = talk.ana.reads()
    assert "The weekly digest of beta-docs for <#C01DOCS> has ended" in note
    assert "no longer set up here" in note
    assert calls_of_beta(talk) == 0
    assert "No digest comes here yet" in await talk.ana.answer_to("/docs-visitors subscriptions")
    assert talk.errors() == {"digest_missed"}


async def test_read_digest_of_a_removed_project_is_not_posted(talk: Talk) -> None:
    await subscribe(talk, "monday 09:00 UTC project:beta")
    await until(talk, 9, 8)
    assert calls_of_beta(talk)
    await serves(talk, ONLY_ACME)
    await until(talk, 9, 9, 5)
    assert digests(talk) == []
    assert "no longer set up here" in talk.ana.reads()[-1]
    assert talk.errors() == {"digest_missed"}


async def test_question_about_a_removed_project_is_answered(talk: Talk) -> None:
    talk.service.says("visitors", 429, seconds=5)
    await talk.ana.types("/docs-visitors compare none project:beta")
    await serves(talk, ONLY_ACME)
    await talk.time.passes(20)
    assert "these docs are no longer set up here" in talk.ana.reads()[-1]
    assert calls_of_beta(talk) == 0
