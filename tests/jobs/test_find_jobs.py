"""Jobs are found by words of their title and prompt, in the channels that somebody reads."""

from __future__ import annotations

import re

import pytest

from bot.ids import ChannelId, JobNumber
from bot.jobs.model.job_search import SearchedJob, find_jobs
from bot.jobs.store.job_search import JobSearch
from bot.store import Transaction
from tests.builders import ANA, BEN, add_job, new_store
from tests.services import LINK
from tests.store.test_planner import read_by_sqlite, recorded_statements
from tests.talk import Talk
from tests.talk_people import Person

FIND = "/docs-agent jobs find"


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    """Return a conversation with jobs in a public and in a private channel, and an admin."""
    await talk.process.starts(admins=talk.chika.id, github_token="token")
    talk.opens_channel("team", talk.ana, is_private=True)
    await talk.ana.asks("Add a page about Parcels & labels")
    await talk.ben.asks("Write a guide to parcels of the API", "partners")
    await talk.ana.asks("Add a secret page on parcels", "team")
    await talk.time.passes(30)
    talk.everything()
    return talk


async def found(person: Person, text: str, channel: str = "docs") -> list[int]:
    """Return the numbers of the jobs that somebody finds."""
    answer = await person.answer_to(f"{FIND} {text}", channel)
    return [int(number) for number in re.findall(r"Job (\d+)>?$", answer, re.MULTILINE)]


async def test_jobs_are_found_by_all_words_in_any_case_and_order(talk: Talk) -> None:
    assert await found(talk.ana, "PARCELS page") == [3, 1]
    assert await found(talk.ana, "api parcel") == [2]
    assert await found(talk.ana, "Parcels & labels") == [1]
    assert await found(talk.ana, "frogs") == []
    answer = await talk.ana.answer_to(f"{FIND} parcels labels")
    assert answer.startswith("*1 job with “parcels labels”*, among the 3 jobs that you can read\n")
    assert len(talk.agent_got()) == 3


async def test_job_of_a_private_channel_is_found_by_its_members_alone(talk: Talk) -> None:
    for outsider in (talk.ben, talk.chika):
        assert await found(outsider, "secret") == []
        answer = await outsider.answer_to(f"{FIND} parcels")
        assert "among the 2 jobs that you can read" in answer
        assert "secret" not in answer
    assert await found(talk.ana, "secret", "dm") == [3]


async def test_jobs_are_found_by_the_title_of_their_pull_request(talk: Talk) -> None:
    talk.github.pull["title"] = "Describe the weight of a shipment"
    await talk.ends(pr_link=LINK)
    await talk.time.passes(minutes=2)
    talk.everything()
    assert 1 in await found(talk.ana, "shipment weight")


async def test_search_works_after_a_mention_and_other_words_are_a_prompt(talk: Talk) -> None:
    await talk.ben.says("@docs-agent jobs find parcels")
    await talk.time.passes()
    [answer] = talk.ben.reads()
    assert answer.startswith("*2 jobs with “parcels”*")
    await talk.ben.types("/docs-agent jobs in the navigation are out of date, fix them")
    await talk.time.passes(30)
    assert talk.agent_got()[-1] == "jobs in the navigation are out of date, fix them"
    talk.everything()


async def test_results_come_page_by_page(talk: Talk) -> None:
    for number in range(11):
        await talk.ben.asks(f"Add a page about frogs number {number}", "partners")
        await talk.time.passes(1)
    await talk.time.passes(30)
    talk.everything()
    first = await talk.ben.answer_to(f"{FIND} frogs")
    assert first.startswith("*11 jobs with “frogs”*")
    assert (first.count("\n"), first.buttons) == (10, ["Next"])
    await talk.ben.presses("Next", on=first)
    [second] = talk.ben.reads()
    assert (second.count("\n"), second.buttons) == (1, ["Previous"])
    assert "number 0" in second


async def test_text_that_is_too_long_is_refused(talk: Talk) -> None:
    assert "few words" in await talk.ana.answer_to(f"{FIND} {'parcels ' * 30}")


async def test_silence_of_slack_is_told(talk: Talk) -> None:
    await talk.process.stops()
    await talk.process.starts()
    talk.faults.goes_down("conversations.info", "conversations.members")
    answer = await talk.ben.answer_to(f"{FIND} parcels")
    talk.faults.comes_back()
    assert "I couldn't ask Slack about all channels." in answer
    assert "Write a guide to parcels" in answer, "he asked for it"
    talk.log()


def test_words_are_compared_without_case_and_width() -> None:
    jobs = [
        SearchedJob(JobNumber(3), "Add a page", "Straße"),
        SearchedJob(JobNumber(2), "認証のページを追加"),
        SearchedJob(JobNumber(1), "ＡＰＩ keys"),
    ]
    assert find_jobs("STRASSE", jobs) == [3]
    assert find_jobs("認証", jobs) == [2]
    assert find_jobs("api KEYS", jobs) == [1]


async def test_newest_jobs_of_channels_are_read_by_indexes() -> None:
    store = await new_store()
    for number in range(60):
        channel = ChannelId(f"C{number % 4}")
        requester = BEN if number == 3 else ANA
        await add_job(store, channel=channel, requester=requester, text=f"Add page {number}")

    def search(tx: Transaction) -> tuple[object, ...]:
        jobs = JobSearch(tx)
        newest = jobs.newest([ChannelId("C0"), ChannelId("C2")], BEN, 5)
        return jobs.channels_with_jobs(3), newest, [job.number for job in jobs.texts(newest)]

    with recorded_statements() as statements:
        channels, newest, texts = await store.read(search)
    assert channels == ["C3", "C2", "C1"]
    assert newest == texts == [59, 57, 55, 53, 51]

    def scanned(tx: Transaction) -> list[str]:
        return [
            statement
            for statement, values in statements.items()
            if read_by_sqlite(tx.connection, statement, values)
        ]

    assert await store.read(scanned) == []
    await store.close()
