"""What becomes of a pull request that the bot can look at: shown by itself, and said once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from bot.model.ids import JobNumber
from bot.model.jobs import JobState, Review
from bot.work.jobs.decisions import remind
from tests.builders import ANA
from tests.fakes import LINK, FakeGithub
from tests.work.office import Office

NOT_FOUND = httpx.Response(404)


def offered(office: Office) -> list[str]:
    """What the buttons of the first job's face do now."""
    rows = [
        each for each in office.slack.edits[office.slack.root().ts][-1].blocks if each["type"] == "actions"
    ]
    return [button["action_id"] for row in rows for button in row["elements"]]


@pytest.fixture
async def github(office: Office) -> AsyncIterator[FakeGithub]:
    fake = FakeGithub()
    client = fake.client(office.clock)
    office.context = replace(office.context, github=client)
    yield fake
    await client.aclose()


async def ended(office: Office, **options: str) -> None:
    await office.started(**options)
    await office.ends(pr_link=LINK)


async def looked(office: Office, hours: float = 1 / 6) -> None:
    """Let so much time pass, and look at what is due."""
    office.clock.pass_seconds(hours * 3_600 + 1)
    await office.settle(1.0)


def end(office: Office, which: int = 0) -> str:
    """A reply as it stands now."""
    reply = office.slack.replies()[which]
    return office.slack.edits.get(reply.ts, [reply.message])[-1].text


async def test_the_end_and_the_face_say_what_the_pull_request_is(office: Office, github: FakeGithub) -> None:
    github.pull |= {"draft": True, "title": "Add <!channel> *now*"}
    await ended(office)
    assert "+46" not in office.said()[0]  # told at once, as ever
    assert "“Add &lt;!channel&gt; ∗now∗”" in end(office)
    assert "draft" in end(office)
    assert "+46 −1 in 2 files" in end(office)
    assert "“Add &lt;!channel&gt; ∗now∗” · draft · +46 −1 in 2 files" in office.root_text()
    assert len(office.said()) == 1


@pytest.mark.parametrize("repository", ["acme/other", "https://code.example/acme/docs", None])
async def test_pull_request_of_another_repository_is_linked_and_never_looked_at(
    office: Office, github: FakeGithub, repository: str | None
) -> None:
    await office.started()
    office.docs.jobs["job-1"]["source"]["repository"] = repository
    await office.store.write(lambda tx: tx.jobs.update(JobNumber(1), repository=repository))
    await office.ends(pr_link=LINK)
    await looked(office)
    assert (github.calls, LINK in office.said()[0]) == ([], True)


async def test_a_follow_up_says_what_has_changed(office: Office, github: FakeGithub) -> None:
    await ended(office)
    github.pull |= {"additions": 1_050, "changed_files": 3}
    await office.replied("Add Node")
    await office.ends(pr_link=LINK)
    assert "+1,050 −1 in 3 files (was +46 −1 in 2 files)" in end(office, 1)
    assert "+1,050 −1 in 3 files (was +46 −1 in 2 files)" in office.root_text()
    assert "can't see" not in office.said()[1]
    await office.replied("Add Go")
    await office.ends(pr_link=LINK)
    assert "+1,050 −1 in 3 files, as before" in end(office, 2)


@pytest.mark.parametrize("answer", [NOT_FOUND, httpx.Response(401), httpx.ReadTimeout("slow")])
async def test_what_cannot_be_seen_is_told_as_ever(
    office: Office, github: FakeGithub, answer: httpx.Response | Exception
) -> None:
    github.instead.extend([answer] * 9)
    await ended(office)
    told, face = end(office), office.root_text()
    await looked(office)
    await looked(office)
    assert (end(office), office.root_text()) == (told, face)
    assert (await office.job()).pull_request is None
    assert "reviewed" in offered(office)


async def test_nobody_looks_at_another_host_or_at_one_that_may_not_be_linked(
    office: Office, github: FakeGithub
) -> None:
    await office.started()
    await office.ends(pr_link="https://git.example/acme/docs/pull/7")
    office.context = replace(office.context, link_hosts=frozenset({"git.example"}))
    await office.started("Another")
    await office.ends(pr_link=LINK)
    assert github.calls == []


async def test_an_end_does_not_wait_for_a_host_that_does_not_answer(
    office: Office, github: FakeGithub
) -> None:
    told = list[str]()

    async def slow() -> httpx.Response:
        told.extend(office.said())
        return httpx.Response(500)

    github.instead.append(slow())
    await ended(office)
    await looked(office)
    assert told == office.said()


@pytest.mark.parametrize(
    ("by", "review", "headline", "said"),
    [
        ("ana-b", Review.MERGED, "*Merged*", "was merged after 2 days by ana-b."),
        (None, Review.CLOSED, "*Closed*", "was closed after 2 days without being merged."),
    ],
)
async def test_what_became_of_it_is_shown_and_said_once_and_ends_the_reminder(
    office: Office, github: FakeGithub, by: str | None, review: Review, headline: str, said: str
) -> None:
    await ended(office)
    started = office.clock()
    assert (await office.job()).remind_at is not None
    github.merge(started + timedelta(days=2), by)
    await looked(office, 48)
    assert len(office.said()) == 2
    assert office.said()[1].replace("\N{NO-BREAK SPACE}", " ").endswith(said)
    assert f"<@{ANA}>" not in office.said()[1]
    assert headline in office.root_text()
    job = await office.job()
    assert (job.review, job.remind_at, job.awaits_review) == (review, None, False)
    calls = len(github.calls)
    for _ in range(5):
        await looked(office, 24)
        await office.works(remind)
    assert len(office.said()) == 2
    assert len(github.calls) == calls


async def test_a_reminder_says_for_how_long_it_has_been_open_since_the_first_end(
    office: Office, github: FakeGithub
) -> None:
    await ended(office)
    await looked(office, 24)
    await office.replied("Add Node")
    await office.ends(pr_link=LINK)
    for _ in range(4):
        await looked(office, 24)
        await office.works(remind)
    await office.settle()
    said = office.said()[2].replace("\N{NO-BREAK SPACE}", " ")
    assert said.startswith(f"<@{ANA}> :memo: The pull request of Job 1 has been open for 4 days: ")
    assert "“Add a quickstart” · +46 −1 in 2 files. " in said
    assert "Reviewed" not in said


async def test_people_are_not_asked_what_the_bot_sees(office: Office, github: FakeGithub) -> None:
    await ended(office)
    assert offered(office) == ["view_pull_request"]
    github.merge(office.clock())
    await looked(office)
    await office.press("not_needed", "1")  # in an old face
    await office.settle()
    assert (await office.job()).review is Review.MERGED


async def test_it_is_looked_at_seldom_and_then_no_more(office: Office, github: FakeGithub) -> None:
    await ended(office)
    assert len(github.calls) == 1
    for _ in range(6 * 24):
        await looked(office)
    assert len(github.calls) == pytest.approx(1 + 6 * 24, abs=2)
    first_day = len(github.calls)
    for _ in range(24):
        await looked(office, 1)
    assert len(github.calls) == pytest.approx(first_day + 24, abs=2)
    assert set(github.calls[1:]) != {""}
    await looked(office, 29 * 24)
    calls = len(github.calls)
    await looked(office, 24)
    assert len(github.calls) == calls
    assert "as of <!date^" in office.root_text()
    assert "reviewed" in offered(office)  # people say what the bot sees no more


async def test_people_are_asked_again_about_what_is_hidden_from_the_bot(
    office: Office, github: FakeGithub
) -> None:
    await ended(office)
    github.instead.extend([NOT_FOUND] * 3)
    for _ in range(3):
        assert "reviewed" not in offered(office)
        await looked(office)
    assert "as of <!date^" in office.root_text()
    await office.press("reviewed", "1")
    await looked(office, 25)
    assert "as of" not in office.root_text()
    assert (await office.job()).review is Review.REVIEWED


async def test_a_limit_holds_for_all_and_the_face_says_how_old_its_facts_are(
    office: Office, github: FakeGithub
) -> None:
    await ended(office)
    await office.started("Another")
    await office.ends(pr_link=LINK)
    github.instead.extend([httpx.Response(403, headers={"retry-after": "10800"})] * 2)
    calls = len(github.calls)
    await looked(office, 2.1)
    assert len(github.calls) - calls <= 2
    assert "as of <!date^" in office.root_text()
    await looked(office, 1)
    assert len(github.calls) - calls <= 2
    github.pull |= {"additions": 47}
    await looked(office, 3)
    assert "as of" not in office.root_text()
    assert "+47 −1" in office.root_text()


async def test_a_look_that_finds_nothing_new_wakes_nobody(office: Office, github: FakeGithub) -> None:
    await ended(office)
    wakes, calls = office.wakes, len(github.calls)
    await looked(office)
    await looked(office)
    assert (office.wakes, len(github.calls)) == (wakes, calls + 2)


async def test_what_will_be_old_when_a_limit_is_over_is_told_with_its_time_at_once(
    office: Office, github: FakeGithub
) -> None:
    await ended(office)
    github.instead.append(httpx.Response(403, headers={"retry-after": "7200"}))
    await looked(office)
    assert "as of <!date^" in office.root_text()
    await looked(office, 2)
    assert "as of" not in office.root_text()


async def test_a_new_pull_request_is_told_as_new(office: Office, github: FakeGithub) -> None:
    """After the first one was merged, the service opens another."""
    await ended(office)
    github.merge(office.clock())
    await looked(office)
    await office.replied("Add Node")
    await office.ends(pr_link=LINK)  # the merged one
    assert len(office.said()) == 3
    assert (await office.job()).review is Review.MERGED
    assert (await office.job()).state is JobState.PULL_REQUEST


async def test_a_job_that_is_forgotten_is_looked_at_no_more(office: Office, github: FakeGithub) -> None:
    await ended(office)
    job = await office.job()
    await office.store.write(lambda tx: tx.retention.forget_job(job.number))
    calls = len(github.calls)
    await looked(office)
    assert len(github.calls) == calls


async def test_a_job_that_is_forgotten_during_a_look_stays_forgotten(
    office: Office, github: FakeGithub
) -> None:
    await ended(office)
    job, about = await office.job(), github.pull | {"title": "Another", "head": {"ref": "agent/one"}}

    async def forgotten() -> httpx.Response:
        await office.store.write(lambda tx: tx.retention.forget_job(job.number))
        return httpx.Response(200, json=about)

    github.instead.append(forgotten())
    await looked(office)
    assert (await office.job()).is_forgotten
    assert (await office.job()).pull_request is None
    calls = len(github.calls)
    await looked(office, 25)
    assert len(github.calls) == calls


@pytest.mark.parametrize("headers", [{"retry-after": "0"}, {"x-ratelimit-remaining": "0"}])
async def test_a_limit_that_is_over_by_this_clock_is_not_tried_at_once(
    office: Office, github: FakeGithub, headers: dict[str, str]
) -> None:
    passed = str(int(office.clock().timestamp()) - 3_600)
    github.instead.extend(httpx.Response(403, headers=headers | {"x-ratelimit-reset": passed}) for _ in "12")
    await ended(office)
    assert len(github.calls) == 1


async def test_limits_do_not_count_as_not_finding_it(office: Office, github: FakeGithub) -> None:
    limited = httpx.Response(429, headers={"retry-after": "60"})
    github.instead.extend([limited, limited, NOT_FOUND])
    await ended(office)
    for _ in range(3):
        await looked(office)
    assert (await office.job()).pull_request is not None


async def test_nothing_is_said_of_a_job_that_is_kept_quiet(office: Office, github: FakeGithub) -> None:
    await ended(office)
    await office.replied("Mention Node, too")
    await office.press("keep_quiet", "1")
    await office.settle()
    said = office.said()
    assert "stay quiet about Job 1" in said[-1]
    github.merge(office.clock())
    await looked(office)
    assert office.said() == said
