"""The HTTP API: create a job, get a job, send a follow-up, count visitors."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from sandbox.docs_service import jobs, quota, request_log, visitors, visits
from sandbox.docs_service.agent_runner import AgentRunner
from sandbox.docs_service.database import Database
from sandbox.docs_service.faults import Fault, Faults, OrderedFault
from sandbox.docs_service.inputs import check_key, read_json, read_prompt, read_visitors_query
from sandbox.docs_service.jobs import Job, Outcome, Status
from sandbox.docs_service.options import DocsServiceOptions
from sandbox.docs_service.refusals import RefusedError
from sandbox.docs_service.request_log import LoggedRequest
from sandbox.docs_service.visit_generator import Site

log = logging.getLogger(__name__)

MODEL = "sandbox-writer-1"
JOBS_PATH = "/v2/agent/{projectId}/job"
JOB_PATH = "/v2/agent/{projectId}/job/{id}"
MESSAGE_PATH = "/v2/agent/{projectId}/job/{id}/message"
VISITORS_PATH = "/v1/analytics/{projectId}/visitors"

LOG_ENTRY: web.RequestKey[LoggedRequest] = web.RequestKey("log_entry", LoggedRequest)


@dataclass
class Answer:
    """A status code and a JSON body; `stale` is the body before the job's latest change."""

    status: int
    body: dict[str, Any]
    stale: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)


Operation = Callable[[web.Request], Awaitable[Answer]]
OnProgress = Callable[[int, int], None]


def format_time(at: datetime | None) -> str | None:
    """Return a time in the API's format: ISO 8601 in UTC with milliseconds."""
    return (
        None if at is None else at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    )


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
        address: Callable[[web.Request], str],
        on_progress: OnProgress | None,
    ) -> None:
        self._options = options
        self._clock = clock
        self._database = database
        self._readers = readers
        self._agent = agent
        self._address = address
        self._on_progress = on_progress
        self._visits_until: date | None = None
        self._visits_lock = asyncio.Lock()
        self._sites: dict[str, Site] = {}
        self._visitor_counter = visitors.VisitorCounter()
        self.faults = Faults()
        self.closing = asyncio.Event()

    def add_routes(self, app: web.Application) -> None:
        """Add the routes of the operations to the application."""
        operations = (
            ("POST", JOBS_PATH, "create", self._create),
            ("GET", JOB_PATH, "get", self._get),
            ("POST", MESSAGE_PATH, "follow_up", self._follow_up),
            ("GET", VISITORS_PATH, "visitors", self._visitors),
        )
        for method, path, name, operation in operations:
            app.router.add_route(method, path, self._handler(name, operation))

    def _handler(self, name: str, operation: Operation) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            log_entry = request[LOG_ENTRY]
            log_entry.operation, log_entry.project = name, request.match_info["projectId"]
            log_entry.job_id = request.match_info.get("id")
            fault = self.faults.take(name)
            if fault is None:
                return _respond(await operation(request))
            log_entry.fault = fault.fault
            return await self._apply_fault(request, operation, fault)

        return handle

    # Operations.

    async def _create(self, request: web.Request) -> Answer:
        check_key(request, self._options, write=True)
        project = self._project(request)
        prompt = read_prompt(await read_json(request))
        request[LOG_ENTRY].prompt = prompt
        job = await self._database.run(self._take_and_create, project, prompt)
        request[LOG_ENTRY].job_id = job.id
        self._agent.wake()
        return Answer(201, self._job_json(request, job))

    async def _follow_up(self, request: web.Request) -> Answer:
        check_key(request, self._options, write=True)
        project = self._project(request)
        prompt = read_prompt(await read_json(request))
        request[LOG_ENTRY].prompt = prompt
        await self._agent.finish_due()
        job = await self._database.run(self._take_and_follow_up, project, request.match_info["id"], prompt)
        self._agent.wake()
        return Answer(200, self._job_json(request, job), self._job_json(request, job, before=True))

    async def _get(self, request: web.Request) -> Answer:
        check_key(request, self._options, write=False)
        project = self._project(request)
        await self._agent.finish_due()
        job = await self._database.run(jobs.find, project, request.match_info["id"])
        if job is None:
            raise RefusedError(404, "there is no such job in this project")
        return Answer(200, self._job_json(request, job), self._job_json(request, job, before=True))

    async def _visitors(self, request: web.Request) -> Answer:
        check_key(request, self._options, write=False)
        project = self._project(request)
        query = read_visitors_query(request)
        now, limit = self._clock(), self._options.analytics_calls_an_hour
        await self._database.run(quota.take, "analytics", limit, now)
        await self.generate_visits()
        return Answer(200, await self._readers.run(self._visitor_counter.answer, project, query, now))

    async def generate_visits(self) -> None:
        """Generate and store the missing visits up to today."""
        async with self._visits_lock:
            today, options = self._clock().date(), self._options
            if self._visits_until is not None and today <= self._visits_until:
                return
            for project in options.projects:
                days = await self._readers.run(visits.missing_days, project, options.days, today)
                for number, day in enumerate(days, 1):
                    await self._readers.run(visits.store, self._site(project), day)
                    if self._on_progress is not None:
                        self._on_progress(number, len(days))
            self._visits_until = today

    def _site(self, project: str) -> Site:
        if project not in self._sites:
            self._sites[project] = Site(project, self._options.seed, self._options.pages)
        return self._sites[project]

    def _project(self, request: web.Request) -> str:
        project = request.match_info["projectId"]
        if project not in self._options.projects:
            raise RefusedError(404, "there is no such project")
        return project

    def _take_and_create(self, connection: Any, project: str, prompt: str) -> Job:
        now, author = self._clock(), self._agent.authors[project]
        quota.take(connection, f"agent {project}", self._options.uses_an_hour, now)
        return jobs.create(connection, project, prompt, now, author.work_seconds(prompt), author.branch)

    def _take_and_follow_up(self, connection: Any, project: str, job_id: str, prompt: str) -> Job:
        now = self._clock()
        job = jobs.find(connection, project, job_id)
        if job is None:
            raise RefusedError(404, "there is no such job in this project")
        if job.status is Status.ARCHIVED:
            raise RefusedError(400, "this job is archived and takes no more messages")
        quota.take(connection, f"agent {project}", self._options.uses_an_hour, now)
        work_seconds = self._agent.authors[project].work_seconds(prompt)
        return jobs.follow_up(connection, job, prompt, now, work_seconds)

    def _job_json(self, request: web.Request, job: Job, *, before: bool = False) -> dict[str, Any]:
        """Return the job as JSON; with `before`, as it was before its latest change."""
        status = _previous_status(job) if before else job.status
        home, link = f"{self._address(request)}/{job.project}", None
        if status is not Status.ACTIVE and job.pull_number is not None:
            link = job.link or f"{home}/pull/{job.pull_number}"
        return {
            "id": job.id,
            "status": str(status),
            "source": {"repository": f"{home}/tree", "ref": job.branch},
            "model": MODEL,
            "prLink": link,
            "createdAt": format_time(job.created_at),
            "archivedAt": None if before and status is not Status.ARCHIVED else format_time(job.archived_at),
        }

    # Faults.

    async def _apply_fault(
        self, request: web.Request, operation: Operation, order: OrderedFault
    ) -> web.StreamResponse:
        match order.fault:
            case Fault.ERROR_500:
                raise RefusedError(500, "internal error")
            case Fault.HTML_502:
                page = "<html><body><h1>502 Bad Gateway</h1><hr>proxy</body></html>"
                return web.Response(status=502, text=page, content_type="text/html")
            case Fault.LIMIT_429:
                wait_seconds = 30 if order.seconds is None else order.seconds
                raise RefusedError(429, "limit is reached", {"Retry-After": f"{wait_seconds:g}"})
            case Fault.LIMIT_429_NO_HEADER:
                raise RefusedError(429, "limit is reached")
            case Fault.UNAUTHORISED_401:
                raise RefusedError(401, "this API key has expired", {"WWW-Authenticate": "Bearer"})
            case Fault.FORBIDDEN_403:
                raise RefusedError(403, "this API key lacks the scope for this")
            case Fault.NOT_FOUND_404:
                raise RefusedError(404, "there is no such job in this project")
            case Fault.TIMEOUT:
                await self._wait(60 if order.seconds is None else order.seconds)
                return _drop_connection(request)
            case Fault.SLOW:
                await self._wait(5 if order.seconds is None else order.seconds)
                return _respond(await operation(request))
            case _:
                return _altered(request, await operation(request), order)

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self.closing.wait()
        except TimeoutError:
            return


def _previous_status(job: Job) -> Status:
    """Return the status before the latest change, as a lagging replica would."""
    if job.status is not Status.ACTIVE:
        return Status.ACTIVE
    ended = [message for message in job.messages if message.ended_at is not None]
    if not ended:
        return Status.ACTIVE
    return Status.FAILED if ended[-1].outcome is Outcome.FAILED else Status.COMPLETED


def _respond(answer: Answer) -> web.Response:
    return web.json_response(answer.body, status=answer.status, headers=answer.headers)


def _altered(request: web.Request, answer: Answer, order: OrderedFault) -> web.StreamResponse:
    match order.fault:
        case Fault.LOST_ANSWER:
            return _drop_connection(request, answer.status)
        case Fault.BROKEN_JSON:
            text = _respond(answer).text or ""
            return web.Response(
                status=answer.status, text=text[: len(text) // 2], content_type="application/json"
            )
        case Fault.STALE_STATUS:
            answer.body = answer.body if answer.stale is None else answer.stale
        case Fault.ODD_STATUS:
            answer.body["status"] = order.value or "paused"
        case Fault.BAD_PR_LINK:
            answer.body["prLink"] = order.value or "javascript:alert(1)//not a link|>"
        case _:
            raise AssertionError(order.fault)
    return _respond(answer)


def _drop_connection(request: web.Request, status: int = 503) -> web.StreamResponse:
    """Abort the connection; the returned response is never sent."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=status)


def log_middleware(database: Database, clock: Callable[[], datetime]) -> Middleware:
    """Return a middleware that logs every API request and turns errors into JSON."""

    @web.middleware
    async def keep(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not request.path.startswith(("/v1/", "/v2/")):
            return await handler(request)
        log_entry = LoggedRequest(clock(), request.method, request.path)
        request[LOG_ENTRY] = log_entry
        response = await _response_or_error(request, handler)
        status = None if log_entry.fault == Fault.TIMEOUT else response.status
        await database.run(request_log.write, log_entry, status)
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
