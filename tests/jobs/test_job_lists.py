"""Lists of jobs: a channel's, one's own, the open ones; a job is as private as its channel."""

from __future__ import annotations

import re
from collections.abc import Awaitable
from typing import Any

import pytest

from bot.ids import ChannelId, JobNumber, Message, UserId
from bot.jobs.model.jobs import JobState, Review
from bot.jobs.model.prompts import PromptKind
from bot.ports import SlackUnreachable
from tests.builders import ANA, BEN, CHANNEL, NOW, add_job, add_prompt
from tests.work.office import Office

PRIVATE = ChannelId("G0TEAM")
OTHER = ChannelId("C0OTHER")
PAT = UserId("U0PAT")


@pytest.fixture(autouse=True)
async def some_jobs(office: Office) -> None:
    """Twelve of Ana's here, an open one of Ben's, and one of Ana's in each of two other channels."""
    office.slack.private_rooms = {PRIVATE: frozenset({ANA})}
    for number in range(12):
        await add_job(office.store, text=f"Page {number}", root_ts=f"1.{number}", state=JobState.FAILED)
    await add_job(office.store, requester=BEN, text="Open", root_ts="1.20", state=JobState.WORKING)
    await add_job(office.store, channel=PRIVATE, text="Secret", root_ts="1.21", state=JobState.WORKING)
    await add_job(office.store, channel=OTHER, text="Elsewhere", root_ts="1.22", state=JobState.FAILED)


def numbers(message: Message | None) -> list[int]:
    assert message is not None
    found = re.findall(r"Job (\d+)>?$", message.text, re.MULTILINE)
    return sorted(map(int, found), reverse=True)


def turns(message: Message | None) -> dict[str, tuple[str, str]]:
    """The action and the value of each button, by its words."""
    assert message is not None
    rows = [block["elements"] for block in message.blocks if block["type"] == "actions"]
    return {each["text"]["text"]: (each["action_id"], each["value"]) for row in rows for each in row}


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("jobs", list(range(13, 3, -1))),
        ("jobs open", [13]),
        ("jobs mine open", [14]),
        ("jobs OPEN <#C0DOCS|docs>", [13]),
        ("jobs <#C0OTHER|other>", [15]),
        ("jobs <#G0TEAM>", [14]),
    ],
)
async def test_a_list_shows_what_its_words_say(office: Office, words: str, shown: list[int]) -> None:
    assert numbers((await office.types("/docs-agent", words)).message) == shown
    assert office.docs.prompts == []


async def test_ones_own_jobs_of_all_channels_come_page_by_page_and_back(office: Office) -> None:
    first = (await office.types("/docs-agent", "jobs mine")).message
    assert numbers(first) == [15, 14, *range(12, 4, -1)]
    second = await office.press(*turns(first)["Next"])
    assert second.replaces
    assert numbers(second.message) == [4, 3, 2, 1]
    assert list(turns(second.message)) == ["Previous"]
    assert numbers((await office.press(*turns(second.message)["Previous"])).message) == numbers(first)


@pytest.mark.parametrize("words", ["jobs <#G0TEAM|team>", "jobs mine open"])
async def test_nobody_sees_the_jobs_of_a_channel_that_they_cannot_read(office: Office, words: str) -> None:
    answer = await office.told("/docs-agent", words, user=BEN)
    assert "Secret" not in answer
    pressed = await office.press("jobs_older", f"0 {PRIVATE}", user=BEN)
    assert pressed.message is not None
    assert "don't know that channel" in pressed.message.text


async def test_a_channel_is_not_shown_while_slack_cannot_tell_who_reads_it(office: Office) -> None:
    office.slack.trouble("is_public", SlackUnreachable("down"))
    answer = await office.told("/docs-agent", "jobs <#C0OTHER>")
    assert "don't know that channel" in answer


def to_review(office: Office, text: str, **where: Any) -> Awaitable[JobNumber]:
    ready: dict[str, Any] = {
        "state": JobState.PULL_REQUEST,
        "pr_link": "https://code.example/pull/1",
        "ended_at": NOW,
    }
    return add_job(office.store, text=text, **ready, **where)


async def test_what_is_to_review_is_listed_over_all_channels_that_one_can_read(office: Office) -> None:
    direct = ChannelId("D0ANA")
    for number, channel in enumerate((OTHER, CHANNEL, PRIVATE, direct), 1):
        await to_review(office, f"Review {number}", channel=channel)
    await to_review(office, "Merged", review=Review.MERGED)
    followed = await to_review(office, "Followed", channel=ChannelId("G0GROUP"))
    office.slack.private_rooms[ChannelId("G0GROUP")] = frozenset()
    await add_prompt(office.store, followed, kind=PromptKind.FOLLOW_UP, asked_by=BEN)
    for channel in (CHANNEL, ChannelId("D0BEN")):
        told = await office.told("/docs-agent", "jobs review", user=BEN, channel=channel)
        assert re.findall(r"\|(Review .|Followed)>", told) == ["Review 1", "Review 2", "Followed"]
    assert f":memo: <https://code.example/pull/1|Review 2> · <@{ANA}> · " in told
    assert f" · <#{CHANNEL}> · " in told
    office.slack.private_rooms[direct] = frozenset({ANA})
    told = await office.told("/docs-agent", "jobs review", channel=PRIVATE)
    assert re.findall(r"\|(Review .|Followed)>", told) == [
        *(f"Review {each}" for each in (1, 2, 3, 4)),
        "Followed",
    ]
    office.access_policy(admins=frozenset({PAT}))
    told = await office.told("/docs-agent", "jobs review", user=PAT, channel=ChannelId("D0PAT"))
    assert len(re.findall(r"\|(Review .|Followed)>", told)) == 5


async def test_a_list_of_what_is_to_review_asks_slack_about_few_channels_and_says_so(office: Office) -> None:
    for number in range(25):
        await to_review(office, f"Review {number}", channel=ChannelId(f"C0{number}"), requester=BEN)
    first = (await office.types("/docs-agent", "jobs review", user=PAT, channel=ChannelId("C020"))).message
    assert first is not None
    assert re.findall(r"\|Review (\d+)>", first.text) == [str(each) for each in range(10)]
    assert "There are more channels" in first.text
    second = await office.press(*turns(first)["Next"], user=PAT, channel=ChannelId("C020"))
    assert second.message is not None
    assert re.findall(r"\|Review (\d+)>", second.message.text) == ["20"]
