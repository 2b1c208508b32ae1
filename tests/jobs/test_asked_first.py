"""Before a use is spent: a page that an open job changes, files that cannot go, and a merged pull request."""

from __future__ import annotations

import pytest

from tests.services import LINK, changed_file
from tests.talk import Talk

PROMPT = "Fix the spelling on the quickstart page"


@pytest.mark.parametrize(
    "text", ["Improve /quickstart", "shorten the Quickstart page", "Edit quickstart.md"]
)
async def test_prompt_about_a_page_of_an_open_job_is_questioned(talk: Talk, text: str) -> None:
    await talk.started(PROMPT)
    talk.everything()
    await talk.ben.says(f"@docs-agent {text}")
    await talk.time.passes()
    [question] = talk.ben.reads()
    assert f"Job 1> (<@{talk.ana.id}>, open since" in question
    assert question.endswith("changes this page. Reply there, or start a new one.")
    assert question.buttons == ["Send it to Job 1", "Start a new one"]
    assert talk.agent_got() == [PROMPT]


async def test_questioned_prompt_joins_the_job_or_starts_another(talk: Talk) -> None:
    await talk.started(PROMPT)
    ways = ("Send it to Job 1", talk.ben), ("Start a new one", talk.chika)
    for number, (label, person) in enumerate(ways):
        question = await person.answer_to(f"/docs-agent Improve /quickstart {number}")
        await person.presses(label, question)
        await talk.time.passes(20)
    assert talk.agent_got() == [PROMPT, "Improve /quickstart 0", "Improve /quickstart 1"]
    assert [job for job, _ in talk.service.prompts][1] == "job-1"
    talk.everything()


async def test_page_of_a_pull_request_counts_until_the_merge(talk: Talk) -> None:
    await talk.process.starts(github_token="t")
    await talk.started("Describe retries")
    talk.github.pull |= {"additions": 1, "deletions": 1, "changed_files": 1}
    talk.github.files = [changed_file("docs/webhooks.md", "@@ -1 +1 @@\n-a\n+b")]
    await talk.ends(pr_link=LINK)
    await talk.time.passes(minutes=2)
    talk.everything()
    question = await talk.ben.answer_to("/docs-agent Improve the webhooks page")
    assert "changes this page" in question
    talk.github.merge(talk.time.at)
    await talk.time.passes(minutes=15)
    await talk.chika.asks("Shorten the webhooks page")
    await talk.time.passes()
    assert talk.agent_got()[1:] == ["Shorten the webhooks page"]
    talk.everything()


async def test_job_of_a_private_channel_is_not_named_elsewhere(talk: Talk) -> None:
    talk.opens_channel("secret", talk.ana, talk.ben, is_private=True)
    await talk.ana.asks(PROMPT, "secret")
    await talk.time.passes()
    assert "changes this page" in await talk.ben.answer_to(
        "/docs-agent Improve /quickstart", "secret"
    )
    await talk.ben.asks("Improve /quickstart")
    await talk.time.passes()
    assert talk.agent_got() == [PROMPT, "Improve /quickstart"]
    talk.everything()


async def test_job_of_another_public_channel_is_named(talk: Talk) -> None:
    talk.opens_channel("open")
    await talk.ana.asks(PROMPT, "open")
    await talk.time.passes()
    assert "changes this page" in await talk.ben.answer_to("/docs-agent Improve /quickstart")
    talk.everything()


async def test_form_about_such_a_page_asks_in_the_channel(talk: Talk) -> None:
    await talk.started(PROMPT)
    talk.everything()
    await talk.ben.types("/docs-agent")
    assert await talk.ben.fills_in(prompt="Improve /quickstart") == {}
    await talk.time.passes()
    [question] = talk.ben.reads()
    await talk.ben.presses("Start a new one", question)
    await talk.time.passes()
    assert talk.agent_got()[1:] == ["Improve /quickstart"]
    talk.everything()


async def test_second_request_for_the_same_new_page_is_questioned_within_seconds(
    talk: Talk,
) -> None:
    first = "Add a page on SAML single sign-on"
    await talk.ana.says(f"@docs-agent {first}")
    await talk.time.passes(3)
    await talk.ben.says("@docs-agent please write a guide about single sign-on")
    await talk.time.passes(20)
    [question] = talk.ben.reads()
    assert f"Job 1> (<@{talk.ana.id}>, open since" in question
    assert question.endswith("is about this already. Reply there, or start a new one.")
    assert question.buttons == ["Send it to Job 1", "Start a new one"]
    assert talk.agent_got() == [first]
    await talk.ben.presses("Start a new one", question)
    await talk.time.passes(20)
    assert talk.agent_got() == [first, "please write a guide about single sign-on"]
    talk.everything()


async def test_same_words_of_two_people_are_questioned_too(talk: Talk) -> None:
    await talk.started("Add a page on webhooks and retries")
    question = await talk.ben.answer_to("/docs-agent Add a page on webhooks and retries")
    assert question.endswith("is about this already. Reply there, or start a new one.")
    await talk.time.passes()
    assert len(talk.agent_got()) == 1
    talk.everything()


async def test_open_pull_request_counts_by_its_title(talk: Talk) -> None:
    await talk.process.starts(github_token="t")
    await talk.started("Make the first page clearer")
    talk.github.pull |= {"title": "Add a quickstart for Python"}
    await talk.ends(pr_link=LINK)
    await talk.time.passes(minutes=2)
    talk.everything()
    question = await talk.ben.answer_to("/docs-agent Write a Python quickstart")
    assert "is about this already" in question
    talk.github.merge(talk.time.at)
    await talk.time.passes(minutes=15)
    await talk.ben.asks("Write a quickstart with Python")
    await talk.time.passes()
    assert talk.agent_got()[1:] == ["Write a quickstart with Python"]
    talk.everything()


async def test_subject_of_a_private_channel_is_not_named_elsewhere(talk: Talk) -> None:
    talk.opens_channel("secret", talk.ana, talk.ben, is_private=True)
    await talk.ana.asks("Add a page on single sign-on", "secret")
    await talk.time.passes()
    await talk.ben.asks("Write a guide about single sign-on")
    await talk.time.passes()
    assert len(talk.agent_got()) == 2
    talk.everything()


async def test_page_without_an_open_job_is_not_questioned(talk: Talk) -> None:
    await talk.started(PROMPT)
    await talk.ben.asks("Fix the rate limits page")
    await talk.ben.asks("fix the page on keys please")
    await talk.time.passes()
    assert len(talk.agent_got()) == 3
    talk.everything()


@pytest.mark.parametrize("label", ["Start without it", "Cancel"])
async def test_unsendable_files_are_questioned_before_the_start(talk: Talk, label: str) -> None:
    await talk.ana.says("@docs-agent add this screenshot", files=[("shot.png", "PNG")])
    await talk.time.passes()
    [question] = talk.ana.reads()
    assert question == "I can't send `shot.png`."
    assert question.buttons == ["Start without it", "Cancel"]
    await talk.ana.presses(label, question)
    await talk.time.passes()
    assert talk.agent_got() == (["add this screenshot"] if label == "Start without it" else [])
    talk.everything()


async def test_reply_after_the_merge_begins_a_job_in_its_thread(talk: Talk) -> None:
    await talk.process.starts(github_token="t")
    await talk.started("Describe retries")
    await talk.ends(pr_link=LINK)
    talk.github.merge(talk.time.at)
    await talk.time.passes(minutes=15)
    talk.everything()
    await talk.ben.replies("Mention the time limit too")
    await talk.time.passes(20)
    note, status = talk.replies()[-2:]
    assert note.endswith("is merged, so this is a new job.")
    assert "· Job 2" in status
    assert [job for job, _ in talk.service.prompts] == ["job-1", "job-2"]
    talk.everything()


async def test_mention_sent_to_the_open_job_appears_in_its_thread(talk: Talk) -> None:
    talk.opens_channel("open")
    await talk.started(PROMPT)
    await talk.ben.says("@docs-agent Improve /quickstart", "open")
    await talk.time.passes()
    await talk.ben.presses("Send it to Job 1", talk.ben.reads()[0])
    await talk.time.passes(20)
    assert talk.agent_got() == [PROMPT, "Improve /quickstart"]
    assert talk.replies()[0].startswith(f"<@{talk.ben.id}> follows up on Job 1")
    talk.everything()


@pytest.mark.parametrize(
    "text", ["bitte ändere die Preisseite nicht", "leave the pricing page alone"]
)
async def test_request_to_change_nothing_spends_nothing(talk: Talk, text: str) -> None:
    await talk.ben.says(f"@docs-agent {text}")
    await talk.time.passes(60)
    [question] = talk.ben.reads()
    assert question.buttons
    assert talk.agent_got() == []
