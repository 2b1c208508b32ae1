"""The papers agree with the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import SecretStr

from bot.health.stopping import STOPPED_EARLY_EXIT_CODE
from bot.jobs.model.jobs import JobState
from bot.operator.running import (
    BAD_SETTINGS_EXIT_CODE,
    CANNOT_START_EXIT_CODE,
    CRASHED_EXIT_CODE,
    INTERRUPTED_EXIT_CODE,
    TERMINATED_EXIT_CODE,
)
from bot.settings import Settings
from tests.papers import (
    CONTRIBUTING,
    DOCS,
    PAPERS,
    README,
    ROOT,
    anchors,
    codes,
    fences,
    links,
    rows,
    section,
)

_OTHERS = {"POSTGRES_PASSWORD", "SSL_CERT_FILE", "DOCS_BOT_JOB"}
"""Variables of others: of the compose file, of Python, and of the sandbox's agent."""
_EMPHASISED = re.compile(r"(?<!\*)\*([A-Z][^*]+)\*(?!\*)")
SETTINGS = {
    row[0].strip("`"): row[1].strip("`")
    for row in rows((DOCS / "settings.md").read_text())
    if len(row) == 3
}


def test_every_page_of_the_docs_is_linked_from_the_readme() -> None:
    linked = {path for path, _ in links(README.read_text())}
    assert {f"docs/{page.name}" for page in DOCS.glob("*.md")} <= linked


def test_every_setting_stands_in_the_docs_and_the_example_and_no_other_does() -> None:
    assert list(SETTINGS) == Settings.variables()
    example = (ROOT / ".env.example").read_text()
    assert set(re.findall(r"^([A-Z_]+)=", example, re.MULTILINE)) == set(Settings.variables())


def test_every_scope_of_the_manifest_has_its_reason_for_admins() -> None:
    page = (DOCS / "security.md").read_text()
    explained = {
        code for row in rows(page) if len(row) == 2 for code in codes(row[0]) if ":" in code
    }
    manifest = yaml.safe_load((ROOT / "manifest.yml").read_text())
    scopes = set(manifest["oauth_config"]["scopes"]["bot"])
    assert explained | {"commands"} == scopes


def test_the_papers_name_no_variable_that_is_not_there() -> None:
    named = {code.partition("=")[0] for paper in PAPERS for code in codes(paper.read_text())}
    variables = {name for name in named if re.fullmatch(r"[A-Z]+(_[A-Z]+)+", name)}
    assert variables - _OTHERS == variables & set(Settings.variables())


def test_every_button_that_a_page_for_people_names_is_there() -> None:
    pages = [
        (DOCS / f"{name}.md").read_text() for name in ("jobs", "visitors", "limits-and-access")
    ]
    named = {" ".join(label.split()) for page in pages for label in _EMPHASISED.findall(page)}
    code = "".join(
        path.read_text() for path in (*(ROOT / "bot").rglob("*.py"), ROOT / "manifest.yml")
    )
    assert named
    assert {
        label for label in named if not re.search(rf'["*]{re.escape(label)}["*]', code)
    } == set()


def test_the_docs_tell_the_defaults() -> None:
    for name, default in SETTINGS.items():
        assert default == _default(name), name


def _default(name: str) -> str:
    """Return a default as people write it; nothing if it is off, empty or required."""
    field: Any = Settings.model_fields[name.lower()]
    default = None if field.is_required() else field.default
    value = default.get_secret_value() if isinstance(default, SecretStr) else default
    if value in (None, False, frozenset(), {}, ""):
        return ""
    if value is True:
        return "true"
    return f"{value:g}" if isinstance(value, float) else str(value)


def test_every_state_of_a_job_stands_in_the_diagram() -> None:
    (diagram,) = [
        block for kind, block in fences((DOCS / "lifecycle.md").read_text()) if kind == "mermaid"
    ]
    assert {state for state in JobState if not re.search(rf"\b{state}\b", diagram)} == set()


def test_every_promise_names_what_shows_it() -> None:
    promises = re.findall(r"^- .*$", (DOCS / "promises.md").read_text(), re.MULTILINE)
    assert promises
    for promise in promises:
        assert codes(promise), promise
        for name in codes(promise):
            path, _, test = name.partition("::")
            assert re.search(rf"^(async )?def {test}\(", (ROOT / path).read_text(), re.MULTILINE), (
                name
            )


def test_the_runbook_has_every_exit_code() -> None:
    table = rows(section((DOCS / "runbook.md").read_text(), "Exit codes"))
    ends = {
        0,
        1,
        2,
        BAD_SETTINGS_EXIT_CODE,
        CANNOT_START_EXIT_CODE,
        CRASHED_EXIT_CODE,
        STOPPED_EARLY_EXIT_CODE,
        TERMINATED_EXIT_CODE,
        INTERRUPTED_EXIT_CODE,
    }
    assert {int(code) for row in table for code in row[0].split(", ")} == ends


@pytest.mark.parametrize("heading", ["A word of your own, with a column", "Recipes"])
def test_every_place_that_a_recipe_names_exists(heading: str) -> None:
    named = [
        code
        for code in codes(section(CONTRIBUTING.read_text(), heading))
        if re.fullmatch(r"[\w./]+/[\w./]+(::\w+)?", code)
    ]
    assert named
    for place in named:
        path, _, name = place.partition("::")
        assert (ROOT / path).exists(), place
        defined = rf"^(?:async def|def|class) {name}\b|^{name}\b.* = "
        assert not name or re.search(defined, (ROOT / path).read_text(), re.MULTILINE), place


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_module_that_a_paper_names_exists(paper: Path) -> None:
    named = {code.partition("::")[0] for code in codes(paper.read_text())}
    modules = {path for path in named if re.fullmatch(r"[\w/]+\.py", path)}
    folders = (ROOT, ROOT / "bot")
    assert {
        path for path in modules if not any((folder / path).exists() for folder in folders)
    } == set()


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_what_a_paper_links_to_exists(paper: Path) -> None:
    for path, anchor in links(paper.read_text()):
        target = (paper.parent / path).resolve() if path else paper
        assert target.exists(), path
        assert not anchor or anchor in anchors(target.read_text()), f"{path}#{anchor}"
