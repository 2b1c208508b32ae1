"""After faults of Slack one reading of a conversation settles all posts of unclear outcome in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

import pytest

from bot.model.ids import ChannelId, DeliveryId, MessageTs, UserId
from bot.work.jobs.prepare import prepare_prompts
from bot.work.outbox.deliver import deliver_due
from bot.work.ports import SlackUnclear
from tests.builders import CHANNEL, new_store
from tests.fakes import FakeSlack
from tests.work.office import Office

POSTS = 60


@dataclass
class FaultySlack(FakeSlack):
    """While ``is_faulty``, it takes posts and loses its answers, and nothing can be read.

    ``searches``: how often each channel or thread was read. ``takes_nothing``: a post is lost, too.
    """

    is_faulty: bool = False
    takes_nothing: bool = False
    searches: Counter[tuple[ChannelId, MessageTs | None]] = field(default_factory=Counter)

    async def post(self, channel: ChannelId, *message: object, **about: object) -> MessageTs:
        if self.is_faulty and self.takes_nothing:
            raise SlackUnclear("HTTP 503")
        ts = await super().post(channel, *message, **about)  # type: ignore[arg-type]
        if self.is_faulty:
            raise SlackUnclear("HTTP 503")
        return ts

    async def find_posted(self, channel: ChannelId, **about: object) -> Mapping[DeliveryId, MessageTs]:
        self.searches[channel, about["thread"]] += 1  # type: ignore[index]
        if self.is_faulty:
            raise SlackUnclear("HTTP 503")
        return await super().find_posted(channel, **about)  # type: ignore[arg-type]


@pytest.fixture
def slack() -> FaultySlack:
    return FaultySlack()


@pytest.fixture
async def office(slack: FaultySlack) -> AsyncIterator[Office]:
    office = Office(await new_store(), slack=slack)
    yield office
    await office.close()


async def deliver(office: Office, seconds: int) -> None:
    """Deliver for that many seconds."""
    for _ in range(seconds):
        await prepare_prompts(office.context)
        await deliver_due(office.context)
        office.clock.pass_seconds(1.1)


async def ask(office: Office, channel: ChannelId = CHANNEL) -> None:
    for number in range(POSTS):
        await office.ask(f"Add page {number}", user=UserId(f"U0{number}"), channel=channel)


async def faces(office: Office) -> int:
    """Return how many jobs know their face."""
    return sum([(await office.job(number + 1)).root_ts is not None for number in range(POSTS)])


async def test_the_faces_of_a_channel_are_settled_by_one_reading(office: Office, slack: FaultySlack) -> None:
    slack.is_faulty = True
    await ask(office)
    await deliver(office, 274)
    assert len(slack.posts) == POSTS
    assert slack.searches.total() < 25
    slack.is_faulty = False
    slack.searches.clear()
    await deliver(office, 60)
    assert await faces(office) == POSTS
    assert len(slack.posts) == POSTS
    assert slack.searches[CHANNEL, None] == 1


async def test_ends_are_settled_by_one_reading_of_each_thread(office: Office, slack: FaultySlack) -> None:
    await ask(office)
    await office.settle(90)
    slack.is_faulty = True
    office.docs.finish()
    await office.settle(200)
    slack.is_faulty = False
    slack.searches.clear()
    await office.settle(120)
    assert len(slack.replies()) == POSTS
    assert slack.searches
    assert set(slack.searches.values()) == {1}
    assert {thread for _, thread in slack.searches} <= {post.ts for post in slack.posts}


async def test_what_a_reading_does_not_find_is_posted_once_and_at_the_channels_pace(
    office: Office, slack: FaultySlack
) -> None:
    slack.is_faulty = slack.takes_nothing = True
    await ask(office)
    await deliver(office, 274)
    slack.is_faulty = False
    slack.searches.clear()
    before = len(slack.posts)
    while before == 0 and not slack.searches:
        await deliver(office, 1)
    for _ in range(5):
        await deliver(office, 1)
        assert len(slack.posts) - before <= 2
        before = len(slack.posts)
    await deliver(office, 90)
    assert await faces(office) == len(slack.posts) == POSTS
    assert slack.searches[CHANNEL, None] == 1
