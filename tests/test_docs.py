"""What the papers say is what the code does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from bot.model.jobs import JobState
from bot.settings import Settings
from tests.papers import DOCS, PAPERS, README, ROOT, anchors, codes, fences, links, rows, section
from tests.torture.test_torture import BREAKS

WORDS = 1_200
"""As many as a stranger reads in three minutes."""
SETTINGS = {
    row[0].strip("`"): row[1].strip("`") for row in rows((DOCS / "settings.md").read_text()) if len(row) == 3
}


def test_a_stranger_reads_the_readme_in_three_minutes() -> None:
    assert len(README.read_text().split()) <= WORDS


def test_every_page_of_the_docs_is_linked_from_the_readme() -> None:
    linked = {path for path, _ in links(README.read_text())}
    assert {f"docs/{page.name}" for page in DOCS.glob("*.md")} <= linked


def test_every_setting_stands_in_the_docs_and_the_example_and_no_other_does() -> None:
    assert list(SETTINGS) == Settings.variables()
    example = (ROOT / ".env.example").read_text()
    assert set(re.findall(r"^([A-Z_]+)=", example, re.MULTILINE)) == set(Settings.variables())


def test_the_docs_tell_the_defaults() -> None:
    for name, told in SETTINGS.items():
        assert told == _default(name), name


def _default(name: str) -> str:
    """A default as people write it; nothing for what is off, empty or required."""
    field: Any = Settings.model_fields[name.lower()]
    default = None if field.is_required() else field.default
    value = default.get_secret_value() if isinstance(default, SecretStr) else default
    if value in (None, False, frozenset(), {}, ""):
        return ""
    if value is True:
        return "true"
    return f"{value:g}" if isinstance(value, float) else str(value)


def test_every_state_of_a_job_stands_in_the_diagram() -> None:
    (diagram,) = [block for kind, block in fences((DOCS / "jobs.md").read_text()) if kind == "mermaid"]
    assert {state for state in JobState if not re.search(rf"\b{state}\b", diagram)} == set()


def test_every_promise_of_the_operators_page_names_what_shows_it() -> None:
    promises = rows(section((DOCS / "operating.md").read_text(), "What holds, and what shows it"))
    assert len(promises) > 10
    for promise, shown in promises:
        named = codes(shown)
        assert named, promise
        for name in named:
            assert _is_shown(name), name


def test_every_place_that_a_recipe_names_exists() -> None:
    named = [
        code for code in codes(section((DOCS / "development.md").read_text(), "Four recipes")) if "/" in code
    ]
    assert len(named) > 20
    for place in named:
        path, _, name = place.partition("::")
        assert (ROOT / path).exists(), place
        defined = rf"^(?:async def|def|class) {name}\b|^{name}\b.* = "
        assert not name or re.search(defined, (ROOT / path).read_text(), re.MULTILINE), place


def _is_shown(name: str) -> bool:
    """Whether this is the id of a test that exists, or what the checker of the torture runs complains of."""
    if name.startswith("torture: "):
        return any(name.removeprefix("torture: ") in complaint for complaint in BREAKS)
    path, _, test = name.partition("::")
    return re.search(rf"^(async )?def {test}\(", (ROOT / path).read_text(), re.MULTILINE) is not None


def test_hosts_start_what_is_there_once_they_installed_the_requirements() -> None:
    # They install requirements.txt and not this project, so there is no docs-bot in their PATH.
    lines = (ROOT / "Procfile").read_text().splitlines()
    told = dict(re.findall(r"^(\w+): (?:env HOST=0.0.0.0 )?python -m bot (\w+)$", line)[0] for line in lines)
    assert told == {"release": "migrate", "web": "serve", "socket": "serve", "worker": "work"}


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_what_a_paper_links_to_exists(paper: Path) -> None:
    for path, anchor in links(paper.read_text()):
        target = (paper.parent / path).resolve() if path else paper
        assert target.exists(), path
        assert not anchor or anchor in anchors(target.read_text()), f"{path}#{anchor}"
