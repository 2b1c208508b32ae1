"""What is ready at the same moment is written together, and nobody waits for company."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from bot.work.writing import BatchWriter


class Paper:
    """Remembers what was written together; the pen is slow."""

    def __init__(self, refuses: str = "") -> None:
        self.written: list[list[str]] = []
        self._refuses = refuses

    async def write(self, items: Sequence[str]) -> list[str]:
        """Answers each in capitals."""
        await asyncio.sleep(0)
        if self._refuses in items:
            raise OSError("no ink")
        self.written.append(list(items))
        return [item.upper() for item in items]


async def test_many_are_written_in_order_and_each_once() -> None:
    paper = Paper()
    together = BatchWriter[str, str]()
    names = [str(number) for number in range(90)]
    await asyncio.gather(*(together.put(name, paper.write) for name in names))
    assert [name for some in paper.written for name in some] == names
    assert len(paper.written) < 9


async def test_everybody_whose_write_failed_learns_it_and_the_next_one_works() -> None:
    paper = Paper(refuses="b")
    together = BatchWriter[str, str]()
    told = await asyncio.gather(
        *(together.put(letter, paper.write) for letter in "abc"), return_exceptions=True
    )
    assert all(isinstance(each, OSError) for each in told[1:])
    await together.put("d", paper.write)
    assert paper.written[-1] == ["d"]


async def test_an_item_is_written_though_whoever_brought_it_stopped_waiting() -> None:
    paper = Paper()
    together = BatchWriter[str, str]()
    first = asyncio.ensure_future(together.put("a", paper.write))
    second = asyncio.ensure_future(together.put("b", paper.write))
    await asyncio.sleep(0)
    second.cancel()
    await first
    with pytest.raises(asyncio.CancelledError):
        await second
    await together.put("c", paper.write)
    assert sorted(name for some in paper.written for name in some) == ["a", "b", "c"]


async def test_whoever_writes_for_others_may_stop_and_they_are_written_all_the_same() -> None:
    paper = Paper()
    together = BatchWriter[str, str]()
    first, second, third = (asyncio.ensure_future(together.put(name, paper.write)) for name in "abc")
    await asyncio.sleep(0)
    first.cancel()
    assert [await second, await third] == ["B", "C"]
    with pytest.raises(asyncio.CancelledError):
        await first
    assert sorted(name for some in paper.written for name in some) == ["a", "b", "c"]
    assert await together.put("d", paper.write) == "D"


async def test_everybody_goes_on_in_the_same_turn_of_the_event_loop() -> None:
    """Fifty commands that were written together are acknowledged together, not one after another."""
    paper, turns = Paper(), 0
    together = BatchWriter[str, str]()

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def put(name: str) -> int:
        await together.put(name, paper.write)
        return turns

    counting = asyncio.create_task(count_turns())
    went_on_in = await asyncio.gather(*(put(str(number)) for number in range(20)))
    counting.cancel()
    assert len(set(went_on_in)) == len(paper.written) == 1


async def test_an_item_that_comes_as_a_write_ends_is_written_too() -> None:
    paper = Paper()
    together = BatchWriter[str, str]()

    async def put(*names: str) -> list[str]:
        return [await together.put(name, paper.write) for name in names]

    assert list(await asyncio.gather(put("a", "b"), put("c", "d"))) == [["A", "B"], ["C", "D"]]
    assert sorted(name for some in paper.written for name in some) == ["a", "b", "c", "d"]


async def after(turns: int) -> None:
    """Wait for some turns of the event loop."""
    for _ in range(turns):
        await asyncio.sleep(0)


@pytest.mark.parametrize(("later", "written"), [(4, [["a", "b", "c"]]), (20, [["a"], ["b"], ["c"]])])
async def test_a_write_begins_once_no_item_has_come_for_some_turns_of_the_event_loop(
    later: int, written: list[list[str]]
) -> None:
    paper = Paper()
    together = BatchWriter[str, str](turns=10)

    async def put(name: str, turns: int) -> str:
        await after(turns)
        return await together.put(name, paper.write)

    await asyncio.gather(*(put(name, number * later) for number, name in enumerate("abc")))
    assert paper.written == written


async def test_a_full_batch_is_written_without_waiting_for_more() -> None:
    paper = Paper()
    together = BatchWriter[str, str](most=2, turns=10)
    told = asyncio.gather(together.put("a", paper.write), together.put("b", paper.write))
    await after(5)
    assert paper.written == [["a", "b"]]
    await told
