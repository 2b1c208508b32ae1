"""The clock is set ahead and back: jobs go on at once, and nothing is done twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from bot.commands.catalogue import take_message
from bot.model.access import MemberCache, ts_at
from bot.model.ids import MessageTs
from bot.store.queues import Queue
from bot.store.schema import jobs
from bot.work.clock import WatchedClock, find_due, follow_clock
from bot.work.jobs.missed import Gap
from bot.work.jobs.prepare import prepare_prompts
from bot.work.outbox.deliver import deliver_due
from bot.work.ports import SlackUnclear
from tests.builders import ANA, BEN, HeldClock, execute
from tests.fakes import FakeSlack
from tests.work.jobs.test_missed import prompts, read_on
from tests.work.office import Office

HOUR = timedelta(hours=1)


@pytest.mark.parametrize("back", [HOUR, 2 * HOUR, 400 * 24 * HOUR])
async def test_a_bot_whose_clock_was_ahead_posts_starts_and_tells_ends_when_it_is_set_back(
    office: Office, back: timedelta
) -> None:
    await office.set_clock(2 * HOUR)
    await office.finished("Add a quickstart")
    await office.started("Add a guide", user=BEN)
    await office.set_clock(-back)
    await office.settle()
    asked = await office.started("Add a tutorial")
    office.docs.finish()
    await office.settle(20)
    assert len([post for post in office.slack.posts if post.thread is None]) == 3
    assert len(office.said()) == 3
    assert (await office.job(asked.job)).pr_link is not None


async def test_uses_of_the_quota_do_not_count_for_hours_when_the_clock_is_set_back(office: Office) -> None:
    office.limit(1)
    await office.set_clock(2 * HOUR)
    await office.finished("Add a quickstart")
    await office.set_clock(-2 * HOUR)
    await office.started("Add a guide", user=BEN)
    await office.pass_time(3_700)
    assert len(office.docs.jobs) == 2


async def test_a_post_of_unclear_outcome_is_found_though_the_clock_is_set_back(office: Office) -> None:
    await office.set_clock(2 * HOUR)
    office.slack.lose_answer.append(SlackUnclear("no answer"))
    await office.ask("Add a quickstart")
    await office.rounds()
    await office.set_clock(-2 * HOUR)
    await office.settle()
    assert len([post for post in office.slack.posts if post.thread is None]) == 1


async def test_what_was_missed_does_not_wait_until_the_clock_is_where_slacks_is(office: Office) -> None:
    slacks_time = office.clock() + 2 * HOUR
    office.missed("Add a page", direct=True, ts=ts_at(slacks_time - timedelta(minutes=1)))
    await take_message(office.context, office.missed("help", direct=True, ts=ts_at(slacks_time)))
    await read_on(office)
    await office.settle()
    assert await prompts(office) == ["Add a page"]
    assert len(office.docs.jobs) == 1


def test_a_member_is_not_remembered_for_longer_when_the_clock_is_set_back(office: Office) -> None:
    cache, now = MemberCache(), office.clock()
    cache.add(ANA, "rule", now + HOUR)
    assert cache.has(ANA, "rule", now + HOUR)
    assert not cache.has(ANA, "rule", now)


@dataclass
class SlackWhileTheClockIsSet(FakeSlack):
    """Slack, in whose first call to post the clock is set."""

    set_clock: Callable[[], Awaitable[None]] | None = None

    async def post(self, *args: Any, **kwargs: Any) -> MessageTs:
        set_clock, self.set_clock = self.set_clock, None
        if set_clock is not None:
            await set_clock()
        return await super().post(*args, **kwargs)


class BusyClock(HeldClock):
    """A clock of a machine that is busy: between two looks at it 30 ms pass."""

    is_busy = False

    def __call__(self) -> datetime:
        self.pass_seconds(0.03 * self.is_busy)
        return super().__call__()


async def test_a_channel_is_not_mute_when_the_clock_is_set_back_during_a_late_post(office: Office) -> None:
    slack, clock = SlackWhileTheClockIsSet(), BusyClock()
    busy = Office(office.store, slack=slack, docs=office.docs, clock=clock)
    await busy.set_clock(2 * HOUR)
    await busy.ask("Add a quickstart")
    await prepare_prompts(busy.context)

    async def set_back() -> None:
        await busy.set_clock(-2 * HOUR)
        await follow_clock(busy.context)

    slack.set_clock = set_back
    clock.is_busy = True
    await deliver_due(busy.context)
    clock.is_busy = False
    await busy.settle()
    busy.docs.finish()
    await busy.settle()
    assert len(busy.said()) == 1


async def test_what_was_under_way_when_the_clock_was_set_back_does_not_wait_for_hours(office: Office) -> None:
    await office.started("Add a quickstart")
    await office.set_clock(2 * HOUR)
    late = office.clock()
    await office.set_clock(-2 * HOUR)
    under_way = list[asyncio.Task[None]]()

    def commit_late() -> None:
        if not under_way:
            writing = execute(office.store, update(jobs).values(poll_at=late))
            under_way.append(asyncio.create_task(writing))

    await follow_clock(replace(office.context, wake=commit_late))
    await asyncio.gather(*under_way)
    office.docs.finish()
    await office.settle(20)
    assert len(office.said()) == 1


async def test_a_clock_that_was_ahead_for_a_moment_holds_nothing_up(office: Office) -> None:
    """No heartbeat was written meanwhile: this process has seen it."""
    seconds = [0.0]
    watched = WatchedClock(office.clock, lambda: seconds[0])
    office.context = replace(office.context, clock=watched)
    office.clock.pass_seconds(9 * 3_600)
    await office.ask("Add a quickstart")
    office.clock.pass_seconds(-9 * 3_600)
    assert (await office.store.find_due(watched)).queues == frozenset()
    assert Queue.AHEAD in (await find_due(office.context, watched)).queues
    await follow_clock(office.context, watched)
    assert Queue.AHEAD not in (await find_due(office.context, watched)).queues
    office.docs.finish()
    await office.settle()
    office.docs.finish()
    await office.settle(20)
    assert len(office.said()) == 1


async def test_a_wait_is_not_cut_short_when_another_process_has_moved_the_times(office: Office) -> None:
    office.limit(1)
    await office.started("Add a quickstart")
    await office.started("Add a guide", user=BEN)
    due_at = (await office.job(2)).queue_until
    watched = WatchedClock(office.clock, lambda: 0.0)
    office.clock.pass_seconds(7_200)
    watched()
    office.clock.pass_seconds(-7_200)
    await follow_clock(office.context, watched)
    assert (await office.job(2)).queue_until == due_at


async def test_what_was_missed_is_read_at_once_when_the_clock_was_set_back_before_a_gap_ends(
    office: Office,
) -> None:
    await office.finished("Add a quickstart")
    await office.reply("Mention Python 3.11")
    await office.settle()
    office.clock.pass_seconds(6 * 3_600)
    gap = Gap(office.context)
    gap.begin()
    office.clock.pass_seconds(-6 * 3_600)
    await gap.end()
    assert Queue.UNREAD in (await office.store.find_due(office.clock)).queues
