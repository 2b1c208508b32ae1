"""The tables of docs/assumptions.md and docs/first-contact.md, derived from the lists in the code.

``make approve`` rewrites the tables in place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from bot.operator.assumptions import ASSUMPTIONS
from bot.operator.trial import STEPS
from bot.slack.uses import EVENTS, METHODS, SlackUse
from tests.papers import DOCS

ASSUMPTIONS_PAGE = DOCS / "assumptions.md"
FIRST_CONTACT_PAGE = DOCS / "first-contact.md"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def assumptions_table() -> str:
    """Return a row for each assumption."""
    rows = [
        _row("Name", "Statement", "Source", "Read on", "Place", "If it is wrong", "Seen on"),
        _row(*["---"] * 7),
    ]
    for one in ASSUMPTIONS:
        source = f"<{one.source}>" if one.source.startswith("https:") else one.source
        rows.append(
            _row(
                f"`{one.id}`",
                one.statement,
                source,
                one.read_on,
                f"`{one.place}`",
                one.if_wrong,
                one.seen_on,
            )
        )
    return "\n".join(rows)


def uses_table() -> str:
    """Return a row for each method and event, with its scopes and the steps that try it."""
    rows = [_row("Method or event", "Scope", "Without it", "Step"), _row(*["---"] * 4)]
    rows += [_use_row(use) for use in (*METHODS, *EVENTS)]
    return "\n".join(rows)


def _use_row(use: SlackUse) -> str:
    scopes = ", ".join(f"`{scope}`" for scope in use.scopes) or "–"
    steps = ", ".join(_steps_of(use.name)) or "clean up"
    return _row(f"`{use.name}`", scopes, use.loss, steps)


def _steps_of(name: str) -> Iterator[str]:
    for step in STEPS:
        if name in step.tries:
            yield step.name


TABLES = {ASSUMPTIONS_PAGE: assumptions_table, FIRST_CONTACT_PAGE: uses_table}


def table_of(page: Path) -> str:
    """Return the first table of a page."""
    found = re.search(r"(?:^\|.*\n?)+", page.read_text(encoding="utf-8"), re.MULTILINE)
    return found[0].strip() if found else ""


def main() -> None:
    """Rewrite the tables."""
    for page, make in TABLES.items():
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(table_of(page), make()), encoding="utf-8")


if __name__ == "__main__":
    main()
