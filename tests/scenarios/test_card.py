"""What the project was ordered to be, as conversations.

Later changes may not edit this file, except that an expected failure goes when it comes true. They may add
conversations elsewhere. So it says what is done and which facts are read, and hardly a sentence of the bot's.
"""

from __future__ import annotations

import asyncio
import gc
import re
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest
from apscheduler.events import EVENT_JOB_EXECUTED, JobExecutionEvent
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from tests.scenarios.story import Story
from tests.services import PULL_REQUEST
from tests.site import Visit
from tests.talk import Talk
from tests.talk_people import Shown

WEEK = date(2026, 10, 26)
"""The last whole week, a Monday, before the Monday on which conversations begin."""
LONG = 3_600.0


@pytest.fixture(params=["in memory", "in a file"])
async def talk(talk: Talk, request: pytest.FixtureRequest, tmp_path: Path) -> Talk:
    """A conversation whose registry is in memory or in a file."""
    in_memory = request.param == "in memory"
    await talk.process.starts(
        database_url="sqlite://" if in_memory else f"sqlite:///{tmp_path / 'bot.db'}"
    )
    return talk


async def test_a_job_is_asked_for_and_its_pull_request_comes_as_a_reply_in_its_thread(
    talk: Talk,
) -> None:
    await talk.ana.types("/docs-agent Add a quickstart for the Python SDK")
    await talk.time.passes()
    assert talk.agent_got() == ["Add a quickstart for the Python SDK"]
    assert "Add a quickstart for the Python SDK" in talk.status()
    assert talk.replies() == []
    await talk.time.passes(minutes=5)
    assert talk.replies() == []
    await talk.ends("completed", pr_link=PULL_REQUEST)
    await talk.time.passes(minutes=2)
    [end] = talk.replies()
    assert PULL_REQUEST in end
    assert f"<@{talk.ana.id}>" in end
    assert len(talk.channel()) == 1


async def test_no_pull_request_failed_and_archived_are_told_apart(talk: Talk) -> None:
    ends: list[Shown] = []
    for number, status in enumerate(("completed", "failed", "archived"), 1):
        await talk.ana.types(f"/docs-agent Fix the page about {status}")
        await talk.time.passes()
        await talk.ends(status, pr_link=None, job=f"job-{number}")
        await talk.time.passes(minutes=2)
        [end] = talk.replies(number)
        ends.append(end)
    assert len({re.sub(r"\d+", "", end) for end in ends}) == 3
    assert all(f"<@{talk.ana.id}>" in end and "://" not in end for end in ends)
    talk.channel()


async def test_a_job_is_polled_until_its_end_and_not_after(talk: Talk) -> None:
    await talk.started()
    await talk.time.passes(minutes=5)
    assert talk.service.polls > 3
    await talk.ends("completed", pr_link=PULL_REQUEST)
    await talk.time.passes(minutes=2)
    polls = talk.service.polls
    await talk.time.passes(LONG)
    assert talk.service.polls == polls
    talk.everything()


async def test_a_follow_up_goes_to_the_same_job_and_its_end_is_told_too(talk: Talk) -> None:
    await talk.started()
    await talk.ends("completed", pr_link=PULL_REQUEST)
    await talk.time.passes(minutes=2)
    await talk.ben.types("/docs-followup 1 Mention Python 3.11")
    await talk.time.passes(minutes=2)
    await talk.ana.replies("make the introduction shorter")
    await talk.time.passes(minutes=2)
    assert [job for job, _ in talk.service.prompts] == ["job-1"] * 3
    assert talk.agent_got()[1:] == ["Mention Python 3.11", "make the introduction shorter"]
    before = len(talk.replies())
    await talk.ends("completed", pr_link=PULL_REQUEST)
    await talk.time.passes(minutes=5)
    assert len(talk.replies()) == before + 1
    assert PULL_REQUEST in talk.replies()[-1]
    talk.everything()


def read_the_docs(talk: Talk) -> None:
    """Let 300 pages be read in the week and on days around it, by visitors who read many pages on many days.

    Some of them come as people and as agents. Two come only on the days beside the week.
    """
    visits = talk.service.site.visits
    for page in range(300):
        for visitor in range(page % 3, 70, 7 + page % 5):
            for days in (-8, -1, page % 7, 7):
                kind = "human" if (visitor < 40 and page % 2) or visitor < 20 else "ai"
                visits.append(Visit(WEEK + timedelta(days=days), visitor, kind, f"/page-{page}"))
    visits.append(Visit(WEEK - timedelta(days=1), 1_000, "human", "/page-1"))
    visits.append(Visit(WEEK + timedelta(days=7), 1_001, "human", "/page-1"))


def count(talk: Talk, *kinds: str) -> int:
    """Return how many different visitors of these kinds read in the week."""
    within = [visit for visit in talk.service.site.visits if 0 <= (visit.day - WEEK).days < 7]
    return len({visit.visitor for visit in within if visit.kind in kinds})


async def test_visitors_are_read_from_all_pages_up_to_the_exclusive_end_and_never_added(
    talk: Talk,
) -> None:
    read_the_docs(talk)
    assert count(talk, "human", "ai") < count(talk, "human") + count(talk, "ai")
    await talk.ana.types(f"/docs-visitors {WEEK}..{WEEK + timedelta(days=6)}")
    await talk.time.passes(minutes=2)
    calls = [
        call for call in talk.service.site.calls if call[:2] == (WEEK, WEEK + timedelta(days=7))
    ]
    assert [(limit, offset) for _, _, limit, offset in calls] == [(250, 0), (250, 250)]
    answer = talk.ana.reads()[-1]
    assert f"{count(talk, 'human', 'ai')} visitors" in answer
    assert f"{count(talk, 'human')} people" in answer
    assert f"{count(talk, 'ai')} AI agents" in answer
    assert "300 pages" in answer


async def test_a_weekly_digest_comes_at_its_time_and_counts_each_visitor_once(talk: Talk) -> None:
    read_the_docs(talk)
    await talk.ana.types("/docs-visitors subscribe monday 10:00 UTC")
    await talk.time.passes(minutes=55)
    before = len(talk.channel())
    assert not any("readers" in post for post in talk.channel())
    await talk.time.passes(minutes=15)
    [digest] = talk.channel()[before:]
    assert f"{count(talk, 'human', 'ai')} readers" in digest
    await talk.time.passes(days=7)
    await talk.time.passes(minutes=15)
    assert len(talk.channel()) == before + 2
    talk.ana.reads()


async def test_jobs_are_polled_by_a_job_of_apscheduler(story: Story) -> None:
    executed: set[str] = set()
    note: Callable[[JobExecutionEvent], None] = lambda event: executed.add(event.job_id)  # noqa: E731
    [scheduler] = [
        each for each in gc.get_objects() if isinstance(each, AsyncIOScheduler) and each.running
    ]
    scheduler.add_listener(note, EVENT_JOB_EXECUTED)
    root = await story.asked("Add a quickstart")
    await story.replies(root, 1)
    await asyncio.sleep(0)
    assert "poll" in executed
