"""Assemble, start and stop the docs service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import datetime

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from pydantic import ValidationError

from sandbox.docs_service import openapi, previews, store, visits, wire
from sandbox.docs_service.api import Api, OnProgress, log_middleware
from sandbox.docs_service.options import BODY_LIMIT_BYTES, DocsServiceOptions, utcnow
from sandbox.docs_service.own_agent import CommandAuthor, remove_leftovers
from sandbox.docs_service.pages import Pages
from sandbox.docs_service.pulls import Pulls
from sandbox.docs_service.runner import AgentRunner, TemplateAuthor
from sandbox.docs_service.store import Database
from sandbox.docs_service.wire import RefusedError
from sandbox.doors import HOST, Door, guard

_STOP_SECONDS = 1.0


class DocsService:
    """A docs service with its data in a folder; a restart in the same folder continues."""

    def __init__(
        self,
        options: DocsServiceOptions,
        clock: Callable[[], datetime] = utcnow,
        on_progress: OnProgress | None = None,
    ) -> None:
        self.options = options
        self._base_url: str | None = None
        self._runner: web.AppRunner | None = None
        self._database = Database(options.folder / "service.db", store.SCHEMA + previews.SCHEMA)
        # Another seed or size makes another site, so its visits get a file of their own.
        shape = f"{options.seed}-{options.pages}-{options.days}"
        self._readers = Database(options.folder / f"visits-{shape}.db", visits.SCHEMA)
        self._agent = AgentRunner(
            options, self._database, clock, CommandAuthor if options.agent else TemplateAuthor
        )
        pulls = Pulls(clock, self._database, self._agent, self._address)
        shown = previews.Previews(clock, self._database, self._agent, options.build_seconds)
        self._api = Api(
            options,
            clock,
            self._database,
            self._readers,
            self._agent,
            pulls,
            shown,
            self._address,
            on_progress,
        )
        self._pages = Pages(
            options, clock, self._database, self._agent, self._api, pulls, shown, self._address
        )
        self.faults = self._api.faults
        self._clock = clock

    async def start(self, port: int = 0) -> str:
        """Start the service and return its base URL for callers on this machine. Port 0 takes a free port."""
        if self._runner is not None:
            raise RuntimeError("the docs service has been started already")
        self._runner = web.AppRunner(self.web_app(), access_log=None, shutdown_timeout=_STOP_SECONDS)
        try:
            await self._runner.setup()
            await Door(self._runner, HOST, port).start()
        except BaseException:
            await self.stop()
            raise
        self._base_url = f"http://{HOST}:{self._runner.addresses[0][1]}"
        return self._base_url

    async def stop(self) -> None:
        """Reject new requests, end the current ones and close the files; do nothing if not started."""
        runner, self._runner, self._base_url = self._runner, None, None
        if runner is not None:
            self._api.closing.set()
            await runner.cleanup()

    def web_app(self) -> web.Application:
        """Return the service as an aiohttp application that starts and stops its parts."""
        app = web.Application(
            middlewares=[self._page_errors, log_middleware(self._database, self._clock)],
            client_max_size=BODY_LIMIT_BYTES,
        )
        guard(app)
        self._api.add_routes(app)
        app.router.add_get("/openapi.json", self._openapi)
        app.router.add_post("/sandbox/faults", self._order_faults)
        app.router.add_get("/sandbox/faults", self._show_faults)
        app.router.add_delete("/sandbox/faults", self._clear_faults)
        app.router.add_get("/sandbox/log", self._log)
        self._pages.add_routes(app)
        app.cleanup_ctx.append(self._lifespan)
        return app

    async def _lifespan(self, _: web.Application) -> AsyncIterator[None]:
        self._api.closing.clear()
        try:
            await self._api.generate_visits()
            if self.options.repository is not None:
                await asyncio.to_thread(remove_leftovers, self.options.repository, self.options.worktrees)
            await self._agent.start()
            yield
        finally:
            await self._agent.stop()
            await self._database.close()
            await self._readers.close()

    def _address(self, request: web.Request) -> str:
        return self._base_url or str(request.url.origin())

    async def _openapi(self, request: web.Request) -> web.Response:
        return web.json_response(openapi.document(self._address(request), self.options))

    async def _order_faults(self, request: web.Request) -> web.Response:
        try:
            body = json.loads(await request.text())
            self._api.faults.order(body.get("next") if isinstance(body, dict) else None)
        except ValidationError as error:
            return RefusedError(400, wire.said_of(error)).response()
        except ValueError as error:
            return RefusedError(400, str(error)).response()
        return await self._show_faults(request)

    async def _show_faults(self, _: web.Request) -> web.Response:
        return web.json_response({"next": self._api.faults.waiting()})

    async def _clear_faults(self, request: web.Request) -> web.Response:
        self._api.faults.clear()
        return await self._show_faults(request)

    async def requests(self) -> list[dict[str, object]]:
        """Return the requests so far, oldest first, as `/sandbox/log` shows them."""
        return await self._database.run(store.read_log)

    async def _log(self, _: web.Request) -> web.Response:
        return web.json_response(await self.requests())

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
                response.headers.update({"Allow": allow} if (allow := error.headers.get("Allow")) else {})
                return response

        return show
