"""How many calls pull requests take that stay open, with and without a token, beside GitHub's limit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

import httpx
from pydantic import SecretStr
from sqlalchemy import func, select

from bot.github import GithubClient
from bot.ids import JobNumber
from bot.jobs.model.jobs import JobState
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.pull_requests import PullRequests
from bot.outbox.model import DeliveryKind
from bot.store import Transaction
from tests import schema
from tests.builders import NOW, add_job, rows_of
from tests.work.drains import look_at_pull_requests
from tests.work.office import Office

_HOUR = timedelta(hours=1)
_OPEN = {"title": "T", "state": "open", "additions": 40, "deletions": 0, "changed_files": 1}


@dataclass
class Host:
    """GitHub with its limits, and pull requests that stay as they are.

    https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api. An answer that nothing
    has changed is free only with a token.
    """

    office: Office
    has_token: bool
    reset: datetime = NOW
    used: int = 0
    calls: Counter[int] = field(default_factory=Counter)
    counted: Counter[int] = field(default_factory=Counter)
    refused: int = 0

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        now, limit = self.office.clock(), 5_000 if self.has_token else 60
        if now >= self.reset:
            self.reset, self.used = now + _HOUR, 0
        hour = int((now - NOW) / _HOUR)
        self.calls[hour] += 1
        is_free = self.has_token and "if-none-match" in request.headers
        headers = {"etag": '"1"', "x-ratelimit-reset": str(int(self.reset.timestamp()))}
        if self.used >= limit and not is_free:
            self.refused += 1
            return httpx.Response(403, headers=headers | {"x-ratelimit-remaining": "0"})
        self.used += not is_free
        self.counted[hour] += not is_free
        if "if-none-match" in request.headers:
            return httpx.Response(304, headers=headers)
        return httpx.Response(200, json=_OPEN, headers=headers)


async def open_ones(office: Office, count: int, *, has_token: bool) -> Host:
    host = Host(office, has_token)
    client = GithubClient(
        token=SecretStr("t") if has_token else None, transport=httpx.MockTransport(host), now=office.clock
    )
    office.context = replace(office.context, github=client)
    for number in range(1, count + 1):
        link = f"https://github.com/acme/docs/pull/{number}"
        job = await add_job(office.store, state=JobState.PULL_REQUEST, pr_link=link, root_ts=f"1.{number}")
        await office.store.write(partial(_watch, job, link))
    return host


def _watch(number: JobNumber, link: str, tx: Transaction) -> None:
    PullRequests(tx).watch(Jobs(tx).get_or_raise(number), link, NOW)


async def hours_pass(office: Office, hours: int) -> None:
    for _ in range(hours * 60):
        while await office.works(look_at_pull_requests):
            pass
        office.clock.pass_seconds(60)


async def test_without_a_token_the_hour_s_limit_is_kept_and_each_has_its_turn(office: Office) -> None:
    host = await open_ones(office, 100, has_token=False)
    await hours_pass(office, 3)
    assert set(host.counted.values()) == {60}
    assert host.refused <= 3 * 5
    rows = await rows_of(office.store, select(schema.pull_requests))
    assert all(office.clock() - row["looked_at"] <= 2 * _HOUR for row in rows)


async def test_without_a_token_the_face_of_each_that_waits_long_says_when_it_was_looked_at(
    office: Office,
) -> None:
    host = await open_ones(office, 150, has_token=False)
    dated = 0
    for _ in range(4):
        await hours_pass(office, 1)
        looked = select(schema.pull_requests).where(schema.pull_requests.c.looked_at.is_not(None))
        rows = await rows_of(office.store, looked)
        faces = await _faces(office)
        for row in rows:
            is_old = office.clock() - row["looked_at"] >= 2 * _HOUR
            assert not is_old or row["seen"]["as_of"], row["job"]
            assert ("as of" in faces[row["job"]]) == bool(row["seen"]["as_of"]), row["job"]
            dated += is_old
    assert dated > 50
    # Each look draws the face, and at most one more edit says how old it has become.
    [drawn] = await rows_of(office.store, select(func.max(schema.deliveries.c.seq).label("edits")))
    assert drawn["edits"] <= 2 * host.counted.total()


async def _faces(office: Office) -> dict[int, str]:
    """The newest face of each job that was drawn since its pull request was watched."""
    edits = select(schema.deliveries).where(schema.deliveries.c.kind == DeliveryKind.EDIT)
    rows = await rows_of(office.store, edits.order_by(schema.deliveries.c.seq))
    return {row["job"]: row["message"]["text"] for row in rows if row["edits"] is None}


async def test_with_a_token_a_look_at_what_has_not_changed_is_free(office: Office) -> None:
    host = await open_ones(office, 20, has_token=True)
    await hours_pass(office, 1)
    assert (host.calls.total(), host.counted.total()) == (20 * 6, 20)
