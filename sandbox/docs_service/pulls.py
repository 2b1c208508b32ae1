"""Pull requests: read from the repository, merged or closed, and shown by GitHub's REST API."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from base64 import encodebytes
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from aiohttp import web

from sandbox.docs_service.backend import OWNER, Backend
from sandbox.docs_service.git import GitError
from sandbox.docs_service.operations import HEADERS, GithubRefused, Operation, check_token
from sandbox.docs_service.repository import CommitInfo, FileChange, SiteRepository
from sandbox.docs_service.store import Job, PullEnd
from sandbox.docs_service.wire import (
    CommitAnswer,
    CompareAnswer,
    FileAnswer,
    PullAnswer,
    PullFile,
    format_time,
)

PERSON = "ana-b"
"""The login of the page's user."""
_LIMITS = {True: 5_000, False: 60}
"""Calls an hour with a token and without: https://docs.github.com/en/rest/using-the-rest-api/rate-limits."""
_HOUR_SECONDS = 3600
_MOST_FILES, _MOST_COMPARED = 3_000, 300
"""Files that GitHub lists of a pull request, and of a comparison."""
Body = TypeVar("Body")


@dataclass(frozen=True)
class Pull:
    """A pull request: its job, its commits, and how its files differ from those before."""

    job: Job
    base: str
    head: str
    commits: list[CommitInfo]
    changes: list[FileChange]

    @property
    def state(self) -> str:
        """Return "open", "merged" or "closed"."""
        if self.job.pull_end is None:
            return "open"
        return "merged" if self.job.pull_end.merged_by else "closed"


class Pulls:
    """Finds and ends pull requests, and answers for GitHub's API."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._windows: dict[bool, tuple[float, int]] = {}

    def operations(self) -> list[Operation]:
        """Return the operations of GitHub's API, as an Enterprise server has it."""
        path = "/api/v3/repos/{owner}/{projectId}"
        return [
            Operation("pull_request", "GET", f"{path}/pulls/{{number}}", self._get, key="github"),
            Operation(
                "pull_files", "GET", f"{path}/pulls/{{number}}/files", self._files, key="github"
            ),
            Operation(
                "compare", "GET", f"{path}/compare/{{basehead}}", self._compare, key="github"
            ),
            Operation(
                "contents", "GET", f"{path}/contents/{{path:.+}}", self._contents, key="github"
            ),
        ]

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
        return self._answered(request, self._json(request, await self._asked(request)))

    async def _files(self, request: web.Request) -> list[PullFile]:
        """Return its files: https://docs.github.com/en/rest/pulls/pulls#list-pull-requests-files"""
        changed = (await self._asked(request)).changes
        each, page = (
            _whole(request, name, usual) for name, usual in (("per_page", 30), ("page", 1))
        )
        each = min(each, 100)
        links = (
            {"next": page + 1, "last": -(-len(changed) // each)}
            if page * each < len(changed)
            else {}
        )
        links |= {"first": 1, "prev": page - 1} if page > 1 else {}
        address = f"{self._backend.base_url}{request.path}?per_page={each}&page="
        link = ", ".join(f'<{address}{number}>; rel="{name}"' for name, number in links.items())
        some = [_file_json(one) for one in changed[:_MOST_FILES][(page - 1) * each : page * each]]
        return self._answered(request, some, {"Link": link} if link else {})

    async def _compare(self, request: web.Request) -> CompareAnswer:
        """Return how two commits differ: https://docs.github.com/en/rest/commits/commits#compare-two-commits"""
        self._check_place(request)
        repository = self._backend.repository
        ends = re.fullmatch(r"([0-9a-f]{40})\.\.\.([0-9a-f]{40})", request.match_info["basehead"])
        base, head = ends.groups() if ends else ("", "")
        common = await asyncio.to_thread(repository.base_of, base, head) if ends else None
        if common is None:
            raise self._not_found(request)
        ahead, behind = repository.commits(head, common), repository.commits(base, common)
        status = (
            ("diverged" if ahead else "behind") if behind else "ahead" if ahead else "identical"
        )
        page, each = _whole(request, "page", 1), min(_whole(request, "per_page", 250), 250)
        shown: list[CommitAnswer] = [
            {"sha": one.sha} for one in ahead[(page - 1) * each : page * each]
        ]
        files = [_file_json(one) for one in repository.changes(common, head)[:_MOST_COMPARED]]
        answer: CompareAnswer = {
            "status": status,
            "ahead_by": len(ahead),
            "behind_by": len(behind),
            "total_commits": len(ahead),
            "commits": shown,
            "files": files if page == 1 else [],
        }
        return self._answered(request, answer)

    async def _contents(self, request: web.Request) -> FileAnswer:
        """Return a file: https://docs.github.com/en/rest/repos/contents#get-repository-content"""
        self._check_place(request)
        path = request.match_info["path"]
        ref = request.query.get("ref", self._backend.repository.main)
        text = await asyncio.to_thread(_text_of, self._backend.repository, ref, path)
        if text is None:
            raise self._not_found(request)
        answer: FileAnswer = {
            "type": "file",
            "path": path,
            "size": len(text.encode()),
            "encoding": "base64",
            "content": encodebytes(text.encode()).decode(),
        }
        return self._answered(request, answer)

    def _check_place(self, request: web.Request) -> None:
        asked = request.match_info
        if (asked["owner"], asked["projectId"]) != (OWNER, self._backend.options.project):
            raise self._not_found(request)

    def _not_found(self, request: web.Request) -> GithubRefused:
        return GithubRefused(404, "Not Found", self._counted(check_token(request)))

    async def _asked(self, request: web.Request) -> Pull:
        """Return the pull request that a request is about. Raise `GithubRefused` for another."""
        self._check_place(request)
        number = request.match_info["number"]
        try:
            if not re.fullmatch("[0-9]{1,9}", number):
                raise web.HTTPNotFound
            return await self.find(int(number))
        except web.HTTPNotFound:
            raise self._not_found(request) from None

    def _answered(
        self, request: web.Request, body: Body, more: Mapping[str, str] = MappingProxyType({})
    ) -> Body:
        """Count the call and return its body. Raise `GithubRefused` 304 if it is as it was."""
        has_token = check_token(request)
        etag = f'W/"{hashlib.sha256(json.dumps(body).encode()).hexdigest()}"'
        is_same = request.headers.get("If-None-Match") == etag
        headers = {"ETag": etag, **self._counted(has_token, free=is_same and has_token), **more}
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
        budget = {
            "Limit": limit,
            "Remaining": limit - counted,
            "Used": counted,
            "Reset": int(reset),
        }
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
            "additions": sum(file.additions for file in pull.changes),
            "deletions": sum(file.deletions for file in pull.changes),
            "changed_files": len(pull.changes),
            "commits": len(pull.commits),
            "head": {"ref": job.branch, "sha": pull.head},
            "base": {"ref": self._backend.repository.main, "sha": pull.base},
        }


def _text_of(repository: SiteRepository, ref: str, path: str) -> str | None:
    """Return the text of a file of a branch or a commit; None if there is none."""
    try:
        commit = repository.info(ref).sha
    except GitError:
        return None
    return repository.files(commit, [path]).get(path)


def _whole(request: web.Request, name: str, usual: int) -> int:
    """Return a parameter; like GitHub, the usual value instead of one that is no number."""
    given = request.query.get(name, "")
    return int(given) if re.fullmatch("[1-9][0-9]{0,5}", given) else usual


def _file_json(file: FileChange) -> PullFile:
    found: PullFile = {
        "sha": file.sha,
        "filename": file.path,
        "status": file.status,
        "additions": file.additions,
        "deletions": file.deletions,
        "changes": file.additions + file.deletions,
    }
    if file.was is not None:
        found["previous_filename"] = file.was
    if file.patch is not None:
        found["patch"] = file.patch
    return found


def _read(repository: SiteRepository, job: Job, base: str) -> Pull:
    head = job.pull_end.head_sha if job.pull_end else repository.head(job.branch) or base
    return Pull(job, base, head, repository.commits(head, base), repository.changes(base, head))
