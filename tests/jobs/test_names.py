"""Names in a prompt: private channels are named neither in the thread nor to the agent."""

from __future__ import annotations

import pytest

from tests.talk import Talk


@pytest.fixture(autouse=True)
def secret(talk: Talk) -> None:
    """Open a private channel."""
    talk.opens_channel("merger", talk.ana, is_private=True)


async def asks(talk: Talk, prompt: str, channel: str = "docs") -> None:
    """Let Ana's command arrive with exactly this markup of Slack's."""
    commands = talk.slack.people.commands
    talk.slack.people.commands = {
        name: {**command, "should_escape": False} for name, command in commands.items()
    }
    await talk.ana.asks(prompt, channel)
    await talk.time.passes()


@pytest.mark.parametrize("refusals", [0, 2])
@pytest.mark.parametrize("mention", ["<#CMERGER>", "<#CMERGER|>", "<#CMERGER|merger>"])
async def test_private_or_refused_channel_is_named_nowhere(
    talk: Talk, mention: str, refusals: int
) -> None:
    talk.faults.refuses("conversations.info", "channel_not_found", times=refusals)
    await asks(talk, f"Write down what {mention} decided")
    assert talk.agent_got() == ["Write down what #private-channel decided"]
    assert "merger" not in talk.status()


async def test_channel_without_an_answer_of_slack_has_its_id(talk: Talk) -> None:
    talk.faults.cannot_be_reached("conversations.info", times=2)
    await asks(talk, "Write down what <#CMERGER|merger> decided")
    assert talk.agent_got() == ["Write down what #CMERGER decided"]
    talk.status()


async def test_prompt_has_names_of_public_channels_and_its_own(talk: Talk) -> None:
    await asks(talk, "Link <#C01DOCS>, <#C02GENERAL|general> and <#CMERGER>", channel="merger")
    assert talk.agent_got() == ["Link #docs, #general and #merger"]
    talk.status(channel="merger")


async def test_attached_thread_names_no_private_channel(talk: Talk) -> None:
    began = await talk.ben.says("<#CMERGER> decided, see #general")
    began["text"] = began["text"].replace("&lt;", "<").replace("&gt;", ">")
    await talk.ana.replies("@docs-agent Write it down", to=began)
    await talk.time.passes()
    [prompt] = talk.agent_got()
    assert "#private-channel decided, see #general" in prompt
    talk.everything()


async def test_user_group_goes_by_its_handle(talk: Talk) -> None:
    await asks(talk, "Say that <!subteam^S01WRITERS> answers, then <!subteam^S02GONE>")
    assert talk.agent_got() == ["Say that @writers answers, then a group"]
    talk.status()


async def test_user_group_without_the_scope_is_a_group(talk: Talk) -> None:
    talk.faults.refuses("usergroups.list", "missing_scope")
    await asks(talk, "Say that <!subteam^S01WRITERS> answers")
    assert talk.agent_got() == ["Say that a group answers"]
    talk.status()
