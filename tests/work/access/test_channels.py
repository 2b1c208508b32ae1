"""What Slack does with a channel's id changes nothing for those who are in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

import pytest

from bot.model import ChannelId, DeliveryId, Message, MessageTs, Origin, UserId, message_key
from bot.slack.errors import refused
from bot.work.access.channels import rename_channel
from bot.work.jobs.prepare import prepare_prompts
from bot.work.jobs.thread_events import heard_mention, heard_reply
from bot.work.outbox.deliver import deliver_due
from bot.work.ports import Mention, SlackUnclear, ThreadReply
from tests.builders import ANA, BEN, CHANNEL
from tests.fakes import FakeSlack
from tests.work.office import BOT, Office

NEW, OTHER = ChannelId("C0NEW"), ChannelId("C0OTHER")
TS = MessageTs("1700000400.000001")


@dataclass
class MovingSlack(FakeSlack):
    """A workspace in which channels get other ids: an id that is gone names no channel.

    ``meanwhile`` is called while each post and each search is under way. ``searches`` counts these.
    """

    gone: set[ChannelId] = field(default_factory=set)
    meanwhile: Callable[[], Awaitable[None]] | None = None
    searches: int = 0

    def move(self, old: ChannelId, new: ChannelId) -> None:
        """Give a channel another id."""
        self.gone.add(old)
        self.posts = [replace(post, channel=new) if post.channel == old else post for post in self.posts]

    async def post(self, channel: ChannelId, message: Message, **about: object) -> MessageTs:
        await self._reach(channel)
        return await super().post(channel, message, **about)  # type: ignore[arg-type]

    async def find_posted(self, channel: ChannelId, **about: object) -> Mapping[DeliveryId, MessageTs]:
        self.searches += 1
        await self._reach(channel)
        return await super().find_posted(channel, **about)  # type: ignore[arg-type]

    async def _reach(self, channel: ChannelId) -> None:
        if self.meanwhile is not None:
            await self.meanwhile()
        if channel in self.gone:
            raise refused("channel_not_found")


@pytest.fixture
def slack() -> MovingSlack:
    return MovingSlack()


@pytest.fixture
def moving(office: Office, slack: MovingSlack) -> Office:
    """An office in a workspace in which channels get other ids."""
    return Office(office.store, slack=slack)


def mention(channel: ChannelId = CHANNEL) -> Mention:
    return Mention(Origin(message_key(channel, TS), ANA, channel, message_ts=TS), "Add a page")


async def change(office: Office, slack: MovingSlack) -> None:
    """Slack changes the channel's id and tells the bot."""
    slack.move(CHANNEL, NEW)
    async with office.wakes_somebody():
        await rename_channel(office.context, CHANNEL, NEW)


@pytest.mark.parametrize("listed", [CHANNEL, NEW])
@pytest.mark.parametrize("typed_in", [CHANNEL, NEW])
async def test_a_listed_channel_stays_listed_under_each_of_its_ids(
    office: Office, listed: ChannelId, typed_in: ChannelId
) -> None:
    office.access_policy(channels=frozenset({listed}))
    async with office.wakes_somebody():
        await rename_channel(office.context, CHANNEL, NEW)
    assert (await office.types("/docs-agent", "Add a page", channel=typed_in)).message is None
    elsewhere = await office.types("/docs-agent", "Add a page", channel=OTHER)
    assert elsewhere.message is not None
    assert "isn't set up for this channel" in elsewhere.message.text


async def test_a_job_goes_on_in_the_channel_under_its_new_id(moving: Office, slack: MovingSlack) -> None:
    await moving.started()
    await change(moving, slack)
    moving.docs.finish()
    await moving.settle()
    assert {post.channel for post in slack.posts} == {NEW}
    assert len(moving.said()) == 1


async def test_an_end_waits_until_slack_tells_the_new_id(moving: Office, slack: MovingSlack) -> None:
    """As when the bot was restarting at the change: Slack tells of it again after a minute."""
    await moving.started()
    slack.move(CHANNEL, NEW)
    moving.docs.finish()
    await moving.settle(60)
    assert moving.said() == []
    async with moving.wakes_somebody():
        await rename_channel(moving.context, CHANNEL, NEW)
    await moving.settle(60)
    [end] = moving.said()
    assert "the pull request is ready" in end
    assert moving.root_text().startswith(":memo:")
    assert slack.direct == []


async def test_an_end_whose_channel_is_gone_for_good_is_told_alone(
    moving: Office, slack: MovingSlack
) -> None:
    await moving.started()
    slack.move(CHANNEL, NEW)
    moving.docs.finish()
    await moving.settle(60)
    assert slack.direct == []
    for _ in range(15):
        await moving.pass_time(60)
    [told] = [message.text for _, message, _ in slack.direct]
    assert "Job 1" in told


async def test_a_delivery_that_was_claimed_before_the_change_is_posted_after_it(
    moving: Office, slack: MovingSlack
) -> None:
    await moving.ask("Add a page")
    await prepare_prompts(moving.context)
    slack.move(CHANNEL, NEW)
    slack.meanwhile = lambda: rename_channel(moving.context, CHANNEL, NEW)
    await moving.settle()
    assert [post.channel for post in slack.posts] == [NEW]
    assert [text for _, text in moving.docs.prompts] == ["Add a page"]


async def test_a_post_of_unclear_outcome_is_looked_for_under_the_new_id_and_not_posted_again(
    moving: Office, slack: MovingSlack
) -> None:
    await moving.ask("Add a page")
    await prepare_prompts(moving.context)
    slack.lose_answer.append(SlackUnclear("cut"))
    await deliver_due(moving.context)
    slack.move(CHANNEL, NEW)
    slack.meanwhile = lambda: rename_channel(moving.context, CHANNEL, NEW)
    await moving.pass_time(10)
    await moving.pass_time(10)
    assert slack.searches == 2
    assert [post.channel for post in slack.posts] == [NEW]


async def test_what_a_form_of_before_sends_reaches_the_channel(moving: Office, slack: MovingSlack) -> None:
    await change(moving, slack)
    await moving.started("Add a page", channel=CHANNEL)
    assert [post.channel for post in slack.posts] == [NEW]
    assert (await moving.job()).channel == NEW


async def test_a_mention_of_before_that_is_told_again_is_one_request(
    moving: Office, slack: MovingSlack
) -> None:
    await heard_mention(moving.context, mention())
    await change(moving, slack)
    for channel in (CHANNEL, NEW):
        await heard_mention(moving.context, mention(channel))
    await moving.settle()
    assert [text for _, text in moving.docs.prompts] == ["Add a page"]


async def test_a_reply_of_before_the_change_steers_the_job_once(moving: Office, slack: MovingSlack) -> None:
    await moving.finished()
    root = slack.root()
    await change(moving, slack)
    for channel in (CHANNEL, NEW):
        said = Origin(message_key(channel, TS), ANA, channel, thread=root.ts, message_ts=TS)
        await heard_reply(moving.context, ThreadReply(said, "shorter", parent=BOT))
    await moving.settle()
    assert [text for _, text in moving.docs.prompts] == ["Add a quickstart", "shorter"]


async def test_a_link_of_before_still_names_its_job(moving: Office, slack: MovingSlack) -> None:
    await moving.started()
    link = f"https://acme.slack.com/archives/{CHANNEL}/p{slack.root().ts.replace('.', '')}"
    await change(moving, slack)
    answer = await moving.types("/docs-agent", f"status {link}", channel=NEW)
    assert answer.message is not None
    assert "Add a quickstart" in answer.message.text


async def test_a_job_is_as_private_under_the_new_id(moving: Office, slack: MovingSlack) -> None:
    slack.private_rooms[NEW] = frozenset({ANA})
    await moving.started()
    await change(moving, slack)
    for user, knows in ((ANA, True), (BEN, False), (UserId("U0CARL"), False)):
        answer = await moving.types("/docs-agent", "status 1", user=user, channel=OTHER)
        assert answer.message is not None
        assert ("Add a quickstart" in answer.message.text) is knows
