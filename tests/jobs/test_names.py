"""The names in a prompt: what others may not know of stays private, in its thread and to the agent."""

from __future__ import annotations

import pytest

from tests.talk import Talk

MENTIONED = pytest.mark.parametrize("mention", ["<#CMERGER>", "<#CMERGER|>", "<#CMERGER|merger>"])


@pytest.fixture(autouse=True)
def secret(talk: Talk) -> None:
    """A private channel."""
    talk.opens_channel("merger", talk.ana, is_private=True)


async def asks(talk: Talk, prompt: str, channel: str = "docs") -> None:
    """Let Ana's command arrive with exactly these marks of Slack's."""
    commands = talk.slack.people.commands
    talk.slack.people.commands = {name: {**about, "should_escape": False} for name, about in commands.items()}
    await talk.ana.asks(prompt, channel)
    await talk.time.passes()


@MENTIONED
async def test_a_private_channel_is_neither_named_in_the_thread_nor_to_the_agent(
    talk: Talk, mention: str
) -> None:
    await asks(talk, f"Write down what {mention} decided")
    assert talk.agent_got() == ["Write down what #private-channel decided"]
    assert "merger" not in talk.status()


@MENTIONED
async def test_a_channel_of_which_slack_refuses_to_tell_counts_as_private(talk: Talk, mention: str) -> None:
    talk.faults.refuses("conversations.info", "channel_not_found", times=2)
    await asks(talk, f"Write down what {mention} decided")
    assert talk.agent_got() == ["Write down what #private-channel decided"]
    talk.status()


async def test_a_channel_of_which_slack_cannot_tell_now_goes_by_its_id(talk: Talk) -> None:
    talk.faults.cannot_be_reached("conversations.info", times=2)
    await asks(talk, "Write down what <#CMERGER|merger> decided")
    assert talk.agent_got() == ["Write down what #CMERGER decided"]
    talk.status()


async def test_a_prompt_names_public_channels_and_its_own(talk: Talk) -> None:
    await asks(talk, "Link <#C01DOCS>, <#C02GENERAL|general> and <#CMERGER>", channel="merger")
    assert talk.agent_got() == ["Link #docs, #general and #merger"]
    talk.status(channel="merger")


async def test_a_thread_that_goes_along_names_no_private_channel(talk: Talk) -> None:
    began = await talk.ben.says("<#CMERGER> decided, see #general")
    began["text"] = began["text"].replace("&lt;", "<").replace("&gt;", ">")
    await talk.ana.replies("@docs-agent Write it down", to=began)
    await talk.time.passes()
    [prompt] = talk.agent_got()
    assert "#private-channel decided, see #general" in prompt
    talk.everything()
