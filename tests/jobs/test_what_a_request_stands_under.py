"""The agent gets the merged job under which a request stands."""

from __future__ import annotations

from tests.services import LINK
from tests.talk import Talk


async def prompts_after(talk: Talk, seconds: float = 30) -> str:
    """Let time pass, read all messages, and return the prompts that reached the agent."""
    await talk.time.passes(seconds)
    talk.everything()
    return "\n".join(talk.agent_got())


async def test_reply_after_the_merge_has_the_merged_job(talk: Talk) -> None:
    await talk.process.starts(github_token="github-token-of-talk")
    talk.github.pull["title"] = "Name the EU region on the errors page"
    await talk.started("Mention the EU region on the errors page")
    await talk.ends(pr_link=LINK)
    talk.github.merge(talk.time.at)
    await talk.time.passes(minutes=12)
    await talk.ana.replies('it should be "EU (Frankfurt)", not "EU"')
    await prompts_after(talk)
    assert len(talk.agent_got()) == 2
    prompt = talk.agent_got()[-1]
    assert prompt.startswith('it should be "EU (Frankfurt)", not "EU"')
    assert "Name the EU region on the errors page" in prompt
    assert LINK in prompt
