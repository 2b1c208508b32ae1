"""The welcome: a greeting, a mention without words, and the app's Home tab show the same small page."""

from __future__ import annotations

import pytest

from tests.talk import Talk

PROMPTS = ["Fix a page", "Add a page", "Explain something"]
BUTTONS = [*PROMPTS, "What needs work?", "My jobs"]


async def test_a_greeting_in_direct_messages_is_answered_with_the_welcome(talk: Talk) -> None:
    await talk.ana.says("hi", channel="dm")
    await talk.time.passes()
    [answer] = talk.ana.reads()
    assert answer.buttons == BUTTONS
    assert "`Add a quickstart for the Python SDK`" in answer


async def test_a_mention_without_words_is_answered_with_the_welcome(talk: Talk) -> None:
    await talk.ana.says("@docs-agent")
    await talk.time.passes()
    [answer] = talk.ana.reads()
    assert answer.buttons == BUTTONS
    assert "`@docs-agent Add a quickstart for the Python SDK`" in answer


async def test_the_home_tab_lists_my_jobs_and_those_to_review_without_finished_ones(talk: Talk) -> None:
    await talk.finished("Add the parcels page")
    await talk.started("Add the labels page", by=talk.ben)
    talk.everything()
    of_ana, of_ben = await talk.ana.opens_home(), await talk.ben.opens_home()
    assert "*1 to review*" in of_ana
    assert "labels" not in of_ana
    assert "*1 to review*" in of_ben
    assert "*1 working*" in of_ben


async def test_a_job_of_a_private_channel_is_on_no_home_tab_of_others(talk: Talk) -> None:
    talk.opens_channel("secret", talk.ben, is_private=True)
    await talk.ben.asks("Add the hidden page", "secret")
    await talk.time.passes()
    await talk.ends()
    talk.everything()
    assert "hidden" in await talk.ben.opens_home()
    assert "hidden" not in await talk.ana.opens_home()


@pytest.mark.parametrize("label", PROMPTS)
async def test_a_prompt_of_the_home_tab_opens_the_form_which_asks_for_the_channel(
    talk: Talk, label: str
) -> None:
    await talk.ana.opens_home()
    await talk.ana.presses(label)
    form = talk.ana.form()
    assert "Where should I report?" in form
    assert await talk.ana.fills_in(prompt="Add a page about labels", channel=talk.room("docs").id) == {}
    await talk.time.passes()
    assert talk.agent_got() == ["Add a page about labels"]
    assert "Add a page about labels" in talk.status().blocks


async def test_a_prompt_of_a_greeting_stands_in_the_form(talk: Talk) -> None:
    await talk.ana.says("hi", channel="dm")
    await talk.time.passes()
    await talk.ana.presses("Add a page", talk.ana.reads()[0])
    assert "Add a page about …" in str(talk.ana.form().message["blocks"])


async def test_my_jobs_of_the_home_tab_open_in_a_window(talk: Talk) -> None:
    await talk.finished("Add the parcels page")
    await talk.ana.opens_home()
    await talk.ana.presses("My jobs")
    assert "to review" in talk.ana.form()


async def test_what_needs_work_on_the_home_tab_is_answered_in_direct_messages(talk: Talk) -> None:
    await talk.ana.opens_home()
    await talk.ana.presses("What needs work?")
    assert talk.ana.form()
    await talk.time.passes(60)
    assert len(talk.ana.reads()) == 1


async def test_a_guest_reads_on_the_home_tab_why_not(talk: Talk) -> None:
    home = await talk.gus.opens_home()
    assert "Guests can't use this bot" in home
    assert home.buttons == []


async def test_slack_may_refuse_the_home_tab_and_takes_it_at_the_next_opening(talk: Talk) -> None:
    talk.slack.faults.refuses("views.publish", "not_enabled")
    with pytest.raises(KeyError):
        await talk.ana.opens_home()
    assert (await talk.ana.opens_home()).buttons == BUTTONS
