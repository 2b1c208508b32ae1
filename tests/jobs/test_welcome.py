"""The welcome: short after a greeting or an empty mention, with two numbers in the app's Home tab."""

from __future__ import annotations

import pytest

from tests.talk import Talk

BOT = "@docs-agent"
BUTTONS = ["Ask for a change", "What needs work?", "My jobs"]


@pytest.mark.parametrize(
    ("text", "channel", "mention"),
    [("hi", "dm", ""), (BOT, "docs", f"{BOT} "), (f"Hi {BOT}", "docs", f"{BOT} ")],
)
async def test_greeting_or_empty_mention_gets_examples(
    talk: Talk, text: str, channel: str, mention: str
) -> None:
    await talk.ana.says(text, channel)
    await talk.time.passes()
    [answer] = talk.ana.reads()
    assert answer.buttons == BUTTONS
    examples = [
        "Add a quickstart for the Python SDK",
        "Fix the typo on the webhooks page",
        "visitors last week",
    ]
    assert answer.splitlines()[1:] == [f"• `{mention}{example}`" for example in examples]


async def test_greeting_gets_a_question_as_example_where_questions_are_answered(
    talk: Talk,
) -> None:
    talk.process.answers_questions()
    await talk.ana.says("hello", "dm")
    await talk.time.passes()
    [answer] = talk.ana.reads()
    assert answer.splitlines() == [
        "Hi! Ask me about the docs, or tell me what to change:",
        "• `How do I rotate an API key?`",
        "• `Add a quickstart for the Python SDK`",
        "• `visitors last week`",
    ]


@pytest.mark.parametrize("example", [0, 1, 2])
async def test_examples_of_the_greeting_do_as_they_say(talk: Talk, example: int) -> None:
    await talk.ana.says("hello", "dm")
    await talk.time.passes()
    [answer] = talk.ana.reads()
    await talk.ana.says(answer.splitlines()[example + 1].strip("• `"), "dm")
    await talk.time.passes(60)
    assert len(talk.agent_got()) == (0 if example == 2 else 1)
    talk.everything()


async def test_home_tab_counts_the_readers_needs_and_what_they_may_review(talk: Talk) -> None:
    await talk.finished("Add the parcels page")
    await talk.started("Add the labels page", by=talk.ben)
    await talk.ends("failed", pr_link=None)
    talk.everything()
    assert (await talk.ana.opens_home()).buttons == ["1 to review", *BUTTONS]
    of_ben = await talk.ben.opens_home()
    assert of_ben.buttons == ["1 needs you", "1 to review", *BUTTONS]
    assert "page" not in of_ben.replace("webhooks page", "")
    await talk.ben.presses("1 needs you")
    assert "Add the labels page" in talk.ben.form()
    assert "parcels" not in talk.ben.form()


async def test_home_tab_counts_no_job_of_a_hidden_channel(talk: Talk) -> None:
    talk.opens_channel("secret", talk.ben, is_private=True)
    await talk.ben.asks("Add the hidden page", "secret")
    await talk.time.passes()
    await talk.ends()
    talk.everything()
    assert (await talk.ben.opens_home()).buttons == ["1 to review", *BUTTONS]
    assert (await talk.ana.opens_home()).buttons == BUTTONS


async def test_numbers_of_the_home_tab_open_in_a_window(talk: Talk) -> None:
    await talk.finished("Add the parcels page")
    await talk.ana.opens_home()
    await talk.ana.presses("1 to review")
    assert "*1 to review*" in talk.ana.form()


async def test_form_of_the_home_tab_asks_for_the_channel(talk: Talk) -> None:
    await talk.ana.opens_home()
    await talk.ana.presses("Ask for a change")
    form = talk.ana.form()
    assert "Where should I report?" in form
    assert (
        await talk.ana.fills_in(prompt="Add a page about labels", channel=talk.room("docs").id)
        == {}
    )
    await talk.time.passes()
    assert talk.agent_got() == ["Add a page about labels"]
    assert "Add a page about labels" in talk.status().blocks


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
