"""Alerts and the dashboard use existing metrics, and each alert fires on its own trouble."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from bot.health.metrics import GAUGES, Metrics
from tests.health.alerts import CHECKS, PROMTOOL, ROOT, RULES, fired, gauges, page_of, samples, well
from tests.papers import rows, section

PANELS: Sequence[Mapping[str, Any]] = json.loads((ROOT / "deploy" / "dashboard.json").read_text())[
    "panels"
]
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")


def of_rows(**values: Any) -> Callable[[Metrics], None]:
    return lambda metrics: metrics.set_rows(gauges(**values))


def failing(check: str) -> Callable[[Metrics], None]:
    return lambda metrics: metrics.set_check(check, False)


TROUBLES: Mapping[str, Callable[[Metrics], None]] = {
    "DocsBotIntakeDead": failing("socket"),
    "DocsBotDatabaseFails": lambda metrics: metrics.set_rows(None),
    "DocsBotDiskFull": lambda metrics: metrics.set_gauge("disk_free_bytes", 10**8),
    "DocsBotSlackRefuses": failing("slack"),
    "DocsBotUndelivered": of_rows(oldest_delivery_seconds=601),
    "DocsBotPollsLate": of_rows(most_overdue_poll_seconds=601),
    "DocsBotRunsFail": failing("runs"),
    "DocsBotDocsServiceFails": of_rows(projects={"service_failing_seconds": 601}),
    "DocsBotPromptsStuck": of_rows(stuck_prompt_seconds=601),
    "DocsBotUnconfirmed": of_rows(unconfirmed_prompts=1),
    "DocsBotSignaturesRefused": failing("signatures"),
    "DocsBotKeyRefused": of_rows(projects={"key_refused": 1}),
    "DocsBotQuotaUsedUp": of_rows(projects={"quota_used": 100}),
    "DocsBotDeadLetter": of_rows(dead_letters=1),
}


WELL = page_of(well())


def in_trouble(alert: str) -> str:
    metrics = well()
    TROUBLES[alert](metrics)
    return page_of(metrics)


def test_ci_has_promtool() -> None:
    assert PROMTOOL or not os.environ.get("CI")


@needs_promtool
def test_sound_bot_fires_no_alert() -> None:
    assert fired(WELL, before=WELL) == set()


@needs_promtool
@pytest.mark.parametrize("alert", RULES)
def test_alert_fires_on_its_trouble_alone(alert: str) -> None:
    assert fired(in_trouble(alert), before=WELL) == {alert}


@needs_promtool
@pytest.mark.parametrize("alert", RULES)
def test_alert_fires_in_first_hour_and_lasts(alert: str) -> None:
    assert fired(in_trouble(alert)) == {alert}
    assert fired(in_trouble(alert), before=WELL, minutes=180) == {alert}


@needs_promtool
def test_limit_of_service_fires() -> None:
    metrics = well()
    of_rows(projects={"quota_exhausted": 1})(metrics)
    assert fired(page_of(metrics), before=WELL) == {"DocsBotQuotaUsedUp"}


@needs_promtool
def test_one_process_with_its_socket_is_enough() -> None:
    assert fired(in_trouble("DocsBotIntakeDead"), WELL, before=WELL) == set()


def test_refused_signatures_are_no_page() -> None:
    assert RULES["DocsBotSignaturesRefused"]["labels"]["severity"] == "ticket"


@needs_promtool
def test_missing_intake_fires() -> None:
    metrics = Metrics()
    of_rows()(metrics)
    assert fired(page_of(metrics)) == {"DocsBotIntakeDead"}


def test_rules_have_valid_keys_severity_and_summary() -> None:
    for rule in RULES.values():
        assert rule.keys() <= {"alert", "expr", "for", "labels", "annotations"}
        assert re.fullmatch(r"\d+m", rule.get("for", "1m"))
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"]["summary"].endswith(".")


def test_runbook_has_every_part_of_readyz_with_alert() -> None:
    table = rows(section((ROOT / "docs" / "runbook.md").read_text(), "Parts of `/readyz`"))
    assert {part.strip("`") for part, _, _ in table} == set(CHECKS)
    assert {alert.strip("`") for _, _, alert in table} <= RULES.keys()


def test_each_alert_has_section_with_severity_and_advice() -> None:
    text = section((ROOT / "docs" / "runbook.md").read_text(), "Alerts")
    sections = dict(
        re.findall(r"^### `(\w+)`\n\n(.*?)(?=\n### |\Z)", text, re.MULTILINE | re.DOTALL)
    )
    assert list(sections) == list(RULES)
    for name, rule in RULES.items():
        meaning, advice = sections[name].strip().split("\n\n", 1)
        assert meaning.startswith(rule["labels"]["severity"].capitalize() + ". "), name
        assert advice


def test_dashboard_shows_existing_metrics() -> None:
    metrics = well()
    metrics.expect_runs(["poll"])
    names = {sample.name for sample in samples(page_of(metrics))} | {
        f"docs_bot_{name}" for name in GAUGES
    }
    asked = {
        name
        for panel in PANELS
        for target in panel["targets"]
        for name in re.findall(r"docs_bot_\w+", target["expr"])
    }
    assert asked
    assert asked <= names
