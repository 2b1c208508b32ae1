"""What is ready at the same moment is written together, and nobody waits for company."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from bot.work.together import Together


class Paper:
    """Remembers what was written together; the pen is slow."""

    def __init__(self, refuses: str = "") -> None:
        self.written: list[list[str]] = []
        self._refuses = refuses

    async def write(self, items: Sequence[str]) -> None:
        await asyncio.sleep(0)
        if self._refuses in items:
            raise OSError("no ink")
        self.written.append(list(items))


async def test_what_comes_during_a_write_is_written_together_afterwards() -> None:
    paper = Paper()
    together = Together(paper.write)
    await asyncio.gather(*(together.put(letter) for letter in "abcd"))
    assert paper.written == [["a", "b", "c", "d"]] or paper.written == [["a"], ["b", "c", "d"]]


async def test_many_are_written_in_order_and_each_once() -> None:
    paper = Paper()
    together = Together(paper.write)
    names = [str(number) for number in range(90)]
    await asyncio.gather(*map(together.put, names))
    assert [name for some in paper.written for name in some] == names
    assert len(paper.written) < 9


async def test_one_alone_is_written_at_once() -> None:
    paper = Paper()
    await Together(paper.write).put("a")
    assert paper.written == [["a"]]


async def test_everybody_whose_write_failed_learns_it_and_the_next_one_works() -> None:
    paper = Paper(refuses="b")
    together = Together(paper.write)
    told = await asyncio.gather(*map(together.put, "abc"), return_exceptions=True)
    assert all(isinstance(each, OSError) for each in told[1:])
    await together.put("d")
    assert paper.written[-1] == ["d"]


async def test_an_item_is_written_though_whoever_brought_it_stopped_waiting() -> None:
    paper = Paper()
    together = Together(paper.write)
    first, second = asyncio.ensure_future(together.put("a")), asyncio.ensure_future(together.put("b"))
    await asyncio.sleep(0)
    second.cancel()
    await first
    with pytest.raises(asyncio.CancelledError):
        await second
    await together.put("c")
    assert sorted(name for some in paper.written for name in some) == ["a", "b", "c"]
