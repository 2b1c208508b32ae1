"""Pull requests that the bot polls: their state in the status message and one reply about their end."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import httpx
import pytest

from tests.services import LINK, Hanging
from tests.talk import Talk
from tests.talk_people import Shown

NOT_FOUND = httpx.Response(404)
UNSAID = {"Reviewed"}


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    """A conversation with a bot that can look at pull requests."""
    await talk.process.starts(github_token="github-token-of-talk")
    return talk


async def ended(talk: Talk, prompt: str = "Add a quickstart") -> None:
    await talk.started(prompt)
    await talk.ends(pr_link=LINK)


async def follow_up(talk: Talk, text: str) -> None:
    """Follow up and let the agent finish."""
    await talk.ana.replies(text)
    await talk.time.passes(20)
    await talk.ends(pr_link=LINK)
    await talk.time.passes(90)


async def polled(talk: Talk, hours: float = 1 / 6) -> None:
    """Let time pass until the pull request has been polled again."""
    await talk.time.passes(hours * 3_600 + 1)
    await talk.time.passes(5)


def end(talk: Talk, which: int = 0) -> Shown:
    """Read a result in its present form."""
    return talk.replies()[which]


async def test_result_and_status_have_title_and_size(talk: Talk) -> None:
    talk.github.pull |= {"draft": True, "title": "Add <!channel> *now*"}
    await ended(talk)
    assert "a draft, +46 −1." in end(talk)
    assert "channel" not in end(talk)
    assert "draft · +46 −1 in 2 files · " in talk.status()
    assert talk.status().endswith("\nAdd &lt;!channel&gt; ∗now∗")
    assert len(talk.replies()) == 1


@pytest.mark.parametrize("repository", ["acme/other", "https://code.example/acme/docs"])
async def test_pull_request_of_another_repository_is_not_polled(
    talk: Talk, repository: str
) -> None:
    await talk.ana.asks("Add a quickstart")
    await talk.time.passes(1)
    talk.service.jobs["job-1"]["source"]["repository"] = repository
    await talk.time.passes(10)
    await talk.ends(pr_link=LINK)
    await polled(talk)
    assert LINK in end(talk)
    assert talk.github.calls == []
    talk.status()


@pytest.mark.parametrize("answer", [NOT_FOUND, httpx.Response(401), httpx.ReadTimeout("slow")])
async def test_hidden_pull_request_changes_nothing(
    talk: Talk, answer: httpx.Response | Exception
) -> None:
    talk.github.instead.extend([answer] * 9)
    await ended(talk)
    before = end(talk), talk.status()
    await polled(talk)
    await polled(talk)
    assert (end(talk), talk.status()) == before
    assert set(talk.status().buttons) == UNSAID
    talk.log()


@pytest.mark.parametrize(
    ("link", "hosts"), [("https://git.example/acme/docs/pull/7", ""), (LINK, "git.example")]
)
async def test_other_hosts_are_not_polled(talk: Talk, link: str, hosts: str) -> None:
    await talk.process.stops()
    await talk.process.starts(allowed_link_hosts=hosts)
    await talk.started()
    await talk.ends(pr_link=link)
    assert talk.github.calls == []
    talk.everything()


async def test_result_does_not_wait_for_a_silent_host(talk: Talk) -> None:
    async def hangs() -> httpx.Response:
        talk.faults.hung.set()
        await asyncio.Event().wait()
        raise AssertionError

    talk.github.instead.append(hangs())
    await ended(talk)
    assert "is done" in end(talk)
    talk.status()


@pytest.mark.parametrize(
    ("by", "headline", "text"),
    [
        ("ana-b", "*Merged*", "was merged after 2 days by ana-b."),
        (None, "*Closed*", "was closed after 2 days without being merged."),
    ],
)
async def test_end_of_a_pull_request_is_one_reply_without_reminders(
    talk: Talk, by: str | None, headline: str, text: str
) -> None:
    await ended(talk)
    talk.github.merge(talk.time.at + timedelta(days=2), by)
    await polled(talk, 49)
    assert len(talk.replies()) == 2
    assert end(talk, 1).endswith(text)
    assert f"<@{talk.ana.id}>" not in end(talk, 1)
    assert headline in talk.status()
    assert not set(talk.status().buttons) & UNSAID
    calls = len(talk.github.calls)
    await talk.time.passes(days=5)
    assert len(talk.replies()) == 2
    # One that was closed may be opened again.
    is_asked_on = len(talk.github.calls) > calls
    assert is_asked_on is (by is None)


async def test_reminder_has_the_time_since_the_first_result(talk: Talk) -> None:
    await ended(talk)
    await talk.time.passes(days=1)
    await follow_up(talk, "Add Node")
    await talk.time.passes(days=4)
    reminder = end(talk, 2)
    assert reminder.startswith(
        f"<@{talk.ana.id}> :memo: The pull request of Job 1 has been open for 4 days: "
    )
    assert "“Add a quickstart” · +46 −1 in 2 files. " in reminder
    assert "Reviewed" not in reminder
    talk.everything()


async def test_new_commit_of_the_same_size_edits_nothing(talk: Talk) -> None:
    talk.github.pushes("a")
    await ended(talk)
    await polled(talk)
    edits = talk.slack.calls.count("chat.update")
    talk.github.pushes("b")
    await polled(talk)
    assert talk.slack.calls.count("chat.update") == edits
    talk.github.pushes("c", additions=47)
    await polled(talk)
    assert talk.slack.calls.count("chat.update") > edits
    assert "+47 −1" in talk.status()
    talk.everything()


async def test_pull_request_is_polled_less_and_less_for_a_month(talk: Talk) -> None:
    await ended(talk)
    assert len(talk.github.calls) == 1
    for _ in range(4):
        await talk.time.passes(hours=6)
    assert len(talk.github.calls) == pytest.approx(1 + 6 * 24, abs=30)
    first_day = len(talk.github.calls)
    await talk.time.passes(days=1)
    assert len(talk.github.calls) == pytest.approx(first_day + 24, abs=4)
    assert set(talk.github.calls[1:]) != {""}
    await talk.time.passes(days=29)
    calls = len(talk.github.calls)
    await talk.time.passes(days=1)
    assert len(talk.github.calls) == calls
    assert "as of <!date^" in talk.status()
    assert set(talk.status().buttons) & UNSAID, "the bot polls no more"
    talk.everything()


async def test_buttons_return_for_a_hidden_pull_request(talk: Talk) -> None:
    await ended(talk)
    talk.github.instead.extend([NOT_FOUND] * 3)
    for _ in range(3):
        assert not set(talk.status().buttons) & UNSAID
        await polled(talk)
    assert "as of <!date^" in talk.status()
    await talk.ana.presses("Reviewed")
    await polled(talk, 25)
    assert "as of" not in talk.status()
    assert "*Reviewed*" in talk.status()
    talk.everything()


async def test_limit_holds_all_polls_and_status_has_its_age(talk: Talk) -> None:
    await ended(talk)
    await ended(talk, "Add another page")
    talk.github.instead.extend([httpx.Response(403, headers={"retry-after": "10800"})] * 2)
    calls = len(talk.github.calls)
    await polled(talk, 2.1)
    assert len(talk.github.calls) - calls <= 2
    assert "as of <!date^" in talk.status()
    talk.github.pull |= {"additions": 47}
    await polled(talk, 7)
    assert "as of" not in talk.status()
    assert "+47 −1" in talk.status()
    talk.everything()


async def test_status_has_its_age_as_soon_as_a_limit_begins(talk: Talk) -> None:
    await ended(talk)
    talk.github.instead.append(httpx.Response(403, headers={"retry-after": "7200"}))
    await polled(talk)
    assert "as of <!date^" in talk.status()
    await polled(talk, 2.2)
    assert "as of" not in talk.status()
    talk.everything()


async def test_merged_pull_request_is_not_announced_as_new(talk: Talk) -> None:
    await ended(talk)
    talk.github.merge(talk.time.at)
    await polled(talk)
    await talk.ana.answer_to("/docs-followup 1 Add Node")
    await talk.time.passes(20)
    await talk.ends(pr_link=LINK)
    await talk.time.passes(90)
    assert len(talk.replies()) == 4
    assert "*Merged*" in talk.status()
    talk.everything()


async def test_reopened_pull_request_is_followed(talk: Talk) -> None:
    await ended(talk)
    talk.github.merge(talk.time.at, by=None)
    await polled(talk)
    talk.github.pull |= {"state": "open", "closed_at": None}
    await talk.time.passes(hours=2)
    talk.github.merge(talk.time.at)
    await talk.time.passes(days=2)
    talk.everything()
    assert "*Merged*" in talk.status()
    assert "was merged after" in talk.replies()[-1]


@pytest.mark.parametrize("headers", [{"retry-after": "0"}, {"x-ratelimit-remaining": "0"}])
async def test_limit_that_ended_in_the_past_is_not_tried_at_once(
    talk: Talk, headers: dict[str, str]
) -> None:
    passed = str(int(talk.time.at.timestamp()) - 3_600)
    limited = [
        httpx.Response(403, headers=headers | {"x-ratelimit-reset": passed}) for _ in range(2)
    ]
    talk.github.instead.extend(limited)
    await ended(talk)
    assert len(talk.github.calls) == 1
    talk.everything()


async def test_limits_do_not_count_as_not_found(talk: Talk) -> None:
    limited = httpx.Response(429, headers={"retry-after": "60"})
    talk.github.instead.extend([limited, limited, NOT_FOUND])
    await ended(talk)
    for _ in range(3):
        await polled(talk)
    assert "+46 −1 in 2 files" in talk.status()
    talk.everything()


async def test_merge_of_a_quiet_job_is_not_announced(talk: Talk) -> None:
    await ended(talk)
    await talk.ana.replies("Mention Node, too")
    await talk.time.passes(20)
    await talk.ana.replies("stop")
    await talk.time.passes(20)
    await talk.ana.presses("Keep quiet about it")
    await talk.time.passes(5)
    count = len(talk.replies())
    assert "stay quiet about Job 1" in talk.replies()[-1]
    talk.github.merge(talk.time.at)
    await polled(talk)
    assert len(talk.replies()) == count
    talk.everything()


async def test_job_forgotten_during_a_poll_stays_forgotten(talk: Talk) -> None:
    await ended(talk)
    late = Hanging(talk.faults.hung, asyncio.get_running_loop().create_future())
    talk.github.instead.append(late)
    await polled(talk)
    talk.everything()
    assert "Forgotten of U01ANA" in await talk.operator("forget", talk.ana.id)
    late.comes(**talk.github.pull | {"title": "Another secret", "head": {"ref": "agent/one"}})
    await talk.time.passes(5)
    assert talk.kept("Another secret") == []
    calls = len(talk.github.calls)
    talk.time.is_set(hours=25)
    await polled(talk)
    assert len(talk.github.calls) == calls
    talk.everything()


OTHER = "https://github.com/acme/secrets/pull/7"


async def _ends_elsewhere(talk: Talk, prompt: str) -> None:
    """Let a job end with a pull request in another repository, which the service names."""
    await talk.started(prompt)
    job = list(talk.service.jobs)[-1]
    talk.service.jobs[job]["source"] = {"repository": "acme/secrets", "ref": "main"}
    await talk.ends(pr_link=OTHER, job=job)
    await talk.time.passes(minutes=2)


async def test_another_repository_is_read_only_after_an_admin_chose_it(talk: Talk) -> None:
    await talk.process.stops()
    await talk.process.starts(admins=talk.chika.id)
    await ended(talk)
    talk.everything()
    before = list(talk.github.calls)
    await _ends_elsewhere(talk, "Add another page")
    [notice] = talk.chika.reads()
    assert "is in `acme/secrets`, but the docs of `acme-docs` were in `acme/docs` so far" in notice
    assert OTHER in talk.replies(2)[-1], "it is linked"
    assert talk.replies(2)[-1].buttons == ["Review #7"]
    assert talk.github.calls == before
    assert talk.errors() == {"repository_changed"}
    await _ends_elsewhere(talk, "Add a third page")
    assert talk.chika.reads() == [], "admins are told once"
    assert talk.errors() == {"repository_changed"}
    await talk.chika.presses("Read it from now on", on=notice)
    [answer] = talk.chika.reads()
    assert "From now on I read pull requests in `acme/secrets`" in answer
    assert "chose_repository" in await talk.operator("audit")
    talk.github.moves("acme/secrets")
    await _ends_elsewhere(talk, "Add a fourth page")
    assert talk.github.calls != before
    talk.everything()


async def test_changes_in_a_repository_that_an_admin_has_replaced_are_not_read(talk: Talk) -> None:
    await talk.process.stops()
    await talk.process.starts(admins=talk.chika.id)
    await ended(talk)
    await _ends_elsewhere(talk, "Add another page")
    await talk.chika.presses("Read it from now on", on=talk.chika.reads()[0])
    assert talk.errors() == {"repository_changed"}
    talk.github.reads.clear()
    await talk.ana.presses("Changes", on=talk.replies(1)[-1])
    assert "I can't read" in talk.ana.reads()[-1]
    assert talk.github.reads == []
    talk.everything()


async def test_only_admins_choose_a_repository(talk: Talk) -> None:
    await talk.process.stops()
    await talk.process.starts(admins=talk.chika.id)
    await ended(talk)
    await _ends_elsewhere(talk, "Add another page")
    [notice] = talk.chika.reads()
    assert talk.errors() == {"repository_changed"}
    await talk.process.stops()
    await talk.process.starts(admins=talk.gus.id)
    await talk.chika.presses("Read it from now on", on=notice)
    assert "Only an admin" in talk.chika.reads()[-1]
    await _ends_elsewhere(talk, "Add a third page")
    assert "acme/secrets" in talk.gus.reads()[-1]
    assert talk.errors() == {"repository_changed"}
    talk.everything()
