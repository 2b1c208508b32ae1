"""Writes ``docs/texts.md``: every text of ``bot/messages``, read from the source.

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
_HEAD = """# Texts

Everything that the bot says in Slack, as it stands in `bot/messages`. `{…}` marks what is filled in.
[voice.md](voice.md) says how it is written.

This page is generated: run `make texts` after changing a text.
"""


def page() -> str:
    """Return the page."""
    parts = [_HEAD]
    for path in sorted((ROOT / "bot" / "messages").glob("*.py")):
        if path.stem in _NO_TEXTS:
            continue
        tree = ast.parse(path.read_text("utf-8"))
        texts = list(dict.fromkeys(texts_of(tree)))
        if texts:
            lines = "\n".join(texts)
            parts.append(f"## {path.stem}\n\n{ast.get_docstring(tree)}\n\n```text\n{lines}\n```\n")
    return "\n".join(parts)


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
