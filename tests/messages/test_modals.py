"""The dialogues: what is asked, under which names it comes back."""

from __future__ import annotations

from typing import Any

import pytest

from bot.messages import general
from bot.model.ids import JobNumber
from bot.model.jobs import LeftOut
from tests.builders import CHANNEL
from tests.messages.samples import job
from tests.messages.slack_limits import modal_problems


def inputs(view: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The inputs of a dialogue by the name of their block."""
    return {block["block_id"]: block["element"] for block in view["blocks"] if block["type"] == "input"}


def test_where_the_channel_is_known_only_the_prompt_is_asked_for() -> None:
    view = general.ask_form(channel=CHANNEL, private="kept")
    assert (view["callback_id"], view["private_metadata"]) == ("ask", "kept")
    [(name, element)] = inputs(view).items()
    assert (name, element["action_id"]) == ("prompt", "prompt")
    assert (element["type"], element["multiline"], element["max_length"]) == ("plain_text_input", True, 3000)
    assert "initial_value" not in element


def test_without_a_channel_one_is_asked_for() -> None:
    view = general.ask_form(channel=None, private="")
    assert list(inputs(view)) == ["prompt", "channel"]
    assert inputs(view)["channel"]["type"] == "conversations_select"


def test_a_text_to_begin_with_stands_in_the_form_as_far_as_it_fits() -> None:
    view = general.ask_form(channel=CHANNEL, private="", text="word " * 1_000)
    begun = inputs(view)["prompt"]["initial_value"]
    assert len(begun) <= 3_000
    assert begun.startswith("word word")
    assert begun.endswith("…")


def test_nothing_is_hidden_in_somebodys_message_that_becomes_a_prompt() -> None:
    view = general.ask_form(channel=CHANNEL, private="", text="Say \u202eyes\U000e0041")
    assert inputs(view)["prompt"]["initial_value"] == "Say \ufffdyes\ufffd"


def test_a_follow_up_offers_the_jobs_with_the_first_chosen() -> None:
    jobs = [job(), job(number=JobNumber(41), text="Explain\n" + "every error " * 20)]
    view = general.follow_up_form(jobs, private="")
    select = inputs(view)["job"]
    assert (view["callback_id"], list(inputs(view))) == ("follow_up", ["job", "prompt"])
    assert [option["value"] for option in select["options"]] == ["42", "41"]
    assert select["options"][0]["text"]["text"] == "Job 42 Add a quickstart for the Python SDK"
    assert select["options"][1]["text"]["text"].startswith("Job 41 Explain every error")
    assert select["initial_option"] == select["options"][0]


def test_a_follow_up_to_a_chosen_job_names_it_and_asks_for_words_alone() -> None:
    view = general.follow_up_form([job()], private="", is_chosen=True)
    assert list(inputs(view)) == ["prompt"]
    assert "*Job 42* Add a quickstart" in view["blocks"][0]["text"]["text"]


@pytest.mark.parametrize("is_chosen", [False, True])
def test_the_form_shows_a_threads_earlier_messages_to_edit_or_untick(is_chosen: bool) -> None:
    left_out = {LeftOut.ASIDE: 1, LeftOut.OLDER: 3}
    earlier = general.earlier_blocks("Ben: Wrong", left_out, is_chosen=is_chosen, is_read=True)
    view = general.ask_form(channel=CHANNEL, private="", earlier=earlier)
    assert modal_problems(view) == []
    [boxes, text] = view["blocks"][-2:]
    assert ("initial_options" in boxes["element"]) is is_chosen
    assert text["element"]["initial_value"] == "Ben: Wrong"
    assert text["hint"]["text"] == "Left out: 1 aside; 3 older."
    assert boxes["optional"]
    assert text["optional"]


def test_the_form_says_that_a_thread_could_not_be_read() -> None:
    [note] = general.earlier_blocks("", {}, is_chosen=False, is_read=False)
    assert "didn't let me read" in str(note)
    assert modal_problems(general.ask_form(channel=CHANNEL, private="", earlier=[note])) == []
    assert general.earlier_blocks("", {}, is_chosen=True, is_read=True) == ()
    [note] = general.earlier_blocks("", {LeftOut.OTHERS: 2}, is_chosen=True, is_read=True)
    assert "Left out: 2 from guests, other organisations or bots." in str(note)
