"""The budget of each room: who needs more lines lowers another room in the same commit."""

from __future__ import annotations

import tomllib

from tests.size import ROOT, functions, size, sizes

BUDGET = tomllib.loads((ROOT / "tests" / "budget.toml").read_text())
ROOMS: dict[str, list[int]] = BUDGET["rooms"]
LONG_FUNCTIONS: dict[str, int] = BUDGET["long_functions"]
MOST_LINES_OF_A_MODULE, MOST_LINES_OF_A_FUNCTION = 500, 50
LEAST_SHARE = 0.95
MODULES = [path for whole in ("bot", "sandbox", "tests", "bench") for path in (ROOT / whole).rglob("*.py")]


def test_every_room_keeps_within_its_budget_and_gives_back_what_it_saves() -> None:
    found = sizes()
    assert found.keys() == ROOMS.keys(), "each room has a budget"
    over = {
        room: f"{found[room].lines - lines:+} lines"
        for room, (lines, _) in ROOMS.items()
        if found[room].lines > lines
    }
    assert over == {}, "what goes for them?"
    more_files = {room for room, (_, files) in ROOMS.items() if found[room].files > files}
    assert more_files == set(), "join some"
    saved = {
        room: found[room].lines
        for room, (lines, _) in ROOMS.items()
        if found[room].lines < LEAST_SHARE * lines
    }
    assert saved == {}, "write these numbers into tests/budget.toml"


def test_no_module_is_longer_than_500_lines() -> None:
    lines = {str(path.relative_to(ROOT)): size(path).lines for path in MODULES}
    assert {path: count for path, count in lines.items() if count > MOST_LINES_OF_A_MODULE} == {}


def test_no_function_is_longer_than_50_lines_but_those_that_may_only_shrink() -> None:
    found = {function.name: function.lines for path in MODULES for function in functions(path)}
    long = {name: lines for name, lines in found.items() if lines > MOST_LINES_OF_A_FUNCTION}
    assert {name: lines for name, lines in long.items() if lines > LONG_FUNCTIONS.get(name, 0)} == {}
    assert LONG_FUNCTIONS.keys() - long.keys() == set(), "take these out of tests/budget.toml"
