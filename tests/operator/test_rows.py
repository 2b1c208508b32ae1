"""What operators do with the rows: list jobs and what could not be said, and forget a person."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from bot.__main__ import cli
from bot.ids import ChannelId, JobNumber, Message, ProjectId, ServiceJobId
from bot.jobs.model import lifecycle
from bot.jobs.model.jobs import JobState
from bot.jobs.model.prompts import PromptKind
from bot.jobs.store.audit import Audit
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.store.tables import jobs
from bot.operator.rows import forget_texts, forget_user, list_jobs, retry_letter, show_job
from bot.outbox.model import (
    DeliveryKind,
    NewDelivery,
    delivery_dead,
)
from bot.outbox.store import Outbox, deliveries
from bot.store import Store, Transaction
from bot.store.database import Database
from bot.store.migrate import migrate
from tests.builders import (
    ANA,
    BEN,
    CHANNEL,
    NOW,
    PROJECT,
    add_job,
    add_prompt,
    claim_deliveries,
    claimer,
    new_store,
    rows_of,
)

OTHER = ChannelId("C0OTHER")
SECRET = "the launch of Project Heron"


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    store = await new_store()
    yield store
    await store.close()


async def bury(store: Store, kind: DeliveryKind, job: JobNumber, reason: str = "is_archived") -> int:
    """Refuse a delivery for good, and return the number of the letter."""
    await store.write(
        lambda tx: Outbox(tx).add(
            NewDelivery(f"{job}:{kind}", kind, CHANNEL, job=job, user=ANA, message=Message(SECRET, ())), NOW
        )
    )

    [found] = await store.write(lambda tx: claim_deliveries(tx, claimer()))
    dead = delivery_dead(found, NOW, reason)
    await store.write(lambda tx: Outbox(tx).save(found, dead, owner="one"))
    return max(int(row["seq"]) for row in await rows_of(store, select(deliveries.c.seq)))


async def test_the_services_words_do_not_steer_the_terminal(store: Store) -> None:
    link, service_id = "https://code.example/\x1b]0;owned\x07\n#9", ServiceJobId("id\x1b[2J")
    state = JobState.PULL_REQUEST
    number = await add_job(store, state=state, pr_link=link, service_id=service_id, ref="\x1b[1m")
    await bury(store, DeliveryKind.REPLY, number, "no\x1b[2J")
    said = await list_jobs(store, 10)
    assert "https://code.example/" in said
    for text in (said, await show_job(store, number, NOW)):
        assert "\x1b" not in text
        assert len([line for line in text.splitlines() if line.startswith("#")]) == 1


async def test_each_filter_leaves_only_its_jobs(store: Store) -> None:
    mine = await add_job(store, state=JobState.FAILED)
    await add_job(store, requester=BEN, channel=OTHER, project=ProjectId("other"), state=JobState.WORKING)
    expected = f"#{mine}  failed"
    for said in (
        await list_jobs(store, 10, state=JobState.FAILED),
        await list_jobs(store, 10, channel=CHANNEL),
        await list_jobs(store, 10, requester=ANA),
        await list_jobs(store, 10, project=PROJECT),
    ):
        assert said.startswith(expected)
        assert len(said.splitlines()) == 1
    assert await list_jobs(store, 10, state=JobState.FAILED, requester=BEN) == "No jobs."


async def test_one_job_is_shown_with_what_people_did_and_without_their_words(store: Store) -> None:
    number = await add_job(store, text=SECRET, state=JobState.WORKING)
    prompt = await add_prompt(store, number, raw=SECRET, state="sent")

    def ask_and_end(tx: Transaction) -> None:
        asked = Prompts(tx).get(prompt)
        assert asked is not None
        Audit(tx).asked(asked, Jobs(tx).get_or_raise(number))
        job = Jobs(tx).get_or_raise(number)
        Jobs(tx).save(job, lifecycle.iteration_ended(job, JobState.FAILED, NOW, pr_link=None))

    await store.write(ask_and_end)
    said = await show_job(store, number, NOW)
    assert "  project: acme-docs" in said
    assert f"  2026-11-02 09:00 UTC  asked  {ANA}  failed" in said
    assert SECRET not in said
    with pytest.raises(ValueError, match="there is no job 9"):
        await show_job(store, JobNumber(9), NOW)


async def test_a_job_says_for_what_its_prompt_its_poll_and_its_messages_wait(store: Store) -> None:
    number = await add_job(store, state=JobState.WORKING, root_ts="1.1", service_id="job-1", poll_at=NOW)
    later = NOW + timedelta(minutes=10)
    await add_prompt(store, number, kind=PromptKind.FOLLOW_UP, state="waiting", due_at=later, in_queue=True)
    said = NewDelivery("r", DeliveryKind.REPLY, CHANNEL, job=number, user=ANA, message=Message(SECRET, ()))
    await store.write(lambda tx: Outbox(tx).add(said, NOW))
    prompt, poll, message = (await show_job(store, number, NOW)).splitlines()[1:4]
    since = "(since 2026-11-02 09:00:00 UTC)"
    assert prompt == f"  prompt waits for the hourly limit until 2026-11-02 09:10:00 UTC {since}"
    assert poll == f"  poll waits {since}"
    assert message == f"  message waits {since}"


async def test_a_dead_letter_is_tried_again_once(store: Store) -> None:
    number = await add_job(store, root_ts="1.1")
    letter = await bury(store, DeliveryKind.REPLY, number)
    assert f"{letter}  #{number}  reply: is_archived (--retry {letter})" in await list_jobs(store, 10)
    assert "is tried again" in await retry_letter(store, letter, NOW)
    assert "Could not be said" not in await list_jobs(store, 10)
    with pytest.raises(ValueError, match=f"no letter {letter}"):
        await retry_letter(store, letter, NOW)
    [again] = await store.write(lambda tx: claim_deliveries(tx, claimer()))
    assert again.unconfirmed, "it is looked for before it is posted"
    assert again.what.message == Message(SECRET, ())


@pytest.mark.parametrize("kind", [DeliveryKind.ROOT, DeliveryKind.EDIT, DeliveryKind.REACTION])
async def test_a_letter_that_shows_an_old_state_keeps_no_text_and_is_not_tried_again(
    store: Store, kind: DeliveryKind
) -> None:
    letter = await bury(store, kind, await add_job(store, root_ts="1.1"))
    [row] = await rows_of(store, select(deliveries))
    assert row["message"] is None
    with pytest.raises(ValueError, match="no letter"):
        await retry_letter(store, letter, NOW)


async def test_a_forgotten_job_keeps_its_state_and_no_words_even_in_dead_letters(store: Store) -> None:
    number = await add_job(store, text=SECRET, state=JobState.FAILED, ended_at=NOW)
    await add_prompt(store, number, raw=SECRET, state="sent")
    letter = await bury(store, DeliveryKind.REPLY, number)
    assert await forget_texts(store, number) == f"Forgotten of job {number}: jobs 1, prompts 1."
    held = [await rows_of(store, select(table)) for table in (jobs, deliveries)]
    assert held[0][0]["state"] == JobState.FAILED
    assert SECRET not in str(held)
    assert ANA not in str(held)
    with pytest.raises(ValueError, match="no letter"):
        await retry_letter(store, letter, NOW)


async def test_a_job_that_goes_on_is_not_forgotten(store: Store) -> None:
    number = await add_job(store, state=JobState.WORKING, poll_at=NOW)
    with pytest.raises(ValueError, match="under way"):
        await forget_texts(store, number)
    with pytest.raises(ValueError, match="there is no job 9"):
        await forget_texts(store, JobNumber(9))


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--user", BEN, "--channel", OTHER, "--state", "failed", "--project", "other"], 0, "No jobs."),
        (["7"], 2, "there is no job 7"),
        (["--retry", "7"], 2, "no letter 7"),
        (["--forget", "7"], 2, "there is no job 7"),
        (["7", "--forget", "7"], 2, "each stand alone"),
        (["0"], 2, "0 is not in the range"),
    ],
)
async def test_the_command_says_what_is_wrong_and_needs_only_the_settings_of_the_database(
    words: list[str], code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    url = f"sqlite:///{tmp_path / 'bot.db'}"
    database = Database.open(url)
    await migrate(database)
    await database.close()
    done = await asyncio.to_thread(CliRunner(env={"DATABASE_URL": url}).invoke, cli, ["jobs", *words])
    assert (done.exit_code, said in done.output) == (code, True), done.output


@pytest.mark.parametrize("words", [["jobs"], ["audit"], ["forget", ANA]])
def test_before_the_first_start_it_says_what_makes_the_tables(words: list[str], tmp_path: Path) -> None:
    done = CliRunner(env={"DATABASE_URL": f"sqlite:///{tmp_path / 'bot.db'}"}).invoke(cli, words)
    assert (done.exit_code, "docs-bot migrate" in done.stderr) == (69, True)


async def test_it_says_what_is_forgotten_and_what_is_under_way(store: Store) -> None:
    for count in range(60):
        job = await add_job(store, state=JobState.FAILED, ended_at=NOW, iteration_requester="U0ANA")
        await add_prompt(store, job, key=f"k{count}", state="sent")
    await add_job(store, state=JobState.WORKING, poll_at=NOW)
    assert await forget_user(store, "U0ANA") == (
        "Forgotten of U0ANA: jobs 60, prompts 60.\n"
        "Under way and therefore kept: jobs 1. Run this again when that is over."
    )


async def test_a_reviewer_of_others_jobs_hears_that_the_name_is_gone(store: Store) -> None:
    await add_job(store, state=JobState.PULL_REQUEST, ended_at=NOW, reviewed_by="U0BEN")
    assert await forget_user(store, "U0BEN") == "Forgotten of U0BEN: names in others' jobs 1."
    assert await forget_user(store, "U0BEN") == "Nothing of U0BEN was kept."


@pytest.mark.parametrize("user", ["ana", "@ana", "C0DOCS", "U0ANA; DROP", "U", ""])
async def test_only_an_id_is_taken(store: Store, user: str) -> None:
    with pytest.raises(ValueError, match="begins with U or W"):
        await forget_user(store, user)
