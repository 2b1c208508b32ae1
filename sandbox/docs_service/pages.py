"""HTML pages: the start page, jobs, and pull requests with their diff."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from sandbox.docs_service import store
from sandbox.docs_service.agent import EXAMPLES
from sandbox.docs_service.agent.writing import without_background
from sandbox.docs_service.api import FAULTS, OPERATIONS, Api
from sandbox.docs_service.options import EXPIRED_KEY, READ_KEY, DocsServiceOptions
from sandbox.docs_service.previews import Previews
from sandbox.docs_service.pulls import OWNER, Pulls
from sandbox.docs_service.runner import AgentRunner
from sandbox.docs_service.store import Database, Job

_FOLDER = Path(__file__).parent / "templates"
_JOBS_SHOWN = 50
_START_PAGES = ("index", "docs/index")
"""What a preview's own address shows, if the branch has it; otherwise its first page."""
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
        self,
        options: DocsServiceOptions,
        clock: Callable[[], datetime],
        database: Database,
        agent: AgentRunner,
        api: Api,
        pulls: Pulls,
        previews: Previews,
        address: Callable[[web.Request], str],
    ) -> None:
        self._options = options
        self._clock = clock
        self._database = database
        self._agent = agent
        self._api = api
        self._pulls = pulls
        self._previews = previews
        self._address = address
        loader = FileSystemLoader(_FOLDER)
        self._templates = Environment(
            loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True
        )
        self._templates.globals["owner"] = OWNER
        self._templates.filters["moment"] = lambda at: at.astimezone(UTC).strftime("%-d %b %Y, %H:%M:%S UTC")
        self._templates.filters["without_background"] = without_background
        self._markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "link"])

    def add_routes(self, app: web.Application) -> None:
        """Add the routes of the pages to the application."""
        app.router.add_get("/", self._start)
        app.router.add_get("/static/style.css", self._style)
        app.router.add_get(f"/{OWNER}/{{project}}", self._repositories)
        app.router.add_get("/{project}/job/{id}", self._job)
        app.router.add_post("/{project}/job/{id}/archive", self._archive)
        app.router.add_get("/preview/{project}/{slug:[0-9a-f]+}{page:(?:/.*)?}", self._show_preview)
        pull = f"/{OWNER}/{{projectId}}/pull/{{number:\\d{{1,9}}}}"
        app.router.add_get(pull, self._pull)
        app.router.add_post(f"{pull}/merge", self._end_pull)
        app.router.add_post(f"{pull}/close", self._end_pull)

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
        _check_origin(request)
        job = await self._find_job(request)
        await self._database.run(store.archive, job, self._clock())
        self._agent.authors[job.project].stop(job.id)
        raise web.HTTPSeeOther(f"/{job.project}/job/{job.id}")

    async def _pull(self, request: web.Request) -> web.Response:
        pull = await self._pulls.find(request)
        previews = {
            one.path: self._preview(pull.texts[one.path])
            for one in pull.changes
            if one.path.endswith(".md") and one.path in pull.texts
        }
        main = self._agent.repositories[pull.job.project].main
        can_end = not self._options.agent
        return self._page("pull.html", main=main, pull=pull, job=pull.job, previews=previews, can_end=can_end)

    async def _end_pull(self, request: web.Request) -> web.Response:
        """Merge or close a pull request; one of somebody's own repository is left to them."""
        _check_origin(request)
        pull = await self._pulls.find(request)
        if self._options.agent or not await self._pulls.end(pull, merge=request.path.endswith("/merge")):
            raise web.HTTPConflict(text="This pull request cannot be merged here.")
        raise web.HTTPSeeOther(request.path.rpartition("/")[0])

    async def _show_preview(self, request: web.Request) -> web.Response:
        asked = request.match_info
        job, pages = await self._previews.pages(asked["project"], asked["slug"])
        home = f"/preview/{job.project}/{asked['slug']}"
        path = asked["page"].strip("/") or next(
            (one for one in _START_PAGES if one in pages), min(pages, default="")
        )
        if path not in pages:
            raise web.HTTPNotFound
        html = self._preview(pages[path])
        return self._page("preview.html", job=job, path=path, html=html, pages=sorted(pages), home=home)

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


def _check_origin(request: web.Request) -> None:
    # Another site could post a form too, so compare the Origin header that browsers send.
    origin = request.headers.get("Origin")
    if origin is not None and origin.split("://")[-1] != request.host:
        raise web.HTTPForbidden(text="this form was sent from another site")
