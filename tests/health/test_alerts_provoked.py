"""Each alert fires when its trouble happens to people's jobs, to Slack or to the docs service."""

from __future__ import annotations

import pytest

from tests.health.alerts import CHECKS, PROMTOOL, fired
from tests.talk import Talk

pytestmark = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")
READY = "".join(f'docs_bot_check_ok{{check="{check}"}} 1\n' for check in CHECKS)
"""The checks of a sound process, which a held bot does not make."""


async def page(talk: Talk) -> str:
    """Return the present page of metrics."""
    assert talk.process.bot is not None
    lines = (await talk.process.bot.metrics()).splitlines(keepends=True)
    return "".join(line for line in lines if "disk_free_bytes" not in line) + READY


@pytest.fixture
async def before(talk: Talk) -> str:
    """Return the page of an hour ago, before any job."""
    await talk.process.starts(uses_an_hour=3)
    await talk.works()
    before = await page(talk)
    assert fired(before, before=before) == set()
    return before


async def test_delayed_edit_fires_no_alert(talk: Talk, before: str) -> None:
    await talk.started()
    talk.faults.limits("chat.update", 600, times=3)
    await talk.ends()
    await talk.time.passes(minutes=13)
    assert "DocsBotWaits" not in fired(await page(talk), before=before)
    talk.everything()


async def test_delayed_post_fires_until_it_is_posted(talk: Talk, before: str) -> None:
    talk.faults.limits("chat.postMessage", 600, times=2)
    await talk.ana.asks("Add a page on keys")
    await talk.time.passes(minutes=11)
    assert fired(await page(talk), before=before) == {"DocsBotWaits"}
    await talk.time.passes(minutes=15)
    assert fired(await page(talk), before=before) == set()
    talk.everything()


async def test_failing_docs_service_fires_until_it_answers(talk: Talk, before: str) -> None:
    for prompt in ("Add a page on keys", "Add another"):
        await talk.started(prompt)
    talk.service.says("get", 503, times=10_000)
    await talk.time.passes(minutes=14)
    assert fired(await page(talk), before=before) == {"DocsBotDocsServiceFails"}
    talk.service.instead.clear()
    await talk.time.passes(minutes=15)
    assert fired(await page(talk), before=before) == set()
    talk.everything()


async def test_single_failed_call_fires_no_alert_later(talk: Talk, before: str) -> None:
    talk.service.says("create", 503)
    await talk.started()
    talk.time.is_set(hours=1)
    await talk.works()
    assert "DocsBotDocsServiceFails" not in fired(await page(talk), before=before)
    talk.everything()


async def test_refused_key_fires(talk: Talk, before: str) -> None:
    talk.service.says("create", 401, times=10_000)
    await talk.started()
    assert "DocsBotKeyRefused" in fired(await page(talk), before=before)
    talk.everything()
    talk.errors()


async def test_stuck_prompt_fires(talk: Talk, before: str) -> None:
    await talk.ana.asks("Add a page on keys")
    talk.time.is_set(minutes=11)
    assert fired(await page(talk), before=before) == {"DocsBotWaits"}


async def test_prompts_behind_limit_are_not_stuck(talk: Talk, before: str) -> None:
    for number in range(4):
        await talk.started(f"Add page {number}")
    await talk.ends()
    await talk.time.passes(minutes=12)
    assert fired(await page(talk), before=before) == set()
    talk.everything()


async def test_unconfirmed_prompt_needs_a_person(talk: Talk, before: str) -> None:
    talk.service.loses_the_answer()
    await talk.started()
    assert fired(await page(talk), before=before) == {"DocsBotNeedsPerson"}
    await talk.ana.presses("Dismiss")
    assert fired(await page(talk), before=before) == set()
    talk.everything()


async def test_dead_letter_needs_a_person(talk: Talk, before: str) -> None:
    await talk.started()
    talk.faults.refuses("chat.postMessage", "is_archived")
    await talk.ends()
    await talk.time.passes(60)
    assert fired(await page(talk), before=before) == {"DocsBotNeedsPerson"}
    talk.everything()
