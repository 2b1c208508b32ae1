"""Phrases in a prompt that ask for another outcome than a pull request."""

from __future__ import annotations

import re
from enum import StrEnum

from sandbox.docs_service.agent.wording import without_background


class End(StrEnum):
    """An outcome that a prompt can ask for."""

    FAILED = "failed"
    ARCHIVED = "archived"
    UNCHANGED = "unchanged"


# The lookaheads exclude ordinary prompts such as "change nothing else" and "archive this page".
_PHRASES = {
    End.FAILED: r"\bfail on purpose\b",
    End.ARCHIVED: r"\barchive this(?= job\b|\s*[.!,;]|\s*$)",
    End.UNCHANGED: r"\b(?:change nothing|nothing to change)\b(?!\s+(?:else|but|except|in|on|about))",
}
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
    asked = without_background(prompt)
    return next((end for end, phrase in _PHRASES.items() if re.search(phrase, asked, re.IGNORECASE)), None)


def is_slow(prompt: str) -> bool:
    """Return whether the prompt asks the agent to work slowly."""
    return "take your time" in without_background(prompt).lower()
