"""HTML pages: the start page, jobs, and pull requests with their diff."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import unified_diff
from pathlib import Path
from typing import Any

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from sandbox.docs_service import store
from sandbox.docs_service.agent import EXAMPLES
from sandbox.docs_service.api import FAULTS, OPERATIONS, Api
from sandbox.docs_service.options import EXPIRED_KEY, READ_KEY, DocsServiceOptions
from sandbox.docs_service.repository import CommitInfo, SiteRepository
from sandbox.docs_service.runner import AgentRunner
from sandbox.docs_service.store import Database, Job

_FOLDER = Path(__file__).parent / "templates"
_JOBS_SHOWN = 50
_KINDS = {"+": "added", "-": "removed", "@": "hunk"}
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
        loader = FileSystemLoader(_FOLDER)
        self._templates = Environment(
            loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True
        )
        self._templates.filters["moment"] = lambda at: at.astimezone(UTC).strftime("%-d %b %Y, %H:%M:%S UTC")
        self._markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "link"])

    def add_routes(self, app: web.Application) -> None:
        """Add the routes of the pages to the application."""
        app.router.add_get("/", self._start)
        app.router.add_get("/static/style.css", self._style)
        app.router.add_get("/{project}/tree", self._repositories)
        app.router.add_get("/{project}/job/{id}", self._job)
        app.router.add_post("/{project}/job/{id}/archive", self._archive)
        app.router.add_get(r"/{project}/pull/{number:\d{1,9}}", self._pull)
        app.router.add_get(r"/{project}/pull/{number:\d{1,9}}/files", self._pull_files)

    async def _start(self, request: web.Request) -> web.Response:
        await self._agent.finish_due()
        return self._page(
            "start.html",
            address=self._address(request),
            options=self._options,
            read_key=READ_KEY,
            expired_key=EXPIRED_KEY,
            jobs=await self._database.run(store.newest, _JOBS_SHOWN),
            examples=EXAMPLES,
            faults=FAULTS,
            operations=OPERATIONS,
            waiting=self._api.faults.waiting(),
            repositories={name: str(made.path) for name, made in self._agent.repositories.items()},
        )

    async def _style(self, _: web.Request) -> web.Response:
        text = await asyncio.to_thread((_FOLDER / "style.css").read_text, "utf-8")
        return web.Response(text=text, content_type="text/css", headers={"Cache-Control": "no-cache"})

    async def _repositories(self, _: web.Request) -> web.Response:
        """Redirect from the address of a project's repository to where its folder is named."""
        raise web.HTTPFound("/#projects")

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
        await self._database.run(store.archive, job, self._clock())
        self._agent.authors[job.project].stop(job.id)
        raise web.HTTPSeeOther(f"/{job.project}/job/{job.id}")

    async def _find_pull(
        self, request: web.Request
    ) -> tuple[Job, list[CommitInfo], Mapping[str, str], list[FileDiff]]:
        """Return the job of a pull request, its commits, the new texts of its files, and how they differ."""
        await self._agent.finish_due()
        project, number = request.match_info["project"], int(request.match_info["number"])
        job = await self._database.run(store.find_pull, project, number)
        if project not in self._agent.repositories or job is None or job.base_sha is None:
            raise web.HTTPNotFound
        found = await asyncio.to_thread(
            _read_pull, self._agent.repositories[project], job.branch, job.base_sha
        )
        commits, old, new = found
        return job, commits, new, compare(old, new, job.page)

    async def _pull_files(self, request: web.Request) -> web.Response:
        """Return the title and the changed files of a pull request as JSON, for a preview of its link."""
        job, _, _, changes = await self._find_pull(request)
        files = [
            {
                "path": one.path,
                "action": one.action,
                "added": one.count("added"),
                "removed": one.count("removed"),
            }
            for one in changes
        ]
        return web.json_response({"title": job.title, "number": job.pull_number, "files": files})

    async def _pull(self, request: web.Request) -> web.Response:
        job, commits, new, changes = await self._find_pull(request)
        previews = {
            one.path: self._preview(new[one.path])
            for one in changes
            if one.path.endswith(".md") and one.path in new
        }
        main = self._agent.repositories[job.project].main
        return self._page(
            "pull.html", main=main, job=job, commits=commits, changes=changes, previews=previews
        )

    async def _find_job(self, request: web.Request) -> Job:
        found = await self._database.run(store.find, request.match_info["project"], request.match_info["id"])
        if found is None:
            raise web.HTTPNotFound
        return found

    def _preview(self, text: str) -> Markup:
        """Render Markdown as HTML; links and images, whose addresses come from prompts, stay text."""
        # What may be wider than the page can be scrolled by keyboard. With html off the renderer escapes
        # tags in the text, so all remaining tags are its own.
        return Markup(self._markdown.render(text).replace("<pre>", '<pre tabindex="0">'))  # noqa: S704

    def _page(self, template: str, status: int = 200, **values: Any) -> web.Response:
        text = self._templates.get_template(template).render(**values)
        return web.Response(text=text, status=status, content_type="text/html", headers=_HEADERS)

    def problem(self, status: int, text: str) -> web.Response:
        """Return an error page."""
        return self._page("problem.html", status, code=status, text=text)


def _read_pull(
    repository: SiteRepository, branch: str, base: str
) -> tuple[list[CommitInfo], Mapping[str, str], Mapping[str, str]]:
    head = repository.head(branch) or base
    return repository.commits(head, base), *repository.difference(base, head)
