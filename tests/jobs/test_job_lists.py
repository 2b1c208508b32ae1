"""Lists of jobs: a channel's, one's own, the open ones; a job is as private as its channel."""

from __future__ import annotations

import re

import pytest

from tests.services import PULL_REQUEST
from tests.talk import Talk
from tests.talk_people import Person, Shown


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    """Return a conversation with 12 ended jobs of Ana's, an open one of Ben's, and two of hers elsewhere."""
    await talk.process.starts(admins=talk.chika.id)
    talk.opens_channel("team", talk.ana, is_private=True)
    for number in range(12):
        await talk.ana.asks(f"Add page {number}")
        if number == 8:
            await talk.time.passes(5)
    await talk.ana.asks("Add a page on keys elsewhere", "partners")
    await talk.time.passes(30)
    await talk.ends("failed", pr_link=None)
    await talk.ben.asks("Add an open page")
    await talk.ana.asks("Add a secret page", "team")
    await talk.time.passes()
    talk.everything()
    return talk


def numbers(listing: Shown) -> list[int]:
    """Return the numbers of the jobs in a list."""
    return sorted(map(int, re.findall(r"Job (\d+)>?$", listing, re.MULTILINE)), reverse=True)


async def test_list_has_the_requested_jobs(talk: Talk) -> None:
    listed = {
        "jobs": [*range(12, 2, -1)],
        "jobs open": [14],
        "jobs mine open": [15],
        "jobs OPEN #docs": [14],
        "jobs #partners": [13],
        "jobs #team": [15],
    }
    for text, jobs in listed.items():
        assert numbers(await talk.ana.answer_to(f"/docs-agent {text}")) == jobs, text
    assert len(talk.agent_got()) == 15


async def test_own_jobs_of_all_channels_come_page_by_page(talk: Talk) -> None:
    first = await talk.ana.answer_to("/docs-agent jobs mine")
    assert numbers(first) == [*range(13, 3, -1)]
    await talk.ana.presses("Next", on=first)
    [second] = talk.ana.reads()
    assert (numbers(second), second.buttons) == ([15, 3, 2, 1], ["Previous"])
    await talk.ana.presses("Previous", on=second)
    assert talk.ana.reads() == [first]


async def test_jobs_of_unreadable_channels_are_not_listed(talk: Talk) -> None:
    for text in ("jobs #team", "jobs mine open"):
        assert "secret" not in await talk.ben.answer_to(f"/docs-agent {text}")
    talk.faults.fails("conversations.info")
    assert "don't know that channel" in await talk.ana.answer_to("/docs-agent jobs #partners")


async def test_jobs_to_review_are_listed_over_all_readable_channels(talk: Talk) -> None:
    for channel in ("partners", "docs", "team", "dm"):
        await talk.ana.asks(f"Improve part {channel}", channel)
    await talk.time.passes()
    await talk.ends()
    talk.everything()

    async def reviewable(by: Person, channel: str) -> set[str]:
        answer = await by.answer_to("/docs-agent jobs review", channel)
        return set(re.findall(r"\|Improve part (\w+)>", answer))

    assert await reviewable(talk.ben, "dm") == {"partners", "docs"}
    assert await reviewable(talk.ana, "team") == {"partners", "docs", "team", "dm"}
    assert await reviewable(talk.chika, "dm") == {"partners", "docs"}, "an admin reads no more"
    listed = await talk.ben.answer_to("/docs-agent jobs review")
    assert listed == await talk.ben.answer_to("/docs-agent review")
    assert f":memo: <{PULL_REQUEST}|Improve part docs> · <@{talk.ana.id}> · " in listed
    assert f" · <#{talk.room('docs').id}> · " in listed


async def test_list_to_review_asks_slack_about_few_channels(talk: Talk) -> None:
    for number in range(22):
        talk.opens_channel(f"page{number}")
        await talk.ben.asks(f"Improve part {number}", f"page{number}")
        await talk.time.passes(2)
    await talk.time.passes()
    await talk.ends()
    talk.everything()
    first = await talk.ana.answer_to("/docs-agent jobs review")
    assert numbers(first) == list(range(23, 13, -1))
    assert first.startswith("*At least 11 to review*")
    assert "I couldn't ask Slack about all channels" in first
    await talk.ana.presses("Next", on=first)
    [second] = talk.ana.reads()
    assert numbers(second) == [24]


def headings(listing: Shown) -> list[str]:
    """Return the groups of a list."""
    return re.findall(r"^\*(.+)\*$", listing, re.MULTILINE)


async def test_list_counts_all_jobs_and_those_that_need_the_reader_come_first(talk: Talk) -> None:
    await talk.ends()
    talk.everything()
    first = await talk.ana.answer_to("/docs-agent jobs")
    assert headings(first) == ["12 need you"]
    await talk.ana.presses("Next", on=first)
    [second] = talk.ana.reads()
    assert headings(second) == ["12 need you", "1 to review"]
    assert numbers(second) == [14, 2, 1]
    assert headings(await talk.ben.answer_to("/docs-agent jobs")) == ["12 need their requesters"]


async def test_job_that_was_run_again_no_longer_needs_its_requester(talk: Talk) -> None:
    await talk.ana.presses("Run again")
    assert await talk.ana.fills_in() == {}
    talk.everything()
    assert headings(await talk.ana.answer_to("/docs-agent jobs")) == ["11 need you"]
    await talk.time.passes()
    talk.everything()
    second = await shown_after(talk.ana, "Next", "/docs-agent jobs")
    assert headings(second) == ["11 need you", "2 working", "Done"]


async def test_withdrawn_repetition_leaves_the_job_to_its_requester(talk: Talk) -> None:
    await talk.ana.presses("Run again")
    talk.service.says("create", 429, seconds=3_600)
    assert await talk.ana.fills_in() == {}
    await talk.time.passes(2)
    await talk.ana.presses("Withdraw")
    await talk.time.passes(2)
    talk.everything()
    assert headings(await talk.ana.answer_to("/docs-agent jobs")) == ["12 need you"]


async def test_open_jobs_include_open_pull_requests(talk: Talk) -> None:
    await talk.ends()
    talk.everything()
    assert headings(await talk.ana.answer_to("/docs-agent jobs mine open")) == ["1 to review"]
    assert headings(await talk.ana.answer_to("/docs-agent jobs open")) == ["1 to review"]


async def test_silence_of_slack_makes_the_count_a_minimum(talk: Talk) -> None:
    for channel in ("partners", "docs"):
        await talk.ana.asks(f"Improve part {channel}", channel)
    await talk.time.passes()
    await talk.ends()
    talk.everything()
    assert headings(await talk.ben.answer_to("/docs-agent review")) == ["3 to review"]
    await talk.process.stops()
    await talk.process.starts()
    talk.faults.goes_down("conversations.info", "conversations.members")
    assert headings(await talk.ben.answer_to("/docs-agent review")) == ["At least 2 to review"]
    talk.faults.comes_back()
    talk.log()


async def shown_after(reader: Person, button: str, typed: str) -> Shown:
    """Return the list after a button under the answer to a command."""
    await reader.presses(button, on=await reader.answer_to(typed))
    [shown] = reader.reads()
    return shown
