"""Each alert fires when its trouble happens to rows, to Slack, to the docs service or to the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from sqlalchemy import text

from bot.ops.checks import Finding, SignatureCheck, SlackCheck, database_check, run_checks
from bot.ops.figures import read_figures
from bot.ops.metrics import Metrics
from bot.slack.errors import refused
from bot.store import Store
from bot.work.ports import SlackThrottled
from tests.builders import execute, new_store
from tests.ops.test_alerts import fired, samples, well
from tests.ops.test_checks import AskedSlack, utc_now
from tests.work.conftest import office
from tests.work.office import Office

__all__ = ["office"]
TEN_MINUTES = 600


async def beat(office: Office, *processes: str) -> None:
    """Let these processes say that they run workers."""
    for each in processes:
        await office.store.write(lambda tx, each=each: tx.heartbeats.beat(each, office.clock()))  # type: ignore[misc]


async def page(office: Office, **checks: Callable[[], Awaitable[Sequence[Finding]]]) -> Metrics:
    """Return what Prometheus reads of these rows and of what these checks find."""
    metrics = well()
    metrics.set_figures(await office.store.read(lambda tx: read_figures(office.context, tx)))
    for each in await run_checks(checks):
        metrics.set_check(each.name, each.ok)
    return metrics


def gauge(metrics: Metrics, name: str) -> float:
    """Return the highest value of a gauge."""
    return max(sample.value for sample in samples(metrics) if sample.name == name)


@pytest.fixture
async def before(office: Office) -> Metrics:
    """The page of an hour ago, on which nothing had happened yet."""
    await beat(office, "one", "two")
    metrics = await page(office)
    assert fired(metrics, metrics) == set()
    return metrics


async def test_requests_that_another_app_has_signed_make_a_ticket(office: Office, before: Metrics) -> None:
    signatures = SignatureCheck(before.count)
    for _ in range(5):
        signatures.note(False)
    assert fired(await page(office, signatures=signatures), before) == {"DocsBotSignaturesRefused"}


async def test_workers_that_were_stopped_and_not_started_again(office: Office, before: Metrics) -> None:
    for process in ("one", "two"):
        await office.store.release(process)
    assert fired(await page(office), before) == {"DocsBotNoWorker"}


async def test_a_worker_that_was_killed(office: Office, before: Metrics) -> None:
    office.clock.pass_seconds(60)
    await beat(office, "two")
    assert fired(await page(office), before) == {"DocsBotWorkerGone"}


async def test_a_database_that_another_program_has_locked(
    office: Office, before: Metrics, tmp_path: Path
) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/bot.db")
    await new_store(store.database)
    await execute(store, text("PRAGMA busy_timeout = 1"))
    with closing(sqlite3.connect(tmp_path / "bot.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        found = await page(office, database=database_check(store, "one", utc_now))
    await store.close()
    assert fired(found, before) == {"DocsBotDatabaseFails"}


async def test_a_token_that_was_revoked(office: Office, before: Metrics) -> None:
    slack = AskedSlack()
    slack.error = refused("token_revoked")
    found = await page(office, slack=SlackCheck(slack, required=True))
    assert fired(found, before) == {"DocsBotSlackRefuses"}


async def test_a_message_that_slack_puts_off(office: Office, before: Metrics) -> None:
    office.slack.trouble("post", SlackThrottled(2.0 * TEN_MINUTES, None))
    await office.ask("Add a page")
    await office.settle()
    office.clock.pass_seconds(TEN_MINUTES + 1)
    await beat(office, "one", "two")
    assert fired(await page(office), before) == {"DocsBotUndelivered"}


async def test_an_edit_that_slack_puts_off_gets_nobody_up(office: Office, before: Metrics) -> None:
    await office.started("Add a page")
    office.slack.trouble("edit", SlackThrottled(2.0 * TEN_MINUTES, None))
    office.docs.finish()
    await office.settle()
    office.clock.pass_seconds(TEN_MINUTES + 198)
    await beat(office, "one", "two")
    found = await page(office)
    assert gauge(found, "docs_bot_oldest_edit_seconds") >= 798
    assert "DocsBotUndelivered" not in fired(found, before)


async def test_a_docs_service_that_fails_is_told_until_it_answers_though_nobody_asks(
    office: Office, before: Metrics
) -> None:
    for prompt in ("Add a page", "Add another", "And a third"):
        await office.started(prompt)
    office.docs.answer_instead("get", *[httpx.Response(503)] * 1_000)
    for _ in range(80):
        await office.pass_time(10)
    await beat(office, "one", "two")
    assert fired(await page(office), before) == {"DocsBotDocsServiceFails"}
    office.clock.pass_seconds(300)
    await beat(office, "one", "two")
    found = await page(office)
    assert gauge(found, "docs_bot_held_projects") == 0
    assert fired(found, before) == {"DocsBotDocsServiceFails"}
    office.docs.instead.clear()
    await office.pass_time(600)
    await beat(office, "one", "two")
    assert fired(await page(office), before) == set()


async def test_one_call_that_failed_in_the_evening_gets_nobody_up_at_night(
    office: Office, before: Metrics
) -> None:
    office.docs.answer_instead("create", httpx.Response(503))
    await office.ask("Add a page")
    await office.settle()
    office.clock.pass_seconds(3600)
    await beat(office, "one", "two")
    assert "DocsBotDocsServiceFails" not in fired(await page(office), before)


async def test_a_prompt_that_was_lost_on_the_way_to_the_docs_service(office: Office, before: Metrics) -> None:
    office.docs.answer_instead("create", httpx.Response(500))
    await office.ask("Add a page")
    await office.settle()
    assert fired(await page(office), before) == {"DocsBotUnconfirmed"}


async def test_a_prompt_that_nobody_takes_up(office: Office, before: Metrics) -> None:
    await office.ask("Add a page")
    office.clock.pass_seconds(TEN_MINUTES + 1)
    await beat(office, "one", "two")
    assert fired(await page(office), before) == {"DocsBotPromptsStuck"}


async def test_prompts_that_wait_for_the_limit_get_nobody_up(office: Office, before: Metrics) -> None:
    office.limit(1)
    await office.started("Add a page")
    await office.started("Add another")
    office.docs.finish()
    await office.pass_time(TEN_MINUTES + 60)
    await beat(office, "one", "two")
    assert fired(await page(office), before) == {"DocsBotQuotaUsedUp"}


async def test_jobs_that_nobody_polls(office: Office, before: Metrics) -> None:
    await office.started("Add a page")
    office.clock.pass_seconds(2 * TEN_MINUTES)
    await beat(office, "one", "two")
    assert fired(await page(office), before) == {"DocsBotPollsLate"}


async def test_a_key_that_the_docs_service_refuses(office: Office, before: Metrics) -> None:
    office.docs.answer_instead("create", httpx.Response(401, json={"error": "expired"}))
    await office.ask("Add a page")
    await office.settle()
    assert fired(await page(office), before) == {"DocsBotKeyRefused"}


async def test_a_limit_that_is_used_up(office: Office, before: Metrics) -> None:
    office.limit(1)
    await office.started("Add a page")
    assert fired(await page(office), before) == {"DocsBotQuotaUsedUp"}


async def test_an_end_that_cannot_be_said_in_a_channel_that_is_archived(
    office: Office, before: Metrics
) -> None:
    await office.started("Add a page")
    office.slack.trouble("post", refused("is_archived"))
    office.docs.finish()
    await office.pass_time(60)
    await beat(office, "one", "two")
    assert fired(await page(office), before) == {"DocsBotDeadLetter"}
