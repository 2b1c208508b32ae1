"""What is counted for the metrics when nobody knows whether a prompt was sent."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest

from tests.work.office import Office


class Died(Exception):
    """The process dies in a call."""


async def test_every_prompt_that_becomes_unconfirmed_is_counted_as_such(office: Office) -> None:
    counted: list[tuple[str, str]] = []
    office.context = replace(office.context, count=lambda what, how: counted.append((what, how)))
    office.docs.lost.append(httpx.ReadTimeout("lost"))
    await office.started("One")
    office.docs.answer_instead("create", httpx.Response(500))
    await office.started("Two")
    # A process dies while it sends two prompts.
    office.docs.answer_instead("create", Died(), Died())
    for text in ("Three", "Four"):
        await office.ask(text)
        with pytest.raises(Died):
            await office.settle(3)
    office.restart()
    await office.settle(120)
    assert counted.count(("prompts", "unconfirmed")) == 4
    assert ("prompts", "unavailable") not in counted
