"""The metrics for Prometheus: every series from the start, and the gauges of the rows."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from bot.health.metrics import GAUGES, Metrics
from tests.talk import Talk

BOT = Path(__file__).parents[2] / "bot"
_COUNT = re.compile(r'count\("(\w+)",\s*"(\w+)"\)')
_ARRIVED = re.compile(r'self\._listener\("(\w+)"')


def samples(metrics: Metrics) -> Mapping[tuple[str, str], float]:
    """Return the values of the page by name and label."""
    return {
        (sample.name, ",".join(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(metrics.page()[0].decode())
        for sample in family.samples
    }


async def gauge(talk: Talk, name: str) -> float:
    """Return a gauge of the bot, or of its one project; -1 without it."""
    metrics = await talk.metrics()
    return metrics.get(name, metrics.get(f"{name} acme-docs", -1))


def test_every_series_exists_from_start() -> None:
    metrics = Metrics()
    metrics.expect_runs(["poll"])
    values = samples(metrics)
    assert values["docs_bot_deliveries_total", "sent"] == 0
    assert values["docs_bot_job_ends_total", "failed"] == 0
    assert values["docs_bot_run_seconds_count", "poll"] == 0
    assert values["docs_bot_run_failures_total", "poll"] == 0
    assert any(name == "docs_bot_build_info" for name, _ in values)
    assert values["process_resident_memory_bytes", ""] > 0


def test_every_count_in_code_exists_from_start() -> None:
    code = "".join(path.read_text() for path in BOT.rglob("*.py"))
    counted = {*_COUNT.findall(code), *(("requests", kind) for kind in _ARRIVED.findall(code))}
    assert {("prompts", "sent"), ("deliveries", "dead"), ("requests", "button")} <= counted
    metrics = Metrics()
    before = samples(metrics).keys()
    for name, label in counted:
        metrics.count(name, label)
    assert samples(metrics).keys() == before


async def test_gauges_of_rows_are_missing_while_database_fails(talk: Talk) -> None:
    await talk.process.starts()
    with talk.database_fails("jobs"):
        metrics = await talk.metrics()
    assert metrics["rows_read"] == 0
    assert "open_jobs" not in metrics
    assert metrics["requests_total command"] == 0
    assert await gauge(talk, "rows_read") == 1


async def test_age_of_prompt_begins_with_its_request(talk: Talk) -> None:
    talk.service.says("create", 429, seconds=300)
    await talk.ana.asks("Add a page")
    await talk.time.passes(60)
    assert await gauge(talk, "oldest_prompt_seconds") == 60
    await talk.time.passes(minutes=6)
    assert talk.agent_got() == ["Add a page"]
    assert await gauge(talk, "oldest_prompt_seconds") == 0
    talk.status()


async def test_each_project_has_limit_and_key_gauges(talk: Talk) -> None:
    both = {name: {"id": f"{name}-docs", "label": name} for name in ("acme", "beta")}
    await talk.process.starts(docs_projects=json.dumps(both), uses_an_hour=7)
    await talk.started("Write one")
    talk.service.says("create", 401)
    await talk.started("project:beta Write two")
    metrics = await talk.metrics()
    assert [metrics[f"quota_used {name}"] for name in both] == [1, 0]
    assert [metrics[f"quota_limit {name}"] for name in both] == [7, 7]
    assert [metrics[f"key_refused {name}"] for name in both] == [0, 1]
    talk.everything()
    talk.errors()


async def test_delayed_delivery_grows_old(talk: Talk) -> None:
    talk.faults.limits("chat.postMessage", 3_600)
    talk.faults.refuses("chat.postMessage", "is_archived")
    await talk.ana.asks("Add a page")
    await talk.time.passes(300)
    assert await gauge(talk, "oldest_delivery_seconds") == 300
    await talk.time.passes(hours=2)
    assert await gauge(talk, "oldest_delivery_seconds") == 0
    assert await gauge(talk, "dead_letters") == 1
    talk.everything()


async def test_unanswered_question_grows_old(talk: Talk) -> None:
    await talk.process.starts()
    talk.service.hangs("visitors")
    await talk.ana.types("/docs-visitors last week")
    await talk.time.passes(45)
    assert await gauge(talk, "oldest_question_seconds") == 45
    talk.everything()


async def test_latest_poll_has_gauge(talk: Talk) -> None:
    await talk.started()
    talk.status()
    assert await gauge(talk, "most_overdue_poll_seconds") == 0
    talk.time.is_set(minutes=5)
    assert 280 < await gauge(talk, "most_overdue_poll_seconds") < 300
    assert await gauge(talk, "open_jobs") == 1


async def test_unconfirmed_prompt_no_longer_waits(talk: Talk) -> None:
    talk.service.loses_the_answer()
    await talk.ana.asks("Add a page")
    await talk.time.passes(minutes=5)
    assert await gauge(talk, "unconfirmed_prompts") == 1
    assert await gauge(talk, "oldest_prompt_seconds") == 0, "a person decides"
    talk.everything()


def test_every_metric_has_help_and_docs_name_no_other() -> None:
    metrics = Metrics()
    metrics.set_rows({name: {} for name in GAUGES})
    metrics.set_check("database", True)
    page = metrics.page()[0].decode()
    named = set(re.findall(r"^# TYPE (docs_bot_\w+)", page, re.MULTILINE))
    assert set(re.findall(r"^# HELP (docs_bot_\w+) .{20,}\.$", page, re.MULTILINE)) == named
    docs = "".join(paper.read_text() for paper in (BOT.parent / "docs").glob("*.md"))
    assert set(re.findall(r"docs_bot_\w+(?=\{)", docs)) <= named
