"""Previews of branches: a build that takes a while, and the branch's pages as they are now."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from sandbox.docs_service import store
from sandbox.docs_service.repository import SiteRepository
from sandbox.docs_service.runner import AgentRunner
from sandbox.docs_service.store import Database, Job
from sandbox.docs_service.wire import BuildAnswer, RefusedError, format_time

SCHEMA = """
CREATE TABLE IF NOT EXISTS builds (
    id TEXT PRIMARY KEY, project TEXT NOT NULL, slug TEXT NOT NULL, job TEXT NOT NULL, sha TEXT NOT NULL,
    begun_at REAL NOT NULL, breaks INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS builds_slug ON builds (project, slug);
"""
_A_MINUTE = 5
"""Previews that may be asked for in a minute."""
_QUEUED_SHARE = 0.2
"""The share of a build's time in which it waits for its turn."""


@dataclass(frozen=True)
class Build:
    """One build of a branch. ``breaks``: it will fail."""

    id: str
    project: str
    slug: str
    job: str
    sha: str
    begun_at: float
    breaks: bool

    def status(self, seconds: float, now: datetime) -> str:
        """Return how far it is, if it takes so many seconds."""
        gone = now.timestamp() - self.begun_at
        if gone < seconds:
            return "queued" if gone < seconds * _QUEUED_SHARE else "in_progress"
        return "failure" if self.breaks else "success"


class Previews:
    """Builds previews and finds what they show."""

    def __init__(
        self, clock: Callable[[], datetime], database: Database, agent: AgentRunner, build_seconds: float
    ) -> None:
        self._clock = clock
        self._database = database
        self._agent = agent
        self._build_seconds = build_seconds

    async def begin(self, project: str, branch: str, *, breaks: bool) -> Mapping[str, str]:
        """Begin the build of a branch. Return its id and the path of the preview."""
        build = await self._database.run(self._take_and_begin, project, branch, breaks)
        return {"statusId": build.id, "path": f"/preview/{project}/{build.slug}"}

    def _take_and_begin(
        self, connection: sqlite3.Connection, project: str, branch: str, breaks: bool
    ) -> Build:
        now = self._clock()
        store.take(connection, "previews", _A_MINUTE, now, period_seconds=60)
        job = store.find_branch(connection, project, branch)
        sha = self._agent.repositories[project].head(branch) if job else None
        if job is None or sha is None:
            raise RefusedError(400, "there is no such branch to preview")
        slug = hashlib.sha256(branch.encode()).hexdigest()[:10]
        build = Build(secrets.token_hex(12), project, slug, job.id, sha, now.timestamp(), breaks)
        values = (build.id, project, slug, job.id, sha, build.begun_at, breaks)
        connection.execute("INSERT INTO builds VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        return build

    async def answer(self, status_id: str) -> BuildAnswer:
        """Return how far a build is, in the API's form."""
        build, job = await self._database.run(_find, "id = ?", status_id)
        if build is None or job is None:
            raise RefusedError(404, "there is no such update")
        repository = self._agent.repositories[build.project]
        before, after = await asyncio.to_thread(repository.difference, job.base_sha or build.sha, build.sha)
        info = await asyncio.to_thread(repository.info, build.sha)
        begun, status = (
            datetime.fromtimestamp(build.begun_at, UTC),
            build.status(self._build_seconds, self._clock()),
        )
        is_over = status in ("success", "failure")
        changed = sorted(after)
        logs = ["Cloning the repository", f"Building what changed: {len(changed)}"]
        if status == "failure":
            logs.append(f"Error in {changed[0] if changed else 'docs.json'}: line 3: a tag is never closed")
        return {
            "_id": build.id,
            "projectId": build.project,
            "status": status,
            "summary": {"success": "Deployed", "failure": "Build failed"}.get(status, "Building"),
            "logs": logs if is_over else logs[:1],
            "commit": {
                "sha": build.sha,
                "ref": job.branch,
                "message": info.subject,
                "filesChanged": {
                    "added": sorted(after.keys() - before.keys()),
                    "modified": sorted(after.keys() & before.keys()),
                    "removed": sorted(before.keys() - after.keys()),
                },
            },
            "createdAt": format_time(begun),
            "endedAt": format_time(self._clock()) if is_over else None,
        }

    async def pages(self, project: str, slug: str) -> tuple[Job, dict[str, str]]:
        """Return the job of a preview that was built once, and its pages, by address, as they are now.

        Raise `HTTPNotFound` without one. A follow-up renews a preview; a failed build leaves the old one.
        """
        build, job = await self._database.run(_find, "project = ? AND slug = ? AND NOT breaks", project, slug)
        now = self._clock()
        if build is None or job is None or build.status(self._build_seconds, now) != "success":
            raise web.HTTPNotFound
        return job, await asyncio.to_thread(_pages, self._agent.repositories[project], job)


def _find(connection: sqlite3.Connection, where: str, *values: str) -> tuple[Build | None, Job | None]:
    found: Any = connection.execute(
        f"SELECT * FROM builds WHERE {where} ORDER BY begun_at LIMIT 1",  # noqa: S608
        values,
    ).fetchone()
    if found is None:
        return None, None
    build = Build(**dict(found))
    return build, store.find(connection, build.project, build.job)


def _pages(repository: SiteRepository, job: Job) -> dict[str, str]:
    head = repository.head(job.branch)
    files = repository.files(head) if head else {}
    return {path.removesuffix(".md"): text for path, text in files.items() if path.endswith(".md")}
