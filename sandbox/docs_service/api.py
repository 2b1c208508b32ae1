"""The HTTP API: create a job, get a job, send a follow-up, count visitors, list what readers did."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from sandbox.docs_service import store, visits
from sandbox.docs_service.options import DocsServiceOptions
from sandbox.docs_service.previews import Previews
from sandbox.docs_service.pulls import OWNER, Pulls
from sandbox.docs_service.runner import AgentRunner
from sandbox.docs_service.store import Database, Job, LoggedRequest, Status
from sandbox.docs_service.wants import Wants
from sandbox.docs_service.wire import (
    BUILD_PATH,
    JOB_PATH,
    JOBS_PATH,
    LISTINGS,
    MESSAGE_PATH,
    PREVIEW_PATH,
    PULL_PATH,
    VISITORS_PATH,
    Branch,
    JobAnswer,
    Prompt,
    RefusedError,
    check_key,
    format_time,
    read_body,
    read_listing_query,
    read_visitors_query,
)
from sandbox.faults import Faults, Order

log = logging.getLogger(__name__)

MODEL = "sandbox-writer-1"
LOG_ENTRY: web.RequestKey[LoggedRequest] = web.RequestKey("log_entry", LoggedRequest)
OPERATIONS = ("create", "follow_up", "get", "visitors", *LISTINGS, "preview", "build", "pull_request")
FAULTS: Mapping[str, str] = {
    "500": "answers 500 with a JSON error; nothing is done",
    "502_html": "answers 502 with a page of HTML, as a proxy does; nothing is done",
    "429": "answers 429 with Retry-After (seconds, 30 unless told)",
    "429_no_header": "answers 429 without Retry-After",
    "401": "answers 401, as for an expired key",
    "403": "answers 403, as for a key without the scope",
    "404": "answers 404, as for an unknown job",
    "timeout": "holds the request (seconds, 60 unless told), then closes it; nothing is done",
    "lost_answer": "carries the request out, then closes the connection without an answer",
    "slow": "waits (seconds, 5 unless told), then does as usual",
    "stale_status": "answers with the job as it was before its latest change",
    "odd_status": 'answers with a status that is in no document (value, "paused" unless told)',
    "bad_pr_link": "answers with a prLink that is no web address (value to choose it)",
    "broken_build": "begins the build of a preview that will fail",
    "broken_json": "carries the request out and answers with half of the JSON",
}


@dataclass
class Answer:
    """A status code, a JSON body and headers; `stale` is the body before the job's latest change."""

    status: int
    body: Mapping[str, Any]
    stale: Mapping[str, Any] | None = None
    headers: Mapping[str, str] | None = None

    def response(self, **changes: object) -> web.Response:
        """Return the response, with other values for some fields."""
        return web.json_response({**self.body, **changes}, status=self.status, headers=self.headers)


Operation = Callable[[web.Request], Awaitable[Answer]]
OnProgress = Callable[[int, int], None]


class Api:
    """The handlers of the API's operations.

    `address` returns the base URL for links in responses. `on_progress(done, total)` is called after each
    generated day of visits.
    """

    def __init__(
        self,
        options: DocsServiceOptions,
        clock: Callable[[], datetime],
        database: Database,
        readers: Database,
        agent: AgentRunner,
        pulls: Pulls,
        previews: Previews,
        address: Callable[[web.Request], str],
        on_progress: OnProgress | None,
    ) -> None:
        self._options = options
        self._clock = clock
        self._database = database
        self._readers = readers
        self._agent = agent
        self._pulls = pulls
        self._previews = previews
        self._address = address
        self._on_progress = on_progress
        self._visits_until: date | None = None
        self._visits_lock = asyncio.Lock()
        self._counter = visits.VisitorCounter()
        self._wants = Wants(options.seed, options.pages, readers, agent.repositories)
        self.faults = Faults(OPERATIONS, FAULTS)
        self.closing = asyncio.Event()

    def add_routes(self, app: web.Application) -> None:
        """Add the routes of the operations to the application."""
        operations = (
            ("POST", JOBS_PATH, "create", self._create),
            ("GET", JOB_PATH, "get", self._get),
            ("POST", MESSAGE_PATH, "follow_up", self._follow_up),
            ("GET", VISITORS_PATH, "visitors", self._visitors),
            ("POST", PREVIEW_PATH, "preview", self._preview),
            ("GET", BUILD_PATH, "build", self._build),
            ("GET", PULL_PATH, "pull_request", self._pull_request),
        )
        for method, path, name, operation in operations:
            app.router.add_route(method, path, self._handler(name, operation))
        for name, listing in LISTINGS.items():
            app.router.add_route("GET", listing.path, self._handler(name, partial(self._list, name)))

    def _handler(self, name: str, operation: Operation) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            log_entry = request[LOG_ENTRY]
            log_entry.operation, log_entry.project = name, request.match_info.get("projectId")
            log_entry.job_id = request.match_info.get("id")
            fault = self.faults.take(name)
            if fault is None:
                return (await operation(request)).response()
            log_entry.fault = fault.fault
            return await self._apply_fault(request, operation, fault)

        return handle

    # Operations.

    async def _create(self, request: web.Request) -> Answer:
        project, prompt = await self._asked(request)
        job = await self._database.run(self._take_and_create, project, prompt)
        request[LOG_ENTRY].job_id = job.id
        self._agent.wake()
        return Answer(201, self._job_json(request, job))

    async def _follow_up(self, request: web.Request) -> Answer:
        project, prompt = await self._asked(request)
        await self._agent.finish_due()
        job = await self._database.run(self._take_and_follow_up, project, request.match_info["id"], prompt)
        self._agent.wake()
        return Answer(200, self._job_json(request, job), self._job_json(request, job, before=True))

    async def _get(self, request: web.Request) -> Answer:
        check_key(request, self._options, write=False)
        project = self._project(request)
        await self._agent.finish_due()
        job = await self._database.run(self._find, project, request.match_info["id"])
        return Answer(200, self._job_json(request, job), self._job_json(request, job, before=True))

    async def _preview(self, request: web.Request) -> Answer:
        check_key(request, self._options, write=True)
        project, asked = self._project(request), await read_body(request, Branch)
        breaks = request[LOG_ENTRY].fault == "broken_build"
        begun = await self._previews.begin(project, asked.branch, breaks=breaks)
        address = f"{self._address(request)}{begun['path']}"
        return Answer(202, {"statusId": begun["statusId"], "previewUrl": address})

    async def _build(self, request: web.Request) -> Answer:
        check_key(request, self._options, write=False)
        return Answer(200, await self._previews.answer(request.match_info["statusId"]))

    async def _visitors(self, request: web.Request) -> Answer:
        check_key(request, self._options, write=False)
        project = self._project(request)
        query = read_visitors_query(request)
        now = await self._begin_analytics()
        return Answer(200, await self._readers.run(self._counter.answer, project, query, now))

    async def _list(self, name: str, request: web.Request) -> Answer:
        check_key(request, self._options, write=False)
        project = self._project(request)
        query = read_listing_query(request, LISTINGS[name])
        now = await self._begin_analytics()
        return Answer(200, await self._wants.answer(name, project, query, now))

    async def _begin_analytics(self) -> datetime:
        """Count a call of the organisation, make the visits up to now, and return the time."""
        now, limit = self._clock(), self._options.analytics_calls_an_hour
        await self._database.run(store.take, "analytics", limit, now)
        await self.generate_visits()
        return now

    async def _pull_request(self, request: web.Request) -> Answer:
        status, body, headers = await self._pulls.answer(request)
        return Answer(status, body, headers=headers)

    async def generate_visits(self) -> None:
        """Generate and store the missing visits up to today."""
        async with self._visits_lock:
            today, options = self._clock().date(), self._options
            if self._visits_until is not None and today <= self._visits_until:
                return
            for project in options.projects:
                site = visits.Site(project, options.seed, options.pages)
                days = await self._readers.run(visits.missing_days, project, options.days, today)
                for number, day in enumerate(days, 1):
                    await self._readers.run(visits.store, site, day)
                    if self._on_progress is not None:
                        self._on_progress(number, len(days))
            self._visits_until = today

    async def _asked(self, request: web.Request) -> tuple[str, str]:
        """Return the project and the prompt of a request that may write."""
        check_key(request, self._options, write=True)
        project, prompt = self._project(request), (await read_body(request, Prompt)).prompt
        request[LOG_ENTRY].note_prompt(prompt)
        return project, prompt

    def _project(self, request: web.Request) -> str:
        project = request.match_info["projectId"]
        if project not in self._options.projects:
            raise RefusedError(404, "there is no such project")
        return project

    def _find(self, connection: Any, project: str, job_id: str) -> Job:
        job = store.find(connection, project, job_id)
        if job is None:
            raise RefusedError(404, "there is no such job in this project")
        return job

    def _take_and_create(self, connection: Any, project: str, prompt: str) -> Job:
        now, author = self._clock(), self._agent.authors[project]
        store.take(connection, f"agent {project}", self._options.uses_an_hour, now)
        return store.create(connection, project, prompt, now, author.work_seconds(prompt), author.branch)

    def _take_and_follow_up(self, connection: Any, project: str, job_id: str, prompt: str) -> Job:
        now, job = self._clock(), self._find(connection, project, job_id)
        if job.status is Status.ARCHIVED:
            raise RefusedError(400, "this job is archived and takes no more messages")
        store.take(connection, f"agent {project}", self._options.uses_an_hour, now)
        work_seconds = self._agent.authors[project].work_seconds(prompt)
        return store.follow_up(connection, job, prompt, now, work_seconds)

    def _job_json(self, request: web.Request, job: Job, *, before: bool = False) -> JobAnswer:
        """Return the job; with `before`, as it was before its latest change, as a lagging replica would."""
        status = job.status
        if before:
            status = job.last_end if status is Status.ACTIVE else Status.ACTIVE
        repository, link = f"{self._address(request)}/{OWNER}/{job.project}", None
        if status is not Status.ACTIVE and job.pull_number is not None:
            link = job.link or f"{repository}/pull/{job.pull_number}"
        archived = status is Status.ARCHIVED and job.archived_at
        return {
            "id": job.id,
            "status": str(status),
            "source": {"repository": repository, "ref": job.branch},
            "model": MODEL,
            "prLink": link,
            "createdAt": format_time(job.created_at),
            "archivedAt": format_time(archived) if archived else None,
        }

    # Faults.

    async def _apply_fault(
        self, request: web.Request, operation: Operation, order: Order
    ) -> web.StreamResponse:
        """Answer as the order says. Raise `RefusedError` for a fault that is a refusal."""
        match order.fault:
            case "502_html":
                page = "<html><body><h1>502 Bad Gateway</h1><hr>proxy</body></html>"
                return web.Response(status=502, text=page, content_type="text/html")
            case "429":
                wait_seconds = 30 if order.seconds is None else order.seconds
                raise RefusedError(429, "limit is reached", {"Retry-After": f"{wait_seconds:g}"})
            case "500" | "429_no_header" | "401" | "403" | "404" as status:
                headers = {"WWW-Authenticate": "Bearer"} if status == "401" else {}
                raise RefusedError(int(status[:3]), "this was ordered as a fault", headers)
            case "timeout":
                await self._wait(60 if order.seconds is None else order.seconds)
                return _drop_connection(request)
            case "slow":
                await self._wait(5 if order.seconds is None else order.seconds)
                return (await operation(request)).response()
        answer = await operation(request)
        match order.fault:
            case "lost_answer":
                return _drop_connection(request, answer.status)
            case "broken_json":
                text = answer.response().text or ""
                half = text[: len(text) // 2]
                return web.Response(status=answer.status, text=half, content_type="application/json")
            case "stale_status":
                return answer.response(**(answer.stale or {}))
            case "broken_build":  # begun already as one that fails
                return answer.response()
            case "odd_status":
                return answer.response(status=order.value or "paused")
            case _:
                return answer.response(prLink=order.value or "javascript:alert(1)//not a link|>")

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self.closing.wait()
        except TimeoutError:
            return


def _drop_connection(request: web.Request, status: int = 503) -> web.StreamResponse:
    """Abort the connection; the returned response is never sent."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=status)


def log_middleware(database: Database, clock: Callable[[], datetime]) -> Middleware:
    """Return a middleware that logs every API request and turns errors into JSON."""

    @web.middleware
    async def keep(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not request.path.startswith(("/v1/", "/v2/", "/api/v3/")):
            return await handler(request)
        entry = request[LOG_ENTRY] = LoggedRequest(clock().isoformat(), request.method, request.path)
        response = await _response_or_error(request, handler)
        entry.status = None if entry.fault == "timeout" else response.status
        await database.run(store.log_request, entry)
        return response

    return keep


async def _response_or_error(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except RefusedError as refused:
        return refused.response()
    except web.HTTPMethodNotAllowed as error:
        headers = {"Allow": ", ".join(sorted(error.allowed_methods))}
        return RefusedError(405, f"{request.method} is not possible here", headers).response()
    except web.HTTPNotFound:
        return RefusedError(404, "there is nothing at this path").response()
    except Exception:
        log.exception("the docs service failed at a request")
        return RefusedError(500, "internal error").response()
