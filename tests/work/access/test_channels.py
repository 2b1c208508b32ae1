"""A channel that the bot does not see any more, and one that is not listed."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from bot.model.ids import ChannelId, MessageTs
from bot.model.message import Message
from bot.slack.errors import refused
from tests.builders import CHANNEL
from tests.fakes import FakeSlack
from tests.work.office import Office

OTHER = ChannelId("C0OTHER")


@dataclass
class ClosedSlack(FakeSlack):
    """A workspace with channels that the bot does not see."""

    gone: set[ChannelId] = field(default_factory=set)

    async def post(self, channel: ChannelId, message: Message, **about: object) -> MessageTs:
        if channel in self.gone:
            raise refused("channel_not_found")
        return await super().post(channel, message, **about)  # type: ignore[arg-type]


@pytest.fixture
def slack() -> ClosedSlack:
    return ClosedSlack()


async def test_only_a_listed_channel_is_admitted(office: Office) -> None:
    office.access_policy(channels=frozenset({CHANNEL}))
    assert (await office.types("/docs-agent", "Add a page", channel=CHANNEL)).message is None
    elsewhere = await office.types("/docs-agent", "Add a page", channel=OTHER)
    assert elsewhere.message is not None
    assert "isn't set up for this channel" in elsewhere.message.text


async def test_an_end_whose_channel_is_gone_is_told_alone(office: Office, slack: ClosedSlack) -> None:
    here = Office(office.store, slack=slack)
    await here.started()
    slack.gone.add(CHANNEL)
    here.docs.finish()
    await here.settle(60)
    [told] = [message.text for _, message, _ in slack.direct]
    assert "Job 1" in told
