"""HTML pages: the start page, jobs, pull requests with their diff, commits, and files."""

from __future__ import annotations

import asyncio
import posixpath
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from sandbox.docs_service import faults, jobs
from sandbox.docs_service.agent.ends import EXAMPLES
from sandbox.docs_service.agent_runner import AgentRunner
from sandbox.docs_service.api import Api
from sandbox.docs_service.database import Database
from sandbox.docs_service.diff import FileDiff, compare
from sandbox.docs_service.jobs import Job
from sandbox.docs_service.options import EXPIRED_KEY, READ_KEY, DocsServiceOptions, product_name
from sandbox.docs_service.repository import CommitInfo, SiteRepository

_FOLDER = Path(__file__).parent / "templates"
_JOBS_SHOWN = 50
# Previews contain text from prompts, so a page may load only this service's styles and run no script.
# https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Content-Security-Policy
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # With no-referrer, browsers send the form's Origin as "null".
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["moment"] = lambda at: at.astimezone(UTC).strftime("%-d %b %Y, %H:%M:%S UTC")
    environment.filters["product"] = product_name
    return environment


class Pages:
    """The handlers of the HTML pages; the templates escape all values."""

    def __init__(
        self,
        options: DocsServiceOptions,
        clock: Callable[[], datetime],
        database: Database,
        agent: AgentRunner,
        api: Api,
        address: Callable[[web.Request], str],
    ) -> None:
        self._options = options
        self._clock = clock
        self._database = database
        self._agent = agent
        self._api = api
        self._address = address
        self._templates = _environment()
        self._markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
        # Other addresses come from prompts and stay text.
        self._markdown.validateLink = _is_on_site  # type: ignore[method-assign]

    def add_routes(self, app: web.Application) -> None:
        """Add the routes of the pages to the application."""
        app.router.add_get("/", self._start)
        app.router.add_get("/static/style.css", self._style)
        app.router.add_get("/{project}/job/{id}", self._job)
        app.router.add_post("/{project}/job/{id}/archive", self._archive)
        app.router.add_get(r"/{project}/pull/{number:\d{1,9}}", self._pull)
        app.router.add_get(r"/{project}/pull/{number:\d{1,9}}/files", self._pull_files)
        app.router.add_get("/{project}/commit/{sha:[0-9a-f]{40}}", self._commit)
        app.router.add_get("/{project}/tree", self._tree)
        app.router.add_get("/{project}/tree/{path:.*}", self._tree)

    async def _start(self, request: web.Request) -> web.Response:
        await self._agent.finish_due()
        shown = await self._database.run(jobs.newest, _JOBS_SHOWN)
        return self._page(
            "start.html",
            address=self._address(request),
            options=self._options,
            read_key=READ_KEY,
            expired_key=EXPIRED_KEY,
            jobs=shown,
            examples=EXAMPLES,
            faults=faults.EXPLAINED,
            operations=faults.OPERATIONS,
            waiting=self._api.faults.waiting(),
            repositories={name: str(made.path) for name, made in self._agent.repositories.items()},
        )

    async def _style(self, _: web.Request) -> web.Response:
        text = await asyncio.to_thread((_FOLDER / "style.css").read_text, "utf-8")
        return web.Response(text=text, content_type="text/css", headers={"Cache-Control": "no-cache"})

    async def _job(self, request: web.Request) -> web.Response:
        await self._agent.finish_due()
        job = await self._find_job(request)
        return self._page("job.html", project=job.project, job=job, now=self._clock())

    async def _archive(self, request: web.Request) -> web.Response:
        # Another site could post this form too, so compare the Origin header that browsers send.
        origin = request.headers.get("Origin")
        if origin is not None and origin.split("://")[-1] != request.host:
            raise web.HTTPForbidden(text="this form was sent from another site")
        job = await self._find_job(request)
        await self._database.run(jobs.archive, job, self._clock())
        self._agent.authors[job.project].stop(job.id)
        raise web.HTTPSeeOther(f"/{job.project}/job/{job.id}")

    async def _find_pull(self, request: web.Request) -> tuple[Job, SiteRepository, str]:
        """Return the job of a pull request, its repository and the commit that it began from."""
        await self._agent.finish_due()
        repository = self._repository(request)
        number = int(request.match_info["number"])
        job = await self._database.run(jobs.find_pull, request.match_info["project"], number)
        if job is None or job.base_sha is None:
            raise web.HTTPNotFound
        return job, repository, job.base_sha

    async def _pull_files(self, request: web.Request) -> web.Response:
        """Return the title and the changed files of a pull request as JSON, for a preview of its link."""
        job, repository, base = await self._find_pull(request)
        _, _, found = await asyncio.to_thread(_read_pull, repository, job.branch, base)
        changes = _main_page_first(found, job.page)
        files = [
            {"path": one.path, "action": one.action, "added": one.added, "removed": one.removed}
            for one in changes
        ]
        return web.json_response({"title": job.title, "number": job.pull_number, "files": files})

    async def _pull(self, request: web.Request) -> web.Response:
        job, repository, base = await self._find_pull(request)
        commits, new, found = await asyncio.to_thread(_read_pull, repository, job.branch, base)
        changes = _main_page_first(found, job.page)
        previews = {
            one.path: self._preview(new[one.path], job.project, one.path, job.branch)
            for one in changes
            if one.path.endswith(".md") and one.path in new
        }
        return self._page(
            "pull.html",
            project=job.project,
            main=repository.main,
            job=job,
            number=job.pull_number,
            commits=commits,
            changes=changes,
            previews=previews,
            page=job.page,
        )

    async def _commit(self, request: web.Request) -> web.Response:
        repository, sha = self._repository(request), request.match_info["sha"]
        if await asyncio.to_thread(repository.resolve, sha) is None:
            raise web.HTTPNotFound
        info, changes = await asyncio.to_thread(_read_commit, repository, sha)
        return self._page("commit.html", project=request.match_info["project"], commit=info, changes=changes)

    async def _tree(self, request: web.Request) -> web.Response:
        repository, project = self._repository(request), request.match_info["project"]
        ref = request.query.get("ref", repository.main)
        sha = await asyncio.to_thread(repository.resolve, ref)
        if sha is None:
            raise web.HTTPNotFound
        paths = await asyncio.to_thread(repository.paths, sha)
        path = request.match_info.get("path", "").strip("/")
        below = f"{path}/" if path else ""
        common: dict[str, Any] = {"project": project, "ref": ref, "path": path}
        if path in paths:
            text = (await asyncio.to_thread(repository.files, sha, [path]))[path]
            preview = self._preview(text, project, path, ref) if path.endswith(".md") else None
            return self._page("file.html", lines=text.split("\n"), preview=preview, **common)
        entries = sorted({_entry(name, below) for name in paths if name.startswith(below)})
        if not entries:
            raise web.HTTPNotFound
        return self._page("tree.html", entries=entries, below=below, **common)

    def _repository(self, request: web.Request) -> SiteRepository:
        repository = self._agent.repositories.get(request.match_info["project"])
        if repository is None:
            raise web.HTTPNotFound
        return repository

    async def _find_job(self, request: web.Request) -> Job:
        found = await self._database.run(jobs.find, request.match_info["project"], request.match_info["id"])
        if found is None:
            raise web.HTTPNotFound
        return found

    def _preview(self, text: str, project: str, path: str, ref: str) -> Markup:
        """Render Markdown as HTML; links to other pages lead to their files here."""

        def to_file(match: re.Match[str]) -> str:
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[1]))
            return f'href="/{project}/tree/{target}?ref={ref}"'

        html = self._markdown.render(text)
        # What may be wider than the page can be scrolled by keyboard.
        html = html.replace("<pre>", '<pre tabindex="0">')
        # With html off the renderer escapes tags in the text, so all remaining tags are its own.
        return Markup(re.sub(r'href="((?![/#])[^":]+\.md)"', to_file, html))  # noqa: S704

    def _page(self, template: str, status: int = 200, **values: Any) -> web.Response:
        text = self._templates.get_template(template).render(**values)
        return web.Response(text=text, status=status, content_type="text/html", headers=_HEADERS)

    def problem(self, status: int, text: str) -> web.Response:
        """Return an error page."""
        return self._page("problem.html", status, code=status, text=text)


def _is_on_site(url: str) -> bool:
    """Return whether an address has no host and no scheme."""
    return not url.startswith("//") and ":" not in url


def _read_pull(
    repository: SiteRepository, branch: str, base: str
) -> tuple[list[CommitInfo], Mapping[str, str], list[FileDiff]]:
    head = repository.head(branch) or base
    old, new = repository.difference(base, head)
    return repository.commits(head, base), new, compare(old, new)


def _main_page_first(changes: list[FileDiff], page: str | None) -> list[FileDiff]:
    return sorted(changes, key=lambda one: (one.path != page, one.path))


def _read_commit(repository: SiteRepository, sha: str) -> tuple[CommitInfo, list[FileDiff]]:
    info = repository.info(sha)
    if info.parent is None:
        return info, compare({}, repository.files(sha))
    return info, compare(*repository.difference(info.parent, sha))


def _entry(name: str, below: str) -> str:
    folder, slash, _ = name.removeprefix(below).partition("/")
    return folder + slash
