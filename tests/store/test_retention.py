"""Retention: finished rows lose texts and people but no keys or states; open rows are kept."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from bot.access.model import members
from bot.answers.publication_store import publications
from bot.answers.store import inquiries
from bot.ids import ChannelId, JobNumber, Message
from bot.inbox.store import inbox
from bot.jobs.model.jobs import JobState
from bot.jobs.model.prompts import PromptKind, PromptState
from bot.jobs.model.pull_request import PullRequestSnapshot, Size
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.tables import audit, jobs, prompts, sending_stops
from bot.outbox.model import DeliveryKind, DeliveryState, NewDelivery
from bot.outbox.store import Outbox, deliveries
from bot.pulls.model.previews import PreviewState
from bot.pulls.store.pull_requests import PullRequests
from bot.pulls.store.tables import previews, pull_requests
from bot.store import Store
from bot.store.retention import RULES, Retention, RowCounts, forget_person
from bot.store.schema import AnyTable
from bot.store.trials import trials
from bot.store.upgrade import upgrade_tables
from bot.visitors.store import questions, subscriptions
from tests.builders import ANA, BEN, CHANNEL, NOW, PROJECT, add_job, add_prompt, execute, rows_of

LONG_AGO = NOW - timedelta(days=200)
BEFORE = NOW - timedelta(days=180)
SECRET = "the secret plan"
BY_AGE = [rule.name for rule in RULES]
TABLES: tuple[AnyTable, ...] = (
    *(jobs, prompts, pull_requests, previews, deliveries, questions),
    *(inquiries, publications, subscriptions, members, audit, inbox),
)


async def old_job(store: Store, *, key: str = "start", **values: Any) -> JobNumber:
    """Add a job of Ana's that ended long ago, with its prompt and the delivery of its root."""
    fields = dict[str, Any](state=JobState.PULL_REQUEST, ended_at=LONG_AGO, pr_link=SECRET) | values
    number = await add_job(store, text=SECRET, status_ts=f"1.{key}", asked_at=LONG_AGO, **fields)
    await add_prompt(store, number, key=key, raw=SECRET, text=SECRET, state=PromptState.SENT)
    await deliver(store, f"{key}:root", job=number)
    return number


async def deliver(
    store: Store, key: str, *, state: DeliveryState = DeliveryState.SENT, **fields: Any
) -> None:
    """Add a delivery that was settled long ago, with its message."""
    new = NewDelivery(
        key, DeliveryKind.REPLY, ChannelId(CHANNEL), message=Message(SECRET, ()), **fields
    )
    await store.write(lambda tx: Outbox(tx).add(new, LONG_AGO))
    settled = {"state": state, "settled_at": LONG_AGO if state is DeliveryState.SENT else None}
    await execute(store, update(deliveries).where(deliveries.c.key == key).values(settled))


async def everything_else(store: Store) -> None:
    """Add a row of Ana's to every other table, all finished long ago."""
    reading = {
        "project": PROJECT,
        "first_day": NOW.date(),
        "end_day": NOW.date(),
        "began_at": NOW,
        "attempts": 0,
    }
    reading |= {"source": "searches", "is_final": True, "is_complete": False, "next_offset": 0}
    reading |= {
        "read_at": LONG_AGO,
        "gap_rows": {"searches": [{"words": SECRET, "hits": 1, "clicks": 0}]},
    }
    common = {"project": PROJECT, "channel": CHANNEL}
    asked: dict[str, object] = {**common, "query": {"section": SECRET}, "state": "answered"}
    asked |= {"asked_at": LONG_AGO, "due_at": LONG_AGO}
    rows: list[tuple[AnyTable, dict[str, Any]]] = [
        (questions.metadata.tables["readings"], reading),
        (
            subscriptions,
            {
                **common,
                "key": SECRET,
                "section": SECRET,
                "owner": ANA,
                "state": "ended",
                "time_of_day": "09:00",
            }
            | {"weekday": 0, "zone": "UTC", "created_at": LONG_AGO},
        ),
        (questions, asked | {"key": "q", "kind": "visitors", "user": ANA}),
        (questions, asked | {"key": "d", "kind": "digest", "user": None, "subscription": 1}),
        (
            inquiries,
            {**common, "key": "i", "user": ANA, "text": SECRET, "gap_key": SECRET, "state": "gap"}
            | {"audience": "workspace", "asked_at": LONG_AGO, "due_at": LONG_AGO}
            | {"answer": {"text": SECRET, "blocks": []}},
        ),
        (
            publications,
            {"project": PROJECT, "job": 1, "requester": ANA, "state": "live", "address": SECRET}
            | {"merged_at": LONG_AGO, "due_at": LONG_AGO, "title": SECRET},
        ),
        (
            inbox,
            {
                "channel": CHANNEL,
                "conversation_ts": "1.1",
                "ts": "1.1",
                "user": ANA,
                "state": "taken",
            }
            | {"text": SECRET, "said_at": LONG_AGO},
        ),
        (members, {"user": ANA, "access": "member", "fingerprint": "f", "checked_at": LONG_AGO}),
        (
            trials,
            {"token": "t", "user": ANA, "channel": CHANNEL, "expires_at": LONG_AGO, "notes": ()},
        ),
        (
            audit,
            {**common, "user": ANA, "act": "subscribed", "subscription": 1, "acted_at": LONG_AGO},
        ),
        (sending_stops, {"id": 1, "stopped_by": ANA, "stopped_at": LONG_AGO}),
    ]
    for table, row in rows:
        await execute(store, insert(table).values(row))


async def seen_pull_request(store: Store, number: JobNumber) -> None:
    """Add a pull request of the job, with a preview."""
    job = await store.read(lambda tx: Jobs(tx).get_or_raise(number))
    pull_request = PullRequestSnapshot(
        SECRET, Size(1, 0, 1), is_draft=False, iteration=1, reported_at=NOW, merged_by=SECRET
    )
    await store.write(lambda tx: PullRequests(tx).watch(job, SECRET, LONG_AGO))
    await execute(store, update(jobs).values(pull_request=pull_request))
    preview = {
        "job": job.number,
        "project": PROJECT,
        "requester": ANA,
        "iteration": 1,
        "branch": SECRET,
    }
    preview |= {"url": SECRET, "log": SECRET, "state": PreviewState.BROKEN, "asked_at": LONG_AGO}
    await execute(store, insert(previews).values(preview))


async def kept(store: Store) -> str:
    """Return all rows of the tables as text."""
    return str([[dict(row) for row in await rows_of(store, select(table))] for table in TABLES])


async def forget_old(store: Store, limit: int = 10) -> RowCounts:
    return await store.write(lambda tx: Retention(tx).forget_before(BEFORE, limit))


async def test_old_job_keeps_its_keys_and_states_alone(store: Store) -> None:
    number = await old_job(store)
    await everything_else(store)
    await seen_pull_request(store, number)
    assert (await forget_old(store)) == RowCounts([*BY_AGE, "questions"])
    assert not await forget_old(store)
    rows = await kept(store)
    assert SECRET not in rows
    assert ANA not in rows
    job = await store.read(lambda tx: Jobs(tx).get_or_raise(number))
    assert (job.state, job.ended_at, job.is_forgotten) == (JobState.PULL_REQUEST, LONG_AGO, True)
    [prompt] = await rows_of(store, select(prompts))
    assert (prompt["key"], prompt["state"]) == ("start", PromptState.SENT)
    [row] = await rows_of(store, select(subscriptions))
    assert row["key"] == f"forgotten {row['id']}", "the channel may subscribe anew"


async def test_job_that_ended_lately_is_kept(store: Store) -> None:
    await old_job(store, ended_at=NOW - timedelta(days=179))
    before = await kept(store)
    assert (await forget_old(store)) == RowCounts()
    assert await kept(store) == before


UNDER_WAY: dict[str, dict[str, Any]] = {
    "a job that runs": {"state": JobState.WORKING, "poll_at": NOW, "ended_at": None},
    "an unconfirmed job": {"state": JobState.UNCONFIRMED},
    "a job that waits": {"state": JobState.WAITING},
    "a job whose follow-up may have begun": {"unconfirmed_until": NOW},
    **{
        f"a prompt that is {state}": {"prompt": state}
        for state in (
            PromptState.NEW,
            PromptState.WAITING,
            PromptState.SENDING,
            PromptState.UNCONFIRMED,
        )
    },
    **{
        f"a message that is {state}": {"message": state}
        for state in (DeliveryState.PENDING, DeliveryState.SENDING)
    },
}


@pytest.mark.parametrize("fields", UNDER_WAY.values(), ids=UNDER_WAY.keys())
async def test_job_under_way_is_kept(store: Store, fields: dict[str, Any]) -> None:
    prompt, message = fields.get("prompt"), fields.get("message")
    number = await old_job(store, **({} if prompt or message else fields))
    if prompt:
        await add_prompt(
            store, number, key="again", kind=PromptKind.FOLLOW_UP, asked_by=BEN, state=prompt
        )
    if message:
        await deliver(store, "end", state=message, job=number)
        await deliver(store, "note", state=message, user=ANA)
    before = await kept(store)
    assert (await forget_old(store)) == RowCounts()
    if not message:
        assert (await forget_person(store, BEN if prompt else ANA))[0] == RowCounts()
    assert await kept(store) == before
    if not (prompt or message):
        assert (await store.read(lambda tx: Retention(tx).under_way(ANA))) == RowCounts(
            jobs=1, prompts=1
        )


async def test_person_is_forgotten_at_once_and_others_are_not(store: Store) -> None:
    await everything_else(store)
    mine = await old_job(store, ended_at=NOW)
    bens = await old_job(store, key="ben", requester=BEN, iteration_requester=ANA, ended_at=NOW)
    await execute(store, update(prompts).where(prompts.c.job == bens).values(asked_by=BEN))
    await add_prompt(
        store, bens, key="anas", kind=PromptKind.FOLLOW_UP, raw="Ana's words", state="sent"
    )
    await deliver(store, "note", user=ANA)
    forgotten = (await forget_person(store, ANA))[0]
    assert (forgotten["jobs"], forgotten["prompts"], forgotten["questions"]) == (1, 2, 1)
    assert (forgotten["messages"], forgotten["access checks"], forgotten["audit rows"]) == (1, 1, 1)
    assert (await forget_person(store, ANA))[0] == RowCounts()
    rows = await kept(store)
    assert ANA not in rows
    assert "Ana's words" not in rows
    assert (await store.read(lambda tx: Jobs(tx).get_or_raise(mine))).is_forgotten
    job = await store.read(lambda tx: Jobs(tx).get_or_raise(bens))
    assert (job.requester, job.text, job.recipient) == (BEN, SECRET, BEN)


async def test_rows_are_forgotten_few_at_a_time(store: Store) -> None:
    for count in range(5):
        await old_job(store, key=f"job {count}")
    assert [(await forget_old(store, 2))["jobs"] for _ in range(4)] == [2, 2, 1, 0]
    while await forget_old(store, 2):
        pass
    assert SECRET not in await kept(store)
    assert ANA not in await kept(store)


def copies_in(folder: Path) -> dict[str, int]:
    return {file.name: file.read_bytes().count(SECRET.encode()) for file in folder.iterdir()}


async def test_erased_text_is_in_no_file_of_a_running_bot(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path / 'bot.db'}")
    await upgrade_tables(store.database)
    for count in range(20):
        await old_job(store, key=f"job {count}")
    await store.read(lambda tx: Jobs(tx).get_or_raise(JobNumber(1)))
    assert await forget_person(store, ANA) == (RowCounts(jobs=20, prompts=20), RowCounts())
    copies = copies_in(tmp_path)
    await store.close()
    assert copies == {"bot.db": 0, "bot.db-wal": 0, "bot.db-shm": 0}


async def test_backup_delays_no_write_after_an_erasure(tmp_path: Path) -> None:
    file = tmp_path / "bot.db"
    store = Store.open(f"sqlite:///{file}")
    await upgrade_tables(store.database)
    await old_job(store)
    with closing(sqlite3.connect(file, isolation_level=None)) as backup:
        backup.execute("BEGIN")
        backup.execute("SELECT count(*) FROM jobs").fetchall()
        async with asyncio.timeout(9.5):  # it was ten seconds
            await forget_person(store, ANA)
            await old_job(store, key="after")
    await forget_person(store, ANA)
    copies = copies_in(tmp_path)
    await store.close()
    assert copies == {"bot.db": 0, "bot.db-wal": 0, "bot.db-shm": 0}
