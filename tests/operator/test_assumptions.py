"""The list of assumptions: each row has its place in the code, and the docs have each row."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.operator.assumptions import ASSUMPTIONS, Assumption, describe_seen
from bot.operator.trial import STEPS
from bot.operator.trial_step import StepResult
from tests.operator.pages import TABLES, table_of
from tests.papers import ROOT


def names_in(path: Path) -> Iterator[str]:
    """Yield the names of a module and of its classes: ``name`` and ``Class.name``."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        for name in _names_of(node):
            yield name
            if isinstance(node, ast.ClassDef):
                yield from (f"{name}.{inner}" for one in node.body for inner in _names_of(one))


def _names_of(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    if isinstance(node, ast.Assign):
        yield from (one.id for one in node.targets if isinstance(one, ast.Name))
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id


@pytest.mark.parametrize("assumption", ASSUMPTIONS, ids=lambda one: one.id)
def test_place_of_an_assumption_is_there(assumption: Assumption) -> None:
    file, _, name = assumption.place.partition(":")
    assert name in set(names_in(ROOT / file)), f"the place of {assumption.id} is gone"


def test_every_assumption_has_one_name_and_the_steps_name_no_other() -> None:
    names = [assumption.id for assumption in ASSUMPTIONS]
    assert len(set(names)) == len(names)
    assert {name for step in STEPS for name in step.assumptions} <= set(names)


def test_trial_tells_which_assumptions_it_has_seen() -> None:
    results = [StepResult("file up", "ok", ""), StepResult("search", "bad", "")]
    seen, unseen = describe_seen(results).splitlines()
    assert seen == "Assumptions seen to be true: upload"
    assert "search" in unseen
    assert "upload" not in unseen


@pytest.mark.parametrize("page", TABLES, ids=lambda page: page.name)
def test_table_of_the_docs_is_that_of_the_code(page: Path) -> None:
    assert table_of(page) == TABLES[page](), "make approve rewrites it"
