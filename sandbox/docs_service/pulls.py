"""Pull requests: read from the repository, merged or closed, and told as GitHub's REST API tells them."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import unified_diff
from typing import Any

from aiohttp import web

from sandbox.docs_service import store
from sandbox.docs_service.options import GITHUB_TOKEN
from sandbox.docs_service.repository import CommitInfo, SiteRepository
from sandbox.docs_service.runner import AgentRunner
from sandbox.docs_service.store import Database, Job, PullEnd
from sandbox.docs_service.wire import PullAnswer, RefusedError, format_time

OWNER = "acme"
"""Whose repositories the projects are."""
PERSON = "ana-b"
"""The login of whoever uses the page."""
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
    """A pull request: its job, its commits, its files' new texts, and how they differ from the old ones."""

    job: Job
    base: str
    head: str
    commits: list[CommitInfo]
    texts: Mapping[str, str]
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

    def __init__(
        self,
        clock: Callable[[], datetime],
        database: Database,
        agent: AgentRunner,
        address: Callable[[web.Request], str],
    ) -> None:
        self._clock = clock
        self._database = database
        self._agent = agent
        self._address = address
        self._windows: dict[bool, tuple[float, int]] = {}

    async def find(self, request: web.Request) -> Pull:
        """Return the pull request that a path names. Raise `HTTPNotFound` for one that is not there."""
        await self._agent.finish_due()
        project, number = request.match_info["projectId"], int(request.match_info["number"])
        job = await self._database.run(store.find_pull, project, number)
        if project not in self._agent.repositories or job is None or job.base_sha is None:
            raise web.HTTPNotFound
        return await asyncio.to_thread(_read, self._agent.repositories[project], job, job.base_sha)

    async def end(self, pull: Pull, *, merge: bool) -> bool:
        """Merge or close a pull request. Return False if it conflicts with what was merged before."""
        job, now = pull.job, self._clock()
        if merge and job.pull_end is None:
            merged = self._agent.repositories[job.project].merge
            message = f"{job.title} (#{job.pull_number})"
            if not await asyncio.to_thread(merged, pull.base, pull.head, message, now):
                return False
        end = PullEnd(at=now, head_sha=pull.head, merged_by=PERSON if merge else None)
        await self._database.run(store.end_pull, job, end)
        return True

    async def answer(self, request: web.Request) -> tuple[int, Mapping[str, Any], Mapping[str, str]]:
        """Return the status, the body and the headers with which GitHub answers.

        https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
        """
        has_token, asked = _has_token(request), request.match_info
        try:
            if asked["owner"] != OWNER or not re.fullmatch("[0-9]{1,9}", asked["number"]):
                raise web.HTTPNotFound
            found = await self.find(request)
        except web.HTTPNotFound:
            raise Refused(404, "Not Found", self._counted(has_token)) from None
        body = self._json(request, found)
        etag = f'W/"{hashlib.sha256(json.dumps(body).encode()).hexdigest()}"'
        is_same = request.headers.get("If-None-Match") == etag
        headers = {"ETag": etag, **self._counted(has_token, free=is_same and has_token)}
        return 304 if is_same else 200, body, headers

    def _counted(self, has_token: bool, *, free: bool = False) -> dict[str, str]:
        """Count a call, and return what GitHub says of its limit. Raise `Refused` when it is reached."""
        now, limit = self._clock().timestamp(), _LIMITS[has_token]
        reset, used = self._windows.get(has_token, (0.0, 0))
        if now >= reset:
            reset, used = now + _HOUR_SECONDS, 0
        counted = min(used + (not free), limit)
        self._windows[has_token] = (reset, counted)
        left = {"Limit": limit, "Remaining": limit - counted, "Used": counted, "Reset": int(reset)}
        headers = {f"X-RateLimit-{name}": str(value) for name, value in left.items()}
        if used >= limit and not free:
            raise Refused(403, "API rate limit exceeded", headers)
        return headers

    def _json(self, request: web.Request, pull: Pull) -> PullAnswer:
        job, end, address = pull.job, pull.job.pull_end, self._address(request)
        ended = format_time(end.at) if end else None
        page = f"{address}/{OWNER}/{job.project}/pull/{job.pull_number}"
        merged_by = end.merged_by if end else None
        return {
            "url": f"{address}{request.path}",
            "html_url": page,
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
            "base": {"ref": self._agent.repositories[job.project].main, "sha": pull.base},
        }


class Refused(RefusedError):
    """A refusal in GitHub's form."""

    def response(self) -> web.Response:
        """Return the error as a JSON response."""
        more = {"documentation_url": "https://docs.github.com/rest", "status": str(self.status)}
        body = {"message": self.text, **more}
        return web.json_response(body, status=self.status, headers=self.headers)


def _has_token(request: web.Request) -> bool:
    """Return whether the right token came along. Raise `Refused` for another one."""
    given = request.headers.get("Authorization", "")
    if given and not hmac.compare_digest(given.encode("utf-8", "replace"), f"Bearer {GITHUB_TOKEN}".encode()):
        raise Refused(401, "Bad credentials")
    return bool(given)


def _read(repository: SiteRepository, job: Job, base: str) -> Pull:
    head = job.pull_end.head_sha if job.pull_end else repository.head(job.branch) or base
    old, new = repository.difference(base, head)
    return Pull(job, base, head, repository.commits(head, base), new, compare(old, new, job.page))
