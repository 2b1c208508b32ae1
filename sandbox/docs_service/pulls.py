"""Pull requests: read from the repository, merged or closed, and shown by GitHub's REST API."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import unified_diff

from aiohttp import web

from sandbox.docs_service.backend import OWNER, Backend
from sandbox.docs_service.operations import HEADERS, GithubRefused, Operation, check_token
from sandbox.docs_service.repository import CommitInfo, SiteRepository
from sandbox.docs_service.store import Job, PullEnd
from sandbox.docs_service.wire import PullAnswer, format_time

PERSON = "ana-b"
"""The login of the page's user."""
_LIMITS = {True: 5_000, False: 60}
"""Calls an hour with a token and without: https://docs.github.com/en/rest/using-the-rest-api/rate-limits."""
_HOUR_SECONDS = 3600
_KINDS = {"+": "added", "-": "removed", "@": "hunk"}


@dataclass(frozen=True)
class FileDiff:
    """The changes of one file: "added", "changed" or "deleted", and the kind and text of each line."""

    path: str
    action: str
    rows: list[tuple[str, str]]

    def count(self, kind: str) -> int:
        """Return the number of lines of a kind, such as "added"."""
        return sum(row[0] == kind for row in self.rows)


def compare(old: Mapping[str, str], new: Mapping[str, str], first: str | None = None) -> list[FileDiff]:
    """Return the files that differ, sorted by path, `first` before all others."""
    differing = [path for path in old.keys() | new.keys() if old.get(path) != new.get(path)]
    return [
        _compare_file(path, old.get(path), new.get(path))
        for path in sorted(differing, key=lambda path: (path != first, path))
    ]


def _compare_file(path: str, old: str | None, new: str | None) -> FileDiff:
    action = "added" if old is None else "deleted" if new is None else "changed"
    # split, not splitlines: like git, treat a form feed or U+2028 within a line as text.
    before, after = (text.removesuffix("\n").split("\n") if text else [] for text in (old, new))
    lines = list(unified_diff(before, after, lineterm=""))[2:]
    return FileDiff(path, action, [(_KINDS.get(line[0], "same"), line) for line in lines])


@dataclass(frozen=True)
class Pull:
    """A pull request: its job, its commits, and how its files differ from those before."""

    job: Job
    base: str
    head: str
    commits: list[CommitInfo]
    changes: list[FileDiff]

    @property
    def state(self) -> str:
        """Return "open", "merged" or "closed"."""
        if self.job.pull_end is None:
            return "open"
        return "merged" if self.job.pull_end.merged_by else "closed"

    def count(self, kind: str) -> int:
        """Return the number of lines of a kind in all files."""
        return sum(file.count(kind) for file in self.changes)


class Pulls:
    """Finds and ends pull requests, and answers for GitHub's API."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._windows: dict[bool, tuple[float, int]] = {}

    def operations(self) -> list[Operation]:
        """Return the operations of GitHub's API, as an Enterprise server has it."""
        path = "/api/v3/repos/{owner}/{projectId}/pulls/{number}"
        return [Operation("pull_request", "GET", path, self._get, is_github=True)]

    async def find(self, number: int) -> Pull:
        """Return the pull request with this number. Raise `HTTPNotFound` if there is none."""
        await self._backend.agent.finish_due()
        job = next((one for one in self._backend.jobs if one.pull_number == number), None)
        if job is None or job.base_sha is None:
            raise web.HTTPNotFound
        return await asyncio.to_thread(_read, self._backend.repository, job, job.base_sha)

    async def end(self, pull: Pull, *, merge: bool) -> bool:
        """Merge or close a pull request. Return False if it conflicts with an earlier merge."""
        job, now = pull.job, self._backend.clock()
        if merge and job.pull_end is None:
            message = f"{job.title} (#{job.pull_number})"
            merged = self._backend.repository.merge
            if not await asyncio.to_thread(merged, pull.base, pull.head, message, now):
                return False
        end = PullEnd(at=now, head_sha=pull.head, merged_by=PERSON if merge else None)
        self._backend.jobs.end_pull(job, end)
        return True

    async def _get(self, request: web.Request) -> PullAnswer:
        """Return a pull request: https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request"""
        has_token, asked = check_token(request), request.match_info
        try:
            is_here = (asked["owner"], asked["projectId"]) == (OWNER, self._backend.options.project)
            if not is_here or not re.fullmatch("[0-9]{1,9}", asked["number"]):
                raise web.HTTPNotFound
            pull = await self.find(int(asked["number"]))
        except web.HTTPNotFound:
            raise GithubRefused(404, "Not Found", self._counted(has_token)) from None
        body = self._json(request, pull)
        etag = f'W/"{hashlib.sha256(json.dumps(body).encode()).hexdigest()}"'
        is_same = request.headers.get("If-None-Match") == etag
        headers = {"ETag": etag, **self._counted(has_token, free=is_same and has_token)}
        if is_same:
            raise GithubRefused(304, "Not Modified", headers)
        request[HEADERS] = headers
        return body

    def _counted(self, has_token: bool, *, free: bool = False) -> dict[str, str]:
        """Count a call and return the headers of the limit. Raise `GithubRefused` when it is reached."""
        now, limit = self._backend.clock().timestamp(), _LIMITS[has_token]
        reset, used = self._windows.get(has_token, (0.0, 0))
        if now >= reset:
            reset, used = now + _HOUR_SECONDS, 0
        counted = min(used + (not free), limit)
        self._windows[has_token] = (reset, counted)
        budget = {"Limit": limit, "Remaining": limit - counted, "Used": counted, "Reset": int(reset)}
        headers = {f"X-RateLimit-{name}": str(value) for name, value in budget.items()}
        if used >= limit and not free:
            raise GithubRefused(403, "API rate limit exceeded", headers)
        return headers

    def _json(self, request: web.Request, pull: Pull) -> PullAnswer:
        job, end = pull.job, pull.job.pull_end
        ended = format_time(end.at) if end else None
        merged_by = end.merged_by if end else None
        return {
            "url": f"{self._backend.base_url}{request.path}",
            "html_url": self._backend.pull_url(job.pull_number),
            "number": job.pull_number or 0,
            "title": job.title or "",
            "state": "closed" if end else "open",
            "draft": False,
            "merged": merged_by is not None,
            "merged_at": ended if merged_by else None,
            "merged_by": {"login": merged_by} if merged_by else None,
            "closed_at": ended,
            "created_at": format_time(pull.commits[0].at),
            "additions": pull.count("added"),
            "deletions": pull.count("removed"),
            "changed_files": len(pull.changes),
            "commits": len(pull.commits),
            "head": {"ref": job.branch, "sha": pull.head},
            "base": {"ref": self._backend.repository.main, "sha": pull.base},
        }


def _read(repository: SiteRepository, job: Job, base: str) -> Pull:
    head = job.pull_end.head_sha if job.pull_end else repository.head(job.branch) or base
    old, new = repository.difference(base, head)
    return Pull(job, base, head, repository.commits(head, base), compare(old, new, job.page))
