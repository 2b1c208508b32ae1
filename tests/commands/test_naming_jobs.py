"""How people name a job, and what dialogues carry along."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from bot.commands.command import FormState
from bot.commands.followup import COMMAND as FOLLOW_UP
from bot.commands.visitors_options import as_thread, find_job
from bot.model.ids import ChannelId, JobNumber
from bot.model.jobs import ThreadRef
from bot.model.projects import Projects
from bot.work.context import Context
from tests.builders import ANA, CHANNEL, PROJECT, HeldClock, add_job, new_store
from tests.fakes import FakeSlack

LINK = "https://acme.slack.com/archives/C0DOCS/p1700000000000001"


@pytest.fixture
async def context() -> AsyncIterator[Context]:
    store = await new_store()
    await add_job(store, root_ts="1700000000.000001", service_id="job-abc")
    yield Context(store, FakeSlack(), HeldClock(), lambda: None, Projects.only(PROJECT), ANA)
    await store.close()


@pytest.mark.parametrize(
    "named",
    ["1", "#1", "job-abc", LINK, f"{LINK.replace('001', '999', 1)}?thread_ts=1700000000.000001&cid=C0DOCS"],
)
async def test_a_job_is_found_by_number_service_id_or_link(context: Context, named: str) -> None:
    job = await find_job(context, named)
    assert job is not None
    assert job.number == 1


@pytest.mark.parametrize(
    "named",
    ["2", "#0", "999999999", "job-xyz", "", "https://acme.slack.com/archives/C0OTHER/p1700000000000001"],
)
async def test_what_names_no_job_finds_none(context: Context, named: str) -> None:
    assert await find_job(context, named) is None


def test_a_number_or_a_link_is_meant_as_a_job_and_a_word_is_not() -> None:
    [named] = FOLLOW_UP.words
    shown = [f"{word} Shorter" for word in ("42", "#42", "#42:", LINK, "Add", "#docs", "4th", "2,3")]
    matches = [named.match(text, Projects.only(PROJECT)) for text in shown]
    assert [match and match[1] for match in matches] == ["42", "#42", "#42", LINK, None, None, None, None]


def test_a_link_to_a_reply_leads_to_its_thread() -> None:
    link = "https://acme.slack.com/archives/C1/p1700000009000000?thread_ts=1700000001.000200&cid=C1"
    assert as_thread(link) == ThreadRef(ChannelId("C1"), "1700000001.000200")  # type: ignore[arg-type]


@given(st.text())
def test_any_text_is_a_link_or_is_not(text: str) -> None:
    as_thread(text)
    as_thread(f"https://{text}")


def test_what_a_dialogue_carries_comes_back() -> None:
    carried = FormState(CHANNEL, SecretStr("https://hooks.slack.com/x"), JobNumber(42))
    assert FormState.loads(carried.dumps()) == carried


@given(st.text())
def test_what_another_version_carried_is_nothing(text: str) -> None:
    assert isinstance(FormState.loads(text), FormState)
