"""Phrases in a prompt that ask for another outcome than a pull request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum


class End(StrEnum):
    """An outcome that a prompt can ask for."""

    UNCHANGED = "unchanged"
    FAILED = "failed"
    ARCHIVED = "archived"


# The lookaheads exclude ordinary prompts such as "change nothing else" and "archive this page".
_PHRASES: Mapping[End, re.Pattern[str]] = {
    End.FAILED: re.compile(r"\bfail on purpose\b", re.IGNORECASE),
    End.ARCHIVED: re.compile(r"\barchive this(?= job\b|\s*[.!,;]|\s*$)", re.IGNORECASE),
    End.UNCHANGED: re.compile(
        r"\b(?:change nothing|nothing to change)\b(?!\s+(?:else|but|except|in|on|about))", re.IGNORECASE
    ),
}
_SLOW = re.compile(r"\btake your time\b", re.IGNORECASE)

EXAMPLES = (
    ("Add a quickstart for the Python SDK", "a new page and a pull request"),
    ("Check the changelog, there is nothing to change", "completed, no pull request"),
    ("Fail on purpose", "failed"),
    ("Archive this", "archived; follow-ups are refused from then on"),
    ("Explain how to rotate API keys. Take your time", "a pull request, after ten times as long"),
)
"""Prompts to try, and their outcomes."""


def asked_end(prompt: str) -> End | None:
    """Return the outcome that the prompt asks for; None for an ordinary prompt."""
    return next((end for end, phrase in _PHRASES.items() if phrase.search(prompt)), None)


def is_slow(prompt: str) -> bool:
    """Return whether the prompt asks the agent to work slowly."""
    return _SLOW.search(prompt) is not None
