"""Previews of branches: a build that takes a while, and the branch's pages as they are now."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from datetime import UTC, datetime

from aiohttp import web
from pydantic import BaseModel

from sandbox.docs_service.backend import Backend
from sandbox.docs_service.operations import LOG_ENTRY, Operation
from sandbox.docs_service.store import Job
from sandbox.docs_service.wire import Branch, BuildAnswer, PreviewAnswer, RefusedError, format_time

_A_MINUTE = 5
"""Previews that may be asked for in a minute."""
_QUEUED_SHARE = 0.2
"""The share of a build's time in which it waits for its turn."""


class Build(BaseModel):
    """One build of a job's branch. `is_broken`: it will fail."""

    id: str
    slug: str
    job: str
    sha: str
    begun_at: float
    is_broken: bool


class Previews:
    """Builds previews and finds their pages."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._builds = {row["id"]: Build(**row) for row in backend.shelf.all("build")}

    def operations(self) -> list[Operation]:
        """Return the operations on previews."""
        limit = "Five previews were asked for in the last minute."
        begin = "/v1/project/preview/{projectId}"
        return [
            Operation("preview", "POST", begin, self._begin, status=202, limit=limit),
            Operation("build", "GET", "/v1/project/update-status/{statusId}", self._build),
        ]

    async def _begin(self, request: web.Request, body: Branch) -> PreviewAnswer:
        """Begin to build a preview of a branch."""
        job = next((one for one in self._backend.jobs if one.branch == body.branch), None)
        sha = self._backend.repository.head(body.branch) if job else None
        if job is None or sha is None:
            raise RefusedError(400, "there is no such branch to preview")
        self._backend.limits.take("previews", _A_MINUTE, period_seconds=60)
        build = Build(
            id=secrets.token_hex(12),
            slug=hashlib.sha256(body.branch.encode()).hexdigest()[:10],
            job=job.id,
            sha=sha,
            begun_at=self._backend.clock().timestamp(),
            is_broken=request[LOG_ENTRY].fault == "broken_build",
        )
        self._builds[build.id] = build
        self._backend.shelf.put("build", build.id, build.model_dump())
        address = f"{self._backend.base_url}/preview/{self._backend.options.project}/{build.slug}"
        return {"statusId": build.id, "previewUrl": address}

    async def _build(self, request: web.Request) -> BuildAnswer:
        """Return how far a build is."""
        build = self._builds.get(request.match_info["statusId"])
        job = self._backend.jobs.find(build.job) if build else None
        if build is None or job is None:
            raise RefusedError(404, "there is no such update")
        repository, status = self._backend.repository, self._status(build)
        changes = await asyncio.to_thread(repository.changes, job.base_sha or build.sha, build.sha)
        info = await asyncio.to_thread(repository.info, build.sha)
        is_over, changed = status in ("success", "failure"), [one.path for one in changes]
        logs = ["Cloning the repository", f"Building what changed: {len(changed)}"]
        if status == "failure":
            logs.append(
                f"Error in {changed[0] if changed else 'docs.json'}: line 3: a tag is never closed"
            )
        return {
            "_id": build.id,
            "projectId": self._backend.options.project,
            "status": status,
            "summary": {"success": "Deployed", "failure": "Build failed"}.get(status, "Building"),
            "logs": logs if is_over else logs[:1],
            "commit": {
                "sha": build.sha,
                "ref": job.branch,
                "message": info.subject,
                "filesChanged": {
                    "added": [one.path for one in changes if one.status in ("added", "renamed")],
                    "modified": [one.path for one in changes if one.status == "modified"],
                    "removed": [
                        one.was or one.path
                        for one in changes
                        if one.status in ("removed", "renamed")
                    ],
                },
            },
            "createdAt": format_time(datetime.fromtimestamp(build.begun_at, UTC)),
            "endedAt": format_time(self._backend.clock()) if is_over else None,
        }

    def _status(self, build: Build) -> str:
        age, takes = (
            self._backend.clock().timestamp() - build.begun_at,
            self._backend.options.build_seconds,
        )
        if age < takes:
            return "queued" if age < takes * _QUEUED_SHARE else "in_progress"
        return "failure" if build.is_broken else "success"

    async def pages(self, slug: str) -> tuple[Job, dict[str, str]]:
        """Return the job of a preview that was built once, and its pages, by address, as they are now.

        Raise `HTTPNotFound` without one. A follow-up renews a preview; a failed build leaves the old one.
        """
        built = (
            one.job
            for one in self._builds.values()
            if one.slug == slug and self._status(one) == "success"
        )
        job = self._backend.jobs.find(next(built, ""))
        if job is None:
            raise web.HTTPNotFound
        repository = self._backend.repository
        head = await asyncio.to_thread(repository.head, job.branch)
        files = await asyncio.to_thread(repository.files, head) if head else {}
        return job, {
            path.removesuffix(".md"): text for path, text in files.items() if path.endswith(".md")
        }
