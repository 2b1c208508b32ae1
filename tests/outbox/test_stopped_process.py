"""A process that was kept from its work says nothing that another may have said meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import pytest

from bot.ids import ChannelId, JobNumber
from bot.jobs.thread import update_status_message
from tests.builders import CHANNEL, HeldClock
from tests.fakes import FakeSlack
from tests.work.asking import FIRST, LAST
from tests.work.drains import deliver_due, prepare_prompts
from tests.work.office import Office


@dataclass
class SlowToJoin(FakeSlack):
    """Joining a channel takes its time."""

    clock: HeldClock = field(default_factory=HeldClock)
    takes_seconds: float = 0.0

    async def join(self, channel: ChannelId) -> None:
        await super().join(channel)
        self.clock.pass_seconds(self.takes_seconds)


@pytest.mark.parametrize(("takes_seconds", "posts"), [(50, 1), (70, 0)])
async def test_a_post_is_begun_only_when_its_lease_outlasts_it(
    office: Office, takes_seconds: float, posts: int
) -> None:
    slow = SlowToJoin(clock=office.clock, takes_seconds=takes_seconds)
    late = Office(office.store, slack=slow, clock=office.clock)
    slow.outside.add(CHANNEL)
    await late.ask("Add a quickstart")
    await prepare_prompts(late.context)
    await deliver_due(late.context)
    assert len(slow.posts) == posts
    slow.takes_seconds = 0
    late.restart()
    await late.pass_time(100)
    await late.settle()
    assert len([post for post in slow.posts if post.thread is None]) == 1
    assert [text for _, text in late.docs.prompts] == ["Add a quickstart"]


@dataclass
class SlowToSend(FakeSlack):
    """Sending the bytes of a file takes its time, before the file is shared."""

    clock: HeldClock = field(default_factory=HeldClock)
    takes_seconds: float = 0.0

    async def upload(
        self, channel: ChannelId, path: Path, *, name: str, text: str, confirm: Callable[[], None]
    ) -> None:
        self.clock.pass_seconds(self.takes_seconds)
        await super().upload(channel, path, name=name, text=text, confirm=confirm)


@pytest.mark.parametrize(("takes_seconds", "files"), [(50, 1), (70, 0)])
async def test_a_file_is_shared_only_when_its_lease_outlasts_that(
    office: Office, takes_seconds: float, files: int
) -> None:
    slow = SlowToSend(clock=office.clock, takes_seconds=takes_seconds)
    late = Office(office.store, slack=slow, docs=office.docs, clock=office.clock)
    late.docs.site.fill(3, FIRST, LAST)
    await late.visitors("csv here compare none")
    await late.reading(5)
    assert len(slow.files) == files
    slow.takes_seconds = 0
    late.restart()
    await late.pass_time(100)
    await late.reading(5)
    assert len(slow.files) == 1


class Leaping(HeldClock):
    """After each look at it, a process is stopped for a while."""

    def __call__(self) -> datetime:
        at = super().__call__()
        self.pass_seconds(100)
        return at


async def test_an_old_state_is_not_drawn_over_a_newer_one(office: Office) -> None:
    """Stopped between the claim and the edit; another process has gone on meanwhile."""
    await office.finished()
    drawn = len(office.slack.edits[office.slack.root().ts])
    await office.store.write(lambda tx: update_status_message(tx, JobNumber(1), office.clock()))
    await deliver_due(replace(office.context, owner="stopped", under_way={}, clock=Leaping(office.clock.at)))
    assert len(office.slack.edits[office.slack.root().ts]) == drawn
    await office.pass_time(10_000)
    assert len(office.slack.edits[office.slack.root().ts]) == drawn + 1
