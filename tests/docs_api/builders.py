"""A docs service with answers that a test sets, and a record of its requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import httpx
from pydantic import SecretStr

from bot.docs_api import DocsClient

KEY = "key-4711-never-to-be-seen"
PROMPT = "Explain the launch of project Nightingale"
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)

JOB: Mapping[str, object] = {
    "id": "job-1",
    "status": "completed",
    "source": {"repository": "acme/docs", "ref": "main"},
    "model": "a-model",
    "prLink": "https://git.example.com/acme/docs/pull/7",
    "createdAt": "2026-11-20T10:00:00Z",
    "archivedAt": None,
}


def visitors_json(*paths: str, has_more: bool = False) -> dict[str, object]:
    """The answer to a visitors request with one row for each path."""
    counts = {"human": 2, "ai": 2, "total": 3}
    return {
        "totals": {"human": 20, "ai": 10, "total": 25},
        "visitors": [{"path": path, **counts} for path in paths],
        "hasMore": has_more,
    }


def views_json(*paths: str, has_more: bool = False) -> dict[str, object]:
    """The answer to a views request with one row for each path."""
    counts = {"human": 5, "ai": 2, "total": 7}
    return {
        "totals": {"human": 50, "ai": 20, "total": 70},
        "views": [{"path": path, **counts} for path in paths],
        "hasMore": has_more,
    }


SEARCHES: Mapping[str, object] = {
    "searches": [
        {
            "searchQuery": "rotate keys",
            "hits": 40,
            "ctr": 2.5,
            "topClickedPage": "/authentication",
            "lastSearchedAt": "2026-11-20T09:00:00.000Z",
        }
    ],
    "totalSearches": 900,
    "nextCursor": "MTAw",
}
FEEDBACK_BY_PAGE: Mapping[str, object] = {
    "feedback": [{"path": "/webhooks", "thumbsUp": 1, "thumbsDown": 7, "code": 2, "total": 12}],
    "hasMore": False,
}
FEEDBACK: Mapping[str, object] = {
    "feedback": [
        {
            "id": "f1",
            "path": "/webhooks",
            "comment": "The signature is not explained",
            "createdAt": "2026-11-20T09:00:00.000Z",
            "source": "contextual",
            "status": "pending",
            "helpful": False,
            "contact": "reader@example.com",
        }
    ],
    "nextCursor": None,
    "hasMore": False,
}
ASSISTANT: Mapping[str, object] = {
    "conversations": [
        {
            "id": "01JD3",
            "timestamp": "2026-11-20T09:00:00.000Z",
            "query": "How do I rotate a key?",
            "response": "The docs do not cover this, reader@example.com.",
            "sources": [],
            "resolutionStatus": "unanswered",
            "queryCategory": "Security",
            "pageUrl": "https://docs.example.com/authentication",
        }
    ],
    "nextCursor": None,
    "hasMore": False,
}
READERS = {
    "searches": SEARCHES,
    "feedback_by_page": FEEDBACK_BY_PAGE,
    "feedback": FEEDBACK,
    "assistant": ASSISTANT,
}
"""The answers to the calls about readers."""


class FakeService(httpx.AsyncBaseTransport):
    """Answers one after the other, the last one for ever; an exception among them is raised."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self._answers = list(answers)
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers[0] if len(self._answers) == 1 else self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        # httpx.Response has unpacked the content, so the response has no content-encoding.
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)


def client_of(
    transport: httpx.AsyncBaseTransport,
    *,
    base_url: str = "https://docs.example.com",
    max_response_bytes: int = 5_000_000,
    now: Callable[[], datetime] = lambda: NOW,
) -> DocsClient:
    """Return a client with ``transport`` in place of a network."""
    return DocsClient(
        base_url=base_url,
        api_key=SecretStr(KEY),
        transport=transport,
        max_response_bytes=max_response_bytes,
        now=now,
    )
