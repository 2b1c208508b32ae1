"""Each alert fires on its own trouble, reads an existing metric, and has its remedy in the runbook."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

import pytest

from bot.health.metrics import GAUGES
from tests.health.alerts import CHECKS, PROMTOOL, ROOT, RULES, fired, page
from tests.papers import rows, section

needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")
WELL = page()
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()
TROUBLES: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "DocsBotNotReady": {"check_ok": {"socket": 0}},
    "DocsBotWaits": {"waiting_seconds": {"message": 601}},
    "DocsBotDocsServiceFails": {"service_failing_seconds": {"beta": 601}},
    "DocsBotKeyRefused": {"key_refused": {"beta": 1}},
    "DocsBotDiskFull": {"disk_free_bytes": {"": 10**8}},
    "DocsBotNeedsPerson": {"needs_person": {"prompt": 1}},
}


def test_ci_has_promtool() -> None:
    assert PROMTOOL or not os.environ.get("CI")


@needs_promtool
def test_sound_bot_fires_no_alert() -> None:
    assert fired(WELL, before=WELL) == set()


@needs_promtool
@pytest.mark.parametrize("alert", RULES)
def test_alert_fires_on_its_trouble_alone_and_lasts(alert: str) -> None:
    trouble = page(**TROUBLES[alert])
    assert fired(trouble) == {alert}, "also at the first start"
    assert fired(trouble, before=WELL) == {alert}
    assert fired(trouble, before=WELL, minutes=180) == {alert}


@needs_promtool
@pytest.mark.parametrize("check", [*CHECKS, "rows"])
def test_any_part_of_any_process_that_fails_fires(check: str) -> None:
    failing = page(check_ok={check: 0})
    assert fired(WELL, failing, before=WELL) == {"DocsBotNotReady"}


@needs_promtool
def test_bot_that_is_not_there_fires() -> None:
    assert fired("") == {"DocsBotNotReady"}


def test_rules_have_valid_keys_and_summary() -> None:
    for rule in RULES.values():
        assert rule.keys() == {"alert", "expr", "for", "annotations"}
        assert re.fullmatch(r"\d+m", rule["for"])
        assert rule["annotations"].keys() == {"summary"}


def test_every_gauge_is_read_by_an_alert() -> None:
    read = {name for rule in RULES.values() for name in re.findall(r"docs_bot_(\w+)", rule["expr"])}
    assert read == GAUGES.keys()


def test_runbook_has_every_part_that_is_checked() -> None:
    table = rows(section(RUNBOOK, "Parts that are checked"))
    assert [part.strip("`") for part, *_ in table] == [*CHECKS, "rows"]


def test_each_alert_has_a_section_with_meaning_and_advice() -> None:
    sections = dict(
        re.findall(
            r"^### `(\w+)`\n\n(.*?)(?=\n### |\Z)",
            section(RUNBOOK, "Alerts"),
            re.MULTILINE | re.DOTALL,
        )
    )
    assert list(sections) == list(RULES)
    for name, text in sections.items():
        _, advice = text.strip().split("\n\n", 1)
        assert advice, name
