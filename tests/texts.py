"""Writes ``docs/texts.md``: every text that people read, from the source of the bot.

Run ``make texts`` after changing a text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "texts.md"
_NO_TEXTS = ("blocks", "plain_text", "spreadsheet")
"""Modules that build messages and say nothing themselves."""
_COMMANDS_SAY = ("Misunderstood", "BadPeriod", "UnknownPeriod", "Command")
"""The calls in ``bot/commands`` whose texts people read; all others are in ``bot/messages``."""
_HEAD = """# Texts

Everything that the bot says in Slack, as it stands in `bot/messages`, and what `bot/commands` says of words
that it can't take. `{…}` marks what is filled in.
[voice.md](voice.md) says how it is written.

This page is generated: run `make texts` after changing a text.
"""


def page() -> str:
    """Return the page."""
    parts = [_HEAD]
    for name, about, texts in by_module():
        lines = "\n".join(texts)
        parts.append(f"## {name}\n\n{about}\n\n```text\n{lines}\n```\n")
    return "\n".join(parts)


def by_module() -> Iterator[tuple[str, str, list[str]]]:
    """Yield the name, the docstring and the texts of each module that has some."""
    for path in sorted((ROOT / "bot" / "messages").glob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        texts = [] if path.stem in _NO_TEXTS else list(dict.fromkeys(texts_of(tree)))
        if texts:
            yield path.stem, ast.get_docstring(tree) or "", texts
    for path in sorted((ROOT / "bot" / "commands").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        said = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and _is_said(each.func)]
        texts = list(dict.fromkeys(text for call in said for text in texts_of(call)))
        if texts:
            yield f"commands/{path.stem}", ast.get_docstring(tree) or "", texts


def _is_said(called: ast.expr) -> bool:
    return isinstance(called, ast.Name) and called.id in _COMMANDS_SAY


def texts_of(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of a module in their order: strings that are sentences or parts of them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring
        if isinstance(node, ast.JoinedStr | ast.Constant):
            text = _filled(node)
            if re.search(r"[A-Za-z]{2}", text.replace("{…}", "")) and (
                " " in text.strip() or text[0].isupper()
            ):
                yield text.strip().replace("\n", " ")
        else:
            yield from texts_of(node)


def _filled(node: ast.JoinedStr | ast.Constant) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    values = (each if isinstance(each, ast.Constant) else None for each in node.values)
    return "".join("{…}" if each is None else str(each.value) for each in values)


if __name__ == "__main__":
    print(page(), end="")
