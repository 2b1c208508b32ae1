"""A job that cannot be read backs off by itself; the project is held when the service itself is unwell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from bot.model.ids import JobNumber, UserId
from bot.model.jobs import JobState
from bot.store.schema import jobs
from bot.work.jobs.poll import poll_jobs
from bot.work.jobs.submit import submit_prompts
from tests.builders import BEN, PROJECT, execute, set_job
from tests.fakes import FakeDocs
from tests.work.office import Office

ADMIN = UserId("U0ADA")
Answer = Callable[[], httpx.Response | Exception]
BAD: dict[str, Answer] = {
    "500": lambda: httpx.Response(500, json={"error": "this job is broken"}),
    "not JSON": lambda: httpx.Response(200, text="{"),
    "web page": lambda: httpx.Response(200, text="<html>", headers={"content-type": "text/html"}),
    "no id": lambda: httpx.Response(200, json={"status": "completed"}),
    "not storable": lambda: httpx.Response(200, json={"id": "job-1\x00", "status": "completed"}),
    "redirect": lambda: httpx.Response(302, headers={"location": "https://elsewhere.example"}),
    "400": lambda: httpx.Response(400, json={"error": "no"}),
    "timeout": lambda: httpx.ReadTimeout("slow"),
    "unheard of": lambda: RuntimeError("unheard of"),
}
WHOLE: dict[str, Answer] = {
    "429": lambda: httpx.Response(429),
    "503": lambda: httpx.Response(503),
    "refused": lambda: httpx.ConnectError("refused"),
    "key": lambda: httpx.Response(401),
}


@dataclass
class OddDocs(FakeDocs):
    """Polls of some jobs get odd answers."""

    odd: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def _get(self, request: httpx.Request) -> httpx.Response:
        job_id = request.url.path.split("/")[-1]
        self.asked.append(job_id)
        if job_id not in self.odd:
            return super()._get(request)
        answer = self.odd[job_id]()
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def docs(office: Office) -> OddDocs:
    """The office's docs service, from now on."""
    odd = OddDocs()
    office.docs = odd
    office.context = replace(office.context, docs=odd.client())
    return odd


async def started(office: Office, count: int) -> None:
    """Start jobs 1 to ``count``; the service calls them ``job-1`` and so on."""
    for number in range(count):
        await office.ask(f"Write page {number}")
    await office.settle(count + 2)


async def back_off(office: Office) -> tuple[str, datetime] | None:
    """The reason and the end of the project's back-off."""
    found = await office.store.read(lambda tx: tx.back_offs.of(PROJECT))
    return (found.reason, found.until) if found else None


@pytest.mark.parametrize("answer", BAD.values(), ids=BAD.keys())
async def test_a_bad_job_holds_up_nobody_else(office: Office, docs: OddDocs, answer: Answer) -> None:
    await started(office, 3)
    docs.odd["job-1"] = answer
    await office.settle(4)
    await office.ask("Another page", user=BEN)
    await office.settle(3)
    assert await back_off(office) is None
    assert docs.prompts[-1] == ("job-4", "Another page")
    docs.finish()
    await office.settle(10)
    assert [(await office.job(number)).state for number in (1, 2)] == [
        JobState.WORKING,
        JobState.PULL_REQUEST,
    ]
    docs.odd.clear()
    await office.pass_time(60)
    assert (await office.job(1)).state is JobState.PULL_REQUEST


async def test_a_bad_job_is_asked_for_less_and_less_often(office: Office, docs: OddDocs) -> None:
    await started(office, 2)
    docs.odd["job-1"] = BAD["500"]
    docs.asked.clear()
    for _ in range(24 * 12):
        office.clock.pass_seconds(300)
        await poll_jobs(office.context)
    assert docs.asked.count("job-1") < 45


@pytest.mark.parametrize(("count", "bad"), [(2, 2), (7, 7), (1, 1), (5, 4)])
async def test_only_several_jobs_that_begin_to_fail_with_none_answered_hold_their_project(
    office: Office, docs: OddDocs, count: int, bad: int
) -> None:
    await started(office, count)
    docs.odd |= {f"job-{number}": BAD["500"] for number in range(1, bad + 1)}
    office.clock.pass_seconds(10)
    await poll_jobs(office.context)
    held = await back_off(office)
    assert (held is not None) == (count == bad > 1)
    if held is not None:
        assert held[0] == "Unavailable"
        assert timedelta() < held[1] - office.clock() < timedelta(seconds=5)


async def test_jobs_that_have_failed_for_long_hold_nothing(office: Office, docs: OddDocs) -> None:
    await started(office, 3)
    docs.odd |= {f"job-{number}": BAD["500"] for number in range(1, 4)}
    for _ in range(20):
        office.clock.pass_seconds(60)
        await poll_jobs(office.context)
    _, until = await back_off(office) or ("", office.clock())
    assert until <= office.clock() - timedelta(minutes=10)
    await office.ask("Another page", user=BEN)
    await office.settle(3)
    assert docs.prompts[-1] == ("job-4", "Another page")


@pytest.mark.parametrize("answer", WHOLE.values(), ids=WHOLE.keys())
async def test_what_is_about_the_whole_service_holds_the_project_at_once(
    office: Office, docs: OddDocs, answer: Answer
) -> None:
    await started(office, 5)
    docs.odd["job-1"] = answer
    office.clock.pass_seconds(2)
    for number in range(2, 6):
        statement = update(jobs).where(jobs.c.number == number).values(poll_at=None)
        await execute(office.store, statement)
    await poll_jobs(office.context)
    assert await back_off(office) is not None


@pytest.mark.parametrize("answer", [httpx.Response(500), httpx.ConnectError("refused")])
async def test_a_create_that_fails_holds_its_project(office: Office, docs: OddDocs, answer: Any) -> None:
    docs.answer_instead("create", answer)
    await office.ask("Add a quickstart")
    while await office.rounds():
        pass
    assert await back_off(office) is not None
    await office.ask("Another page", user=BEN)
    await office.rounds()
    await submit_prompts(office.context)
    assert docs.calls.count("create") == 1
    await office.settle(4)
    assert ("job-1", "Another page") in docs.prompts or ("job-2", "Another page") in docs.prompts


async def test_a_follow_up_that_fails_is_its_jobs_trouble(office: Office, docs: OddDocs) -> None:
    await started(office, 1)
    docs.answer_instead("follow_up", httpx.Response(500))
    await office.reply("more")
    while await office.rounds():
        pass
    assert await back_off(office) is None


@pytest.mark.parametrize("bad", ["500", "redirect", "unheard of"])
async def test_a_job_that_is_never_read_for_seven_days_is_told_and_left_alone(
    office: Office, docs: OddDocs, bad: str
) -> None:
    await started(office, 1)
    docs.odd["job-1"] = BAD[bad]
    for _ in range(8 * 6):
        office.clock.pass_seconds(4 * 3600)
        await poll_jobs(office.context)
    await office.settle(1)
    assert (await office.job()).state is JobState.UNWATCHED
    [said] = office.said()
    assert "The docs service gave no usable answer about Job 1 for" in said
    docs.asked.clear()
    await office.pass_time(24 * 3600)
    assert docs.asked == []


async def test_an_answer_that_cannot_be_written_counts_as_a_failed_poll(office: Office) -> None:
    """It backs off instead of being fetched again whenever its lease runs out."""

    def count(what: str, how: str) -> None:
        if what == "ends":
            raise ValueError("this one cannot be written")

    office.context = replace(office.context, count=count)
    await office.started()
    office.docs.finish()
    raised = 0
    before = office.docs.polls
    for _ in range(60):
        office.clock.pass_seconds(60)
        try:
            await poll_jobs(office.context)
        except ValueError:
            raised += 1
    assert 3 <= raised == office.docs.polls - before <= 10
    assert (await office.job()).unread_since is not None


async def test_an_abandoned_prompt_that_cannot_be_settled_stops_no_other(office: Office) -> None:
    await office.ask("Add a quickstart")
    office.docs.answer_instead("create", RuntimeError("killed"))
    with pytest.raises(RuntimeError):
        await office.settle()
    office.restart()
    await office.store.write(lambda tx: set_job(tx, JobNumber(1), state=JobState.REFUSED))
    await office.ask("Another page", user=BEN)
    await office.pass_time(100)
    assert office.sent() == ["Another page"]


def admins_are_told(office: Office) -> list[str]:
    """What the admin was told directly."""
    return [message.text for user, message, _ in office.slack.direct if user == ADMIN]


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("bad", [1, 2])
async def test_a_job_that_the_service_does_not_show_is_no_refused_key_while_others_are_answered(
    office: Office, docs: OddDocs, status: int, bad: int
) -> None:
    office.access_policy(admins=frozenset({ADMIN}))
    await started(office, 5)
    docs.odd = {f"job-{number}": lambda: httpx.Response(status) for number in range(1, bad + 1)}
    for _ in range(24):
        await office.pass_time(300)
        await office.settle(20)
    assert admins_are_told(office) == []
    assert await back_off(office) is None
    docs.finish()
    await office.pass_time(3_700)
    states = [(await office.job(number)).state for number in range(1, 6)]
    assert states == [JobState.WORKING] * bad + [JobState.PULL_REQUEST] * (5 - bad)


@pytest.mark.parametrize("count", [1, 5])
async def test_a_key_that_is_refused_for_every_job_is_told_within_a_minute(
    office: Office, docs: OddDocs, count: int
) -> None:
    office.access_policy(admins=frozenset({ADMIN}))
    await started(office, count)
    await office.pass_time(60)
    docs.odd = {f"job-{number}": WHOLE["key"] for number in range(1, count + 1)}
    for _ in range(60):
        await office.pass_time(0)
    assert len(admins_are_told(office)) == 1
    docs.odd = {}
    for _ in range(90):
        await office.pass_time(0)
    assert len(admins_are_told(office)) == 2
    assert await back_off(office) is None


async def test_a_finished_job_whose_unconfirmed_follow_up_cannot_be_read_about_is_polled_no_more(
    office: Office,
) -> None:
    await office.finished()
    office.docs.answer_instead("follow_up", httpx.Response(502, text="<html>"))
    await office.replied("Mention Python 3.11")
    office.docs.answer_instead("get", *[httpx.Response(500) for _ in range(400)])
    polls = []
    for _ in range(8 * 24):
        office.clock.pass_seconds(3_600)
        before = len(office.docs.calls)
        await poll_jobs(office.context)
        polls.append(len(office.docs.calls) - before)
    assert sum(polls[:24]) > 0
    assert sum(polls[-24:]) == 0
    assert (await office.job()).state is JobState.PULL_REQUEST
