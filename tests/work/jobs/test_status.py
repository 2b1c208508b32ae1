"""``/docs-agent status`` tells what the last poll stored, and asks nobody."""

from __future__ import annotations

from tests.work.office import Office


async def test_the_status_tells_what_the_last_poll_found_without_asking_the_service(office: Office) -> None:
    await office.started()
    office.docs.jobs["job-1"] |= {
        "model": "a-model",
        "createdAt": "2026-11-02T09:00:00Z",
        "archivedAt": "2026-11-03T09:00:00Z",
        "source": {"repository": "acme/<!channel>", "ref": "agent/quick`start"},
        "status": "archived",
    }
    await office.settle(3)
    calls = list(office.docs.calls)
    said = str((await office.types("/docs-agent", "status 1")).message)
    assert office.docs.calls == calls
    assert "Repository: `acme/&lt;!channel&gt;`, branch `agent/quick" in said
    assert "Model: `a-model`" in said
    assert "created <!date^1793610000^" in said
    assert "archived <!date^1793696400^" in said


async def test_the_status_keeps_what_a_later_answer_leaves_out(office: Office) -> None:
    await office.started()
    office.docs.jobs["job-1"]["model"] = "a-model"
    await office.settle(3)
    del office.docs.jobs["job-1"]["model"], office.docs.jobs["job-1"]["source"]
    await office.settle(3)
    job = await office.job()
    assert (job.model, job.repository, job.ref) == ("a-model", "acme/docs", "main")
