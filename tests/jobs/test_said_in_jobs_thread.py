"""What people say in a job's thread: what goes to its agent, and what is answered without a use."""

from __future__ import annotations

import pytest

from sandbox.workspace.state import Json
from tests.services import LINK, changed_file
from tests.talk import Talk
from tests.talk_people import Shown

BOT = "@docs-agent"
WHAT = "What should change? Reply with what it should say."
SHALL_I = "Shall I send that to the agent?"
ASKED = "Add a quickstart"
WAYS = ("reply", "mention")


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    """A conversation in which Ana's job has ended with a pull request, and questions are answered."""
    talk.process.answers_questions()
    talk.process.settings["GITHUB_TOKEN"] = "t"
    await talk.started()
    talk.github.pull |= {"additions": 1, "deletions": 1, "changed_files": 1}
    talk.github.files = [changed_file("docs/webhooks.md", "@@ -1 +1 @@\n-a\n+b")]
    await talk.ends(pr_link=LINK)
    await talk.time.passes(minutes=2)
    talk.everything()
    return talk


async def replies(talk: Talk, text: str, way: str = "reply") -> Json:
    """Let Ana reply to the end of her job, and let it be heard and sent."""
    message = await talk.ana.replies(f"{BOT} {text}" if way == "mention" else text)
    await talk.time.passes(30)
    return message


async def told(talk: Talk, text: str, way: str = "reply") -> Shown:
    """Let Ana reply, and return the one private answer; nothing else follows."""
    message = await replies(talk, text, way)
    [answer] = talk.ana.reads()
    assert answer.message["thread_ts"] == message["thread_ts"]
    assert talk.agent_got() == [ASKED]
    assert talk.reactions(message) == []
    assert talk.unread() == []
    return answer


@pytest.mark.parametrize(
    ("way", "text"),
    [
        *((way, "make it shorter") for way in WAYS),
        ("reply", "30 seconds, not 60"),
        ("reply", "#4711 has an example, add it"),
    ],
)
async def test_change_or_fact_goes_to_the_agent(talk: Talk, text: str, way: str) -> None:
    message = await replies(talk, text, way)
    assert talk.agent_got() == [ASKED, text]
    assert talk.reactions(message) == ["eyes"]
    assert talk.ana.reads() == []
    talk.everything()


async def test_reply_may_begin_with_the_number_of_its_job(talk: Talk) -> None:
    await replies(talk, "#1 make it shorter")
    assert talk.agent_got() == [ASKED, "make it shorter"]
    talk.everything()


@pytest.mark.parametrize("way", WAYS)
async def test_question_about_the_changes_leads_to_them(talk: Talk, way: str) -> None:
    answer = await told(talk, "what did you change?", way)
    assert answer == "*Changes* shows what it did."
    await talk.ana.presses("Changes", answer)
    assert "webhooks" in talk.ana.form().blocks


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("who reviews this?", "Reminders of its review go to <@U01ANA>."),
        ("is it live?", "Pull request ready"),
        ("is it ready?", "Pull request ready, since"),
        ("status", "Pull request ready, since"),
        ("can you ping Chika to review", "Pull request ready"),
    ],
)
async def test_question_about_the_state_gets_one_line(talk: Talk, text: str, part: str) -> None:
    answer = await told(talk, text)
    assert part in answer
    assert "\n" not in answer
    assert answer.buttons == ["Details"]


@pytest.mark.parametrize(
    ("way", "text", "answer"),
    [
        *((way, "my jobs", "*1 to review") for way in WAYS),
        ("reply", "how many requests do we have left this hour?", "of 100 jobs and follow-ups"),
    ],
)
async def test_question_about_the_bot_is_answered_by_its_commands(
    talk: Talk, text: str, answer: str, way: str
) -> None:
    assert answer in await told(talk, text, way)


async def test_state_after_the_merge_is_as_far_as_the_bot_sees(talk: Talk) -> None:
    talk.github.merge(talk.time.at)
    await talk.time.passes(minutes=15)
    talk.everything()
    answer = await told(talk, "is it live now?")
    assert answer.endswith("Whether it is live, I can't see.")


async def test_wish_to_see_the_pages_leads_to_the_preview(talk: Talk) -> None:
    talk.github.pushes("b")
    await talk.time.passes(minutes=15)
    talk.everything()
    answer = await told(talk, "show me the preview")
    assert answer == "*Preview* shows its pages."
    assert answer.buttons == ["Preview"]


async def test_question_for_reasons_leads_to_the_changes(talk: Talk) -> None:
    answer = await told(talk, "why did you add a new page?")
    assert answer.startswith("The agent gives no reasons; *Changes* shows what it did.")
    assert answer.buttons == ["Changes"]


@pytest.mark.parametrize("way", WAYS)
async def test_question_about_the_product_is_answered_in_private(talk: Talk, way: str) -> None:
    text = "how do I rotate an API key?"
    answer = await told(talk, text, way)
    assert talk.service.questions == [(text, None)]
    assert "Rotate" in answer
    assert answer.buttons == ["Draft a page", "Didn't help", "Send it to the agent"]
    await talk.ana.presses("Send it to the agent", answer)
    await talk.time.passes(20)
    assert talk.agent_got() == [ASKED, text]
    talk.everything()


async def test_question_about_the_product_is_no_answered_thread(talk: Talk) -> None:
    await told(talk, "how do I rotate an API key?")
    await replies(talk, "add that to the page", "mention")
    assert talk.agent_got() == [ASKED, "add that to the page"]
    assert len(talk.service.jobs) == 1
    talk.everything()


@pytest.mark.parametrize("way", WAYS)
async def test_half_a_change_is_asked_about(talk: Talk, way: str) -> None:
    text = "what about Go?"
    answer = await told(talk, text, way)
    assert answer == SHALL_I
    assert answer.buttons == ["Send it to the agent", "Leave it"]
    await talk.ana.presses("Send it to the agent", answer)
    await talk.time.passes(20)
    assert talk.agent_got() == [ASKED, text]
    assert len(talk.service.jobs) == 1
    talk.everything()


async def test_half_a_change_may_be_left(talk: Talk) -> None:
    await talk.ana.presses("Leave it", await told(talk, "what about Go?"))
    await talk.time.passes(20)
    assert talk.ana.reads() == ["Left. Nothing was sent."]
    assert talk.agent_got() == [ASKED]


@pytest.mark.parametrize(("way", "text"), [*((way, "no") for way in WAYS), ("reply", "?")])
async def test_no_is_answered_by_a_question(talk: Talk, text: str, way: str) -> None:
    assert await told(talk, text, way) == WHAT
    assert "Pull request ready" in talk.status()


@pytest.mark.parametrize(
    "text",
    [
        "I'll review it after lunch",
        "hello everyone",
        "shall I merge?",
        "aside shorter",
        "! shorter",
        "@ben shorter?",
        "Ben, can you check the numbers?",
        f"you can ask {BOT} to shorten it",
    ],
)
async def test_talk_among_people_is_left_alone(talk: Talk, text: str) -> None:
    message = await replies(talk, text)
    assert (talk.reactions(message), talk.ana.reads(), talk.unread()) == ([], [], [])
    assert talk.agent_got() == [ASKED]


@pytest.mark.parametrize("text", ["thanks!", f"Thanks {BOT}!"])
async def test_thanks_get_a_thumb(talk: Talk, text: str) -> None:
    message = await replies(talk, text)
    assert talk.reactions(message) == ["+1"]
    assert talk.agent_got() == [ASKED]


@pytest.mark.parametrize("text", ["merge it", "close the PR"])
async def test_request_to_merge_is_answered_by_a_button(talk: Talk, text: str) -> None:
    answer = await told(talk, text)
    assert answer.startswith("I can't merge or close it from here:")
    assert answer.buttons == ["Pull request #7"]


async def test_finished_job_has_nothing_to_stop(talk: Talk) -> None:
    assert (await told(talk, "never mind")).startswith("Job 1 is over, so there is nothing to stop")


async def test_try_again_without_a_failure_offers_another_run(talk: Talk) -> None:
    answer = await told(talk, "try again")
    assert answer == "Job 1 hasn't failed."
    assert answer.buttons == ["Run again"]


async def test_text_in_another_language_is_asked_about_once_for_a_person(talk: Talk) -> None:
    text = "сделай короче"
    answer = await told(talk, text)
    assert answer == f"I don't understand that language. {SHALL_I}"
    await replies(talk, "и добавь таблицу")
    assert talk.ana.reads() == []
    assert await told(talk, text, "mention") == answer
    await talk.ben.replies(text)
    await talk.time.passes(30)
    assert talk.ben.reads() == [answer]
    assert talk.agent_got() == [ASKED]


@pytest.mark.parametrize(
    "text", ["status", "thanks", "no", "I'll look", "why is it POST?", "shorter"]
)
async def test_reply_is_left_alone_where_only_mentions_steer(talk: Talk, text: str) -> None:
    begun = await talk.ben.says("The limits differ")
    await talk.ana.replies(f"{BOT} fix the limits page", begun)
    await talk.time.passes(60)
    talk.everything()
    reply = await talk.ana.replies(text, begun)
    await talk.time.passes(60)
    assert (talk.reactions(reply), talk.ana.reads(), talk.unread()) == ([], [], [])
    assert len(talk.agent_got()) == 2


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("status", "Pull request ready"),
        ("thanks!", ":+1:"),
        ("no", WHAT),
        ("joobs", "Did you mean"),
    ],
)
async def test_followup_command_and_form_waste_no_use(talk: Talk, text: str, answer: str) -> None:
    assert answer in await talk.ana.answer_to(f"/docs-followup 1 {text}")
    await talk.ana.types("/docs-followup 1")
    assert await talk.ana.fills_in(prompt=text) == {}
    await talk.time.passes()
    [note] = talk.ana.reads()
    assert answer in note
    assert talk.agent_got() == [ASKED]


@pytest.mark.parametrize("text", ["what about Go?", "how do I rotate an API key?"])
async def test_followup_command_says_what_it_means_and_goes(talk: Talk, text: str) -> None:
    await talk.ana.types(f"/docs-followup 1 {text}")
    await talk.time.passes()
    assert talk.agent_got() == [ASKED, text]
    talk.everything()


async def test_change_after_the_merge_starts_a_job_that_knows_the_merged_one(talk: Talk) -> None:
    talk.github.merge(talk.time.at)
    await talk.time.passes(minutes=15)
    talk.everything()
    await replies(talk, "please add the same to the German page")
    assert [job for job, _ in talk.service.prompts] == ["job-1", "job-2"]
    prompt = talk.agent_got()[-1]
    assert prompt.startswith("please add the same to the German page\n\n")
    assert "> Title: Add a quickstart" in prompt
    assert f"> Link: {LINK}" in prompt
    assert "> Pages: docs/webhooks.md" in prompt
    note, status = talk.replies()[-2:]
    assert note.endswith("is merged, so this is a new job.")
    assert "· Job 2" in status
    assert talk.ana.reads() == []
    talk.everything()


async def test_fact_after_the_merge_may_be_taken_back(talk: Talk) -> None:
    talk.github.merge(talk.time.at)
    await talk.time.passes(minutes=15)
    talk.everything()
    await talk.ana.replies('it should be "EU (Frankfurt)", not "EU"')
    await talk.time.passes(2)
    [note] = talk.ana.reads()
    assert note == "I took that as a change for the docs."
    assert note.buttons == ["Just answer it", "Don't"]
    await talk.ana.presses("Don't", note)
    await talk.time.passes(30)
    assert talk.agent_got() == [ASKED]
    talk.everything()
