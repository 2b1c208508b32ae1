"""``/docs-agent status``: one line, details on request, and neither asks the docs service."""

from __future__ import annotations

import pytest

from tests.services import active_job
from tests.talk import Talk


async def details_of_job(talk: Talk) -> str:
    """Return the details of the first job."""
    await talk.ana.presses("Details", await talk.ana.answer_to("/docs-agent status 1"))
    [answer] = talk.ana.reads()
    return answer.blocks


async def test_details_have_the_values_of_the_last_poll(talk: Talk) -> None:
    await talk.started()
    talk.service.jobs["job-1"] |= {
        "model": "a-model",
        "createdAt": "2026-11-02T09:00:00Z",
        "archivedAt": "2026-11-03T09:00:00Z",
        "source": {"repository": "acme/<!channel>", "ref": "agent/quick`start"},
        "status": "archived",
    }
    await talk.time.passes()
    calls = list(talk.service.calls)
    answer = await details_of_job(talk)
    assert talk.service.calls == calls
    assert "Repository: `acme/&lt;!channel&gt;`, branch `agent/quick" in answer
    assert "Model: `a-model`" in answer
    assert "created <!date^1793610000^" in answer
    assert "archived <!date^1793696400^" in answer
    talk.everything()


async def test_details_keep_values_that_a_later_poll_lacks(talk: Talk) -> None:
    await talk.started()
    talk.service.jobs["job-1"]["model"] = "a-model"
    await talk.time.passes(5)
    talk.service.odd["job-1"] = active_job
    await talk.time.passes(5)
    answer = await details_of_job(talk)
    assert "Repository: `acme/docs`, branch `main`" in answer
    assert "Model: `a-model`" in answer
    talk.status()


async def test_status_is_one_line_with_a_button_for_details(talk: Talk) -> None:
    await talk.started()
    answer = await talk.ana.answer_to("/docs-agent status 1")
    assert answer.startswith(":gear: *Add a quickstart* · Working on it, started")
    assert answer.count("\n") == 0
    assert answer.buttons == ["Details"]
    talk.status()


@pytest.mark.parametrize("text", ["status", "is it ready?"])
async def test_status_without_a_number_is_the_latest_jobs(talk: Talk, text: str) -> None:
    await talk.finished()
    answer = await talk.ben.answer_to(f"/docs-agent {text}")
    assert "ull request" in answer
    assert "Details" in answer.buttons


async def test_rest_of_the_help_opens_in_a_window(talk: Talk) -> None:
    answer = await talk.ana.answer_to("/docs-agent help")
    assert answer.buttons == ["Ask for a change", "My jobs", "What needs work?", "More"]
    await talk.ana.presses("More", answer)
    assert "What it costs" in talk.ana.form()
    assert talk.ana.reads() == []


async def test_one_project_is_named(talk: Talk) -> None:
    assert await talk.ana.answer_to("/docs-agent project") == "These prompts go to *acme-docs*."


async def test_guest_is_refused_in_the_channel_of_the_mention(talk: Talk) -> None:
    await talk.gus.says("@docs-agent Add a quickstart")
    await talk.time.passes()
    [answer] = talk.gus.reads()
    assert "Guests can't use this bot" in answer
    assert answer.message["channel"] == talk.room("docs").id
