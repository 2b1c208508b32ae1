"""How far a long command has come: one line of a terminal that is written over and cleared in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from typing import TextIO


@contextmanager
def counted_pages(
    terminal: TextIO, *, shown: bool, clock: Callable[[], float] = monotonic
) -> Iterator[Callable[[int], None]]:
    """Yield what takes the number of pages that have just come; the line tells their sum and the time.

    Writes nothing unless ``shown``. ``clock`` returns seconds.
    """
    began, count, line = clock(), 0, ""

    def tell(pages: int) -> None:
        nonlocal count, line
        count += pages
        line = f"{count:,} pages of the docs {timedelta(seconds=int(clock() - began))}"
        _write(terminal, f"\r{line}")

    if not shown:
        yield lambda _: None
        return
    tell(0)
    try:
        yield tell
    finally:
        # The line only grows, so that the last one is the longest.
        _write(terminal, f"\r{' ' * len(line)}\r")


def _write(terminal: TextIO, text: str) -> None:
    terminal.write(text)
    terminal.flush()
