"""The preview of a job's pages: asked for at a press, built, opened, and mended when it breaks."""

from __future__ import annotations

import httpx
import pytest
from sqlalchemy import select

from bot.ids import Block
from bot.jobs.model.pull_requests import PreviewState
from bot.jobs.store.pull_requests import Previews
from bot.jobs.store.retention import forget_job
from bot.jobs.store.tables import previews
from bot.store.retention import forget_person
from tests.builders import BEN, rows_of
from tests.fakes import PREVIEW
from tests.work.drains import deliver_due, make_previews
from tests.work.office import Office

BUILT = {"status": "success"}
BROKEN = {"status": "failure", "logs": ["Building", "Error: <!channel> is never closed\n"]}


@pytest.fixture
async def agent(office: Office) -> Office:
    """A job that has ended with a pull request of a branch of its own."""
    office.docs.branch = "agent/quickstart"
    await office.finished()
    return office


def end(office: Office, newest: int = -1) -> list[Block]:
    """The end as it is shown now, which is the newest reply or its newest edit."""
    post = [post for post in office.slack.posts if post.thread is not None][newest]
    edits = office.slack.edits.get(post.ts)
    return list((edits[-1] if edits else post.message).blocks)


def said(office: Office) -> str:
    return " ".join(str(block.get("text")) for block in end(office))


def offered(office: Office) -> list[str]:
    rows = [block for block in end(office) if block["type"] == "actions"]
    return [button["action_id"] for row in rows for button in row["elements"]]


async def pressed(office: Office, action: str = "preview", **options: object) -> str:
    answer = await office.press(action, "1", **options)  # type: ignore[arg-type]
    await office.settle(1.0)
    return answer.message.text if answer.message else ""


async def state(office: Office, number: int = 1) -> PreviewState | None:
    job = await office.job(number)
    preview = await office.store.read(lambda tx: Previews(tx).get(job.number))
    return preview.state if preview else None


async def test_a_job_that_is_forgotten_while_its_preview_is_asked_for_stays_forgotten(agent: Office) -> None:
    job = await agent.job()

    async def forgotten() -> httpx.Response:
        await agent.store.write(lambda tx: forget_job(tx, job.number))
        return httpx.Response(202, json={"statusId": "build-1", "previewUrl": PREVIEW})

    await agent.press("preview", "1")
    await agent.works(deliver_due)
    agent.docs.answer_instead("preview", forgotten())
    await agent.settle(30)
    assert (await agent.job()).is_forgotten
    [row] = await rows_of(agent.store, select(previews))
    assert (row["url"], row["status_id"], row["due_at"]) == (None, None, None)
    assert "build" not in agent.docs.calls


async def test_who_asked_for_a_preview_is_forgotten_once_it_is_there_and_the_next_press_builds_another(
    agent: Office,
) -> None:
    await agent.press("preview", "1", user=BEN)
    await agent.works(deliver_due)
    await forget_person(agent.store, BEN)
    agent.docs.build = BUILT
    await agent.settle(15)
    assert offered(agent) == ["view_pull_request", "open_preview"]
    await forget_person(agent.store, BEN)
    await pressed(agent)
    await agent.settle(60)  # a branch is built once a minute at most
    assert offered(agent) == ["view_pull_request", "open_preview"]
    assert PREVIEW in said(agent)
    assert agent.docs.calls.count("preview") == 2


async def test_a_build_that_goes_on_wakes_nobody(agent: Office) -> None:
    await pressed(agent)
    wakes, looks = agent.wakes, agent.docs.calls.count("build")
    for _ in range(3):
        agent.clock.pass_seconds(10)
        await agent.works(make_previews)
    assert (agent.wakes, agent.docs.calls.count("build")) == (wakes, looks + 3)
