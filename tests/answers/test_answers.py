"""Answers: by the assistant, by the search, under faults, and without the settings."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.answers.conftest import QUESTION, asks
from tests.services import LINK, answer_stream, streamed
from tests.talk import Talk

WHERE = "Where is the quickstart for Python?"
"""In the thread of a job it could be a hint for the agent."""
PASSAGES: list[dict[str, Any]] = [
    {
        "content": "Press *Rotate* <!channel>",
        "path": "https://docs.example/keys",
        "metadata": {"title": "API keys"},
    },
    {"content": "Keys expire", "path": "security/expiry", "metadata": None},
]


async def test_further_question_in_the_thread_goes_on_with_the_conversation(talk: Talk) -> None:
    asked = await talk.ana.says(f"@docs-agent {QUESTION}")
    await talk.time.passes()
    again = await talk.ben.replies("@docs-agent How often should I do that?", asked)
    await talk.time.passes()
    assert len(talk.thread(asked)) == 2
    assert talk.reactions(asked) == talk.reactions(again) == ["eyes"]
    assert talk.service.questions == [(QUESTION, None), ("How often should I do that?", "talk-1")]


async def test_response_url_is_forgotten_after_the_answer(talk: Talk) -> None:
    await talk.ana.asks(f"ask {QUESTION}")
    assert talk.kept("/response/") == ["inquiries.response_url"]
    await talk.time.passes()
    talk.everything()
    assert talk.kept("/response/") == []


async def test_search_answers_with_passages_and_their_pages(talk: Talk) -> None:
    talk.process.settings["ANSWERS"] = "search"
    talk.service.passages = PASSAGES
    answer = await asks(talk)
    assert "*<https://docs.example/keys|API keys>*\nPress ∗Rotate∗ &lt;!channel&gt;" in answer
    assert "*security/expiry*\nKeys expire" in answer
    assert talk.service.questions == []


async def test_search_without_results_makes_a_gap(talk: Talk) -> None:
    talk.process.settings["ANSWERS"] = "search"
    answer = await asks(talk)
    assert answer == "The docs have nothing on that. I'll tell you when it's written."
    assert answer.buttons == ["Draft a page on it"]
    assert f"“{QUESTION}”" in await talk.ben.answer_to("/docs-agent gaps")


async def test_limit_of_a_day_leaves_the_rest_to_the_search(talk: Talk) -> None:
    talk.process.settings["ANSWERS_A_DAY"] = "1"
    talk.service.passages = PASSAGES
    assert "Rotate" in await asks(talk)
    assert (await asks(talk, "What does a key cost?")).startswith("From the docs:")
    await talk.time.passes(hours=24)
    await asks(talk, "Where is the dashboard?")
    assert [text for text, _ in talk.service.questions] == [QUESTION, "Where is the dashboard?"]


FAULTS = [
    streamed({"type": "text-delta", "id": "t", "delta": "Open"}, end=""),
    streamed({"type": "error", "errorText": "overloaded"}, {"type": "finish"}),
    httpx.Response(200, text="<html>Sign in</html>"),
    streamed({"type": "text-delta", "id": "t", "delta": "x" * 5_000_001}, {"type": "finish"}),
    httpx.Response(401, json={"error": "expired"}),
    httpx.Response(429, headers={"Retry-After": "60"}),
    httpx.Response(503, text="<html>Bad gateway</html>"),
    httpx.ReadTimeout("slow"),
]


@pytest.mark.parametrize("fault", FAULTS)
async def test_fault_of_the_assistant_is_answered_by_the_search(
    talk: Talk, fault: httpx.Response | Exception
) -> None:
    talk.service.answer_instead("answer", fault)
    talk.service.passages = PASSAGES
    assert (await asks(talk)).startswith("From the docs:")
    assert talk.errors() <= {"assistants_key_refused"}


async def test_fault_of_both_is_a_sentence_with_a_button(talk: Talk) -> None:
    talk.service.says("answer", 429)
    talk.service.cannot_be_reached("search")
    answer = await asks(talk)
    assert answer == "I couldn't read the docs just now. Ask again in a minute."
    assert answer.buttons == ["Draft a page on it"]


async def test_answer_notifies_nobody_and_loads_nothing(talk: Talk) -> None:
    line = "<!channel> <@UBEN> ![x](https://evil.example/x.png) [keys](https://docs.example/keys)\n"
    talk.service.answer = answer_stream(line * 60, ("Keys", "https://docs.example/keys"))
    answer = await asks(talk)
    [markdown] = [
        block["text"] for block in answer.message["blocks"] if block["type"] == "markdown"
    ]
    assert "‹!channel\\> ‹@UBEN\\> x (`evil.example/x.png`) [keys](https://docs" in markdown
    assert "<!" not in markdown
    assert "![" not in markdown
    assert len(markdown) <= 3_000
    assert markdown.endswith("*See the pages for the rest.*")
    assert "<https://evil" not in answer


async def test_answer_links_to_the_project_s_repository_only(talk: Talk) -> None:
    await talk.process.starts(github_token="github-token-of-talk")
    await talk.started()
    await talk.ends(pr_link=LINK)
    await talk.time.passes(minutes=2)
    talk.service.answer = answer_stream(f"[Open]({LINK}) or [other](https://github.com/evil/docs)")
    talk.everything()
    answer = await asks(talk)
    talk.everything()
    assert f"<{LINK}|Open> or other (github.com/evil/docs)" in answer


async def test_text_of_an_answer_is_complete_without_its_marks(talk: Talk) -> None:
    talk.service.answer = answer_stream("| Plan | Keys |\n|---|---|\n| Pro | 5 at 10:30 |\n" * 2)
    assert (await asks(talk)).startswith("Plan: Pro, Keys: 5 at 10:30.\n")
    talk.service.answer = answer_stream("**日本** " * 2_000)
    answer = await asks(talk, "What does a key cost?")
    assert answer.startswith("日本 日本")
    assert len(answer.encode()) <= 3_900


async def test_refused_markdown_comes_as_plain_blocks(talk: Talk) -> None:
    talk.faults.refuses("chat.postMessage", "invalid_blocks")
    answer = await asks(talk)
    assert "Open Settings and press Rotate." in answer.blocks
    assert talk.errors() == {"blocks_refused"}


@pytest.mark.parametrize(("times", "place"), [(1, "C01DOCS"), (2, "D01ANA")])
async def test_private_answer_loses_its_blocks_before_its_place(
    talk: Talk, times: int, place: str
) -> None:
    await talk.ana.answer_to(f"/docs-agent ask {QUESTION}")
    talk.faults.refuses("response_url", "invalid_blocks", times=times)
    await talk.time.passes()
    [answer] = talk.ana.reads()
    assert answer.message["channel"] == place
    assert "Open Settings and press Rotate." in answer
    assert "markdown" not in {block["type"] for block in answer.message["blocks"]}
    assert talk.errors() == {"blocks_refused"}


async def test_question_costs_no_use_and_the_same_event_is_answered_once(talk: Talk) -> None:
    await asks(talk)
    for event in list(talk.slack.line.sent):
        talk.slack.line.send_event(event)
    await talk.time.passes()
    assert len(talk.service.questions) == 1
    assert "100 of 100" in await talk.ana.answer_to("/docs-agent limits")


async def test_key_in_a_question_stays_here(talk: Talk) -> None:
    await talk.ana.asks("ask Why is ghp_abcdefghij0123456789abcdefghij01234567 refused?")
    await talk.time.passes()
    talk.everything()
    assert talk.service.questions == [("Why is [key] refused?", None)]
    assert talk.kept("ghp_abcdefghij") == []


async def test_key_with_hidden_characters_is_masked_in_a_question(talk: Talk) -> None:
    await talk.ana.says("@docs-agent Why is xoxb-5829104\u200b37762-Kq7wLm2x refused?")
    await talk.time.passes()
    assert talk.service.questions == [("Why is [key] refused?", None)]
    assert talk.kept("Kq7wLm2x") == []
    talk.everything()


async def test_direct_messages_around_a_question_are_taken(talk: Talk) -> None:
    talk.slack.line.drops_events = True
    await talk.ana.says("Add a page on keys", "dm")
    talk.slack.line.drops_events = False
    await talk.ana.says(QUESTION, "dm")
    await talk.time.passes(minutes=6)
    talk.everything()
    assert talk.agent_got() == ["Add a page on keys"]
    assert talk.service.questions == [(QUESTION, None)]


async def test_question_beside_a_direct_request_is_answered_at_once(talk: Talk) -> None:
    await talk.ana.says("Add a page on quotas", "dm")
    await talk.time.passes(2)
    await talk.ana.says(WHERE, "dm")
    await talk.time.passes(4)
    assert talk.service.questions == [(WHERE, None)]
    assert talk.agent_got() == []
    await talk.time.passes(60)
    assert talk.agent_got() == ["Add a page on quotas"]
    talk.everything()


async def test_half_a_change_beside_a_direct_request_is_asked_about(talk: Talk) -> None:
    await talk.ana.says("Add a page on quotas", "dm")
    await talk.time.passes(2)
    await talk.ana.says("what about Go?", "dm")
    await talk.time.passes(60)
    assert "Shall I send that to the agent?" in str(talk.ana.reads()[-1])
    assert talk.service.questions == []
    assert talk.agent_got() == ["Add a page on quotas"]


async def test_addition_edited_to_a_question_leaves_the_direct_request(talk: Talk) -> None:
    await talk.ana.says("Add a page on quotas", "dm")
    await talk.time.passes(2)
    addition = await talk.ana.says("Mention the quickstart for Python", "dm")
    await talk.time.passes(2)
    await talk.ana.edits(addition, WHERE)
    await talk.time.passes(60)
    assert talk.service.questions == [(WHERE, None)]
    assert talk.agent_got() == ["Add a page on quotas"]
    talk.everything()


async def test_outage_brings_no_question_to_the_agent_or_again(talk: Talk) -> None:
    asked = await talk.ana.says(f"@docs-agent {QUESTION}")
    await talk.time.passes()
    await talk.ben.replies("@docs-agent How often should I do that?", asked)
    await talk.time.passes()
    await talk.ben.presses("Draft a page")
    await talk.ben.fills_in(prompt="Add a page on keys")
    await talk.time.passes()
    talk.process.dies()
    await talk.time.passes(minutes=10)
    await talk.process.starts()
    await talk.time.passes(minutes=6)
    talk.everything()
    assert len(talk.agent_got()) == 1
    assert len(talk.service.questions) == 2
    assert "conversations.history" not in talk.slack.calls
