"""The alerts of deploy/alerts.yml, evaluated by Prometheus' own promtool."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from bot.health.metrics import Metrics

ROOT = Path(__file__).parents[2]
RULES_FILE = ROOT / "deploy" / "alerts.yml"
RULES: Mapping[str, Mapping[str, Any]] = {
    rule["alert"]: rule
    for group in yaml.safe_load(RULES_FILE.read_text())["groups"]
    for rule in group["rules"]
}
PROMTOOL = shutil.which("promtool")
"""A program of Debian's package prometheus."""
CHECKS = ("database", "slack", "runs", "socket", "signatures")
HOLDS_MINUTES = 20
"""Longer than the ``for`` of any alert."""
_FIRED = re.compile(r"alertname: ?(\w+)")
_WELL: Mapping[str, Mapping[str, float]] = {
    "check_ok": dict.fromkeys((*CHECKS, "rows"), 1),
    "waiting_seconds": {"prompt": 0, "message": 0, "poll": 0},
    "needs_person": {"prompt": 0, "message": 0},
    "service_failing_seconds": {"acme": 0, "beta": 0},
    "key_refused": {"docs:acme": 0, "docs:beta": 0, "assistant:acme": 0},
    "disk_free_bytes": {"": 10**10},
}
"""The gauges of a sound bot with two projects."""


def page(**changes: Mapping[str, float]) -> str:
    """Return the page of a bot that is sound but for these values."""
    metrics = Metrics()
    metrics.replace({name: {**values, **changes.get(name, {})} for name, values in _WELL.items()})
    return metrics.page()[0].decode()


def samples(page: str) -> list[Sample]:
    """Return the samples on a page of metrics."""
    families = text_string_to_metric_families(page)
    return [
        sample
        for family in families
        for sample in family.samples
        if sample.name.startswith("docs_bot")
    ]


def fired(*pages: str, before: str | None = None, minutes: int = HOLDS_MINUTES) -> set[str]:
    """Return the alerts that fire after ``minutes`` of these pages, one for each process.

    ``before`` is the page of the hour before; None at the first start.
    """
    assert PROMTOOL is not None
    values: dict[str, str] = {}
    for process, now in enumerate(pages):
        for page, length in [*([] if before is None else [(before, 60)]), (now, minutes)]:
            for sample in samples(page):
                labels = {**sample.labels, "instance": str(process)}
                pairs = ",".join(f"{name}={json.dumps(value)}" for name, value in labels.items())
                series = f"{sample.name}{{{pairs}}}"
                gap = "_x60" if before is not page and before is not None else ""
                values[series] = f"{values.get(series, gap)} {sample.value:g}x{length}".strip()
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": held} for name, held in values.items()],
        "alert_rule_test": [
            {
                "eval_time": f"{minutes + (0 if before is None else 60)}m",
                "alertname": name,
                "exp_alerts": [],
            }
            for name in RULES
        ],
    }
    document = {"rule_files": [str(RULES_FILE)], "evaluation_interval": "1m", "tests": [test]}
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        yaml.safe_dump(document, file)
        file.flush()
        ran = subprocess.run(
            [PROMTOOL, "test", "rules", file.name], capture_output=True, text=True, check=False
        )
    output = ran.stdout + ran.stderr
    names = set(_FIRED.findall(output))
    assert (ran.returncode == 0) is (not names), output
    return names
