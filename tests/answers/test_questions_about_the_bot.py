"""Questions about the bot's own numbers and jobs are answered by the bot: not by an agent or assistant."""

from __future__ import annotations

from tests.answers.conftest import QUESTION
from tests.talk import Talk

QUESTIONS = """
how many readers last week?
who read the docs last week?
which pages did nobody read?
what did readers search for?
what needs work?
which questions have no answer?
show me the visitors of October
which PRs wait for review?
what's open?
what are you working on?
how many jobs are left this hour?
visitors last week
show visitors
traffic last week
top pages
top searches
the digest please
when is the next digest?
who can use you?
""".strip().splitlines()


async def others_that_were_asked(talk: Talk, text: str) -> list[str]:
    """Let Ana mention the bot with a text, and return who besides the bot was asked."""
    jobs, questions = len(talk.agent_got()), len(talk.service.questions)
    await talk.ana.says(f"@docs-agent {text}")
    await talk.time.passes(30)
    asked = ["agent"] * (len(talk.agent_got()) - jobs)
    return asked + ["assistant"] * (len(talk.service.questions) - questions)


async def test_question_about_the_docs_goes_to_the_assistant(talk: Talk) -> None:
    assert await others_that_were_asked(talk, QUESTION) == ["assistant"]
    talk.everything()


async def test_question_about_the_bot_is_answered_by_itself(talk: Talk) -> None:
    asked = {text: await others_that_were_asked(talk, text) for text in QUESTIONS}
    talk.everything()
    assert {text: others for text, others in asked.items() if others} == {}
