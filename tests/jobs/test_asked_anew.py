"""What a person says or types where nothing was said before: what follows, and where it is answered."""

from __future__ import annotations

import pytest

from sandbox.workspace.state import Json
from tests.services import LINK
from tests.talk import Talk
from tests.talk_people import Shown

BOT = "@docs-agent"
ANEW = ("mention", "direct", "command")
SAID = ("mention", "direct")
WHAT = "What should I do?"
FACT = "the free plan has 100 requests a minute now"
QUESTION = "which plan has audit logs?"
PASSAGES = [
    {
        "content": "Rotate a key in the settings.",
        "path": "https://docs.example/keys",
        "metadata": {"title": "API keys"},
    }
]


async def says_by(door: str, talk: Talk, text: str) -> Json | None:
    """Say or type a text in #docs or in direct messages, and let it be heard."""
    message = None
    if door == "mention":
        message = await talk.ana.says(f"{BOT} {text}")
    elif door == "direct":
        message = await talk.ana.says(text, "dm")
    else:
        await talk.ana.types(f"/docs-agent {text}")
    await talk.time.passes(1)
    return message


async def told_by(door: str, talk: Talk, text: str) -> Shown:
    """Say or type a text, and return its one private answer."""
    await says_by(door, talk, text)
    await talk.time.passes(60)
    [answer] = talk.ana.reads()
    assert talk.agent_got() == []
    assert answer.message["channel"] == talk.room("dm" if door == "direct" else "docs").id
    return answer


@pytest.fixture
def answering(talk: Talk) -> Talk:
    """A conversation with a bot that answers questions."""
    talk.process.answers_questions()
    return talk


@pytest.mark.parametrize(
    ("door", "text", "answer"),
    [
        *((door, "jobs", "No jobs") for door in ANEW),
        ("command", "my jobs", "No jobs of yours"),
        ("command", "which PRs wait for review?", "No jobs to review"),
        ("command", "how many requests do we have left this hour?", "*100 of 100 jobs and"),
        ("command", "list the gaps", "No open questions here."),
        ("command", "when does the digest come?", "No digest comes here yet."),
        ("command", "what can you do?", "*/docs-agent* Ask the documentation agent for a change"),
    ],
)
async def test_own_word_in_any_words_is_run_in_private(
    talk: Talk, door: str, text: str, answer: str
) -> None:
    assert (await told_by(door, talk, text)).startswith(answer)


@pytest.mark.parametrize(
    ("door", "text"),
    [*((door, "how many readers last week?") for door in ANEW), ("command", "what needs work?")],
)
async def test_numbers_are_shown_by_the_command_that_has_them(
    talk: Talk, door: str, text: str
) -> None:
    await says_by(door, talk, text)
    await talk.time.passes(60)
    notes = talk.ana.reads()
    assert notes
    assert any("week" in note or "Oct" in note or "search" in note for note in notes)
    assert talk.agent_got() == []


@pytest.mark.parametrize("door", ANEW)
async def test_period_that_no_calendar_has_is_told(talk: Talk, door: str) -> None:
    answer = await told_by(door, talk, "how many readers in 2026-99?")
    assert answer.startswith("I don't know the period `2026-99`.")


@pytest.mark.parametrize(
    "text", ["how many readers last week?", "my jobs", "what needs work?", "list the gaps"]
)
async def test_command_about_visitors_runs_the_words_of_others(talk: Talk, text: str) -> None:
    await talk.ana.types(f"/docs-visitors {text}")
    await talk.time.passes(60)
    assert talk.ana.reads()
    assert not [note for note in talk.ana.reads() if "I don't know" in note]


async def test_command_about_jobs_runs_the_words_of_the_other(talk: Talk) -> None:
    answer = await talk.ana.answer_to("/docs-agent subscribe monday 09:00 UTC")
    assert "digest every Monday at 09:00" in answer


@pytest.mark.parametrize(
    ("door", "text", "word"),
    [
        *((door, "joobs", "jobs") for door in ANEW),
        ("command", "vistors last week", "visitors"),
    ],
)
async def test_almost_an_own_word_is_asked_about_and_never_sent(
    talk: Talk, door: str, text: str, word: str
) -> None:
    answer = await told_by(door, talk, text)
    [label] = answer.buttons
    assert label.split()[0] == word
    assert answer == f"Did you mean `{label}`?"


async def test_press_of_a_word_runs_it_in_place_of_the_question(talk: Talk) -> None:
    answer = await talk.ana.answer_to("/docs-agent limitz")
    await talk.ana.presses("limits", answer)
    await talk.time.passes()
    [limits] = talk.ana.reads()
    assert "jobs and follow-ups left this hour" in limits


@pytest.mark.parametrize("door", SAID)
@pytest.mark.parametrize("text", ["thanks!", ":tada:"])
async def test_thanks_get_a_thumb(talk: Talk, door: str, text: str) -> None:
    message = await says_by(door, talk, text)
    assert message is not None
    assert talk.reactions(message) == ["+1"]
    assert (talk.ana.reads(), talk.agent_got()) == ([], [])


async def test_thanks_by_command_get_a_thumb_as_answer(talk: Talk) -> None:
    assert await talk.ana.answer_to("/docs-agent thank you") == ":+1:"


@pytest.mark.parametrize(
    "text",
    [
        f"you can ask {BOT} for that",
        f"`{BOT} jobs` lists them",
        f"> {BOT} add a page on keys\nwho merged this?",
        f"{BOT}'s answer is right",
    ],
)
async def test_mention_within_a_sentence_does_nothing(talk: Talk, text: str) -> None:
    message = await talk.ana.says(text)
    await talk.time.passes(60)
    assert talk.reactions(message) == talk.thread(message) == talk.ana.reads() == []
    assert talk.agent_got() == []


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        (f"{BOT} could you shorten the intro of /keys?", "could you shorten the intro of /keys?"),
        (f"new flag today. {BOT} please document --dry-run", "please document --dry-run"),
        (f"Add a page on retries {BOT}", "Add a page on retries"),
    ],
)
async def test_change_starts_a_job_with_the_part_for_the_bot(
    talk: Talk, text: str, prompt: str
) -> None:
    await talk.ana.says(text)
    await talk.time.passes(20)
    assert talk.agent_got() == [prompt]
    assert talk.ana.reads() == []
    talk.everything()


@pytest.mark.parametrize("door", SAID)
async def test_fact_that_was_said_is_held_and_not_sent_if_its_author_says_so(
    answering: Talk, door: str
) -> None:
    talk = answering
    await says_by(door, talk, FACT)
    [note] = [each for each in talk.ana.reads() if each.buttons[:1] != ["Withdraw"]]
    assert note == "I took that as a change for the docs."
    assert note.buttons == ["Just answer it", "Don't"]
    await talk.ana.presses("Don't", note)
    await talk.time.passes(60)
    assert talk.agent_got() == []
    assert "Okay, nothing was sent." in talk.everything()


async def test_fact_goes_to_the_agent_if_its_author_lets_it(answering: Talk) -> None:
    talk = answering
    await says_by("mention", talk, FACT)
    await talk.time.passes(20)
    [note] = talk.ana.reads()
    assert talk.agent_got() == [FACT]
    await talk.ana.presses("Don't", note)
    await talk.time.passes()
    [late] = talk.ana.reads()
    assert late == "The agent has Job 1 already, and nobody can stop it."
    assert late.buttons == ["Keep quiet about it"]
    talk.everything()


async def test_fact_has_one_button_where_nothing_is_answered(talk: Talk) -> None:
    await says_by("mention", talk, FACT)
    [note] = talk.ana.reads()
    assert note.buttons == ["Don't"]
    talk.everything()


@pytest.mark.parametrize("door", SAID)
async def test_fact_is_just_answered_by_one_press(answering: Talk, door: str) -> None:
    talk = answering
    await says_by(door, talk, FACT)
    await talk.ana.presses("Just answer it")
    await talk.time.passes(60)
    assert (talk.service.questions, talk.agent_got()) == ([(FACT, None)], [])
    assert "Rotate" in talk.everything()


async def test_fact_that_was_typed_goes_at_once_and_is_answered_beside_it(answering: Talk) -> None:
    talk = answering
    answer = await talk.ana.answer_to(f"/docs-agent {FACT}")
    assert answer.buttons == ["Just answer it"]
    await talk.time.passes(5)
    assert talk.agent_got() == [FACT]
    await talk.ana.presses("Just answer it", answer)
    await talk.time.passes(60)
    assert talk.service.questions == [(FACT, None)]
    reading, said = talk.ana.reads()
    assert reading.endswith("The agent has its task already, and nobody can stop it.")
    assert "Rotate" in said
    talk.everything()


async def test_fact_by_command_has_no_note_where_nothing_is_answered(talk: Talk) -> None:
    await talk.ana.asks(FACT)
    await talk.time.passes()
    assert (talk.ana.reads(), talk.agent_got()) == ([], [FACT])
    talk.everything()


@pytest.mark.parametrize("door", SAID)
async def test_question_is_answered_in_its_thread(answering: Talk, door: str) -> None:
    talk = answering
    message = await says_by(door, talk, QUESTION)
    await talk.time.passes()
    assert message is not None
    [answer] = talk.thread(message)
    assert "Rotate" in answer
    assert answer.buttons == ["Draft a page", "Didn't help"]
    assert talk.reactions(message) == ["eyes"]
    assert talk.agent_got() == []


async def test_question_by_command_is_answered_in_private(answering: Talk) -> None:
    talk = answering
    await talk.ana.types(f"/docs-agent {QUESTION}")
    await talk.time.passes()
    reading, answer = talk.ana.reads()
    assert reading == ":eyes: Reading the docs…"
    assert answer.buttons == ["Draft a page", "Didn't help", "Share"]


@pytest.mark.parametrize("door", ANEW)
async def test_question_becomes_a_page_where_nothing_is_answered(talk: Talk, door: str) -> None:
    answer = await told_by(door, talk, QUESTION)
    assert answer == "I can't answer here."
    await talk.ana.presses("Draft a page on it", answer)
    assert await talk.ana.fills_in() == {}
    await talk.time.passes()
    [prompt] = talk.agent_got()
    assert prompt.startswith(f"Readers ask:\n> {QUESTION}\n\n")
    talk.everything()


async def test_status_message_of_a_drafted_page_has_the_question(talk: Talk) -> None:
    answer = await told_by("command", talk, QUESTION)
    await talk.ana.presses("Draft a page on it", answer)
    assert await talk.ana.fills_in() == {}
    await talk.time.passes()
    assert f"Readers ask: {QUESTION}" in talk.status()
    talk.everything()


@pytest.mark.parametrize("door", SAID)
async def test_topic_shows_pages_in_its_thread(answering: Talk, door: str) -> None:
    talk = answering
    talk.service.passages = PASSAGES
    message = await says_by(door, talk, "key rotation")
    await talk.time.passes()
    assert message is not None
    [hits] = talk.thread(message)
    assert hits.startswith("From the docs:")
    assert "https://docs.example/keys|API keys" in hits
    assert hits.buttons == ["Change the docs", "Answer it"]
    assert (talk.service.questions, talk.agent_got()) == ([], [])
    await talk.ana.presses("Answer it", hits)
    await talk.time.passes()
    assert [text for text, _ in talk.service.questions] == ["key rotation"]
    assert "Rotate" in talk.thread(message)[-1]
    talk.everything()


async def test_topic_by_command_shows_pages_in_private(answering: Talk) -> None:
    talk = answering
    await talk.ana.types("/docs-agent key rotation")
    await talk.time.passes()
    hits = talk.ana.reads()[-1]
    assert hits.startswith("The docs have nothing on that.")
    await talk.ana.presses("Change the docs", hits)
    assert await talk.ana.fills_in(prompt="Add a page on key rotation") == {}
    await talk.time.passes()
    assert talk.agent_got() == ["Add a page on key rotation"]
    assert await talk.ana.answer_to("/docs-agent gaps") == "No open questions here."
    talk.everything()


@pytest.mark.parametrize("door", ANEW)
@pytest.mark.parametrize("text", ["fix it", "should we add a table to the keys page?"])
async def test_unclear_text_is_asked_about(talk: Talk, door: str, text: str) -> None:
    answer = await told_by(door, talk, text)
    assert answer == WHAT
    await talk.ana.presses("Change the docs", answer)
    assert await talk.ana.fills_in() == {}
    await talk.time.passes()
    assert talk.agent_got() == [text]
    talk.everything()


@pytest.mark.parametrize("door", ANEW)
async def test_unclear_text_may_be_answered(answering: Talk, door: str) -> None:
    talk = answering
    answer = await told_by(door, talk, "should we add a table to the keys page?")
    assert answer.buttons == ["Change the docs", "Answer it"]
    await talk.ana.presses("Answer it", answer)
    await talk.time.passes()
    assert len(talk.service.questions) == 1
    assert "Rotate" in talk.everything()


@pytest.mark.parametrize("door", ANEW)
async def test_text_in_another_language_starts_nothing_by_itself(talk: Talk, door: str) -> None:
    answer = await told_by(door, talk, "добавь страницу о ключах")
    assert answer == f"I don't understand that language. {WHAT}"
    assert answer.buttons == ["Change the docs"]


@pytest.mark.parametrize("door", ANEW)
async def test_no_is_answered_by_a_question(talk: Talk, door: str) -> None:
    answer = await told_by(door, talk, "no")
    assert answer == "What should change? Name the page, and what it should say."


async def test_no_own_word_of_a_job_needs_a_job(talk: Talk) -> None:
    for text in ("stop", "is it ready?", "merge it", "try again", "approved"):
        answer = await talk.ben.answer_to(f"/docs-agent {text}")
        assert answer.startswith("You have no job here yet."), text
    answer = await talk.ben.answer_to("/docs-agent cancel job 7")
    assert "There's no Job 7 that you can see" in answer


async def test_try_again_without_a_failure_offers_another_run(talk: Talk) -> None:
    await talk.finished()
    answer = await talk.ana.answer_to("/docs-agent retry")
    assert answer.startswith("Job 1 hasn't failed.")
    assert answer.buttons == ["Run again"]


async def test_message_with_a_file_is_a_change(talk: Talk) -> None:
    await talk.ana.says(f"{BOT} ?", files=[("notes.md", "# Notes")])
    await talk.time.passes(20)
    [prompt] = talk.agent_got()
    assert "# Notes" in prompt
    talk.everything()


async def test_guest_is_refused_without_a_button(talk: Talk) -> None:
    answer = await talk.gus.answer_to(f"/docs-agent {QUESTION}")
    assert answer.buttons == []


async def test_mention_that_names_a_job_elsewhere_is_its_follow_up(talk: Talk) -> None:
    await talk.finished()
    await talk.ana.says(f"{BOT} #1 make it shorter", "partners")
    await talk.time.passes(20)
    assert talk.service.prompts[-1] == ("job-1", "make it shorter")
    assert talk.ana.reads()[-1].startswith("Sent to Job 1")
    talk.everything()


@pytest.mark.parametrize("text", ["thanks", "status", "no"])
async def test_mention_that_names_a_job_elsewhere_wastes_no_use(talk: Talk, text: str) -> None:
    await talk.finished()
    said = await talk.ana.says(f"{BOT} #1 {text}", "partners")
    await talk.time.passes(20)
    assert len(talk.agent_got()) == 1
    assert len([*talk.ana.reads(), *talk.reactions(said)]) == 1


async def test_form_says_what_it_means_and_goes(answering: Talk) -> None:
    talk = answering
    await talk.ana.types("/docs-agent")
    assert await talk.ana.fills_in(prompt=QUESTION) == {}
    await talk.time.passes()
    assert (talk.agent_got(), talk.service.questions) == ([QUESTION], [])
    talk.everything()


@pytest.mark.parametrize(
    ("text", "answer"), [("jobs", "No jobs here"), ("thanks!", ":+1:"), ("joobs", "Did you mean")]
)
async def test_own_word_in_the_form_is_run_in_private(talk: Talk, text: str, answer: str) -> None:
    await talk.ana.types("/docs-agent")
    assert await talk.ana.fills_in(prompt=text) == {}
    await talk.time.passes()
    [note] = talk.ana.reads()
    assert note.startswith(answer)
    assert talk.agent_got() == []


async def test_edit_of_a_waiting_change_to_a_question_is_answered(answering: Talk) -> None:
    talk = answering
    message = await says_by("mention", talk, "Add a page on keys")
    assert message is not None
    await talk.ana.edits(message, f"{BOT} {QUESTION}")
    await talk.time.passes(60)
    assert (talk.agent_got(), talk.service.questions) == ([], [(QUESTION, None)])
    assert any("Withdrawn" in post for post in talk.thread(message))
    talk.everything()


async def test_edit_of_a_waiting_change_to_talk_takes_it_back(talk: Talk) -> None:
    message = await says_by("mention", talk, "Add a page on keys")
    assert message is not None
    await talk.ana.edits(message, f"we can ask {BOT} for a page on keys")
    await talk.time.passes(60)
    assert talk.agent_got() == []
    assert "Withdrawn" in talk.thread(message)[0]
    talk.everything()


async def test_question_missed_in_an_outage_is_answered_once(answering: Talk) -> None:
    talk = answering
    await talk.ana.says("Add a page on keys", "dm")
    await talk.time.passes(30)
    talk.process.dies()
    await talk.ana.says(QUESTION, "dm")
    await talk.ana.says("thanks!", "dm")
    await talk.time.passes(minutes=20)
    await talk.process.starts()
    await talk.time.passes(minutes=2)
    assert talk.agent_got() == ["Add a page on keys"]
    assert talk.service.questions == [(QUESTION, None)]
    talk.everything()


async def test_merged_by_command_marks_the_named_job(talk: Talk) -> None:
    await talk.finished()
    answer = await talk.ana.answer_to("/docs-followup 1 merged")
    await talk.time.passes()
    assert answer.startswith(":+1: Job 1: :white_check_mark: *Reviewed*")
    assert "Reviewed" in talk.status()
    assert LINK not in talk.agent_got()
