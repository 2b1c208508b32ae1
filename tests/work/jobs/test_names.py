"""The names in a prompt: what others may not know of stays private, in its thread and to the agent."""

from __future__ import annotations

import pytest

from bot.model.ids import ChannelId, MessageTs
from bot.slack.client import refused
from bot.work.ports import Said, SlackUnreachable
from tests.builders import ANA, CHANNEL
from tests.work.office import BOT, Office

SECRET = ChannelId("G0SECRET")
MENTIONED = pytest.mark.parametrize("mention", [f"<#{SECRET}>", f"<#{SECRET}|>", f"<#{SECRET}|merger>"])


@pytest.fixture(autouse=True)
def secret(office: Office) -> None:
    """A private channel."""
    office.slack.private_rooms[SECRET] = frozenset({ANA, BOT})
    office.slack.names |= {SECRET: "merger", CHANNEL: "docs", ANA: "Ana"}


def seen(office: Office) -> list[str]:
    """What the thread shows and what the agent got."""
    return [office.root_text(), *office.said(), *(text for _, text in office.docs.prompts)]


@MENTIONED
async def test_the_name_of_a_private_channel_is_neither_shown_nor_told_to_the_agent(
    office: Office, mention: str
) -> None:
    await office.started(f"Write down what {mention} decided")
    await office.replied(f"Say where {mention} met")
    assert office.docs.prompts == [
        ("job-1", "Write down what #private-channel decided"),
        ("job-1", "Say where #private-channel met"),
    ]
    assert not [text for text in seen(office) if "merger" in text]
    assert "merger" not in office.slack.looked_up


@MENTIONED
async def test_a_channel_of_which_slack_refuses_to_tell_counts_as_private(
    office: Office, mention: str
) -> None:
    office.slack.trouble("is_public", refused("channel_not_found"))
    await office.started(f"Write down what {mention} decided")
    assert office.docs.prompts == [("job-1", "Write down what #private-channel decided")]


async def test_a_channel_of_which_slack_cannot_tell_now_goes_by_its_id(office: Office) -> None:
    office.slack.trouble("is_public", SlackUnreachable("down"))
    await office.started(f"Write down what <#{SECRET}|merger> decided")
    assert office.docs.prompts == [("job-1", f"Write down what #{SECRET} decided")]


async def test_a_prompt_names_public_channels_and_its_own(office: Office) -> None:
    await office.started(f"Link <#{CHANNEL}>, <#C0GEN|general> and <#{SECRET}>", channel=SECRET)
    assert office.docs.prompts == [("job-1", "Link #docs, #general and #merger")]


async def test_a_thread_that_goes_along_names_no_private_channel(office: Office) -> None:
    begun = MessageTs("1700000100.000001")
    office.slack.threads[CHANNEL, begun] = [Said(begun, ANA, f"<#{SECRET}> decided, see <#C0GEN>")]
    await office.says("<@U0BOT> Write it down", thread=begun)
    [(_, sent)] = office.docs.prompts
    assert "#private-channel decided, see #general" in sent
