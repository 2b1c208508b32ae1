"""People edit and delete the messages with which they asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from bot.ids import ChannelId, MessageTs, PromptId
from bot.jobs.model import lifecycle
from bot.jobs.model.jobs import JobState
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.thread_events import TooEarly
from bot.ports import SlackUnclear, ts_at
from bot.store import LeaseLost, Store, Transaction
from tests.builders import BEN, CHANNEL
from tests.work.drains import deliver_due, prepare_prompts
from tests.work.office import BOT, Office

Result = TypeVar("Result")
AT_BOT = f"<@{BOT}>"
DIRECT = ChannelId("D0ANA")


async def waiting(office: Office, text: str = f"{AT_BOT} Add a page", **options: Any) -> MessageTs:
    """Ana mentions the bot, and the prompt waits for the hourly limit."""
    office.limit(1)
    await office.started("Something first", user=BEN)
    ts = await office.hears(text, **options)
    await office.settle(2)
    assert (await office.job(2)).state is JobState.WAITING
    return ts


async def test_an_edit_while_a_worker_prepares_the_prompt_is_not_lost(office: Office) -> None:
    ts = await office.hears(f"{AT_BOT} Add a page")
    [claimed] = await office.store.write(lambda tx: Prompts(tx).claim_new(office.context.claimer(), 5))
    await office.corrects(ts, f"{AT_BOT} Add two pages")
    prepared = lifecycle.prompt_prepared(claimed, "Add a page")
    with pytest.raises(LeaseLost):
        await office.store.write(lambda tx: Prompts(tx).save(claimed, prepared, owner="one"))
    await office.settle()
    assert office.sent() == ["Add two pages"]


async def test_a_worker_that_claims_an_edited_prompt_anew_does_not_write_what_it_read_before(
    office: Office,
) -> None:
    """The same process holds the lease both times."""
    ts = await office.hears(f"{AT_BOT} Add a page")
    claimer, number = office.context.claimer(), PromptId(1)
    read = await office.store.read(lambda tx: Prompts(tx).get(number))
    assert read is not None
    prepared = lifecycle.prompt_prepared(read, "Add a page")
    await office.corrects(ts, f"{AT_BOT} Add two pages")
    await office.store.write(lambda tx: Prompts(tx).claim_new(claimer, 5))
    with pytest.raises(LeaseLost):
        await office.store.write(lambda tx: Prompts(tx).save(read, prepared, owner=claimer.owner))
    office.limit(100)
    await office.pass_time(3_700)
    assert office.sent()[-1] == "Add two pages"


@pytest.mark.parametrize(("text", "is_sent"), [(f"{AT_BOT} Add two pages", ["Add two pages"]), (None, [])])
@pytest.mark.parametrize("channel", [CHANNEL, DIRECT])
async def test_a_change_that_comes_before_its_message_counts_when_slack_delivers_it_again(
    office: Office, text: str | None, is_sent: list[str], channel: ChannelId
) -> None:
    ts = ts_at(office.clock())
    before = f"{AT_BOT} Add a page"
    with pytest.raises(TooEarly):
        await office.corrects(ts, text, channel=channel, before=before)
    await office.hears(before, ts=ts, channel=channel)
    await office.corrects(ts, text, channel=channel, before=before)
    await office.settle()
    assert office.sent() == is_sent


@pytest.mark.parametrize("hours", [-9, 9])
async def test_a_change_that_comes_before_its_message_comes_again_though_the_clock_is_wrong(
    office: Office, hours: int
) -> None:
    ts = ts_at(office.clock())
    office.clock.pass_seconds(hours * 3_600)
    with pytest.raises(TooEarly):
        await office.corrects(ts, f"{AT_BOT} Make it longer", at=ts, before=f"{AT_BOT} Make it shorter")


async def test_a_change_that_comes_before_its_reply_comes_again(office: Office) -> None:
    await office.finished()
    root = office.slack.root().ts
    with pytest.raises(TooEarly):
        await office.corrects(ts_at(office.clock()), "Make it longer", thread=root, before="Make it shorter")


async def test_a_change_of_a_reply_to_a_face_that_is_not_noted_yet_comes_again(office: Office) -> None:
    office.slack.lose_answer.append(SlackUnclear("cut"))
    await office.ask("Add a quickstart")
    await prepare_prompts(office.context)
    await deliver_due(office.context)
    root = MessageTs("1700000000.000001")
    with pytest.raises(TooEarly):
        await office.corrects(ts_at(office.clock()), "Make it longer", thread=root, before="Make it shorter")


async def test_no_other_change_comes_again(office: Office) -> None:
    async def changes(before: str | None, ts: MessageTs, channel: ChannelId = CHANNEL) -> None:
        at = ts_at(office.clock())
        await office.corrects(ts, "Add two pages", channel=channel, at=at, before=before)

    now = ts_at(office.clock())
    await changes("Among people", now)
    await changes(f"{AT_BOT} aside not for you", now)
    await changes(None, now)
    await changes(f"{AT_BOT} Add a page", ts_at(office.clock() - timedelta(minutes=11)))
    await office.hears(f"{AT_BOT} jobs", ts=now)
    await changes(f"{AT_BOT} jobs", now)
    await changes("Add a page", ts_at(office.clock() - timedelta(minutes=11)), DIRECT)
    assert await office.store.read(lambda tx: Jobs(tx).newest(5)) == []


class Overtaken(Store):
    """A store whose first write finds that a worker has taken the row on."""

    writes = 0

    async def write(self, change: Callable[[Transaction], Result]) -> Result:
        self.writes += 1
        if self.writes == 1:
            raise LeaseLost("prompt 1")
        return await super().write(change)


async def test_an_edit_that_a_worker_overtakes_is_carried_out_as_the_prompt_is_then(office: Office) -> None:
    ts = await waiting(office)
    office.context = replace(office.context, store=Overtaken(office.store.database))
    await office.corrects(ts, f"{AT_BOT} Add two pages")
    await office.pass_time(3_700)
    assert office.sent() == ["Something first", "Add two pages"]
