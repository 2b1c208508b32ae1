"""Nothing can be posted in a direct message between two people: who asks there is told a way that works."""

from __future__ import annotations

import pytest

from bot.model.ids import ChannelId
from bot.model.jobs import JobState
from bot.slack.client import refused
from tests.work.office import Office

BETWEEN_PEOPLE = ChannelId("D0ANABEN")


async def test_a_job_is_not_started_and_its_prompt_is_given_back(office: Office) -> None:
    office.slack.trouble("post", refused("channel_not_found"))
    assert (await office.types("/docs-agent", "Add a quickstart", channel=BETWEEN_PEOPLE)).message is None
    await office.settle()
    [said] = office.answers()
    assert "Use a channel, a group direct message that I am in, or a direct message with me." in said
    assert said.endswith("Add a quickstart")
    assert "/invite" not in said
    assert office.docs.prompts == []
    assert (await office.job()).state is JobState.REFUSED


@pytest.mark.parametrize(
    ("text", "outcome"),
    [("subscribe monday 09:00 UTC", "wasn't set up"), ("digest now", "I couldn't post the answer")],
)
async def test_a_digest_is_refused_with_the_same_advice(office: Office, text: str, outcome: str) -> None:
    office.slack.trouble("post", refused("channel_not_found"))
    await office.types("/docs-visitors", text, channel=BETWEEN_PEOPLE)
    await office.reading()
    told = [*office.answers(), *(message.text for _, message, _ in office.slack.direct)]
    [said] = [each for each in told if outcome in each]
    assert "nobody can invite me into those between two people" in said
    assert "/invite" not in said


async def test_in_a_private_channel_an_invitation_is_still_the_way(office: Office) -> None:
    office.slack.trouble("post", refused("channel_not_found"))
    await office.types("/docs-agent", "Add a quickstart", channel=ChannelId("G0PRIVATE"))
    await office.settle()
    [said] = office.answers()
    assert "/invite @docs-agent" in said
    assert said.endswith("What you wrote, to copy:\nAdd a quickstart")
