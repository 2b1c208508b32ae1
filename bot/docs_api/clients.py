"""Several projects behind the methods of one client, each with its own address and key."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from bot.docs_api.client import DocsClient
from bot.docs_api.errors import NotConfigured
from bot.docs_api.models import Job, VisitorsPage


class DocsClients:
    """A client for each project id. Calls are those of `DocsClient` and go through the project's own client.

    A call about any other project raises `NotConfigured`.
    """

    def __init__(self, clients: Mapping[str, DocsClient]) -> None:
        self._clients = dict(clients)

    async def aclose(self) -> None:
        """Close the connections of all clients."""
        for client in self._clients.values():
            await client.aclose()

    async def create_job(self, project_id: str, prompt: str) -> Job:
        """Start a job: see `DocsClient.create_job`."""
        return await self._of(project_id).create_job(project_id, prompt)

    async def get_job(self, project_id: str, job_id: str) -> Job:
        """Return a job's current state: see `DocsClient.get_job`."""
        return await self._of(project_id).get_job(project_id, job_id)

    async def send_follow_up(self, project_id: str, job_id: str, prompt: str) -> Job:
        """Send a further prompt to a job: see `DocsClient.send_follow_up`."""
        return await self._of(project_id).send_follow_up(project_id, job_id, prompt)

    async def visitors(
        self, project_id: str, *, date_from: date, date_to: date, limit: int, offset: int
    ) -> VisitorsPage:
        """Return one page of the unique visitors: see `DocsClient.visitors`."""
        return await self._of(project_id).visitors(
            project_id, date_from=date_from, date_to=date_to, limit=limit, offset=offset
        )

    def _of(self, project_id: str) -> DocsClient:
        try:
            return self._clients[project_id]
        except KeyError:
            raise NotConfigured from None
