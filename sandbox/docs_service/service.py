"""Assemble, start and stop the docs service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from pydantic import ValidationError

from sandbox.docs_service import openapi
from sandbox.docs_service.analytics import Analytics, OnProgress
from sandbox.docs_service.backend import Backend
from sandbox.docs_service.direct import DirectRequest
from sandbox.docs_service.discovery import Discovery
from sandbox.docs_service.job_api import JobApi
from sandbox.docs_service.operations import Operations
from sandbox.docs_service.options import BODY_LIMIT_BYTES, DocsServiceOptions, utcnow
from sandbox.docs_service.own_agent import remove_leftovers
from sandbox.docs_service.pages import Pages
from sandbox.docs_service.previews import Previews
from sandbox.docs_service.pulls import Pulls
from sandbox.docs_service.runner import Author
from sandbox.docs_service.store import Job, WorkDone, new_job_id
from sandbox.docs_service.wire import RefusedError, first_mistake
from sandbox.doors import serve


class DocsService:
    """A docs service with its data in a folder; another one in the same folder continues.

    Without a folder it keeps its data in memory, and `answer` needs no server.
    """

    def __init__(
        self,
        options: DocsServiceOptions,
        clock: Callable[[], datetime] = utcnow,
        on_progress: OnProgress | None = None,
        *,
        author: type[Author] | None = None,
        new_id: Callable[[], str] = new_job_id,
    ) -> None:
        """``author`` writes in place of the agent of the options; ``new_id`` makes a job's id."""
        self.options = options
        self._runner: web.AppRunner | None = None
        self._backend = Backend(options, clock, author, new_id)
        self._analytics = Analytics(self._backend, on_progress)
        pulls, previews = Pulls(self._backend), Previews(self._backend)
        parts = (JobApi(self._backend), self._analytics, previews, pulls, Discovery(self._backend))
        self._operations = Operations(
            options, clock, [one for part in parts for one in part.operations()]
        )
        self._pages = Pages(self._backend, self._operations, pulls, previews)
        self.faults = self._operations.faults
        self.log = self._operations.log
        """The requests so far, oldest first, as `/sandbox/log` shows them."""
        self.scripted = self._operations.scripted
        self.jobs = self._backend.jobs

    async def start(self, port: int = 0) -> str:
        """Start the service and return its base URL for callers on this machine. Port 0 takes a free port."""
        self._runner, self._backend.base_url = await serve(self._web_app(), port)
        return self._backend.base_url

    async def answer(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes = b""
    ) -> web.Response:
        """Answer a request without a server. Raise `ConnectionError` if its connection is dropped.

        ``target``: the path with the query.
        """
        return await self._operations.answer(DirectRequest(method, target, headers, body))

    def add_job(self, prompt: str) -> Job:
        """Create a job as a caller does, without counting a use."""
        return self._backend.create_job(prompt, self.options.project)

    def end_job(self, job: Job, done: WorkDone) -> None:
        """End a job's unfinished messages with this outcome, in place of the author."""
        self._backend.agent.end(job, done)

    def close(self) -> None:
        """Close the data of a service that was not started."""
        self._backend.shelf.close()

    async def stop(self) -> None:
        """Reject new requests, end the current ones and close the files."""
        if self._runner is not None:
            await self._runner.cleanup()

    def _web_app(self) -> web.Application:
        app = web.Application(middlewares=[self._page_errors], client_max_size=BODY_LIMIT_BYTES)
        self._operations.add_to(app)
        app.router.add_get("/openapi.json", self._openapi)
        app.router.add_post("/sandbox/faults", self._order_faults)
        app.router.add_get("/sandbox/faults", self._show_faults)
        app.router.add_delete("/sandbox/faults", self._clear_faults)
        app.router.add_get("/sandbox/log", self._show_log)
        self._pages.add_routes(app)
        app.cleanup_ctx.append(self._lifespan)
        return app

    async def _lifespan(self, _: web.Application) -> AsyncIterator[None]:
        try:
            await self._analytics.generate_visits()
            if self.options.repository is not None:
                await asyncio.to_thread(
                    remove_leftovers, self.options.repository, self.options.worktrees
                )
            await self._backend.agent.start()
            yield
        finally:
            await self._backend.agent.stop()
            await self._analytics.close()
            self._backend.shelf.close()

    async def _openapi(self, _: web.Request) -> web.Response:
        return web.json_response(openapi.document(self._backend.base_url, self._operations.all))

    async def _order_faults(self, request: web.Request) -> web.Response:
        try:
            body = json.loads(await request.text())
            self.faults.order(body.get("next") if isinstance(body, dict) else None)
        except ValidationError as error:
            return RefusedError(400, first_mistake(error)).response()
        except ValueError as error:
            return RefusedError(400, str(error)).response()
        return await self._show_faults(request)

    async def _show_faults(self, _: web.Request) -> web.Response:
        return web.json_response({"next": self.faults.waiting()})

    async def _clear_faults(self, request: web.Request) -> web.Response:
        self.faults.clear()
        return await self._show_faults(request)

    async def _show_log(self, _: web.Request) -> web.Response:
        return web.json_response(self.log)

    @property
    def _page_errors(self) -> Middleware:
        @web.middleware
        async def show(request: web.Request, handler: Handler) -> web.StreamResponse:
            try:
                return await handler(request)
            except web.HTTPNotFound:
                return self._pages.problem(404, "There is nothing at this address.")
            except web.HTTPClientError as error:
                response = self._pages.problem(error.status, error.text or error.reason)
                response.headers.update(
                    {"Allow": allow} if (allow := error.headers.get("Allow")) else {}
                )
                return response

        return show
