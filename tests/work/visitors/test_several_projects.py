"""Visitors and digests where the bot serves several projects."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from bot.model.ids import PageKey, QuestionId
from bot.store.snapshots import path_hash
from tests.builders import ANA, CHANNEL
from tests.limits import HANG_SECONDS
from tests.work.asking import FIRST, LAST
from tests.work.drains import answer_questions, deliver_due, fetch_snapshots
from tests.work.office import Office
from tests.work.sites import ACME, BETA, Sites, open_sites
from tests.work.weekly import until

NEXT_MONDAY = datetime(2026, 11, 9, 9, 0, tzinfo=UTC)


@pytest.fixture
async def sites(office: Office) -> Sites:
    sites = await open_sites(office)
    office.docs.site.fill(3, FIRST, LAST)
    sites.beta.site.fill(5, FIRST, LAST)
    return sites


async def asked(sites: Sites, text: str = "") -> str:
    """Ask about visitors and return the answer, or what is said at once."""
    said = (await sites.office.visitors(text)).text
    before = len(sites.office.answers())
    await sites.office.reading(8)
    return said or "\n".join(sites.office.answers()[before:])


async def test_an_answer_is_of_the_channels_project_and_says_which(sites: Sites) -> None:
    assert "Who read the docs (Acme docs)" in await asked(sites, "compare none")
    assert sites.beta.calls == []
    await sites.office.types("/docs-agent", "project beta")
    assert "Who read the docs (Beta)" in await asked(sites, "compare none")
    assert "Who read the docs (Acme docs)" in await asked(sites, "compare none project:acme top 3")


async def test_a_name_that_is_not_known_asks_nothing_and_lists_those_that_are(sites: Sites) -> None:
    said = await asked(sites, "last week project:gamma")
    assert "I don't know the project “gamma”. I know `acme` (Acme docs), `beta` (Beta)." in said
    assert sites.office.docs.calls + sites.beta.calls == []


async def test_each_project_has_a_budget_and_key_health_of_its_own(sites: Sites) -> None:
    sites.office.budget(3)
    sites.beta.answer_instead("visitors", httpx.Response(401, json={"error": "no"}))
    assert "doesn't accept the bot's key" in await asked(sites, "compare none project:beta")
    assert "Who read the docs (Acme docs)" in await asked(sites, "compare none top 1")


async def test_projects_with_one_key_share_its_budget_of_calls(sites: Sites) -> None:
    await sites.serve(ACME, replace(BETA, counted_with=ACME.id))
    sites.office.budget(2)
    await asked(sites, "compare none project:acme top 1")
    await asked(sites, "compare none project:acme 2026-10-01")
    assert "of this hour are used" in await asked(sites, "compare none project:beta")
    assert sites.beta.calls == []
    limits = (await sites.office.types("/docs-agent", "limits")).message
    assert limits is not None
    assert limits.text.count("0 of 2 reads left") == 2


async def test_a_429_of_one_project_holds_the_calls_of_the_others_with_its_key(sites: Sites) -> None:
    await sites.serve(ACME, replace(BETA, counted_with=ACME.id))
    sites.office.docs.answer_instead("visitors", httpx.Response(429, headers={"Retry-After": "600"}, json={}))
    await asked(sites, "compare none project:acme")
    await asked(sites, "compare none project:beta")
    assert sites.beta.calls == []
    sites.office.clock.pass_seconds(600)
    assert "(Beta)" in await asked(sites, "compare none project:beta")


async def test_a_service_that_hangs_delays_no_answer_about_another_project(sites: Sites) -> None:
    office, hanging = sites.office, asyncio.get_running_loop().create_future()
    office.budget(20, page_size=2)
    office.docs.answer_instead("visitors", hanging)
    await office.visitors("compare none project:acme")
    await office.visitors("compare none project:beta")
    fetching = asyncio.create_task(fetch_snapshots(office.context))
    async with asyncio.timeout(HANG_SECONDS):
        # On a busy machine the other question may be told first that its numbers are being read.
        while not any("(Beta)" in answer for answer in office.answers()):
            await answer_questions(office.context)
            await deliver_due(office.context)
            office.clock.pass_seconds(0.1)
            await asyncio.sleep(0.01)
    assert not fetching.done()
    hanging.set_result(httpx.Response(503))
    await fetching


async def test_a_project_that_cannot_be_served_stops_no_other_and_is_told(sites: Sites) -> None:
    def broken() -> float:
        raise RuntimeError("no chance")

    sites.office.context = replace(sites.office.context, chance=broken)
    sites.office.docs.answer_instead("visitors", httpx.Response(503))
    await sites.office.visitors("compare none project:acme")
    await sites.office.visitors("compare none project:beta")
    with pytest.raises(RuntimeError, match="no chance"):
        await fetch_snapshots(sites.office.context)
    assert sites.beta.calls == ["visitors"]


async def test_a_page_of_a_project_is_improved_in_that_project(sites: Sites) -> None:
    await asked(sites, "compare none project:beta")
    question = await sites.office.store.read(lambda tx: tx.questions.get(QuestionId(1)))
    assert question is not None
    key = PageKey(f"{question.now}:{path_hash('/page-0')}")
    known = await sites.office.store.read(lambda tx: tx.pages.one(key))
    assert known is not None
    assert known[2] == BETA.id
    modal = (await sites.office.press("improve", f"page:{key}")).modal
    assert modal is not None
    choice = next(each for each in modal["blocks"] if each.get("block_id") == "project")
    assert choice["element"]["initial_option"]["value"] == "beta"


async def test_a_channel_subscribes_to_each_project_and_ends_one_of_them(sites: Sites) -> None:
    await asked(sites, "subscribe monday 09:00 UTC")
    await asked(sites, "subscribe monday 09:00 UTC project:beta")
    assert "already gets a digest" in await asked(sites, "subscribe monday 09:00 UTC project:beta")
    listed = (await sites.office.visitors("subscriptions")).text
    assert "for Acme docs" in listed
    assert "for Beta" in listed
    await until(sites.office, NEXT_MONDAY)
    posted = [text for text in sites.office.posted() if "in the week" in text]
    assert sorted(text.split(" in the week")[0] for text in posted) == ["*Acme docs", "*Beta"]
    await asked(sites, "unsubscribe project:acme")
    [left] = await sites.office.store.read(lambda tx: tx.subscriptions.in_channel(CHANNEL))
    assert left.project == BETA.id


async def test_a_digest_of_a_project_is_sent_once_in_a_moment_and_another_projects_is_another(
    sites: Sites,
) -> None:
    await sites.office.visitors("digest now project:beta path /p")
    again = await sites.office.visitors("digest now project:beta path /p")
    assert "for Beta, `/p` a moment ago" in again.text
    other = await sites.office.visitors("digest now path /p")
    assert "on its way" in other.text


async def test_the_digest_of_a_project_that_is_served_no_more_ends_with_one_note(sites: Sites) -> None:
    await asked(sites, "subscribe monday 09:00 UTC project:beta")
    await sites.serve(ACME)
    for week in range(3):
        await until(sites.office, NEXT_MONDAY + timedelta(days=7 * week, minutes=5))
    notes = [text for text in sites.office.answers() if "no longer set up here" in text]
    notes += [message.text for user, message, _ in sites.office.slack.direct if user == ANA]
    assert len(notes) == 1, notes
    assert "The weekly digest of beta-docs for <#C0DOCS> has ended" in notes[0]
    assert sites.beta.calls == []
    assert await sites.office.store.read(lambda tx: tx.subscriptions.in_channel(CHANNEL)) == []


async def test_a_digest_that_was_read_ahead_is_not_posted_once_its_project_is_served_no_more(
    sites: Sites,
) -> None:
    await asked(sites, "subscribe monday 09:00 UTC project:beta")
    posted = len(sites.office.slack.posts)
    await until(sites.office, NEXT_MONDAY - timedelta(hours=1))
    assert sites.beta.calls
    await sites.serve(ACME)
    await until(sites.office, NEXT_MONDAY + timedelta(minutes=5))
    assert len(sites.office.slack.posts) == posted
    told = [message.text for _, message, _ in sites.office.slack.direct]
    assert any("no longer set up here" in text for text in [*sites.office.answers(), *told])


async def test_a_question_about_a_project_that_is_served_no_more_is_answered(sites: Sites) -> None:
    await sites.office.visitors("compare none project:beta")
    await sites.serve(ACME)
    await sites.office.reading(8)
    assert "these docs are no longer set up here" in sites.office.answers()[-1]
    assert sites.beta.calls == []
