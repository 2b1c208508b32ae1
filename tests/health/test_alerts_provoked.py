"""Each alert fires when its trouble happens to rows, to Slack, to the docs service or to the database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import httpx
import pytest

from bot.health.checks import Finding, run_checks
from bot.health.metrics import Metrics, read_gauges
from bot.slack.client import refused
from bot.work.ports import SlackThrottled
from tests.health.alerts import PROMTOOL, fired, well
from tests.work.conftest import office
from tests.work.office import Office

__all__ = ["office"]
pytestmark = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")
TEN_MINUTES = 600


async def beat(office: Office, *processes: str) -> None:
    """Let these processes say that they run workers."""
    for each in processes:
        await office.store.write(lambda tx, each=each: tx.heartbeats.beat(each, office.clock()))  # type: ignore[misc]


async def page(office: Office, **checks: Callable[[], Awaitable[Sequence[Finding]]]) -> Metrics:
    """Return what Prometheus reads of these rows and of what these checks find."""
    metrics = well()
    metrics.set_rows(await office.store.read(lambda tx: read_gauges(office.context, tx)))
    for each in await run_checks(checks):
        metrics.set_check(each.name, each.ok)
    return metrics


@pytest.fixture
async def before(office: Office) -> Metrics:
    """The page of an hour ago, on which nothing had happened yet."""
    await beat(office, "one", "two")
    metrics = await page(office)
    assert fired(metrics, before=metrics) == set()
    return metrics


async def test_an_edit_that_slack_puts_off_gets_nobody_up(office: Office, before: Metrics) -> None:
    await office.started("Add a page")
    office.slack.trouble("edit", SlackThrottled(2.0 * TEN_MINUTES, None))
    office.docs.finish()
    await office.settle()
    office.clock.pass_seconds(TEN_MINUTES + 198)
    await beat(office, "one", "two")
    assert "DocsBotUndelivered" not in fired(await page(office), before=before)


async def test_a_docs_service_that_fails_is_told_until_it_answers_though_nobody_asks(
    office: Office, before: Metrics
) -> None:
    for prompt in ("Add a page", "Add another", "And a third"):
        await office.started(prompt)
    office.docs.answer_instead("get", *[httpx.Response(503)] * 1_000)
    for _ in range(80):
        await office.pass_time(10)
    await beat(office, "one", "two")
    assert fired(await page(office), before=before) == {"DocsBotDocsServiceFails"}
    office.clock.pass_seconds(300)
    await beat(office, "one", "two")
    found = await page(office)
    assert fired(found, before=before) == {"DocsBotDocsServiceFails"}
    office.docs.instead.clear()
    await office.pass_time(600)
    await beat(office, "one", "two")
    assert fired(await page(office), before=before) == set()


async def test_one_call_that_failed_in_the_evening_gets_nobody_up_at_night(
    office: Office, before: Metrics
) -> None:
    office.docs.answer_instead("create", httpx.Response(503))
    await office.ask("Add a page")
    await office.settle()
    office.clock.pass_seconds(3600)
    await beat(office, "one", "two")
    assert "DocsBotDocsServiceFails" not in fired(await page(office), before=before)


async def test_a_prompt_that_nobody_takes_up(office: Office, before: Metrics) -> None:
    await office.ask("Add a page")
    office.clock.pass_seconds(TEN_MINUTES + 1)
    await beat(office, "one", "two")
    assert fired(await page(office), before=before) == {"DocsBotPromptsStuck"}


async def test_prompts_that_wait_for_the_limit_get_nobody_up(office: Office, before: Metrics) -> None:
    office.limit(1)
    await office.started("Add a page")
    await office.started("Add another")
    office.docs.finish()
    await office.pass_time(TEN_MINUTES + 60)
    await beat(office, "one", "two")
    assert fired(await page(office), before=before) == {"DocsBotQuotaUsedUp"}


async def test_an_end_that_cannot_be_said_in_a_channel_that_is_archived(
    office: Office, before: Metrics
) -> None:
    await office.started("Add a page")
    office.slack.trouble("post", refused("is_archived"))
    office.docs.finish()
    await office.pass_time(60)
    await beat(office, "one", "two")
    assert fired(await page(office), before=before) == {"DocsBotDeadLetter"}
