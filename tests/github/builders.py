"""GitHub's responses about a pull request, and a client for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import httpx
from pydantic import SecretStr

from bot.github import API_URL, GithubClient, PullRequestId

TOKEN = "github_pat_canary7f3a"
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
WHICH = PullRequestId("acme", "docs", 7)
OPEN: Mapping[str, object] = {
    "url": "https://api.github.com/repos/acme/docs/pulls/7",
    "number": 7,
    "title": "Add a quickstart for the Python SDK",
    "state": "open",
    "draft": False,
    "merged": False,
    "merged_at": None,
    "closed_at": None,
    "merged_by": None,
    "additions": 46,
    "deletions": 1,
    "changed_files": 2,
    "head": {"ref": "agent/job-1", "sha": "0123456"},
}
CLOSED: Mapping[str, object] = {**OPEN, "state": "closed", "closed_at": "2026-11-20T11:00:00Z"}
MERGED: Mapping[str, object] = {
    **CLOSED,
    "merged": True,
    "merged_at": "2026-11-20T11:00:00Z",
    "merged_by": {"login": "ana-b", "id": 1},
}


def client_of(
    transport: httpx.AsyncBaseTransport,
    *,
    api_url: str = API_URL,
    token: str | None = TOKEN,
    now: Callable[[], datetime] = lambda: NOW,
) -> GithubClient:
    """Return a client with ``transport`` in place of a network."""
    secret = SecretStr(token) if token else None
    return GithubClient(api_url=api_url, token=secret, transport=transport, now=now)
