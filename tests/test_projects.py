"""How people name a project: at the start or the end of what they ask, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.ids import ProjectId
from bot.projects import Project, Projects

ACME = Project(ProjectId("p-1"), "acme", "Acme docs")
BETA = Project(ProjectId("p-2"), "beta-api", "Beta")
TWO = Projects((ACME, BETA))
ONE = Projects.only(ProjectId("p-1"))
TEXT = st.text(max_size=60)
NAMING = "project:"


def _names_none(text: str) -> bool:
    words = text.split()
    return not any(word.strip("`").lower().startswith(NAMING) for word in (*words[:1], *words[-1:]))


@pytest.mark.parametrize(
    ("text", "rest", "project"),
    [
        ("project:acme Fix it", "Fix it", ACME),
        ("Fix it project:beta-api", "Fix it", BETA),
        ("  `Project:ACME`: Fix it", "Fix it", ACME),
        ("project:acme, fix it", "fix it", ACME),
        ("Fix it project:acme.", "Fix it", ACME),
        ("project:beta-api", "", BETA),
        ("project:acme Explain project:foo", "Explain project:foo", ACME),
        ("Explain project:acme to people", "Explain project:acme to people", None),
        ("project: acme is old", "project: acme is old", None),
        ("subproject:acme Fix it", "subproject:acme Fix it", None),
        ("", "", None),
    ],
)
def test_project_is_named_at_the_start_or_the_end(
    text: str, rest: str, project: Project | None
) -> None:
    taken, named = TWO.take(text)
    assert (taken.strip(), named) == (rest, project)


@given(TEXT.filter(_names_none), st.sampled_from([ACME, BETA]), st.booleans())
def test_prompt_keeps_every_other_character(text: str, project: Project, at_start: bool) -> None:
    option = NAMING + project.name
    taken, named = TWO.take(f"{option} {text}" if at_start else f"{text} {option}")
    assert named == project
    assert taken.strip() == text.strip()


@given(TEXT)
def test_text_without_a_project_is_unchanged(text: str) -> None:
    assert ONE.take(text) == (text, None)
    assert ONE.take_any(text) == (text, None)
    if _names_none(text):
        assert TWO.take(text) == (text, None)


@given(st.lists(st.sampled_from(["last", "week", "path", "/api", "top", "9"])), st.integers(0, 9))
def test_project_stands_anywhere_among_options(words: list[str], place: int) -> None:
    given_words = [*words[:place], "project:acme", *words[place:]]
    rest, named = TWO.take_any(" ".join(given_words))
    assert (rest.split(), named) == (words, ACME)
