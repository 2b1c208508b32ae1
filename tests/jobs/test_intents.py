"""Texts that are no instruction: the bot's reaction by kind of text and by way of asking."""

from __future__ import annotations

import pytest

from sandbox.workspace.state import Json
from tests.talk import Talk
from tests.talk_people import Shown

WHAT = "What should change? Reply with what it should say."
NO_ANSWERS = "I change docs; I can't answer questions here."
NOES = (
    "no",
    "not good",
    "thank you but no",
    "👎",
    "hmm",
    "nope, that is wrong",
    "this is wrong",
    "?",
)
WRONG = "that is not what I asked for"
PULL_REQUEST = "Pull request #1 · code.example"
FIRST = ("command", "form", "mention", "direct")
DOORS = (*FIRST, "reply", "mention in the thread")
ASKED = "Add a quickstart"


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    """A conversation in which Ana's job has ended with a pull request."""
    await talk.started()
    await talk.ends()
    talk.everything()
    return talk


async def says_by(door: str, talk: Talk, text: str) -> tuple[list[Shown], list[str], list[str]]:
    """Write a text by a door; return the private answers, the reactions and the agent's prompts."""
    sent = len(talk.agent_got())
    message = await _says(door, talk, text)
    await talk.time.passes(60)
    answers = [note for note in talk.ana.reads() if "Working on it" not in note]
    reactions = talk.reactions(message) if message else []
    talk.everything()
    return answers, reactions, talk.agent_got()[sent:]


async def _says(door: str, talk: Talk, text: str) -> Json | None:
    match door:
        case "command":
            await talk.ana.types(f"/docs-agent {text}")
        case "form":
            await talk.ana.types("/docs-agent")
            assert await talk.ana.fills_in(prompt=text) == {}
        case "mention":
            return await talk.ana.says(f"@docs-agent {text}")
        case "direct":
            return await talk.ana.says(text, channel="dm")
        case "reply":
            return await talk.ana.replies(text)
        case _:
            return await talk.ana.replies(f"@docs-agent {text}")
    return None


@pytest.mark.parametrize("door", DOORS)
async def test_word_of_the_bot_is_executed(talk: Talk, door: str) -> None:
    [answer], reactions, sent = await says_by(door, talk, "cancel job 1")
    assert answer.startswith("Job 1 is over, so there is nothing to stop.")
    assert (reactions, sent) == ([], [])


@pytest.mark.parametrize(
    ("door", "text"),
    [
        *((door, "Great, thank you!") for door in DOORS),
        *(("mention", text) for text in ("LGTM", "+1", ":tada:", "👍🏽")),
        *(("reply", text) for text in ("thanks!", "+1", ":tada:", "👍🏽")),
    ],
)
async def test_thanks_get_a_thumb_and_are_not_sent(talk: Talk, door: str, text: str) -> None:
    answers, reactions, sent = await says_by(door, talk, text)
    assert (answers, reactions) == (([":+1:"], []) if door in ("command", "form") else ([], ["+1"]))
    assert sent == []


@pytest.mark.parametrize("door", DOORS)
async def test_greeting_is_greeted_and_ignored_as_a_reply(talk: Talk, door: str) -> None:
    answers, reactions, sent = await says_by(door, talk, "hi")
    assert [answer[:3] for answer in answers] == ([] if door == "reply" else ["Hi!"])
    assert (reactions, sent) == ([], [])


@pytest.mark.parametrize("door", DOORS)
async def test_no_is_answered_by_a_question(talk: Talk, door: str) -> None:
    assert await says_by(door, talk, WRONG) == ([WHAT], [], [])


@pytest.mark.parametrize("text", NOES)
async def test_nothing_negative_gets_a_thumb(talk: Talk, text: str) -> None:
    assert await says_by("reply", talk, text) == ([WHAT], [], [])
    assert "Pull request ready" in talk.status()


@pytest.mark.parametrize("door", DOORS)
async def test_talk_is_ignored_only_as_a_reply(talk: Talk, door: str) -> None:
    text = "I'll review it after lunch"
    reactions = ["eyes"] if door == "mention in the thread" else []
    assert await says_by(door, talk, text) == ([], reactions, [] if door == "reply" else [text])


@pytest.mark.parametrize("door", DOORS)
async def test_question_is_an_instruction_in_a_jobs_thread(talk: Talk, door: str) -> None:
    text = "how do I rotate an API key?"
    answers, _, sent = await says_by(door, talk, text)
    assert answers == ([NO_ANSWERS] if door in FIRST else [])
    assert sent == ([] if door in FIRST else [text])


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("text", ["shorter", "30 seconds, not 60"])
async def test_all_else_is_sent(talk: Talk, door: str, text: str) -> None:
    answers, _, sent = await says_by(door, talk, text)
    assert (answers, sent) == ([], [text])


@pytest.mark.parametrize(
    "text", ["why did you use python 3.9?", "No, the other page", "status codes are missing"]
)
async def test_replies_like_words_of_the_bot_are_sent(talk: Talk, text: str) -> None:
    assert await says_by("reply", talk, text) == ([], ["eyes"], [text])


@pytest.mark.parametrize(
    "text", ["status?", "thanks", "hi", "no", "I'll look", "why is it POST?", "shorter"]
)
async def test_reply_is_ignored_where_only_mentions_steer(talk: Talk, text: str) -> None:
    begun = await talk.ben.says("The limits are wrong")
    await talk.ana.replies("@docs-agent fix the limits page", begun)
    await talk.time.passes(60)
    talk.everything()
    reply = await talk.ana.replies(text, begun)
    await talk.time.passes(60)
    assert (talk.reactions(reply), talk.ana.reads(), talk.unread()) == ([], [], [])
    assert len(talk.agent_got()) == 2


@pytest.mark.parametrize("text", ["aside shorter", "! shorter", "@ben shorter?"])
async def test_reply_for_people_is_ignored(talk: Talk, text: str) -> None:
    assert await says_by("reply", talk, text) == ([], [], [])


@pytest.mark.parametrize("text", ["merge it", "close the PR", "Can you merge this?"])
async def test_request_to_merge_is_answered_by_a_button(talk: Talk, text: str) -> None:
    [answer], _, sent = await says_by("reply", talk, text)
    assert answer.startswith("I can't merge or close it from here:")
    assert (answer.buttons, sent) == ([PULL_REQUEST], [])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("is it ready?", "|pull request #1 · code.example>, since "),
        ("status", " · Pull request ready, "),
    ],
)
async def test_status_is_one_line_with_a_button_for_details(
    talk: Talk, text: str, line: str
) -> None:
    [answer], _, _ = await says_by("reply", talk, text)
    assert line in answer
    assert answer.buttons == ["Details"]
    await talk.ana.presses("Details", answer)
    [details] = talk.ana.reads()
    assert "The service's id" in details


@pytest.mark.parametrize("door", ["command", "mention", "direct", "reply"])
async def test_what_can_you_do_shows_the_help(talk: Talk, door: str) -> None:
    [answer], _, sent = await says_by(door, talk, "what can you do?")
    assert "Lists the channel's jobs" in answer
    assert sent == []


async def test_request_to_mention_somebody_is_answered(talk: Talk) -> None:
    [answer], _, sent = await says_by("reply", talk, "can you ping Chika to review")
    assert answer.startswith("I can't mention people for you.")
    assert sent == []


async def test_word_about_a_missing_job_is_answered(talk: Talk) -> None:
    assert (await talk.ben.answer_to("/docs-agent stop")).startswith("You have no job here yet.")
    assert "There's no Job 7 that you can see" in await talk.ben.answer_to(
        "/docs-agent cancel job 7"
    )


async def test_try_again_without_a_failure_is_sent_to_the_agent(talk: Talk) -> None:
    assert (await says_by("reply", talk, "try again"))[2] == ["try again"]
    answer = await talk.ana.answer_to("/docs-agent retry")
    assert answer.startswith("Job 1 hasn't failed.")
    assert answer.buttons == ["Run again"]


@pytest.mark.parametrize("text", ["merging after lunch", "I approved a similar one", "done?"])
async def test_only_exact_words_set_reviewed(talk: Talk, text: str) -> None:
    await says_by("reply", talk, text)
    assert "Reviewed" not in talk.status()


async def test_merged_by_command_marks_the_named_job(talk: Talk) -> None:
    answer = await talk.ana.answer_to("/docs-followup 1 merged")
    await talk.time.passes()
    assert answer.startswith(":+1: Job 1: :white_check_mark: *Reviewed*")
    assert "Reviewed" in talk.status()
    assert talk.agent_got() == [ASKED]


@pytest.mark.parametrize("door", FIRST)
async def test_question_is_sent_once_when_its_author_insists(talk: Talk, door: str) -> None:
    text = "Is the quickstart outdated?"
    [answer], _, _ = await says_by(door, talk, text)
    await talk.ana.presses("Draft a page on it", answer)
    await talk.time.passes()
    assert talk.agent_got() == [ASKED, text]
    talk.everything()


async def test_message_with_a_file_is_an_instruction(talk: Talk) -> None:
    await talk.ana.says("@docs-agent ?", files=[("notes.md", "# Notes")])
    await talk.time.passes()
    assert "# Notes" in talk.agent_got()[-1]
    talk.everything()


async def test_guest_is_refused_without_a_button(talk: Talk) -> None:
    answer = await talk.gus.answer_to("/docs-agent what is SSO?")
    assert answer.buttons == []
    assert talk.agent_got() == [ASKED]


async def test_edit_without_an_instruction_withdraws_the_prompt(talk: Talk) -> None:
    talk.service.says("create", 429, seconds=60)
    message = await talk.ana.says("@docs-agent Add a page")
    await talk.time.passes(30)
    await talk.ana.edits(message, "@docs-agent stop")
    await talk.time.passes(120)
    assert talk.agent_got() == [ASKED]
    assert "Withdrawn" in talk.thread(message)[0]
    talk.everything()


KEY = "sk_live_51HqLyjWDarjtT1zdp7dc"
WITH_KEY = f"Say that the token is {KEY}"


@pytest.mark.parametrize("door", DOORS)
async def test_key_in_prompt_is_asked_about_before_it_is_sent(talk: Talk, door: str) -> None:
    sent = len(talk.agent_got())
    if door == "form":
        await talk.ana.types("/docs-agent")
        [error] = (await talk.ana.fills_in(prompt=WITH_KEY)).values()
        assert error.startswith("There is a key or a password in it, so I didn't send it.")
        assert await talk.ana.fills_in(prompt="Say what a token is") == {}
        await talk.time.passes(60)
        talk.everything()
        assert talk.agent_got()[sent:] == ["Say what a token is"]
        return
    await _says(door, talk, WITH_KEY)
    await talk.time.passes(60)
    [answer] = talk.ana.reads()
    assert answer.startswith("There is a key or a password in it, so I didn't send it.")
    assert (answer.buttons, talk.agent_got()[sent:]) == (["Send it anyway"], [])
    assert talk.kept(KEY) == []
    await talk.ana.presses("Send it anyway", on=answer)
    await talk.time.passes(60)
    assert talk.agent_got()[sent:] == [WITH_KEY]
    steers = door in ("reply", "mention in the thread")
    assert len(talk.service.jobs) == (1 if steers else 2)
    talk.everything()


async def test_key_in_follow_up_by_command_is_asked_about(talk: Talk) -> None:
    answer = await talk.ana.answer_to(f"/docs-followup 1 {WITH_KEY}")
    assert answer.startswith("There is a key or a password in it")
    await talk.ana.presses("Send it anyway", on=answer)
    await talk.time.passes(60)
    assert talk.agent_got()[-1] == WITH_KEY
    talk.everything()


async def test_long_prompt_with_key_has_a_way_out_without_button(talk: Talk) -> None:
    answer = await talk.ana.answer_to(f"/docs-agent {WITH_KEY} {'x ' * 1_000}")
    assert "If it is made up, write “example” into it." in answer
    assert answer.buttons == []
    await talk.ana.asks(f"{WITH_KEY}_example {'x ' * 1_000}")
    await talk.time.passes(60)
    assert "_example" in talk.agent_got()[-1]
    talk.everything()


async def test_key_that_an_edit_adds_is_not_sent(talk: Talk) -> None:
    message = await talk.ana.replies("Shorter, please, in two paragraphs")
    await talk.ana.edits(message, WITH_KEY)
    await talk.time.passes(60)
    [answer] = talk.ana.reads()
    assert answer.startswith("There is a key or a password in it, so I didn't send it.")
    assert talk.agent_got() == ["Add a quickstart"]
    talk.everything()


async def test_reply_to_which_an_edit_adds_a_key_is_not_sent_until_it_is_out(talk: Talk) -> None:
    message = await talk.ana.replies("Shorter, please, in two paragraphs")
    await talk.time.passes(2)
    await talk.ana.edits(message, WITH_KEY)
    await talk.time.passes(minutes=3)
    [answer] = talk.ana.reads()
    assert answer.startswith("There is a key or a password in it, so I didn't send it.")
    assert talk.agent_got() == ["Add a quickstart"]
    await talk.ana.edits(message, "Say where the token is")
    await talk.time.passes(20)
    assert talk.agent_got()[1:] == ["Say where the token is"]
    assert talk.kept(KEY) == []
    talk.everything()
