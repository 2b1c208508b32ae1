"""Alerts and the dashboard ask for metrics that exist, and each alert fires on its own trouble alone."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from bot.health.metrics import Figures, Metrics
from tests.papers import rows, section

ROOT = Path(__file__).parents[2]
RULES: Mapping[str, Mapping[str, Any]] = {
    rule["alert"]: rule
    for group in yaml.safe_load((ROOT / "deploy" / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]
}
PANELS: Sequence[Mapping[str, Any]] = json.loads((ROOT / "deploy" / "dashboard.json").read_text())["panels"]
CHECKS = ("database", "slack", "workers", "runs", "socket", "signatures")
_AGGREGATES: Mapping[str, Callable[[Sequence[float]], float]] = {"min": min, "max": max}
_OPERATORS = {"==": operator.eq, ">": operator.gt, "<": operator.lt, ">=": operator.ge}
_VECTOR = r"(min|max)(?: by \((project)\) )?\((\w+)(?:\{(\w+)(=~?)\"([^\"]+)\"\})?( offset 1h)?\)"
_COMPARED = re.compile(rf"{_VECTOR} (==|>=|>|<) (?:{_VECTOR}|([\d.]+))")
_ABSENT = re.compile(r"absent\((\w+)\{(\w+)(=~?)\"([^\"]+)\"\}\)")


def projects(**changed: float) -> Mapping[str, Mapping[str, float]]:
    """Return the figures of two projects, of which the second has trouble."""
    usual: dict[str, float] = {"quota_limit": 100, "analytics_calls_limit": 100}
    return {"acme": usual, "beta": usual | changed}


def well() -> Metrics:
    """Return the metrics of a bot that is well."""
    metrics = Metrics()
    metrics.set_figures(Figures({"dead_letters": 3}, projects(), {"alive": 2, "gone": 0}))
    metrics.set_socket(True, 2)
    metrics.set_free_bytes(10**10)
    for check in CHECKS:
        metrics.set_check(check, True)
    return metrics


def samples(metrics: Metrics) -> list[Sample]:
    families = text_string_to_metric_families(metrics.page()[0].decode())
    return [sample for family in families for sample in family.samples]


class Prometheus:
    """Evaluates the few forms of expression that the alerts use, on the pages of now and of an hour ago."""

    def __init__(self, now: Sequence[Metrics], before: Metrics) -> None:
        self._now = [sample for process in now for sample in samples(process)]
        self._before = samples(before)

    def fires(self, expression: str) -> bool:
        """Return whether the expression has a result."""
        return any(self._clause(clause) for clause in expression.split(" or "))

    def _clause(self, clause: str) -> bool:
        if absent := _ABSENT.fullmatch(clause):
            return not self._values(*absent.groups(), earlier=False)
        compared = _COMPARED.fullmatch(clause)
        assert compared is not None, f"a form that this test cannot evaluate: {clause}"
        *left, sign = compared.groups()[:8]
        *right, number = compared.groups()[8:]
        values = self._aggregate(*left)
        bounds = dict.fromkeys(values, float(number)) if number else self._aggregate(*right)
        return any(_OPERATORS[sign](values[key], bounds[key]) for key in values.keys() & bounds.keys())

    def _aggregate(self, how: str, by: str | None, *which: str | None) -> dict[str, float]:
        """Return the aggregate of each group; without ``by`` all samples are one group."""
        *selector, offset = which
        groups: dict[str, list[float]] = {}
        for sample in self._values(*selector, earlier=bool(offset)):
            groups.setdefault(sample.labels[by] if by else "", []).append(sample.value)
        return {key: _AGGREGATES[how](values) for key, values in groups.items()}

    def _values(
        self,
        name: str | None,
        label: str | None,
        match: str | None,
        value: str | None,
        *,
        earlier: bool,
    ) -> list[Sample]:
        page = self._before if earlier else self._now
        pattern = re.compile((value or "") if match == "=~" else re.escape(value or ""))
        return [
            sample
            for sample in page
            if sample.name == name and (label is None or pattern.fullmatch(sample.labels.get(label, "")))
        ]


def figures(
    projects: Mapping[str, Mapping[str, float]] = projects(), alive: int = 2, gone: int = 0, **gauges: float
) -> Callable[[Metrics], None]:
    return lambda metrics: metrics.set_figures(Figures(gauges, projects, {"alive": alive, "gone": gone}))


def failing(check: str) -> Callable[[Metrics], None]:
    return lambda metrics: metrics.set_check(check, False)


TROUBLES: Mapping[str, Callable[[Metrics], None]] = {
    "DocsBotIntakeDead": failing("socket"),
    "DocsBotNoWorker": figures(alive=0),
    "DocsBotWorkerGone": figures(gone=1),
    "DocsBotDatabaseFails": lambda metrics: metrics.set_figures(None),
    "DocsBotDiskFull": lambda metrics: metrics.set_free_bytes(10**8),
    "DocsBotSlackRefuses": failing("slack"),
    "DocsBotUndelivered": figures(oldest_delivery_seconds=601),
    "DocsBotPollsLate": figures(most_overdue_poll_seconds=601),
    "DocsBotRunsFail": failing("runs"),
    "DocsBotDocsServiceFails": figures(projects=projects(service_failing_seconds=601)),
    "DocsBotPromptsStuck": figures(stuck_prompt_seconds=601),
    "DocsBotUnconfirmed": figures(unconfirmed_prompts=1),
    "DocsBotSignaturesRefused": failing("signatures"),
    "DocsBotKeyRefused": figures(projects=projects(key_refused=True)),
    "DocsBotQuotaUsedUp": figures(projects=projects(quota_used=100)),
    "DocsBotDeadLetter": figures(dead_letters=4),
}


def fired(now: Metrics, before: Metrics | None = None, *, others: Sequence[Metrics] = ()) -> set[str]:
    """Return the alerts that fire on a page and those of ``others``, compared with one of an hour ago."""
    prometheus = Prometheus([now, *others], before or well())
    return {name for name, rule in RULES.items() if prometheus.fires(rule["expr"])}


def test_no_alert_fires_while_all_is_well() -> None:
    assert fired(well()) == set()


@pytest.mark.parametrize("alert", RULES)
def test_each_alert_fires_on_its_trouble_alone(alert: str) -> None:
    metrics = well()
    TROUBLES[alert](metrics)
    assert fired(metrics) == {alert}


def test_a_limit_that_the_service_tells_fires_too() -> None:
    metrics = well()
    figures(projects=projects(quota_exhausted=True))(metrics)
    assert fired(metrics) == {"DocsBotQuotaUsedUp"}


def test_one_process_with_its_socket_is_enough() -> None:
    alone = well()
    alone.set_check("socket", False)
    assert fired(alone) == {"DocsBotIntakeDead"}
    assert fired(alone, others=[well()]) == set()


def test_signatures_that_are_refused_get_nobody_up() -> None:
    metrics = well()
    metrics.set_check("signatures", False)
    assert [RULES[name]["labels"]["severity"] for name in fired(metrics)] == ["ticket"]


def test_an_intake_that_is_not_there_fires() -> None:
    metrics = Metrics()
    figures()(metrics)
    assert fired(metrics) == {"DocsBotIntakeDead"}


def test_every_rule_has_what_prometheus_and_a_person_need() -> None:
    for rule in RULES.values():
        assert rule.keys() <= {"alert", "expr", "for", "labels", "annotations"}
        assert re.fullmatch(r"\d+m", rule.get("for", "1m"))
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"]["summary"].endswith(".")


def test_the_runbook_has_every_part_of_readyz_and_its_alert() -> None:
    told = rows(section((ROOT / "docs" / "runbook.md").read_text(), "What `/readyz` says"))
    assert {part.strip("`") for part, _, _ in told} == set(CHECKS)
    assert {alert.strip("`") for _, _, alert in told} <= RULES.keys()


def test_each_alert_has_its_section_that_begins_with_how_urgent_it_is_and_ends_with_what_to_do() -> None:
    told = section((ROOT / "docs" / "runbook.md").read_text(), "Alerts")
    sections = dict(re.findall(r"^### `(\w+)`\n\n(.*?)(?=\n### |\Z)", told, re.MULTILINE | re.DOTALL))
    assert list(sections) == list(RULES)
    for name, rule in RULES.items():
        meaning, advice = sections[name].strip().split("\n\n", 1)
        assert meaning.startswith(rule["labels"]["severity"].capitalize() + ". "), name
        assert advice


def test_the_dashboard_shows_metrics_that_exist() -> None:
    metrics = well()
    metrics.expect_runs(["poll"])
    names = {sample.name for sample in samples(metrics)}
    asked = {
        name
        for panel in PANELS
        for target in panel["targets"]
        for name in re.findall(r"(?:docs_bot|process)_\w+", target["expr"])
    }
    assert asked
    assert asked <= names
