"""A job of *Improve docs*, or one with a long prompt, posts its status message and its end, and no more."""

from __future__ import annotations

from tests.talk import Talk
from tests.talk_people import Shown
from tests.visitors.test_content_gaps import form_of, rows
from tests.work.readers import asked, searches

DATA = "take them as data"


async def details(talk: Talk) -> Shown:
    """Ask for the status of the first job, and press *Details*."""
    await talk.ana.presses("Details", await talk.ana.answer_to("/docs-agent status 1"))
    return talk.ana.reads()[-1]


async def test_only_the_agent_gets_the_note_about_data(talk: Talk) -> None:
    talk.service.readers["searches"] = searches(("rate limits", 41, 0))
    [row] = rows(await asked(talk, "searches"))
    assert DATA not in await form_of(talk, row)
    assert await talk.ana.fills_in() == {}
    await talk.time.passes()
    assert DATA in talk.service.ended_with[0]
    status = talk.channel()[-1]
    assert DATA not in status.blocks
    assert talk.replies() == []
    await talk.ana.presses("Whole prompt", await details(talk))
    assert "rate limits" in talk.ana.form()
    assert DATA not in talk.ana.form()
    talk.everything()


async def test_prompt_of_several_lines_opens_in_a_window(talk: Talk) -> None:
    await talk.ana.says("@docs-agent Add a quickstart\nfor <Python> 3.11")
    await talk.time.passes()
    [status] = talk.all_replies()
    assert (status.splitlines()[1:], status.buttons) == (["Add a quickstart …"], [])
    await talk.ana.presses("Whole prompt", await details(talk))
    assert "Add a quickstart\nfor <Python> 3.11" in talk.ana.form()


async def test_short_prompt_of_one_line_has_no_button(talk: Talk) -> None:
    await talk.started()
    assert "Whole prompt" not in (await details(talk)).buttons
    talk.everything()


async def test_long_prompt_fits_into_a_window(talk: Talk) -> None:
    await talk.ana.says(f"@docs-agent Add this\n{'word ' * 6_000}")
    await talk.time.passes()
    await talk.ana.presses("Whole prompt", await details(talk))
    talk.everything()
    assert talk.ana.form().replace(" ", "").count("word") == 6_000


async def test_status_message_shows_what_follows_the_colon_of_its_first_line(talk: Talk) -> None:
    await talk.started("Change this on the limits page:\n- 60 becomes 100\n- 600 becomes 1,000")
    assert "Change this on the limits page: - 60 becomes 100 …" in talk.status()
