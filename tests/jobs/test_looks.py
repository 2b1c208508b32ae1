"""Regular calls that bring no news wake no worker."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.subjects import all_workers
from tests.services import LINK
from tests.talk import Talk


@pytest.mark.parametrize("call", ["poll", "pull requests", "preview"])
async def test_call_without_news_wakes_no_worker(talk: Talk, call: str) -> None:
    talk.service.branch = "agent/quickstart"
    await talk.started()
    if call != "poll":
        await talk.ends(pr_link=LINK)
    if call == "preview":
        await talk.ana.presses("Preview")
    await talk.time.passes(60)
    talk.everything()
    bot = talk.process.bot
    assert bot is not None
    woken: list[str] = []
    workers = all_workers(replace(bot._context, wake=lambda: woken.append(call)))
    [worker] = [worker for worker in workers if worker.name == call]
    talk.time.is_set(minutes=20)
    calls = len(talk.service.calls) + len(talk.github.calls)
    assert await worker.run()
    assert len(talk.service.calls) + len(talk.github.calls) > calls
    assert woken == []
