"""The one table of Slack's error codes, and that nothing outside ``bot/slack/`` knows any of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from bot.ids import Refusal
from bot.slack.client import MEANINGS, to_refusal

BOT = Path(__file__).parents[2] / "bot"
SANDBOX = BOT.parent / "sandbox"


def trees(folder: Path) -> Iterator[tuple[Path, ast.AST]]:
    """Every node of a folder's code, with the file that it stands in."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            yield path, node


def strings(nodes: Iterable[ast.AST]) -> set[str]:
    """The strings that stand anywhere within these nodes."""
    within = (each for node in nodes for each in ast.walk(node))
    return {each.value for each in within if isinstance(each, ast.Constant) and isinstance(each.value, str)}


def workspace_codes() -> set[str]:
    """The codes that the sandbox's workspace refuses with, read from its code."""
    found: list[ast.AST] = []
    for _, node in trees(SANDBOX / "workspace"):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("ApiError", "BadTrigger"):
            found += node.args[:1]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "_own_message":
            found += [each.value for each in node.keywords if each.arg == "otherwise"]
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "bad":
            found.append(node.value)
    return strings(found) - {"blocks"}


def test_each_meaning_has_a_code_and_every_other_code_is_permanent() -> None:
    assert {*MEANINGS.values(), Refusal.PERMANENT, Refusal.BETWEEN_PEOPLE} == set(Refusal)
    for code in (workspace_codes() - MEANINGS.keys()) | {"a_code_of_next_year", ""}:
        assert to_refusal(code).meaning is Refusal.PERMANENT


def test_no_other_room_knows_a_code_of_slack() -> None:
    codes = workspace_codes() | MEANINGS.keys() | {"ratelimited", "internal_error", "service_unavailable"}
    found = {
        (str(path.relative_to(BOT)), node.value)
        for path, node in trees(BOT)
        if isinstance(node, ast.Constant) and node.value in codes and not path.is_relative_to(BOT / "slack")
    }
    # A field of a channel has the name of a code.
    found.discard(("operator/doctor_slack.py", "is_archived"))
    assert found == set()
