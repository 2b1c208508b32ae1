"""An HTTP client for the docs service, and a clock that moves only when a test moves it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp

JSON = "application/json"


class HeldClock:
    """A clock that stands still between two calls of `forward`."""

    def __init__(self) -> None:
        self.now = datetime(2026, 10, 14, 9, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass(frozen=True)
class Reply:
    """A response with its whole body."""

    status: int
    text: str
    headers: dict[str, str] = field(default_factory=dict)
    json: Any = None


@dataclass(frozen=True)
class Caller:
    """Sends requests with an API key; `ask` creates a job, and the other methods are further operations."""

    session: aiohttp.ClientSession
    base_url: str
    key: str | None = "sandbox_key"

    async def request(self, method: str, path: str, **options: Any) -> Reply:
        headers = options.pop("headers", {})
        if self.key is not None:
            headers = {"Authorization": f"Bearer {self.key}"} | headers
        url = self.base_url + path
        async with self.session.request(
            method, url, headers=headers, allow_redirects=False, **options
        ) as response:
            text = await response.text()
            json = await response.json() if response.content_type == JSON else None
            return Reply(response.status, text, dict(response.headers), json)

    async def ask(self, prompt: str, project: str = "acme-docs") -> Reply:
        return await self.request("POST", f"/v2/agent/{project}/job", json={"prompt": prompt})

    async def follow_up(self, job_id: str, prompt: str, project: str = "acme-docs") -> Reply:
        path = f"/v2/agent/{project}/job/{job_id}/message"
        return await self.request("POST", path, json={"prompt": prompt})

    async def job(self, job_id: str, project: str = "acme-docs") -> Reply:
        return await self.request("GET", f"/v2/agent/{project}/job/{job_id}")

    async def visitors(self, query: str = "", project: str = "acme-docs") -> Reply:
        return await self.request("GET", f"/v1/analytics/{project}/visitors{query}")

    async def views(self, query: str = "", project: str = "acme-docs") -> Reply:
        return await self.request("GET", f"/v1/analytics/{project}/views{query}")

    async def order_fault(self, **order: Any) -> None:
        reply = await self.request("POST", "/sandbox/faults", json={"next": [order]})
        assert reply.status == 200, reply.text

    async def log(self) -> list[dict[str, Any]]:
        reply = await self.request("GET", "/sandbox/log")
        found: list[dict[str, Any]] = reply.json
        return found

    def with_key(self, key: str | None) -> Caller:
        return Caller(self.session, self.base_url, key)
