"""The agent gets what a request stands under: a digest, an answer, a merged job, a long thread."""

from __future__ import annotations

from tests.services import LINK
from tests.talk import Talk
from tests.work.readers import searches, subscribe, until


async def prompts_after(talk: Talk, seconds: float = 30) -> str:
    """Let time pass, read all messages, and return the prompts that reached the agent."""
    await talk.time.passes(seconds)
    talk.everything()
    return "\n".join(talk.agent_got())


async def test_mention_under_a_digest_has_the_digest(talk: Talk) -> None:
    talk.service.readers["searches"] = searches(("rotate api key", 40, 5.0))
    await subscribe(talk)
    await until(talk, 9)
    await talk.ben.replies("@docs-agent please write the page for the first one", to=talk.root(2))
    assert "rotate api key" in await prompts_after(talk)


async def test_mention_under_an_answer_has_the_question(talk: Talk) -> None:
    talk.process.answers_questions()
    asked = await talk.ana.says("@docs-agent How do I rotate an API key?")
    await talk.time.passes(30)
    await talk.ana.replies("@docs-agent Write that on the security page", to=asked)
    assert "rotate an API key" in await prompts_after(talk)


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


async def test_newest_messages_of_a_very_long_thread_go_along(talk: Talk) -> None:
    begun = await talk.ana.says("the limits page says 60")
    for number in range(1_005):
        talk.slack.state.add_message(
            begun["channel"], user=talk.ben.id, text=f"note {number}", thread_ts=begun["ts"]
        )
    await talk.ana.replies("@docs-agent fix it as Ben said last", to=begun)
    assert "note 1004" in await prompts_after(talk)
