"""What Prometheus reads: every series from the start, and the figures of the rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import select, update

from bot.health.metrics import GAUGES, Metrics, Values, read_gauges
from bot.model.outbox import DeliveryKind, DeliveryState, NewDelivery
from bot.model.prompts import PromptState
from bot.model.quota import BackOff
from bot.store.schema import deliveries, heartbeats, jobs, prompts
from tests.builders import CHANNEL, NOW, PROJECT, execute, rows_of
from tests.work.conftest import office
from tests.work.office import Office
from tests.work.sites import BETA, open_sites

__all__ = ["office"]

BOT = Path(__file__).parents[2] / "bot"
_COUNT = re.compile(r'count\("(\w+)",\s*"(\w+)"\)')
_ARRIVED = re.compile(r'self\._listener\("(\w+)"')


def samples(metrics: Metrics) -> Mapping[tuple[str, str], float]:
    """Return the page's values by name and the value of the label."""
    return {
        (sample.name, ",".join(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(metrics.page()[0].decode())
        for sample in family.samples
    }


@pytest.fixture
async def waiting(office: Office) -> Office:
    """An office in which a job was asked for a minute ago, and nothing was done since."""
    await office.ask("Add a page")
    office.clock.pass_seconds(60)
    return office


async def gauges(office: Office) -> Values:
    return await office.store.read(lambda tx: read_gauges(office.context, tx))


async def gauge(office: Office, name: str, label: str = "") -> float:
    return (await gauges(office))[name][label]


def test_every_series_is_there_before_anything_happens() -> None:
    metrics = Metrics()
    metrics.expect_runs(["poll"])
    found = samples(metrics)
    assert found["docs_bot_deliveries_total", "sent"] == 0
    assert found["docs_bot_job_ends_total", "failed"] == 0
    assert found["docs_bot_run_seconds_count", "poll"] == 0
    assert found["docs_bot_run_failures_total", "poll"] == 0
    assert any(name == "docs_bot_build_info" for name, _ in found)
    assert found["process_resident_memory_bytes", ""] > 0


def test_what_the_code_counts_is_there_from_the_start() -> None:
    code = "".join(path.read_text() for path in BOT.rglob("*.py"))
    counted = {*_COUNT.findall(code), *(("requests", kind) for kind in _ARRIVED.findall(code))}
    assert {("prompts", "sent"), ("deliveries", "dead"), ("requests", "button")} <= counted
    metrics = Metrics()
    before = samples(metrics).keys()
    for what, how in counted:
        metrics.count(what, how)
    assert samples(metrics).keys() == before


def test_rows_that_cannot_be_read_are_missing_and_said_to_be() -> None:
    metrics = Metrics()
    metrics.set_rows({"quota_used": {"acme": 3}})
    assert samples(metrics)["docs_bot_quota_used", "acme"] == 3
    metrics.set_rows(None)
    found = samples(metrics)
    assert ("docs_bot_quota_used", PROJECT) not in found
    assert found["docs_bot_rows_read", ""] == 0
    assert found["docs_bot_deliveries_total", "sent"] == 0


async def test_nothing_waits_in_an_empty_database(office: Office) -> None:
    found = dict(await gauges(office))
    assert found.pop("quota_limit") == found.pop("analytics_calls_limit") == {PROJECT: 100}
    assert found.keys() == GAUGES.keys() - {
        "rows_read",
        "quota_limit",
        "analytics_calls_limit",
        "disk_free_bytes",
        "sockets",
    }
    assert {value for values in found.values() for value in values.values()} == {0}


async def test_a_prompt_is_as_old_as_its_request_whatever_its_next_attempt_is(waiting: Office) -> None:
    later = waiting.clock() + timedelta(hours=1)
    await execute(waiting.store, update(prompts).values(due_at=later))
    assert await gauge(waiting, "oldest_prompt_seconds") == 60
    await execute(waiting.store, update(prompts).values(state=PromptState.SENT))
    assert await gauge(waiting, "oldest_prompt_seconds") == 0


async def test_the_limits_and_the_key_are_told_for_each_of_several_projects(office: Office) -> None:
    await (await open_sites(office)).office.started("project:beta One")
    until = office.clock() + timedelta(seconds=9)
    await office.store.write(lambda tx: tx.back_offs.put(BETA.id, BackOff("Unauthorized", NOW, until)))
    metrics = Metrics()
    metrics.set_rows(await gauges(office))
    found = samples(metrics)
    assert {name: found["docs_bot_quota_used", name] for name in ("acme", "beta")} == {"acme": 1, "beta": 0}
    assert (found["docs_bot_key_refused", "acme"], found["docs_bot_key_refused", "beta"]) == (0, 1)


async def test_a_delivery_that_slack_puts_off_grows_old(office: Office) -> None:
    delivery = NewDelivery(key="d", kind=DeliveryKind.REPLY, channel=CHANNEL)
    await office.store.write(lambda tx: tx.outbox.add(delivery, office.clock()))
    office.clock.pass_seconds(300)
    await execute(office.store, update(deliveries).values(due_at=office.clock() + timedelta(hours=1)))
    assert await gauge(office, "oldest_delivery_seconds") == 300
    await execute(office.store, update(deliveries).values(state=DeliveryState.DEAD))
    assert await gauge(office, "oldest_delivery_seconds") == 0
    assert await gauge(office, "dead_letters") == 1
    await execute(office.store, update(deliveries).values(kind=DeliveryKind.REACTION))
    assert await gauge(office, "dead_letters") == 0, "nobody waits for a reaction"


async def test_a_question_without_an_answer_grows_old(office: Office) -> None:
    await office.visitors("last week")
    office.clock.pass_seconds(45)
    assert await gauge(office, "oldest_question_seconds") == 45


async def test_the_poll_that_is_most_late_is_told(waiting: Office) -> None:
    await execute(waiting.store, update(jobs).values(poll_at=waiting.clock() - timedelta(seconds=70)))
    assert await gauge(waiting, "most_overdue_poll_seconds") == 70
    assert await gauge(waiting, "open_jobs") == 1
    await execute(waiting.store, update(jobs).values(poll_at=waiting.clock() + timedelta(seconds=9)))
    assert await gauge(waiting, "most_overdue_poll_seconds") == 0


async def test_unconfirmed_prompts_and_a_refused_key_are_counted(waiting: Office) -> None:
    await execute(waiting.store, update(prompts).values(state=PromptState.UNCONFIRMED))
    until = waiting.clock() + timedelta(seconds=9)
    await waiting.store.write(lambda tx: tx.back_offs.put(PROJECT, BackOff("Unauthorized", NOW, until)))
    assert await gauge(waiting, "unconfirmed_prompts") == 1
    assert await gauge(waiting, "key_refused", PROJECT) == 1
    assert await gauge(waiting, "oldest_prompt_seconds") == 0, "a person decides"


async def test_both_limits_are_told_with_what_is_used(waiting: Office) -> None:
    waiting.limit(7)
    now = waiting.clock()
    await execute(waiting.store, update(prompts).values(state=PromptState.SENT, sent_at=now))
    await waiting.store.write(lambda tx: tx.budget.take(PROJECT, 3, now))
    await waiting.store.write(lambda tx: tx.quota.mark_exhausted(PROJECT, now + timedelta(seconds=9)))
    values = {"quota_used": 1, "quota_limit": 7, "quota_exhausted": True}
    values |= {"analytics_calls_used": 3, "analytics_calls_limit": 100}
    assert {name: await gauge(waiting, name, PROJECT) for name in values} == values


async def test_a_killed_worker_is_seen_gone_within_a_minute(office: Office) -> None:
    async def beat(process: str) -> None:
        await office.store.write(lambda tx: tx.heartbeats.beat(process, office.clock()))

    await beat("one")
    await beat("two")
    office.clock.pass_seconds(40)
    await beat("two")
    assert (await gauges(office))["worker_processes"] == {"alive": 2, "gone": 0}
    office.clock.pass_seconds(20)
    assert (await gauges(office))["worker_processes"] == {"alive": 1, "gone": 1}
    await office.store.release("one")
    assert await gauge(office, "worker_processes", "gone") == 0, "it has stopped in order"


async def test_heartbeats_of_long_ago_are_forgotten(office: Office) -> None:
    await office.store.write(lambda tx: tx.heartbeats.beat("old", NOW - timedelta(days=2)))
    await office.store.try_writing("door", NOW - timedelta(days=2))
    await office.store.write(lambda tx: tx.heartbeats.beat("new", NOW))
    await office.store.write(lambda tx: tx.heartbeats.forget(NOW))
    assert await office.store.read(lambda tx: tx.heartbeats.last(NOW)) == {"new": NOW}
    assert [row["process"] for row in await rows_of(office.store, select(heartbeats))] == ["new"]


def test_every_metric_says_on_its_page_what_it_means_and_the_docs_name_no_other() -> None:
    metrics = Metrics()
    metrics.set_rows({name: {} for name in GAUGES})
    metrics.set_check("database", True)
    page = metrics.page()[0].decode()
    named = set(re.findall(r"^# TYPE (docs_bot_\w+)", page, re.MULTILINE))
    assert set(re.findall(r"^# HELP (docs_bot_\w+) .{20,}\.$", page, re.MULTILINE)) == named
    docs = "".join(paper.read_text() for paper in (BOT.parent / "docs").glob("*.md"))
    assert set(re.findall(r"docs_bot_\w+(?=\{)", docs)) <= named
