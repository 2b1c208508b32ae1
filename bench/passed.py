"""Records which functions of the bot a request passes through, with a profiler in every thread."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from types import CodeType, FrameType
from typing import Any

import bot

_BOT = str(Path(bot.__file__).parent) + "/"
_SANDBOX = _BOT + "sandbox/"
Stack = tuple[CodeType, ...]
"""The bot's functions on a call stack, outermost first."""
_PARTS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
"""Code that only some versions of Python run as separate functions."""


class Passage:
    """Records call stacks of the bot's functions.

    Stacks that also occur at rest are left out; their functions count if a request reaches them in another
    way. A coroutine is recorded when it starts and each time it resumes.
    """

    def __init__(self) -> None:
        self._at_rest: set[Stack] = set()
        self._stacks: set[Stack] | None = None
        self.changed_at = monotonic()
        """The time of the last new stack."""

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Profile this thread and every thread that starts before the block ends."""
        threading.setprofile(self._heard)
        sys.setprofile(self._heard)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Record the stacks of an idle bot, which are left out later."""
        self._stacks = self._at_rest
        yield
        self._stacks = None

    @contextmanager
    def following(self) -> Iterator[set[Stack]]:
        """Record one request; yield its stacks, to which more are added until the block ends."""
        self._stacks, self.changed_at = set(), monotonic()
        yield self._stacks
        self._stacks = None

    def _heard(self, frame: FrameType, event: str, _argument: Any) -> None:
        if event != "call" or self._stacks is None or not _is_ours(frame.f_code):
            return
        stack = _stack(frame)
        if stack not in self._stacks and (self._stacks is self._at_rest or stack not in self._at_rest):
            self._stacks.add(stack)
            self.changed_at = monotonic()


def functions(stacks: set[Stack]) -> dict[str, set[str]]:
    """Return the functions of the stacks by file (relative to `bot/`); imports are left out."""
    found: dict[str, set[str]] = {}
    for stack in stacks:
        if any(code.co_name == "<module>" for code in stack):
            continue
        for code in stack:
            if code.co_name not in _PARTS:
                found.setdefault(code.co_filename.removeprefix(_BOT), set()).add(code.co_qualname)
    return found


def _is_ours(code: CodeType) -> bool:
    name = code.co_filename
    return name.startswith(_BOT) and not name.startswith(_SANDBOX)


def _stack(frame: FrameType) -> Stack:
    codes: list[CodeType] = []
    outer: FrameType | None = frame
    while outer is not None:
        if _is_ours(outer.f_code):
            codes.append(outer.f_code)
        outer = outer.f_back
    return tuple(reversed(codes))
