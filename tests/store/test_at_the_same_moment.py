"""Acts at the same moment, with the database's threads: each has one outcome, and none waits for another."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest

from tests.talk import Talk, Time


class Ticking(Time):
    """A clock that never reports the same time twice, like real ones."""

    def of_bot(self) -> datetime:
        self.ahead += timedelta(milliseconds=1)
        return super().of_bot()


@pytest.fixture
async def talk(talk: Talk, database_url: str) -> Talk:
    """A conversation on a real database with its threads."""
    talk.process.settings["DATABASE_URL"] = database_url.replace("+psycopg", "")
    return talk


async def ask_eight_times(talk: Talk) -> None:
    for number in range(8):
        await (talk.ben if number % 2 else talk.ana).asks(f"Add page {number}")


async def test_one_text_asked_twice_at_once_is_one_job(talk: Talk) -> None:
    await talk.process.starts()
    await asyncio.gather(*(talk.ana.asks("Add a quickstart") for _ in range(5)))
    await talk.time.passes()
    assert talk.agent_got() == ["Add a quickstart"]
    assert len(talk.ana.reads()) == 4
    talk.everything()


async def test_key_refused_for_many_prompts_at_once_is_told_to_admins_once(talk: Talk) -> None:
    talk.time.of_bot = Ticking(talk).of_bot  # type: ignore[method-assign]
    await talk.process.starts(admins=talk.pia.id)
    await ask_eight_times(talk)
    talk.service.says("create", 401, times=8)
    await talk.time.passes(20)
    assert len(talk.pia.reads()) == 1
    assert talk.errors() == {"key_refused"}
    talk.everything()


async def test_all_who_wait_can_withdraw_while_another_process_sends(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add a page on keys")
    await ask_eight_times(talk)
    await talk.time.passes(20)
    waiting = talk.channel()[1:]
    assert len(waiting) == 8
    talk.time.is_set(hours=1)
    asker = {talk.ana.id: talk.ana, talk.ben.id: talk.ben}
    presses = [
        next(asker[user] for user in asker if user in status).presses("Withdraw", on=status)
        for status in waiting
    ]
    await asyncio.gather(talk.works(), *presses)
    await talk.time.passes()
    withdrawn = sum("ithdrawn" in status for status in talk.channel())
    assert withdrawn + len(talk.agent_got()) == 1 + 8
    talk.everything()


async def test_requests_deleted_as_slack_refuses_their_status_end_once(talk: Talk) -> None:
    await talk.process.starts()
    said = [await talk.ana.says(f"@docs-agent Add page {number}") for number in range(8)]
    talk.faults.refuses("chat.postMessage", "thread_not_found", times=8)
    await asyncio.gather(talk.works(), *(talk.ana.deletes(message) for message in said))
    await talk.time.passes(60)
    assert talk.agent_got() == []
    talk.everything()
