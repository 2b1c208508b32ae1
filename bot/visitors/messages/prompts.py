"""The prompts that the buttons of a row and of a page suggest."""

from __future__ import annotations

import re
from urllib.parse import quote

from bot.jobs.model.jobs import GapRef
from bot.messages.plain_text import one_line
from bot.messages.quotations import in_quotes
from bot.visitors.messages.numbers import both, shown_path
from bot.visitors.model.periods import Period
from bot.visitors.model.readings import Counts

_WHOLE_PATH = 2_000
"""The longest path that the store keeps."""
_TITLE_LENGTH = 80


def row_reference(key: str, title: str) -> GapRef:
    """Return the reference from a job to the row at which it was asked for."""
    return GapRef(key, one_line(title, _TITLE_LENGTH))


def improve_prompt(page: str, counts: Counts, period: Period) -> str:
    """Return the suggested prompt for a page.

    The path, chosen by strangers, can't end its quotation.
    """
    path = re.sub(r"[\s\"“”<>]", lambda sign: quote(sign[0]), one_line(page, _WHOLE_PATH))
    if counts.total and counts.ai >= 2 * counts.human:
        aim = (
            "It is read mostly by AI agents: state facts completely and explicitly, give runnable examples, "
            "and make it findable for people too, with links from the pages around it."
        )
    elif counts.total and counts.human >= 4 * counts.ai:
        aim = (
            "It is read mostly by people: make the beginning say what they will be able to do, "
            "check that every step works, and bring examples up to date."
        )
    else:
        aim = (
            "Check that it is correct and up to date, say the most important things first, and improve "
            "examples."
        )
    return (
        f"Improve the page {in_quotes(path or shown_path(page), _WHOLE_PATH)}.\n\n"
        f"Unique visitors {period} (approximate): {both(counts)}, {counts.total:,} in all.\n\n"
        f"{aim}"
    )
