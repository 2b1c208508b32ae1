"""The line that tells how far a long command has come."""

from __future__ import annotations

import io

import pytest

from bot.operator.visitors import counted_pages


def test_the_line_tells_the_sum_and_the_time_and_is_cleared_in_the_end() -> None:
    terminal, times = io.StringIO(), iter([100.0, 100.0, 101.5, 163.0])
    with counted_pages(terminal, shown=True, clock=lambda: next(times)) as tell:
        tell(250)
        tell(1_000)
    *lines, blank, rest = terminal.getvalue().removeprefix("\r").split("\r")
    assert lines == [
        "0 pages of the docs 0:00:00",
        "250 pages of the docs 0:00:01",
        "1,250 pages of the docs 0:01:03",
    ]
    assert (blank, rest) == (" " * len(lines[-1]), "")


def test_the_line_is_cleared_when_something_breaks() -> None:
    terminal = io.StringIO()
    with pytest.raises(OSError, match="gone"), counted_pages(terminal, shown=True, clock=lambda: 0.0):
        raise OSError("gone")
    assert terminal.getvalue().endswith(" \r")


def test_nothing_is_written_where_nobody_watches() -> None:
    terminal = io.StringIO()
    with counted_pages(terminal, shown=False) as tell:
        tell(250)
    assert terminal.getvalue() == ""
