"""The docs agent: rules that turn a prompt into changes of pages."""

from __future__ import annotations

from sandbox.docs_service.agent.rules import (
    EXAMPLES,
    Change,
    End,
    Unchanged,
    asked_end,
    decide,
    is_slow,
)

__all__ = ["EXAMPLES", "Change", "End", "Unchanged", "asked_end", "decide", "is_slow"]
