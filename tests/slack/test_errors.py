"""The table of Slack's error codes, which nothing outside ``bot/slack/`` uses."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from bot.ids import Refusal
from bot.slack.client import REFUSAL_BY_CODE, to_refusal

BOT = Path(__file__).parents[2] / "bot"
SANDBOX = BOT.parent / "sandbox"


def trees(folder: Path) -> Iterator[tuple[Path, ast.AST]]:
    """Yield every node of a folder's code with its file."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            yield path, node


def strings(nodes: Iterable[ast.AST]) -> set[str]:
    """Return all strings within these nodes."""
    within = (inner for node in nodes for inner in ast.walk(node))
    return {
        node.value
        for node in within
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def workspace_codes() -> set[str]:
    """Return the error codes in the code of the sandbox's workspace."""
    codes: list[ast.AST] = []
    for _, node in trees(SANDBOX / "workspace"):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
            "ApiError",
            "BadTrigger",
        ):
            codes += node.args[:1]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "_own_message":
            codes += [keyword.value for keyword in node.keywords if keyword.arg == "otherwise"]
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "bad":
            codes.append(node.value)
    return strings(codes) - {"blocks"}


def test_codes_without_a_meaning_are_permanent() -> None:
    assert {*REFUSAL_BY_CODE.values(), Refusal.PERMANENT, Refusal.BETWEEN_PEOPLE} == set(Refusal)
    for code in (workspace_codes() - REFUSAL_BY_CODE.keys()) | {"a_code_of_next_year", ""}:
        assert to_refusal(code).meaning is Refusal.PERMANENT


def test_codes_of_slack_are_only_in_its_package() -> None:
    codes = (
        workspace_codes()
        | REFUSAL_BY_CODE.keys()
        | {"ratelimited", "internal_error", "service_unavailable"}
    )
    uses = {
        (str(path.relative_to(BOT)), node.value)
        for path, node in trees(BOT)
        if isinstance(node, ast.Constant)
        and node.value in codes
        and not path.is_relative_to(BOT / "slack")
    }
    # A field of a channel has the name of a code.
    uses.discard(("operator/doctor_slack.py", "is_archived"))
    assert uses == set()
