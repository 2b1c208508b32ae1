"""The welcome: short after a greeting or an empty mention, with jobs in the app's Home tab."""

from __future__ import annotations

import pytest

from tests.services import ASSISTANT_KEY, DOMAIN
from tests.talk import Talk

PROMPTS = ["Fix a page", "Add a page", "Explain something"]
BOT = "@docs-agent"
BUTTONS = [*PROMPTS, "What needs work?", "My jobs"]


@pytest.mark.parametrize(
    ("text", "channel", "mention"), [("hi", "dm", ""), (BOT, "docs", f"{BOT} ")]
)
async def test_greeting_or_empty_mention_gets_a_change_as_example(
    talk: Talk, text: str, channel: str, mention: str
) -> None:
    await talk.ana.says(text, channel)
    await talk.time.passes()
    [answer] = talk.ana.reads()
    assert answer.buttons == BUTTONS
    assert answer.endswith(f"`{mention}Add a quickstart for the Python SDK`")


async def test_greeting_gets_a_question_as_example_where_questions_are_answered(
    talk: Talk,
) -> None:
    await talk.process.starts(assistant_key=ASSISTANT_KEY, assistant_domain=DOMAIN)
    await talk.ana.says("hello", "dm")
    await talk.time.passes()
    [answer] = talk.ana.reads()
    assert answer.startswith("Hi! Ask me about the docs, or tell me what to change: ")
    assert "`How do I rotate an API key?` or `Add a quickstart for the Python SDK`" in answer


async def test_home_tab_has_open_jobs_and_jobs_to_review(talk: Talk) -> None:
    await talk.finished("Add the parcels page")
    await talk.started("Add the labels page", by=talk.ben)
    talk.everything()
    of_ana, of_ben = await talk.ana.opens_home(), await talk.ben.opens_home()
    assert "*1 to review*" in of_ana
    assert "labels" not in of_ana
    assert "*1 to review*" in of_ben
    assert "*1 working*" in of_ben


async def test_home_tab_has_no_job_of_a_hidden_channel(talk: Talk) -> None:
    talk.opens_channel("secret", talk.ben, is_private=True)
    await talk.ben.asks("Add the hidden page", "secret")
    await talk.time.passes()
    await talk.ends()
    talk.everything()
    assert "hidden" in await talk.ben.opens_home()
    assert "hidden" not in await talk.ana.opens_home()


@pytest.mark.parametrize("label", PROMPTS)
async def test_form_of_the_home_tab_asks_for_the_channel(talk: Talk, label: str) -> None:
    await talk.ana.opens_home()
    await talk.ana.presses(label)
    form = talk.ana.form()
    assert "Where should I report?" in form
    assert (
        await talk.ana.fills_in(prompt="Add a page about labels", channel=talk.room("docs").id)
        == {}
    )
    await talk.time.passes()
    assert talk.agent_got() == ["Add a page about labels"]
    assert "Add a page about labels" in talk.status().blocks


async def test_prompt_of_the_welcome_is_in_the_form(talk: Talk) -> None:
    await talk.ana.says("hi", channel="dm")
    await talk.time.passes()
    await talk.ana.presses("Add a page", talk.ana.reads()[0])
    assert "Add a page about …" in str(talk.ana.form().message["blocks"])


async def test_jobs_of_the_home_tab_open_in_a_window(talk: Talk) -> None:
    await talk.finished("Add the parcels page")
    await talk.ana.opens_home()
    await talk.ana.presses("My jobs")
    assert "to review" in talk.ana.form()


async def test_content_gaps_of_the_home_tab_are_direct_messages(talk: Talk) -> None:
    await talk.ana.opens_home()
    await talk.ana.presses("What needs work?")
    assert talk.ana.form()
    await talk.time.passes(60)
    assert len(talk.ana.reads()) == 1


async def test_home_tab_of_a_guest_has_the_refusal(talk: Talk) -> None:
    home = await talk.gus.opens_home()
    assert "Guests can't use this bot" in home
    assert home.buttons == []


async def test_refused_home_tab_is_shown_at_the_next_opening(talk: Talk) -> None:
    talk.slack.faults.refuses("views.publish", "not_enabled")
    with pytest.raises(KeyError):
        await talk.ana.opens_home()
    assert (await talk.ana.opens_home()).buttons == BUTTONS
