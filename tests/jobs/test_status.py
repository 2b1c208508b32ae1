"""``/docs-agent status`` tells what the last poll stored, and asks nobody."""

from __future__ import annotations

from tests.talk import Talk


async def test_the_status_tells_what_the_last_poll_found_without_asking_the_service(talk: Talk) -> None:
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
    answer = (await talk.ana.answer_to("/docs-agent status 1")).blocks
    assert talk.service.calls == calls
    assert "Repository: `acme/&lt;!channel&gt;`, branch `agent/quick" in answer
    assert "Model: `a-model`" in answer
    assert "created <!date^1793610000^" in answer
    assert "archived <!date^1793696400^" in answer
    talk.everything()


async def test_the_status_keeps_what_a_later_answer_leaves_out(talk: Talk) -> None:
    await talk.started()
    talk.service.jobs["job-1"]["model"] = "a-model"
    await talk.time.passes(5)
    del talk.service.jobs["job-1"]["model"], talk.service.jobs["job-1"]["source"]
    await talk.time.passes(5)
    answer = (await talk.ana.answer_to("/docs-agent status 1")).blocks
    assert "Repository: `acme/docs`, branch `main`" in answer
    assert "Model: `a-model`" in answer
    talk.status()
