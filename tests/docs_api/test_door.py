"""Every value that the client returns fits its database column."""

from __future__ import annotations

import json
from datetime import timedelta

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import String

from bot.docs_api import Job, Unavailable, VisitorsPage, models
from bot.jobs.store.tables import jobs
from tests.docs_api.builders import JOB, READERS, FakeService, client_of, visitors_json

LIMIT = models.MAX_TEXT_LENGTH
texts = (
    st.text(st.characters())
    | st.sampled_from(
        ["\x00", "a\x00b", "\ud83d", "\udc00x", ".", " ", "x" * (LIMIT + 1), "é" * 401]
    )
    | st.integers(LIMIT - 1, LIMIT + 1).map(lambda length: "y" * length)
)
values = texts | st.none() | st.integers() | st.lists(texts, max_size=2)
odd_jobs = st.fixed_dictionaries(
    {"id": texts},
    optional=dict.fromkeys(("status", "model", "prLink", "createdAt", "archivedAt"), values)
    | {"source": st.dictionaries(st.sampled_from(["repository", "ref"]), values)},
)
counts = st.integers(-2, 2) | st.integers(2**63 - 2, 2**63 + 1)
rows = st.fixed_dictionaries({"path": texts, "human": counts, "ai": counts, "total": counts})


async def read(body: object, model: type[Job | VisitorsPage]) -> Job | VisitorsPage | None:
    """Read a response; None if it is refused."""
    docs = client_of(FakeService(httpx.Response(200, content=json.dumps(body).encode())))
    try:
        return await (docs.get_job("acme", "j") if model is Job else docs.visitors("acme"))
    except Unavailable:
        return None


def takes(text: str | None, most: int | None = None) -> bool:
    """Return whether columns of both databases accept a text."""
    is_valid = text is None or (
        "\x00" not in text and text == text.encode("utf-8", "ignore").decode()
    )
    return is_valid and len(text or "") <= (most or LIMIT)


@given(odd_jobs)
async def test_every_part_of_a_job_fits_its_row(body: dict[str, object]) -> None:
    job = await read(body, Job)
    if job is None:
        return
    assert isinstance(job, Job)
    assert takes(job.id, models.MAX_ID_LENGTH)
    assert all(
        map(takes, (job.status, job.model, job.pr_link, job.source.repository, job.source.ref))
    )
    for moment in filter(None, (job.created_at, job.archived_at)):
        assert moment - timedelta(days=1) < moment < moment + timedelta(days=1)


@given(
    st.fixed_dictionaries(
        {"totals": rows, "visitors": st.lists(rows, max_size=3), "hasMore": st.booleans()}
    )
)
async def test_every_row_of_visitors_fits_its_row(body: dict[str, object]) -> None:
    page = await read(body, VisitorsPage)
    if page is None:
        return
    assert isinstance(page, VisitorsPage)
    for row in page.visitors:
        assert takes(row.path, len(row.path))
        assert all(0 <= count < 2**63 for count in (row.human, row.ai, row.total))


@pytest.mark.parametrize(
    ("bad", "cleaned"), [("a\x00b", "a b"), ("\udc00", " "), ("x" * (LIMIT + 1), "x" * LIMIT)]
)
async def test_texts_of_a_job_are_cleaned_for_the_database(bad: str, cleaned: str) -> None:
    odd = {"status": bad, "model": bad, "prLink": bad, "source": {"repository": bad, "ref": bad}}
    job = await read({**JOB, **odd}, Job)
    assert isinstance(job, Job)
    assert {job.status, job.model, job.pr_link, job.source.repository, job.source.ref} == {cleaned}


async def test_longest_id_fits_its_column() -> None:
    column = jobs.c.service_id.type
    assert isinstance(column, String)
    assert column.length == models.MAX_ID_LENGTH
    assert await read({"id": "x" * models.MAX_ID_LENGTH}, Job)


async def test_path_with_odd_characters_is_cleaned() -> None:
    page = await read(visitors_json("/a", "/b\x00\ud83d"), VisitorsPage)
    assert isinstance(page, VisitorsPage)
    assert [row.path for row in page.visitors] == ["/a", "/b\ufffd\ufffd"]


async def test_more_rows_than_requested_are_refused() -> None:
    service = FakeService(httpx.Response(200, json=visitors_json("/a", "/b", "/c")))
    async with client_of(service) as docs:
        assert len((await docs.visitors("acme", limit=3)).visitors) == 3
        with pytest.raises(Unavailable, match="more rows than the 2 asked for"):
            await docs.visitors("acme", limit=2)


@pytest.mark.parametrize("name", READERS)
async def test_more_rows_of_readers_than_requested_are_refused(name: str) -> None:
    twice = {
        one: value * 2 if isinstance(value, list) else value for one, value in READERS[name].items()
    }
    async with client_of(FakeService(httpx.Response(200, json=twice))) as docs:
        await getattr(docs, name)("acme", limit=2)
        with pytest.raises(Unavailable, match="more rows than the 1 asked for"):
            await getattr(docs, name)("acme", limit=1)
