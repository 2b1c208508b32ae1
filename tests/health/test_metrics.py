"""The metrics for Prometheus: the gauges of the rows, and what they show of people's work."""

from __future__ import annotations

import json
import re
from pathlib import Path

from bot.health.metrics import GAUGES, Metrics
from tests.talk import Talk

ROOT = Path(__file__).parents[2]


async def test_gauges_of_rows_are_missing_while_database_fails(talk: Talk) -> None:
    await talk.process.starts()
    with talk.database_fails("jobs"):
        metrics = await talk.metrics()
    assert metrics["check_ok rows"] == 0
    assert "waiting_seconds poll" not in metrics
    metrics = await talk.metrics()
    assert metrics["check_ok rows"] == 1
    assert metrics["waiting_seconds poll"] == 0


async def test_each_project_has_a_gauge_of_its_key(talk: Talk) -> None:
    both = {name: {"id": f"{name}-docs", "label": name} for name in ("acme", "beta")}
    await talk.process.starts(docs_projects=json.dumps(both))
    await talk.started("Write keys")
    talk.service.says("create", 401)
    await talk.started("project:beta Write two")
    metrics = await talk.metrics()
    assert [metrics[f"key_refused docs:{name}"] for name in both] == [0, 1]
    talk.everything()
    talk.errors()


async def test_refused_key_of_the_assistant_has_a_gauge(talk: Talk) -> None:
    talk.process.answers_questions()
    await talk.process.starts()
    gauge = "key_refused assistant:acme-docs"
    assert (await talk.metrics())[gauge] == 0
    for kind in ("answer", "search"):
        talk.service.says(kind, 401)
    await talk.ana.says("@docs-agent How do I rotate an API key?")
    await talk.time.passes()
    assert (await talk.metrics())[gauge] == 1
    await talk.ana.says("@docs-agent How do I rotate another API key?")
    await talk.time.passes()
    assert (await talk.metrics())[gauge] == 0
    talk.everything()
    assert talk.errors() == {"assistants_key_refused"}


async def test_message_waits_from_its_creation_until_slack_refuses_it(talk: Talk) -> None:
    talk.faults.limits("chat.postMessage", 3_600)
    talk.faults.refuses("chat.postMessage", "is_archived")
    await talk.ana.asks("Add a page on keys")
    await talk.time.passes(300)
    assert (await talk.metrics())["waiting_seconds message"] == 300
    await talk.time.passes(hours=2)
    metrics = await talk.metrics()
    assert (metrics["waiting_seconds message"], metrics["needs_person message"]) == (0, 1)
    talk.everything()


async def test_poll_waits_from_its_due_time(talk: Talk) -> None:
    await talk.started()
    talk.status()
    assert (await talk.metrics())["waiting_seconds poll"] == 0
    talk.time.is_set(minutes=5)
    assert 280 < (await talk.metrics())["waiting_seconds poll"] < 300


async def test_unconfirmed_prompt_waits_for_a_person_alone(talk: Talk) -> None:
    talk.service.loses_the_answer()
    await talk.ana.asks("Add a page on keys")
    await talk.time.passes(minutes=5)
    metrics = await talk.metrics()
    assert (metrics["waiting_seconds prompt"], metrics["needs_person prompt"]) == (0, 1)
    talk.everything()


def test_every_metric_has_help_and_docs_name_no_other() -> None:
    metrics = Metrics()
    metrics.replace({name: {} for name in GAUGES})
    page = metrics.page()[0].decode()
    named = set(re.findall(r"^# TYPE (docs_bot_\w+)", page, re.MULTILINE))
    assert set(re.findall(r"^# HELP (docs_bot_\w+) .{20,}\.$", page, re.MULTILINE)) == named
    docs = "".join(paper.read_text() for paper in (ROOT / "docs").glob("*.md"))
    assert set(re.findall(r"docs_bot_\w+(?=\{)", docs)) <= named
