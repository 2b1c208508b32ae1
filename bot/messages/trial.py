"""Messages of ``docs-bot doctor --try``, with made-up numbers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from bot.ids import Message, PageKey
from bot.messages import blocks as b
from bot.messages import numbers
from bot.model.visitors import Counts, PageCounts, Period

_DAYS = tuple(Period(date(2026, 11, day), date(2026, 11, day + 1)) for day in range(2, 9))
_COUNTS = Counts(30, 70, 95)


FIRST_POST = b.words(
    ":warning: Your bot admin tries what I can do here (`docs-bot doctor --try`). "
    "The messages in this thread are made up, and I delete them at the end."
)
"""The post in whose thread the other messages are."""


EDITED_POST = b.words(":warning: Your bot admin has tried what I can do here.")
"""The first post after its edit."""


def private() -> Message:
    """Return the message for one person."""
    return b.words("`docs-bot doctor --try` tries whether I can reach you in private.")


def native_blocks() -> Mapping[str, Message]:
    """Return a message for each kind of block that some workspaces do not have."""
    pages = [PageCounts(PageKey("0:0"), "/quickstart", _COUNTS, None)]
    return {
        "charts": b.message(numbers.visitors_chart([(day, _COUNTS) for day in _DAYS], whole_site=True)),
        "tables": b.message(numbers.page_table("Pages", pages, compared=False)),
    }


PRESS_ME = b.with_buttons("Press this, please.", [b.button("Press me", b.Action.TRY, "try")])
"""The request to press a button."""


PRESSED = b.words(":white_check_mark: I heard it.")
"""The answer to the press."""
