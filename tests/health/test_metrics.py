"""What Prometheus reads: every series from the start, and the figures of the rows."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import select

from bot.health.metrics import GAUGES, Metrics
from bot.store.heartbeats import Heartbeats, heartbeats
from tests.builders import NOW, new_store, rows_of
from tests.talk import Talk

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


async def gauge(talk: Talk, name: str) -> float:
    """Return a gauge of the bot, or of its one project; -1 without it."""
    found = await talk.metrics()
    return found.get(name, found.get(f"{name} acme-docs", -1))


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


async def test_gauges_of_the_database_are_missing_while_it_fails(talk: Talk) -> None:
    await talk.process.starts()
    with talk.database_fails("jobs"):
        found = await talk.metrics()
    assert found["rows_read"] == 0
    assert "open_jobs" not in found
    assert found["requests_total command"] == 0
    assert await gauge(talk, "rows_read") == 1


async def test_a_prompt_is_as_old_as_its_request_whatever_its_next_attempt_is(talk: Talk) -> None:
    talk.service.says("create", 429, seconds=300)
    await talk.ana.asks("Add a page")
    await talk.time.passes(60)
    assert await gauge(talk, "oldest_prompt_seconds") == 60
    await talk.time.passes(minutes=6)
    assert talk.agent_got() == ["Add a page"]
    assert await gauge(talk, "oldest_prompt_seconds") == 0
    talk.status()


async def test_the_limits_and_the_key_are_told_for_each_of_several_projects(talk: Talk) -> None:
    both = {name: {"id": f"{name}-docs", "label": name} for name in ("acme", "beta")}
    await talk.process.starts(docs_projects=json.dumps(both), uses_an_hour=7)
    await talk.started("Write one")
    talk.service.says("create", 401)
    await talk.started("project:beta Write two")
    found = await talk.metrics()
    assert [found[f"quota_used {name}"] for name in both] == [1, 0]
    assert [found[f"quota_limit {name}"] for name in both] == [7, 7]
    assert [found[f"key_refused {name}"] for name in both] == [0, 1]
    talk.everything()
    talk.errors()


async def test_a_delivery_that_slack_puts_off_grows_old(talk: Talk) -> None:
    talk.faults.limits("chat.postMessage", 3_600)
    talk.faults.refuses("chat.postMessage", "is_archived")
    await talk.ana.asks("Add a page")
    await talk.time.passes(300)
    assert await gauge(talk, "oldest_delivery_seconds") == 300
    await talk.time.passes(hours=2)
    assert await gauge(talk, "oldest_delivery_seconds") == 0
    assert await gauge(talk, "dead_letters") == 1
    talk.everything()


async def test_a_question_without_an_answer_grows_old(talk: Talk) -> None:
    await talk.process.starts()
    talk.service.hangs("visitors")
    await talk.ana.types("/docs-visitors last week")
    await talk.time.passes(45)
    assert await gauge(talk, "oldest_question_seconds") == 45
    talk.everything()


async def test_the_poll_that_is_most_late_is_told(talk: Talk) -> None:
    await talk.started()
    talk.status()
    assert await gauge(talk, "most_overdue_poll_seconds") == 0
    talk.time.is_set(minutes=5)
    assert 280 < await gauge(talk, "most_overdue_poll_seconds") < 300
    assert await gauge(talk, "open_jobs") == 1


async def test_a_prompt_in_doubt_is_unconfirmed_and_no_longer_waits(talk: Talk) -> None:
    talk.service.loses_the_answer()
    await talk.ana.asks("Add a page")
    await talk.time.passes(minutes=5)
    assert await gauge(talk, "unconfirmed_prompts") == 1
    assert await gauge(talk, "oldest_prompt_seconds") == 0, "a person decides"
    talk.everything()


@pytest.mark.parametrize("is_killed", [True, False])
async def test_a_killed_worker_is_seen_gone_within_a_minute(talk: Talk, is_killed: bool) -> None:
    await talk.time.passes(20)
    if is_killed:
        talk.process.dies()
    else:
        await talk.process.stops()
    await talk.process.starts()
    await talk.time.passes(20)
    found = await talk.metrics()
    assert (found["worker_processes alive"], found["worker_processes gone"]) == (1 + is_killed, 0)
    await talk.time.passes(40)
    found = await talk.metrics()
    assert (found["worker_processes alive"], found["worker_processes gone"]) == (1, is_killed)


async def test_heartbeats_of_long_ago_are_forgotten() -> None:
    store = await new_store()
    await store.write(lambda tx: Heartbeats(tx).beat("old", NOW - timedelta(days=2)))
    await store.try_writing("door", NOW - timedelta(days=2))
    await store.write(lambda tx: Heartbeats(tx).beat("new", NOW))
    await store.write(lambda tx: Heartbeats(tx).forget(NOW))
    assert await store.read(lambda tx: Heartbeats(tx).last(NOW)) == {"new": NOW}
    assert [row["process"] for row in await rows_of(store, select(heartbeats))] == ["new"]
    await store.close()


def test_every_metric_says_on_its_page_what_it_means_and_the_docs_name_no_other() -> None:
    metrics = Metrics()
    metrics.set_rows({name: {} for name in GAUGES})
    metrics.set_check("database", True)
    page = metrics.page()[0].decode()
    named = set(re.findall(r"^# TYPE (docs_bot_\w+)", page, re.MULTILINE))
    assert set(re.findall(r"^# HELP (docs_bot_\w+) .{20,}\.$", page, re.MULTILINE)) == named
    docs = "".join(paper.read_text() for paper in (BOT.parent / "docs").glob("*.md"))
    assert set(re.findall(r"docs_bot_\w+(?=\{)", docs)) <= named
