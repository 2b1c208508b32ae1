"""Calls about pull requests that stay open, within GitHub's limit for bots without a token."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import cast

import httpx

from tests.services import Github
from tests.talk import START, Talk

_HOUR = timedelta(hours=1)
_OPEN = {"title": "T", "state": "open", "additions": 40, "deletions": 0, "changed_files": 1}
_LIMIT = 6
"""Calls per hour; GitHub allows sixty."""


@dataclass
class Host:
    """GitHub with its limit, and pull requests that stay as they are.

    https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
    """

    talk: Talk
    reset: datetime = START
    used: int = 0
    refused: int = 0
    counted: Counter[int] = field(default_factory=Counter)
    """Successful calls by the hour."""
    polled_at: dict[str, datetime] = field(default_factory=dict)

    def transport(self) -> httpx.AsyncBaseTransport:
        return httpx.MockTransport(self.handle)

    def handle(self, request: httpx.Request) -> httpx.Response:
        now = self.talk.time.at
        if now >= self.reset:
            self.reset, self.used = now + _HOUR, 0
        headers = {"etag": '"1"', "x-ratelimit-reset": str(int(self.reset.timestamp()))}
        if self.used >= _LIMIT:
            self.refused += 1
            return httpx.Response(403, headers=headers | {"x-ratelimit-remaining": "0"})
        self.used += 1
        self.counted[int((now - START) / _HOUR)] += 1
        self.polled_at[request.url.path.rpartition("/")[2]] = now
        if "if-none-match" in request.headers:
            return httpx.Response(304, headers=headers)
        return httpx.Response(200, json=_OPEN, headers=headers)


async def test_without_a_token_the_limit_is_kept_and_each_has_its_turn(talk: Talk) -> None:
    host = Host(talk)
    talk.github = cast("Github", host)
    for number in range(1, 11):
        await talk.ana.asks(f"Add page {number}")
    await talk.time.passes(20)
    for number in range(1, 11):
        talk.service.finish(
            job=f"job-{number}", pr_link=f"https://github.com/acme/docs/pull/{number}"
        )
    await talk.time.passes(hours=3)
    assert set(host.counted.values()) == {_LIMIT}
    assert host.refused <= 3 * 5
    assert len(host.polled_at) == 10
    assert all(talk.time.at - at <= 2 * _HOUR for at in host.polled_at.values())
    talk.everything()
