"""HTML pages: the start page, jobs, and pull requests with their diff."""

from __future__ import annotations

import asyncio
from datetime import UTC
from pathlib import Path
from typing import Any

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from sandbox.docs_service.agent import EXAMPLES
from sandbox.docs_service.agent.writing import without_background
from sandbox.docs_service.backend import OWNER, Backend
from sandbox.docs_service.discovery import published_pages
from sandbox.docs_service.operations import FAULTS, Operations
from sandbox.docs_service.previews import Previews
from sandbox.docs_service.pulls import Pulls
from sandbox.docs_service.store import Job

_FOLDER = Path(__file__).parent / "templates"
_JOBS_SHOWN = 50
_START_PAGES = ("index", "docs/index")
"""The page at a preview's own address, if the branch has it; otherwise its first page."""
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


class Pages:
    """The handlers of the HTML pages; the templates escape all values."""

    def __init__(
        self, backend: Backend, operations: Operations, pulls: Pulls, previews: Previews
    ) -> None:
        self._backend = backend
        self._operations = operations
        self._pulls = pulls
        self._previews = previews
        loader = FileSystemLoader(_FOLDER)
        self._templates = Environment(
            loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True
        )
        self._templates.globals |= {"owner": OWNER, "project": backend.options.project}
        self._templates.filters["moment"] = lambda at: at.astimezone(UTC).strftime(
            "%-d %b %Y, %H:%M:%S UTC"
        )
        self._templates.filters["without_background"] = without_background
        self._markdown = (
            MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "link"])
        )

    def add_routes(self, app: web.Application) -> None:
        """Add the routes of the pages to the application."""
        project = self._backend.options.project
        pull = f"/{OWNER}/{project}/pull/{{number:\\d{{1,9}}}}"
        app.router.add_get("/", self._start)
        app.router.add_static("/static/", _FOLDER / "static")
        app.router.add_get(f"/{OWNER}/{project}", self._repository)
        app.router.add_get(f"/{project}/job/{{id}}", self._job)
        app.router.add_post(f"/{project}/job/{{id}}/archive", self._archive)
        app.router.add_get(
            f"/preview/{project}/{{slug:[0-9a-f]+}}{{page:(?:/.*)?}}", self._show_preview
        )
        app.router.add_get(f"/{project}/docs/{{page:.*}}", self._show_published)
        app.router.add_get(pull, self._pull)
        app.router.add_get(f"{pull}/files", self._pull)
        app.router.add_post(f"{pull}/merge", self._end_pull)
        app.router.add_post(f"{pull}/close", self._end_pull)

    async def _start(self, _: web.Request) -> web.Response:
        await self._backend.agent.finish_due()
        return self._page(
            "start.html",
            address=self._backend.base_url,
            options=self._backend.options,
            jobs=list(self._backend.jobs)[: -_JOBS_SHOWN - 1 : -1],
            examples=EXAMPLES,
            faults=FAULTS,
            operations=[one.name for one in self._operations.all],
            waiting=self._operations.faults.waiting(),
            repository=self._backend.repository.path,
        )

    async def _repository(self, _: web.Request) -> web.Response:
        """Redirect from the address of the project's repository to where its folder is named."""
        raise web.HTTPFound("/#projects")

    async def _job(self, request: web.Request) -> web.Response:
        await self._backend.agent.finish_due()
        return self._page("job.html", job=self._find_job(request), now=self._backend.clock())

    async def _archive(self, request: web.Request) -> web.Response:
        _check_origin(request)
        job = self._find_job(request)
        self._backend.jobs.archive(job, self._backend.clock())
        self._backend.agent.author.stop(job.id)
        raise web.HTTPSeeOther(request.path.removesuffix("/archive"))

    def _find_job(self, request: web.Request) -> Job:
        job = self._backend.jobs.find(request.match_info["id"])
        if job is None:
            raise web.HTTPNotFound
        return job

    async def _pull(self, request: web.Request) -> web.Response:
        pull = await self._pulls.find(int(request.match_info["number"]))
        return self._page(
            "pull.html",
            main=self._backend.repository.main,
            pull=pull,
            job=pull.job,
            can_end=not self._backend.options.agent,
        )

    async def _end_pull(self, request: web.Request) -> web.Response:
        """Merge or close a pull request; one of somebody's own repository is left to them."""
        _check_origin(request)
        pull = await self._pulls.find(int(request.match_info["number"]))
        if self._backend.options.agent or not await self._pulls.end(
            pull, merge=request.path.endswith("/merge")
        ):
            raise web.HTTPConflict(text="This pull request cannot be merged here.")
        raise web.HTTPSeeOther(request.path.rpartition("/")[0])

    async def _show_preview(self, request: web.Request) -> web.Response:
        slug, page = request.match_info["slug"], request.match_info["page"]
        job, pages = await self._previews.pages(slug)
        path = page.strip("/") or next(
            (one for one in _START_PAGES if one in pages), min(pages, default="")
        )
        if path not in pages:
            raise web.HTTPNotFound
        home = request.path.removesuffix(page)
        html = self._preview(pages[path])
        return self._page(
            "preview.html", job=job, path=path, html=html, pages=sorted(pages), home=home
        )

    async def _show_published(self, request: web.Request) -> web.Response:
        texts, path = (
            await asyncio.to_thread(published_pages, self._backend),
            request.match_info["page"],
        )
        if path not in texts:
            raise web.HTTPNotFound
        home = self._backend.page_url("").rstrip("/")
        html = self._preview(texts[path])
        return self._page(
            "preview.html", job=None, path=path, html=html, pages=sorted(texts), home=home
        )

    def _preview(self, text: str) -> Markup:
        """Render Markdown as HTML; links and images, whose addresses come from prompts, stay text."""
        # Wide elements can be scrolled by keyboard. With html off the renderer escapes tags in the text,
        # so all remaining tags are its own.
        return Markup(self._markdown.render(text).replace("<pre>", '<pre tabindex="0">'))  # noqa: S704

    def _page(self, template: str, status: int = 200, **values: Any) -> web.Response:
        text = self._templates.get_template(template).render(**values)
        return web.Response(text=text, status=status, content_type="text/html", headers=_HEADERS)

    def problem(self, status: int, text: str) -> web.Response:
        """Return an error page."""
        return self._page("problem.html", status, code=status, text=text)


def _check_origin(request: web.Request) -> None:
    # Another site could post a form too, so compare the Origin header that browsers send.
    origin = request.headers.get("Origin")
    if origin is not None and origin.split("://")[-1] != request.host:
        raise web.HTTPForbidden(text="this form was sent from another site")
