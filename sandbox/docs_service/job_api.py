"""Operations of the API on jobs: create one, get it, send a follow-up."""

from __future__ import annotations

from aiohttp import web

from sandbox.docs_service.backend import Backend
from sandbox.docs_service.operations import LOG_ENTRY, STALE, Operation
from sandbox.docs_service.store import Job, Status
from sandbox.docs_service.wire import JobAnswer, Prompt, RefusedError, format_time

MODEL = "sandbox-writer-1"
_JOBS = "/v2/agent/{projectId}/job"


class JobApi:
    """The handlers of the operations on jobs."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._jobs = backend.jobs
        self._agent = backend.agent

    def operations(self) -> list[Operation]:
        """Return the operations."""
        uses = (
            f"The project's {self._backend.options.uses_an_hour} uses of the last hour are used up."
        )
        return [
            Operation("create", "POST", _JOBS, self._create, status=201, limit=uses),
            Operation("get", "GET", f"{_JOBS}/{{id}}", self._get),
            Operation("follow_up", "POST", f"{_JOBS}/{{id}}/message", self._follow_up, limit=uses),
        ]

    async def _create(self, request: web.Request, body: Prompt) -> JobAnswer:
        """Create a job, which the agent works on."""
        request[LOG_ENTRY].note_prompt(body.prompt)
        self._take_use()
        job = self._backend.create_job(body.prompt, request.match_info["projectId"])
        request[LOG_ENTRY].job_id = job.id
        return self._answer(request, job)

    async def _get(self, request: web.Request) -> JobAnswer:
        """Return a job."""
        await self._agent.finish_due()
        return self._answer(request, self._find(request))

    async def _follow_up(self, request: web.Request, body: Prompt) -> JobAnswer:
        """Send a follow-up, which makes the job active again."""
        request[LOG_ENTRY].note_prompt(body.prompt)
        await self._agent.finish_due()
        job = self._find(request)
        if job.status is Status.ARCHIVED:
            raise RefusedError(400, "this job is archived and takes no more messages")
        self._take_use()
        work_seconds = self._agent.author.work_seconds(body.prompt)
        self._jobs.follow_up(job, body.prompt, self._backend.clock(), work_seconds)
        self._agent.wake()
        return self._answer(request, job)

    def _take_use(self) -> None:
        self._backend.limits.take("agent", self._backend.options.uses_an_hour)

    def _find(self, request: web.Request) -> Job:
        job = self._jobs.find(request.match_info["id"])
        if job is None or job.project not in (None, request.match_info["projectId"]):
            raise RefusedError(404, "there is no such job in this project")
        return job

    def _answer(self, request: web.Request, job: Job) -> JobAnswer:
        # The state before the latest change, which a lagging replica would return.
        request[STALE] = self._json(
            job, job.last_end if job.status is Status.ACTIVE else Status.ACTIVE
        )
        return self._json(job, job.status)

    def _link(self, job: Job) -> str | None:
        if job.link is not None or job.pull_number is None:
            return job.link
        return self._backend.pull_url(job.pull_number)

    def _json(self, job: Job, status: Status) -> JobAnswer:
        has_ended = status is not Status.ACTIVE
        is_archived = status is Status.ARCHIVED and job.archived_at
        return {
            "id": job.id,
            "status": str(status),
            "source": {
                "repository": self._backend.home,
                "ref": job.branch,
            },
            "model": MODEL,
            "prLink": self._link(job) if has_ended else None,
            "createdAt": format_time(job.created_at),
            "archivedAt": format_time(job.archived_at) if is_archived and job.archived_at else None,
        }
