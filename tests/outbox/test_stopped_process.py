"""A process that was kept from its work says nothing that another may have said meanwhile."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from bot.ids import JobNumber
from bot.jobs.store.jobs import Jobs
from bot.jobs.thread import update_status_message
from bot.store import Transaction
from bot.subjects import all_workers
from tests.builders import HeldClock
from tests.talk import Talk
from tests.talk_people import Shown
from tests.work.readers import FIRST, LAST


def shared(talk: Talk) -> list[Shown]:
    """Read the posts with a file."""
    return [post for post in talk.channel() if post.message.get("files")]


@pytest.mark.parametrize(("seconds", "posts"), [(50, 1), (70, 0)])
async def test_post_begins_only_when_its_lease_outlasts_it(
    talk: Talk, seconds: int, posts: int
) -> None:
    talk.faults.takes("conversations.join", seconds)
    await talk.ana.asks("Add a quickstart", "general")
    await talk.time.passes(0.5)
    assert len(talk.channel("general")) == posts
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(minutes=3)
    assert len(talk.channel("general")) == 1
    assert talk.agent_got() == ["Add a quickstart"]


@pytest.mark.parametrize(("seconds", "files"), [(50, 1), (70, 0)])
async def test_file_is_shared_only_when_its_lease_outlasts_that(
    talk: Talk, seconds: int, files: int
) -> None:
    talk.service.site.fill(3, FIRST, LAST)
    talk.faults.takes("upload", seconds)
    await talk.ana.types("/docs-visitors csv here compare none")
    await talk.time.passes(10)
    assert len(shared(talk)) == files
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(minutes=3)
    talk.everything()
    assert len(shared(talk)) == 1


class Leaping(HeldClock):
    """After each look at it, a process is stopped for a while."""

    def __call__(self) -> datetime:
        at = super().__call__()
        self.pass_seconds(100)
        return at


async def test_old_state_is_not_drawn_over_a_newer_one(talk: Talk) -> None:
    """Stopped between the claim and the edit; another process has gone on meanwhile."""
    await talk.finished()
    assert talk.process.bot is not None
    context, drawn = talk.process.bot._context, talk.slack.calls.count("chat.update")

    def draw_again(tx: Transaction) -> None:
        update_status_message(tx, Jobs(tx).get_or_raise(JobNumber(1)), talk.time.at)

    await context.store.write(draw_again)
    stopped = replace(context, owner="stopped", clock=Leaping(talk.time.at))
    [worker] = [worker for worker in all_workers(stopped) if worker.name == "deliver"]
    assert await worker.run()
    assert talk.slack.calls.count("chat.update") == drawn
    await talk.time.passes(hours=3)
    assert talk.slack.calls.count("chat.update") == drawn + 1
