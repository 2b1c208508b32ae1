"""The docs agent: rules that turn a prompt into changes of pages."""

from __future__ import annotations

from sandbox.docs_service.agent.decide import Change, Unchanged, decide
from sandbox.docs_service.agent.ends import End, asked_end, is_slow

__all__ = ["Change", "End", "Unchanged", "asked_end", "decide", "is_slow"]
